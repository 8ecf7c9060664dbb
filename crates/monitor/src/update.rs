//! The state transitions of the monitor on keys, time and new data. No other module changes the model.
//!
//! Performs no effects: they are returned as an action.

use crate::frame::Size;
use crate::keys::Key;
use crate::model::{Choice, Ended, Mode, Model, Order, Pane};
use crate::row::{Detail, Row};
use towline_core::shown::Light;
use towline_core::time::Timestamp;

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Key(Key),
    /// Time passed.
    Now(Timestamp),
    /// The screen was resized.
    Size(Size),
    /// All rows were loaded.
    Rows(Vec<Row>),
    /// Details of the session with this key were loaded.
    Detail(String, Detail),
    /// A command failed, and why.
    Refused(String),
    /// Loading failed, and why.
    Trouble(String),
}

/// The effect to carry out.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Nothing,
    /// Focus the row with this key.
    Go(String),
    /// Reload the rows: the set of rows to show has changed.
    Look,
    Quit,
}

pub const NOBODY_WAITS: &str = "nobody waits for you";

pub fn update(mut model: Model, input: Input) -> (Model, Action) {
    match input {
        Input::Key(key) => press(model, key),
        Input::Now(now) => {
            model.now = now;
            (model, Action::Nothing)
        }
        Input::Size(size) => {
            model.size = size;
            (model, Action::Nothing)
        }
        Input::Rows(rows) => {
            (model.rows, model.trouble) = (Some(rows), None);
            (model, Action::Nothing)
        }
        Input::Detail(key, detail) => {
            model.detail = Some((key, detail));
            (model, Action::Nothing)
        }
        Input::Refused(why) => {
            model.message = Some(why);
            (model, Action::Nothing)
        }
        Input::Trouble(why) => {
            model.trouble = Some(why);
            (model, Action::Nothing)
        }
    }
}

fn press(mut model: Model, key: Key) -> (Model, Action) {
    // The message has been read by the time of the next key.
    model.message = None;
    match (model.mode, key) {
        (_, Key::Control('c')) => (model, Action::Quit),
        (Mode::Filtering, key) => filter(model, key),
        (Mode::Helping, Key::Letter('q')) => (model, Action::Quit),
        (Mode::Helping, _) => {
            model.mode = Mode::Browsing;
            (model, Action::Nothing)
        }
        (Mode::Browsing, key) => browse(model, key),
    }
}

fn filter(mut model: Model, key: Key) -> (Model, Action) {
    match key {
        Key::Letter(letter) => model.filter.push(letter),
        Key::Backspace => drop(model.filter.pop()),
        Key::Control('u') => model.filter.clear(),
        Key::Enter | Key::Tab => model.mode = Mode::Browsing,
        Key::Escape => {
            model.filter.clear();
            model.mode = Mode::Browsing;
        }
        Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Home | Key::End => {
            move_selection(&mut model, key)
        }
        Key::Control(_) => {}
    }
    (model, Action::Nothing)
}

fn browse(mut model: Model, key: Key) -> (Model, Action) {
    match key {
        Key::Letter('q') | Key::Control('d') => return (model, Action::Quit),
        Key::Escape => return back_out(model),
        Key::Enter => {
            let action = model.chosen().map_or(Action::Nothing, |row| Action::Go(row.key().to_owned()));
            return (model, action);
        }
        Key::Letter('n') => return next_waiting(model),
        Key::Letter('a') => {
            model.ended = if model.wants_ended() { Ended::Hidden } else { Ended::Shown };
            return (model, Action::Look);
        }
        Key::Letter('r') => return (model, Action::Look),
        Key::Letter('?') => model.mode = Mode::Helping,
        Key::Letter('/') => model.mode = Mode::Filtering,
        Key::Letter('s') => (model.sort, model.order) = (model.sort.next(), Order::Usual),
        Key::Letter('S') => {
            model.order = if model.order == Order::Usual { Order::Reversed } else { Order::Usual };
        }
        Key::Tab => {
            model.pane = if model.shows_pane(model.size) { Pane::Hidden } else { Pane::Shown };
        }
        Key::Letter(_) | Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Home | Key::End => {
            move_selection(&mut model, key);
        }
        Key::Backspace | Key::Control(_) => {}
    }
    (model, Action::Nothing)
}

/// Clears the filter; without one, quits.
fn back_out(mut model: Model) -> (Model, Action) {
    if model.filter.is_empty() {
        return (model, Action::Quit);
    }
    model.filter.clear();
    (model, Action::Nothing)
}

/// Focuses the session that has waited longest: the rows come sorted by urgency.
fn next_waiting(mut model: Model) -> (Model, Action) {
    let waits = |row: &&Row| {
        matches!(row.shown.light(), Light::Blocked | Light::Stopped | Light::Completed) && !row.has_ended()
    };
    match model.all().iter().find(waits).map(|row| row.key().to_owned()) {
        Some(key) => {
            model.choice.key = Some(key.clone());
            (model, Action::Go(key))
        }
        None => {
            model.message = Some(NOBODY_WAITS.to_owned());
            (model, Action::Nothing)
        }
    }
}

fn move_selection(model: &mut Model, key: Key) {
    // All but the lines around the list.
    let page = isize::try_from(model.size.rows.saturating_sub(4).max(1)).unwrap_or(1);
    match key {
        Key::Up | Key::Letter('k') => step(model, -1),
        Key::Down | Key::Letter('j') => step(model, 1),
        Key::PageUp => step(model, -page),
        Key::PageDown => step(model, page),
        Key::Home | Key::Letter('g') => step(model, isize::MIN),
        Key::End | Key::Letter('G') => step(model, isize::MAX),
        Key::Letter(_) | Key::Control(_) | Key::Enter | Key::Escape | Key::Tab | Key::Backspace => {}
    }
}

fn step(model: &mut Model, by: isize) {
    let rows = model.visible();
    let at = model.chosen_at(&rows).saturating_add_signed(by).min(rows.len().saturating_sub(1));
    let key = rows.get(at).map(|row| row.key().to_owned());
    model.choice = Choice { key, at };
}

impl Model {
    /// The model after these keys, ignoring actions.
    #[cfg(test)]
    pub(crate) fn after(self, keys: &str) -> Model {
        crate::keys::pressed(keys.as_bytes())
            .into_iter()
            .fold(self, |model, key| update(model, Input::Key(key)).0)
    }
}
