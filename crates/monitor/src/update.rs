//! The state transitions of the monitor on keys, time and new data. No other module changes the model.
//!
//! Performs no effects: they are returned as an action.

use crate::frame::ScreenSize;
use crate::keys::KeyPress::{
    self, Backspace, Control, Down, End, Enter, Escape, Home, Letter, PageDown, PageUp, Tab, Up,
};
use crate::model::{DetailPane, EndedRows, InputMode, MonitorModel, Selection, SortOrder};
use crate::row::{MonitorRow, SessionDetail};
use towline_core::bar::BarNotes;
use towline_core::shown::SeatLight;
use towline_core::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitorInput {
    Key(KeyPress),
    Now(Timestamp),
    Size(ScreenSize),
    Rows(Vec<MonitorRow>),
    /// The notes that the bar shows besides the sessions.
    Notes(BarNotes),
    /// One line about long background work, if there is any.
    Work(Option<String>),
    /// The first mistake in the configuration file, if it has one.
    Warning(Option<String>),
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

pub fn update(model: &mut MonitorModel, input: MonitorInput) -> MonitorAction {
    match input {
        MonitorInput::Key(key) => return press(model, key),
        MonitorInput::Now(now) => model.now = now,
        MonitorInput::Size(size) => model.size = size,
        MonitorInput::Rows(rows) => (model.rows, model.trouble) = (Some(rows), None),
        MonitorInput::Notes(notes) => model.notes = notes,
        MonitorInput::Work(work) => model.work = work,
        MonitorInput::Warning(warning) => model.warning = warning,
        MonitorInput::Detail(key, detail) => model.detail = Some((key, detail)),
        MonitorInput::Refused(why) => model.message = Some(why),
        MonitorInput::Trouble(why) => model.trouble = Some(why),
    }
    MonitorAction::Nothing
}

fn press(model: &mut MonitorModel, key: KeyPress) -> MonitorAction {
    // The message has been read by the time of the next key.
    model.message = None;
    match (model.mode, key) {
        (_, Control('c')) => MonitorAction::Quit,
        (InputMode::Filtering, key) => filter(model, key),
        (InputMode::Helping, Letter('q')) => MonitorAction::Quit,
        (InputMode::Helping, _) => {
            model.mode = InputMode::Browsing;
            MonitorAction::Nothing
        }
        (InputMode::Browsing, key) => browse(model, key),
    }
}

fn filter(model: &mut MonitorModel, key: KeyPress) -> MonitorAction {
    match key {
        Letter(letter) => model.filter.push(letter),
        Backspace => drop(model.filter.pop()),
        Control('u') => model.filter.clear(),
        Enter | Tab => model.mode = InputMode::Browsing,
        Escape => {
            model.filter.clear();
            model.mode = InputMode::Browsing;
        }
        Up | Down | PageUp | PageDown | Home | End => move_selection(model, key),
        Control(_) => {}
    }
    MonitorAction::Nothing
}

fn browse(model: &mut MonitorModel, key: KeyPress) -> MonitorAction {
    match key {
        Letter('q') | Control('d') => return MonitorAction::Quit,
        // Clears the filter; without one, quits.
        Escape if model.filter.is_empty() => return MonitorAction::Quit,
        Escape => model.filter.clear(),
        Enter => {
            let go = |row: &MonitorRow| MonitorAction::Go(row.key().to_owned());
            return model.selected_row().map_or(MonitorAction::Nothing, go);
        }
        Letter('n') => return next_waiting(model),
        Letter('a') => {
            model.ended = if model.needs_ended_sessions() { EndedRows::Hidden } else { EndedRows::Shown };
            return MonitorAction::Look;
        }
        Letter('r') => return MonitorAction::Look,
        Letter('?') => model.mode = InputMode::Helping,
        Letter('/') => model.mode = InputMode::Filtering,
        Letter('s') => (model.sort, model.order) = (model.sort.next(), SortOrder::Usual),
        Letter('S') => {
            model.order =
                if model.order == SortOrder::Usual { SortOrder::Reversed } else { SortOrder::Usual };
        }
        Tab => {
            model.pane = if model.shows_pane(model.size) { DetailPane::Hidden } else { DetailPane::Shown };
        }
        Letter(_) | Up | Down | PageUp | PageDown | Home | End => move_selection(model, key),
        Backspace | Control(_) => {}
    }
    MonitorAction::Nothing
}

/// Focuses the session that has waited longest: the rows come sorted by urgency.
fn next_waiting(model: &mut MonitorModel) -> MonitorAction {
    let waits = |row: &&MonitorRow| {
        matches!(row.shown.light(), SeatLight::Blocked | SeatLight::Stopped | SeatLight::Completed)
            && !row.has_ended()
    };
    let Some(key) = model.all().iter().find(waits).map(|row| row.key().to_owned()) else {
        model.message = Some(NOBODY_WAITS.to_owned());
        return MonitorAction::Nothing;
    };
    model.choice.key = Some(key.clone());
    MonitorAction::Go(key)
}

fn move_selection(model: &mut MonitorModel, key: KeyPress) {
    // All but the lines around the list.
    let page = isize::try_from(model.size.rows.saturating_sub(4).max(1)).unwrap_or(1);
    match key {
        Up | Letter('k') => step(model, -1),
        Down | Letter('j') => step(model, 1),
        PageUp => step(model, -page),
        PageDown => step(model, page),
        Home | Letter('g') => step(model, isize::MIN),
        End | Letter('G') => step(model, isize::MAX),
        Letter(_) | Control(_) | Enter | Escape | Tab | Backspace => {}
    }
}

fn step(model: &mut MonitorModel, by: isize) {
    let rows = model.visible();
    let at = model.chosen_at(&rows).saturating_add_signed(by).min(rows.len().saturating_sub(1));
    let key = rows.get(at).map(|row| row.key().to_owned());
    model.choice = Selection { key, at };
}
