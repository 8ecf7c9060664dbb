//! The engine's results as JSON values (`*_json`) and as text (`*_text`), for the command line, the HTTP API and MCP.
//!
//! Pure: no I/O, no clock, no environment, and no decision about what a result contains. One file per topic.

mod bookmarks;
mod change;
mod config;
mod context;
mod detail;
mod figures;
mod forget;
mod jobs;
mod memories;
mod memory;
mod page;
mod proposals;
mod remember;
mod search;
mod sessions;
mod show;
mod status;
mod style;
mod timeline;
mod turn;
mod turns;
mod usage;
mod waits;

pub use bookmarks::{bookmark_code, bookmark_json, bookmark_text, bookmarks_json};
pub use change::{asked_line, change_json, change_text, part_json};
pub use config::config_json;
pub use context::{context_json, context_parts_text};
pub use detail::{detail_json, detail_text};
pub use forget::{forget_json, forget_text};
pub use jobs::{background_line, jobs_json, jobs_text};
pub use memories::{memories_json, memories_text};
pub use memory::{memory_json, memory_line};
pub use proposals::{proposal_json, proposals_json, proposals_text};
pub use remember::{remember_json, remember_text};
pub use search::{HitNotes, hit_json, search_json, search_text};
pub use sessions::{sessions_json, sessions_text};
pub use show::{show_json, show_text, summary_json};
pub use status::status_json;
pub use style::{Style, Tone};
pub use timeline::{timeline_json, timeline_text};
pub use turns::{turn_mark, turns_json, turns_text};
pub use usage::{spent_json, usage_json};
pub use waits::waits_json;
