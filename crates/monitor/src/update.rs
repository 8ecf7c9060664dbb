//! The state transitions of the monitor on keys, time and new data. No other module changes the model.
//!
//! Performs no effects: they are returned as an action.

use crate::frame::ScreenSize;
use crate::keys::KeyPress;
use crate::model::{DetailPane, EndedRows, InputMode, MonitorModel, Selection, SortOrder};
use crate::row::{MonitorRow, SessionDetail};
use towline_core::shown::SeatLight;
use towline_core::time::Timestamp;

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitorInput {
    Key(KeyPress),
    /// Time passed.
    Now(Timestamp),
    /// The screen was resized.
    Size(ScreenSize),
    /// All rows were loaded.
    Rows(Vec<MonitorRow>),
    /// Details of the session with this key were loaded.
    Detail(String, SessionDetail),
    /// A command failed, and why.
    Refused(String),
    /// Loading failed, and why.
    Trouble(String),
}

/// The effect to carry out.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitorAction {
    Nothing,
    /// Focus the row with this key.
    Go(String),
    /// Reload the rows: the set of rows to show has changed.
    Look,
    Quit,
}

const NOBODY_WAITS: &str = "nobody waits for you";

pub fn update(mut model: MonitorModel, input: MonitorInput) -> (MonitorModel, MonitorAction) {
    match input {
        MonitorInput::Key(key) => press(model, key),
        MonitorInput::Now(now) => {
            model.now = now;
            (model, MonitorAction::Nothing)
        }
        MonitorInput::Size(size) => {
            model.size = size;
            (model, MonitorAction::Nothing)
        }
        MonitorInput::Rows(rows) => {
            (model.rows, model.trouble) = (Some(rows), None);
            (model, MonitorAction::Nothing)
        }
        MonitorInput::Detail(key, detail) => {
            model.detail = Some((key, detail));
            (model, MonitorAction::Nothing)
        }
        MonitorInput::Refused(why) => {
            model.message = Some(why);
            (model, MonitorAction::Nothing)
        }
        MonitorInput::Trouble(why) => {
            model.trouble = Some(why);
            (model, MonitorAction::Nothing)
        }
    }
}

fn press(mut model: MonitorModel, key: KeyPress) -> (MonitorModel, MonitorAction) {
    // The message has been read by the time of the next key.
    model.message = None;
    match (model.mode, key) {
        (_, KeyPress::Control('c')) => (model, MonitorAction::Quit),
        (InputMode::Filtering, key) => filter(model, key),
        (InputMode::Helping, KeyPress::Letter('q')) => (model, MonitorAction::Quit),
        (InputMode::Helping, _) => {
            model.mode = InputMode::Browsing;
            (model, MonitorAction::Nothing)
        }
        (InputMode::Browsing, key) => browse(model, key),
    }
}

fn filter(mut model: MonitorModel, key: KeyPress) -> (MonitorModel, MonitorAction) {
    match key {
        KeyPress::Letter(letter) => model.filter.push(letter),
        KeyPress::Backspace => drop(model.filter.pop()),
        KeyPress::Control('u') => model.filter.clear(),
        KeyPress::Enter | KeyPress::Tab => model.mode = InputMode::Browsing,
        KeyPress::Escape => {
            model.filter.clear();
            model.mode = InputMode::Browsing;
        }
        KeyPress::Up
        | KeyPress::Down
        | KeyPress::PageUp
        | KeyPress::PageDown
        | KeyPress::Home
        | KeyPress::End => move_selection(&mut model, key),
        KeyPress::Control(_) => {}
    }
    (model, MonitorAction::Nothing)
}

fn browse(mut model: MonitorModel, key: KeyPress) -> (MonitorModel, MonitorAction) {
    match key {
        KeyPress::Letter('q') | KeyPress::Control('d') => return (model, MonitorAction::Quit),
        KeyPress::Escape => return back_out(model),
        KeyPress::Enter => {
            let action = model
                .selected_row()
                .map_or(MonitorAction::Nothing, |row| MonitorAction::Go(row.key().to_owned()));
            return (model, action);
        }
        KeyPress::Letter('n') => return next_waiting(model),
        KeyPress::Letter('a') => {
            model.ended = if model.needs_ended_sessions() { EndedRows::Hidden } else { EndedRows::Shown };
            return (model, MonitorAction::Look);
        }
        KeyPress::Letter('r') => return (model, MonitorAction::Look),
        KeyPress::Letter('?') => model.mode = InputMode::Helping,
        KeyPress::Letter('/') => model.mode = InputMode::Filtering,
        KeyPress::Letter('s') => (model.sort, model.order) = (model.sort.next(), SortOrder::Usual),
        KeyPress::Letter('S') => {
            model.order =
                if model.order == SortOrder::Usual { SortOrder::Reversed } else { SortOrder::Usual };
        }
        KeyPress::Tab => {
            model.pane = if model.shows_pane(model.size) { DetailPane::Hidden } else { DetailPane::Shown };
        }
        KeyPress::Letter(_)
        | KeyPress::Up
        | KeyPress::Down
        | KeyPress::PageUp
        | KeyPress::PageDown
        | KeyPress::Home
        | KeyPress::End => {
            move_selection(&mut model, key);
        }
        KeyPress::Backspace | KeyPress::Control(_) => {}
    }
    (model, MonitorAction::Nothing)
}

/// Clears the filter; without one, quits.
fn back_out(mut model: MonitorModel) -> (MonitorModel, MonitorAction) {
    if model.filter.is_empty() {
        return (model, MonitorAction::Quit);
    }
    model.filter.clear();
    (model, MonitorAction::Nothing)
}

/// Focuses the session that has waited longest: the rows come sorted by urgency.
fn next_waiting(mut model: MonitorModel) -> (MonitorModel, MonitorAction) {
    let waits = |row: &&MonitorRow| {
        matches!(row.shown.light(), SeatLight::Blocked | SeatLight::Stopped | SeatLight::Completed)
            && !row.has_ended()
    };
    match model.all().iter().find(waits).map(|row| row.key().to_owned()) {
        Some(key) => {
            model.choice.key = Some(key.clone());
            (model, MonitorAction::Go(key))
        }
        None => {
            model.message = Some(NOBODY_WAITS.to_owned());
            (model, MonitorAction::Nothing)
        }
    }
}

fn move_selection(model: &mut MonitorModel, key: KeyPress) {
    // All but the lines around the list.
    let page = isize::try_from(model.size.rows.saturating_sub(4).max(1)).unwrap_or(1);
    match key {
        KeyPress::Up | KeyPress::Letter('k') => step(model, -1),
        KeyPress::Down | KeyPress::Letter('j') => step(model, 1),
        KeyPress::PageUp => step(model, -page),
        KeyPress::PageDown => step(model, page),
        KeyPress::Home | KeyPress::Letter('g') => step(model, isize::MIN),
        KeyPress::End | KeyPress::Letter('G') => step(model, isize::MAX),
        KeyPress::Letter(_)
        | KeyPress::Control(_)
        | KeyPress::Enter
        | KeyPress::Escape
        | KeyPress::Tab
        | KeyPress::Backspace => {}
    }
}

fn step(model: &mut MonitorModel, by: isize) {
    let rows = model.visible();
    let at = model.chosen_at(&rows).saturating_add_signed(by).min(rows.len().saturating_sub(1));
    let key = rows.get(at).map(|row| row.key().to_owned());
    model.choice = Selection { key, at };
}

impl MonitorModel {
    /// The model after these keys, ignoring actions.
    #[cfg(test)]
    pub(crate) fn after(self, keys: &str) -> MonitorModel {
        crate::keys::pressed(keys.as_bytes())
            .into_iter()
            .fold(self, |model, key| update(model, MonitorInput::Key(key)).0)
    }
}
