//! The HTTP API, the viewer and the MCP server: protocols, routes, tokens, schemas and limits.
//!
//! Must not read the store: a backend answers each request.

pub mod http;
pub mod mcp;
