//! Answers HTTP requests and tool calls with the engine's functions.
//!
//! Knows no protocol: `http` and `mcp` parse requests and send answers. Opens no store.

mod changes;
mod hosts;
mod http;
mod mcp;
mod news;
mod reads;
mod refusal;
mod views;

pub use http::EngineBackend;
pub use mcp::McpBackend;
