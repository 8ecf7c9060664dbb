//! The engine's results as JSON values (`*_json`) and as text (`*_text`), for the command line, the HTTP API and MCP.
//!
//! Pure: no I/O, no clock, no environment, and no decision about what a result contains. One file per topic.

mod config;
mod status;
mod waits;

pub use config::config_json;
pub use status::status_json;
pub use waits::waits_json;
