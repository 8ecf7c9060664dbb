//! The `tow` executable: hands the hook and the status line to the engine, everything else to the grammar.
//!
//! Matches the hook first: it must not pay for building a grammar that it does not use. Decides nothing.

mod agreement;
mod alloc;
mod cli;
mod demo;
mod monitor;
mod output;
mod progress;
mod projects;
mod scope;
mod strokes;
mod verbs;

use alloc::Allocator;
use std::process::ExitCode;
use towline_engine::ingest::{hook, statusline};
use towline_engine::runtime::env;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator::new();

fn main() -> ExitCode {
    let mut arguments = env::arguments().skip(1).peekable();
    let verb = arguments.next();
    // `tow hook --help` comes from a user, not from an agent.
    let is_question = arguments.peek().is_some_and(|word| matches!(word.to_str(), Some("-h" | "--help")));
    match verb.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("hook") if !is_question => hook::run(arguments.next().as_deref(), arguments.next().as_deref()),
        Some("statusline") if !is_question => statusline::run(arguments),
        _ => cli::run(),
    }
}
