//! The HTTP API, the viewer and the MCP server.
//!
//! Protocols, routes, tokens, schemas and bounds. Reads no store: a `Desk` answers each request.

pub mod http;
pub mod mcp;
