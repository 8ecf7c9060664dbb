//! The session monitor as pure functions: what it shows, and what a key changes.
//!
//! `update` alone changes the model, `view` alone draws it. No store, no terminal, no clock: rows come in as plain
//! data, frames leave as cells or text.

mod columns;
mod detail;
mod frame;
mod keys;
mod model;
mod row;
mod style;
mod text;
mod update;
mod view;

pub use frame::{Frame, ScreenSize};
pub use keys::{KeyPress, pressed};
pub use model::{DetailPane, EndedRows, InputMode, MonitorModel, Selection, SortKey, SortOrder};
pub use row::{MonitorRow, SessionDetail, TurnLine};
pub use style::ColourMode;
pub use update::{MonitorAction, MonitorInput, update};
pub use view::{page, view};

#[cfg(test)]
mod tests;
