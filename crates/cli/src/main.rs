//! `tow`: keeps the work of coding agents in one line.
//!
//! The hook is matched before anything else: it must not pay for a grammar that it does not use. Nothing here decides.

mod agreement;
mod back;
mod bookmarks;
mod calendar;
mod canvas;
mod capture;
mod changes;
mod cli;
mod config;
mod continuing;
mod demo;
mod distil;
mod edge;
mod enrich;
mod export;
mod failure;
mod finding;
mod forget;
mod gotchas;
mod guard;
mod hook;
mod hub;
mod inherit;
mod live;
mod memory;
mod monitor;
mod outcome;
mod output;
mod past;
mod privacy;
mod progress;
mod projects;
mod push;
mod quiet;
mod recall;
mod remember;
mod repair;
mod scan;
mod scope;
mod seen;
mod sentences;
mod server;
mod sight;
mod statusline;
mod strokes;
mod tell;
mod tmux;
mod trim;
mod typing;
mod usage;
mod verbs;
mod waking;
mod watch;
mod web;
mod whose;
mod work;

use std::process::ExitCode;

#[global_allocator]
static HEAP: memory::Heap = memory::Heap::new();

fn main() -> ExitCode {
    let mut arguments = edge::arguments().skip(1).peekable();
    let verb = arguments.next();
    // `tow hook --help` is a person's question, not an agent's event.
    let is_question = arguments.peek().is_some_and(|word| matches!(word.to_str(), Some("-h" | "--help")));
    match verb.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("hook") if !is_question => hook::run(arguments.next().as_deref()),
        Some("statusline") if !is_question => statusline::run(arguments),
        _ => cli::run(),
    }
}
