//! `tow`: keeps the work of coding agents in one line.
//!
//! The hook is matched before anything else: it must not pay for a grammar that it does not use. Nothing here decides.

mod back;
mod bookmarks;
mod calendar;
mod capture;
mod cli;
mod config;
mod edge;
mod export;
mod failure;
mod forget;
mod hook;
mod inherit;
mod live;
mod memory;
mod outcome;
mod output;
mod past;
mod privacy;
mod progress;
mod projects;
mod push;
mod quiet;
mod scan;
mod scope;
mod seen;
mod sight;
mod tell;
mod tmux;
mod typing;
mod verbs;
mod waking;
mod whose;
mod work;

use std::process::ExitCode;

#[global_allocator]
static HEAP: memory::Heap = memory::Heap::new();

fn main() -> ExitCode {
    let mut arguments = edge::arguments().skip(1);
    if arguments.next().is_some_and(|verb| verb == "hook") {
        let agent = arguments.next();
        // `tow hook --help` is a person's question, not an agent's event.
        if !agent.as_ref().is_some_and(|word| word.as_encoded_bytes().starts_with(b"-")) {
            return hook::run(agent.as_deref());
        }
    }
    cli::run()
}
