//! `tow release`: releases memories that were held back from models.
//!
//! Only a user may do this, after reading the memory.

use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_engine::ingest::live;
use towline_engine::memory::remember::{memories_named, open};
use towline_engine::query::ownership;
use towline_engine::runtime::failure::Failure;
use towline_render::memory_json;
use towline_store::StoreError;

const EXAMPLES: &str = "\
Examples:
  tow memories --held-back      what is held back, and
  tow show m12                  why
  tow release m12               give it to models from now on
  tow hold m12                  hold it back again";

/// Release memories that were held back from models.
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
    refuse_agents(scope)?;
    let writing = open(&scope.env)?;
    let archive = &writing.archive;
    let memories = memories_named(archive, &arguments.ids)?;
    if let Some(free) = memories.iter().find(|memory| memory.quarantine.is_none()) {
        return Err(Failure::input(format!("{} is not held back", free.name()))
            .hint("Run `tow memories --held-back --all-projects` to see what is."));
    }
    let released = archive.as_one(|| {
        let each =
            memories.iter().map(|memory| archive.quarantine_memory(memory.number, None, scope.env.now));
        each.collect::<Result<Vec<_>, _>>()
    });
    released.map_err(failed)?;
    let after = memories_named(archive, &arguments.ids)?;
    if arguments.json {
        let all: Vec<Value> = after.iter().map(memory_json).collect();
        scope.out.line(&json!({"memories": all}).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    for memory in &memories {
        let reason = for_terminal(memory.quarantine.as_deref().unwrap_or_default());
        let title = for_terminal(&memory.content.title);
        scope.out.line(&format!("{} is released (it was held back: {reason}): {title}", memory.name()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Agents may not release memories that are held back from them.
fn refuse_agents(scope: &Scope) -> Result<(), Failure> {
    let caller = live::store(&scope.env)?.map(|store| ownership::of_caller(&store)).transpose()?.flatten();
    match caller {
        Some(_) => Err(Failure::input("only a person can release what is held back, and an agent runs this")
            .hint("Run it in a terminal of your own.")),
        None => Ok(()),
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not release it", &error).hint("Run `tow doctor`.")
}
