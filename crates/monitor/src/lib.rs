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

pub use frame::{Frame, Size};
pub use keys::{Key, pressed};
pub use model::{Choice, Ended, Mode, Model, Order, Pane, Sort};
pub use row::{Detail, Row, TurnLine};
pub use style::Colours;
pub use update::{Action, Input, update};
pub use view::{page, view};

#[cfg(test)]
mod tests;
