//! What Towline decides, as pure functions of what happened.
//!
//! Nothing here does I/O, reads a clock or an environment, or starts anything: time, randomness and the world
//! are arguments, and what the world should do about a decision is returned as data. No agent's name appears.

pub mod arbiter;
pub mod bar;
pub mod bookmark;
pub mod capture;
pub mod compose;
pub mod context;
pub mod continuing;
pub mod deed;
pub mod effect;
pub mod escape;
pub mod event;
pub mod fault;
pub mod forget;
pub mod id;
pub mod inherit;
pub mod ledger;
pub mod line;
pub mod memory;
pub mod meter;
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
