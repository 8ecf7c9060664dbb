//! The `tow` executable: hands the hook and the status line to the engine, everything else to the grammar.
//!
//! Matches the hook first: it must not pay for building a grammar that it does not use. Decides nothing.

mod agreement;
mod cli;
mod commands;
mod demo;
mod help;
mod launch;
mod monitor;
mod output;
mod pick;
mod progress;
mod projects;
mod scope;
#[cfg(wrapped_start)]
mod start;
mod stray;
mod strokes;
mod suggest;
mod verbs;

use std::ffi::OsStr;
use std::process::ExitCode;
use towline_engine::ingest::{hook, statusline};
use towline_engine::runtime::env;
use towline_store::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator::new();

fn main() -> ExitCode {
    let mut arguments = env::arguments().skip(1).peekable();
    let verb = arguments.next();
    let asks = arguments.peek().is_some_and(|word| is_question(word));
    let verb = verb.as_deref().and_then(OsStr::to_str);
    if verb != Some("hook") {
        // Only a hook is sure to start no thread.
        ALLOCATOR.share();
    }
    match verb {
        Some("hook") if !asks => hook::run(arguments.next().as_deref(), arguments.next().as_deref()),
        Some("statusline") if !asks => statusline::run(arguments),
        _ => cli::run(),
    }
}

/// `tow hook --help` comes from a user, not from an agent.
fn is_question(word: &OsStr) -> bool {
    word == "-h" || word == "--help"
}
