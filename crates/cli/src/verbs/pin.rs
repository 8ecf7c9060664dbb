//! `tow pin`: pins memories, which every session of the project then receives.
//!
//! Pins only memories that models may receive.

use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_core::memory::{Memory, name};
use towline_engine::memory::remember::{memories_named, open};
use towline_engine::runtime::failure::Failure;
use towline_render::memory_json;
use towline_store::StoreError;

const EXAMPLES: &str = "\
Examples:
  tow pin m12 m15
  tow pin --off m12
  tow memories --pinned      those that are";

/// Pin memories: every session of their project receives them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Memory ids, such as m12.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Unpin them instead.
    #[arg(long)]
    off: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let writing = open(&scope.env)?;
    let archive = &writing.archive;
    let memories = memories_named(archive, &arguments.ids)?;
    if !arguments.off {
        memories.iter().try_for_each(may_be_pinned)?;
    }
    let now = scope.env.now;
    let pinned = (!arguments.off).then_some(now);
    let changed = archive.as_one(|| {
        memories
            .iter()
            .map(|memory| archive.pin_memory(memory.number, pinned, now))
            .collect::<Result<Vec<_>, _>>()
    });
    let changed = changed.map_err(failed)?;
    let after = memories_named(archive, &arguments.ids)?;
    if arguments.json {
        let all: Vec<Value> = after.iter().map(memory_json).collect();
        scope.out.line(&json!({"memories": all}).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    for (memory, is_changed) in after.iter().zip(changed) {
        let state = match (arguments.off, is_changed) {
            (false, true) => "is pinned",
            (false, false) => "was pinned already",
            (true, true) => "is no longer pinned",
            (true, false) => "was not pinned",
        };
        scope.out.line(&format!("{} {state}: {}", memory.name(), for_terminal(&memory.content.title)));
    }
    Ok(ExitCode::SUCCESS)
}

fn may_be_pinned(memory: &Memory) -> Result<(), Failure> {
    let id = memory.name();
    match (&memory.superseded, &memory.quarantine) {
        (Some(superseded), _) => {
            let failure = Failure::input(format!("{id} no longer holds, so no session is given it"));
            Err(match superseded.by {
                Some(by) => failure.hint(format!("Pin {}, or run `tow undo {id}` first.", name(by))),
                None => failure.hint(format!("Run `tow undo {id}` first.")),
            })
        }
        (None, Some(_)) => Err(Failure::input(format!("{id} is held back from every model"))
            .hint(format!("Look at it by `tow show {id}`, then run `tow release {id}`."))),
        (None, None) => Ok(()),
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not pin it", &error).hint("Run `tow doctor`.")
}
