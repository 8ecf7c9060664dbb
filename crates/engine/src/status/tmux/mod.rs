//! The tmux integration: `@towline-*` options, settings changed in a server and their undo, our line in
//! tmux.conf.
//!
//! Calls tmux only through `towline_terminal`. Does not decide an agent's state.

pub mod conf;
pub mod load;
pub mod options;
pub mod plan;
