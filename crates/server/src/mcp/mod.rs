//! The tools offered to models, by the Model Context Protocol over standard input and output.
//!
//! Owns the protocol, the tools and their limits; must not read the store: a backend answers each call.
//! Answers are data: they are fenced, and never longer than the limit.

mod call;
mod server;
mod tools;

pub use call::{BadCall, Call, Kind, SearchCall, TimelineCall};
pub use server::{Access, ServeError, Server, ToolAnswer, ToolBackend};
pub use tools::INSTRUCTIONS;
