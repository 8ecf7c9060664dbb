//! Continuing work across sessions: inheritance, continuation, bookmarks, the context guard, intents to type.
//!
//! Records intents; typing them is `background::typist`.

pub mod agent_server;
pub mod bookmarks;
pub mod continuing;
pub mod guard;
pub mod inherit;
mod panes;
pub mod past;
pub mod typing;

#[cfg(test)]
mod tests;
