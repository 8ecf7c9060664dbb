//! `tow undo`: reverts the last change of a memory.
//!
//! One step per call. A forgotten memory is gone and cannot be restored.

use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_engine::memory::remember::{memories_named, open};
use towline_engine::runtime::failure::Failure;
use towline_render::memory_json;
use towline_store::StoreError;

const EXAMPLES: &str = "\
Examples:
  tow undo m12            the last of: edited, pinned, replaced, found again, released
  tow show m12            what became of it, step by step";

/// Revert the last change of memories.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Memory ids, such as m12.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let writing = open(&scope.env)?;
    let archive = &writing.archive;
    let mut done: Vec<Value> = vec![];
    for memory in memories_named(archive, &arguments.ids)? {
        let (id, number) = (memory.name(), memory.number);
        let undone = archive.undo_memory(number, scope.env.now).map_err(failed)?.ok_or_else(|| {
            Failure::input(format!("nothing of {id} can be taken back: it is as it was made"))
                .hint(format!("Run `tow forget {id}` to be rid of it."))
        })?;
        let after = memories_named(archive, std::slice::from_ref(&id))?;
        done.extend(after.iter().map(|memory| json!({"undone": undone, "memory": memory_json(memory)})));
        if !arguments.json {
            let title = after.first().map(|memory| for_terminal(&memory.content.title)).unwrap_or_default();
            scope.out.line(&format!("{id} is no longer \"{undone}\": {title}"));
        }
    }
    if arguments.json {
        scope.out.line(&json!({"undone": done}).to_string());
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not take it back", &error).hint("Run `tow doctor`.")
}
