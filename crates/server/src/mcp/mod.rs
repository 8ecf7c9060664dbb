//! The tools that models are offered, by the Model Context Protocol over standard input and output.
//!
//! Knows the protocol, the tools and their bounds; knows no store. What a call is answered comes from a `Desk`, and is data:
//! it leaves fenced, and never larger than said.

mod call;
mod server;
mod tools;

pub use call::{BadCall, Call, Kind, SearchCall, TimelineCall};
pub use server::{Access, Desk, ServeError, Server};
pub use tools::INSTRUCTIONS;
