//! `tow mcp`: the MCP server on stdin and stdout, until the client disconnects.
//!
//! Starts the server; `towline-server` answers.

use crate::scope::Scope;
use clap::Args;
use towline_engine::runtime::Failure;
use towline_server::backend::McpBackend;
use towline_server::mcp::{Access, Server};

const EXAMPLES: &str = "\
Examples:
  tow mcp               what `tow install` enters into the agents' settings
  tow mcp --read-only   without the tools that change anything";

/// Serve memories to a model over the Model Context Protocol.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Offer no tool that changes anything.
    #[arg(long)]
    read_only: bool,
}

pub fn run(_: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let access = if arguments.read_only { Access::ReadOnly } else { Access::Full };
    let served = Server::new(McpBackend, access, env!("CARGO_PKG_VERSION")).run();
    served.map_err(|error| Failure::new(&error))
}
