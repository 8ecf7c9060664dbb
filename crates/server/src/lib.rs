//! The HTTP API, the viewer and the MCP server: protocols, routes, tokens, schemas and limits.
//!
//! Reads and changes data only through the engine's functions, in `backend`.

mod address;
pub mod backend;
pub mod http;
pub mod mcp;
mod proof;
mod tokens;

pub use address::{AddressFile, Running, login_page, proven, running};
pub use proof::{ServerKey, ServerRun};
pub use tokens::{TokenReuse, tokens};
