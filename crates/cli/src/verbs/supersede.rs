//! `tow supersede`: marks a memory as no longer valid, and names its replacement.
//!
//! Erases nothing: the memory is shown as replaced, no session receives it, and `tow undo` restores it.

use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_core::memory::{Memory, MemoryContent, MemoryDraft, MemoryType, name};
use towline_engine::memory::remember::{memories_named, open};
use towline_engine::runtime::failure::Failure;
use towline_render::memory_json;
use towline_store::{Archive, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow supersede m12 --by m15
  tow supersede m12 --because \"we moved to Valkey\"
  tow undo m12                     it holds again";

/// Mark a memory as no longer valid.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Memory id, such as m12.
    #[arg(value_name = "ID")]
    id: String,
    /// The memory that replaces it.
    #[arg(long, value_name = "ID")]
    by: Option<String>,
    /// The reason.
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let writing = open(&scope.env)?;
    let archive = &writing.archive;
    let old = one(archive, &arguments.id)?;
    let by = arguments.by.as_ref().map(|by| one(archive, by)).transpose()?;
    refuse(archive, &old, by.as_ref())?;
    let why = reason(arguments.because.as_deref().unwrap_or("a person said so"));
    let by = by.map(|by| by.number);
    archive.supersede_memory(old.number, by, scope.env.now, &why).map_err(failed)?;
    let after = one(archive, &arguments.id)?;
    if arguments.json {
        scope.out.line(&json!({"memory": memory_json(&after)}).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    let (id, title) = (after.name(), for_terminal(&after.content.title));
    let instead = by.map_or(String::new(), |by| format!(", {} does", name(by)));
    scope.out.line(&format!("{id} no longer holds{instead}: {title}"));
    scope.out.line(&format!("next: `tow undo {id}` takes that back"));
    Ok(ExitCode::SUCCESS)
}

fn one(archive: &Archive, id: &str) -> Result<Memory, Failure> {
    let mut found = memories_named(archive, &[id.to_owned()])?;
    found.pop().ok_or_else(|| Failure::input("no memory was named").hint("Run `tow memories`."))
}

/// Rejects replacing a memory by itself or by one that it replaced.
fn refuse(archive: &Archive, old: &Memory, by: Option<&Memory>) -> Result<(), Failure> {
    let id = old.name();
    if old.superseded.is_some() {
        return Err(Failure::input(format!("{id} no longer holds already"))
            .hint(format!("Run `tow show {id}` for what took its place, `tow undo {id}` to begin again.")));
    }
    let mut next = by.map(|by| by.number);
    let mut steps = 0;
    while let Some(number) = next {
        if number == old.number || steps > LONGEST_CHAIN {
            return Err(Failure::input(format!("{id} cannot be replaced by itself or by what it replaced"))
                .hint("Run `tow memories --all` to see what replaced what."));
        }
        let memory = archive.memory(number).map_err(failed)?;
        next = memory.and_then(|memory| memory.superseded).and_then(|superseded| superseded.by);
        steps += 1;
    }
    Ok(())
}

/// Longest chain that is followed; real ones are shorter.
const LONGEST_CHAIN: usize = 1_000;

/// The reason as stored: redacted and truncated.
fn reason(raw: &str) -> String {
    let kind = MemoryType::parse("change");
    let content = kind.and_then(|kind| MemoryContent::of(MemoryDraft::new(kind, raw)));
    content.map(|content| content.title.clone()).unwrap_or_default()
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not say that it no longer holds", &error).hint("Run `tow doctor`.")
}
