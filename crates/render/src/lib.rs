//! The engine's results as JSON values (`*_json`) and as text (`*_text`), for the command line, the HTTP API and MCP.
//!
//! Pure: no I/O, no clock, no environment, and no decision about what a result contains. One file per topic.

mod bookmarks;
mod config;
mod detail;
mod figures;
mod memory;
mod page;
mod sessions;
mod show;
mod status;
mod timeline;
mod turn;
mod turns;
mod usage;
mod waits;

pub use bookmarks::{bookmark_code, bookmark_json, bookmark_text, bookmarks_json};
pub use config::config_json;
pub use detail::{detail_json, detail_text};
pub use memory::{memory_json, memory_line};
pub use sessions::{sessions_json, sessions_text};
pub use show::{show_json, show_text, summary_json};
pub use status::status_json;
pub use timeline::{timeline_json, timeline_text};
pub use turns::{turn_mark, turns_json, turns_text};
pub use usage::spent_json;
pub use waits::waits_json;
