//! The detached processes that `tow` starts itself: alerts, waking after a usage limit, typing, upkeep.
//!
//! At most one of each kind runs, held by a lock that dies with it. Agents never wait for any of them.

pub mod alert;
pub mod changes;
pub mod typist;
pub mod waking;
