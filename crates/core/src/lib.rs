//! Towline's decisions, as pure functions of events.
//!
//! This crate does no I/O, reads no clock or environment and starts no process: time, randomness and observations are
//! arguments, and the actions to take are returned as data. No agent's name appears.

#[macro_use]
mod named_enum;

pub mod arbiter;
pub mod bar;
pub mod bookmark;
pub mod called;
pub mod capture;
pub mod compose;
pub mod continuing;
pub mod deed;
pub mod effect;
pub mod escape;
pub mod event;
pub mod expiry;
pub mod fault;
pub mod forget;
pub mod id;
pub mod inherit;
pub mod ledger;
pub mod line;
pub mod memory;
pub mod meter;
pub mod nearest;
pub mod patience;
pub mod phrases;
pub mod piece;
pub mod project;
pub mod redact;
pub mod reply;
pub mod seat;
pub mod session;
pub mod share;
pub mod shown;
pub mod status_line;
pub mod step;
pub mod telling;
pub mod text;
pub mod time;
pub mod typing;
pub mod usage;
pub mod waking;
pub mod when;
pub mod work;

/// Whether serde may leave a field out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
