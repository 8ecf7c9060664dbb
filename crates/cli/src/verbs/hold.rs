//! `tow hold`: withholds a memory from every model until it is released.
//!
//! Deletes nothing: the user still finds the memory, and `tow release` makes it available again.

use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_engine::memory::remember::{memories_named, open};
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::plain;
use towline_render::memory_json;
use towline_store::StoreError;

const EXAMPLES: &str = "\
Examples:
  tow hold m12                              no model is given it from now on
  tow hold m12 --because 'true only for the old server'
  tow memories --held-back                  what is held back
  tow release m12                           give it to models again";

/// Keep memories from every model until they are released.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Which: m12.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The reason if `--because` is not given.
const USUAL: &str = "a person holds it back";

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let writing = open(&scope.env)?;
    let archive = &writing.archive;
    let memories = memories_named(archive, &arguments.ids)?;
    if let Some(held) = memories.iter().find(|memory| memory.quarantine.is_some()) {
        return Err(Failure::input(format!("{} is held back already", held.name()))
            .hint(format!("Run `tow show {}` to see why.", held.name())));
    }
    let why =
        plain(arguments.because.as_deref().map(str::trim).filter(|why| !why.is_empty()).unwrap_or(USUAL));
    let held = archive.as_one(|| {
        let each =
            memories.iter().map(|memory| archive.quarantine_memory(memory.number, Some(&why), scope.env.now));
        each.collect::<Result<Vec<_>, _>>()
    });
    held.map_err(failed)?;
    if arguments.json {
        let all: Vec<Value> = memories_named(archive, &arguments.ids)?.iter().map(memory_json).collect();
        scope.out.line(&json!({"memories": all}).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    for memory in &memories {
        let (id, title) = (memory.name(), for_terminal(&memory.content.title));
        scope.out.line(&format!("{id} is held back from models: {title}; `tow release {id}` gives it back"));
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not hold it back", &error).hint("Run `tow doctor`.")
}
