//! Towline inside a tmux server: the user's `@towline-*` options, what is set there and how it is taken back, our line in
//! tmux.conf, and what is remembered of each server.
//!
//! Speaks to tmux only through `towline_terminal`. What an agent is doing is not decided here.

pub mod conf;
pub mod load;
pub mod options;
pub mod plan;
