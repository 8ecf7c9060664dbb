//! `tow hub private`: keeps a memory on this machine even if its project is shared.
//!
//! Deletes nothing here; a memory that was shared already is withdrawn, and other machines drop it.

use super::common::not_changed;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_core::escape::escape_for_terminal;
use towline_core::share::Visibility;
use towline_engine::memory::remember::{memories_named, open};
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow hub private m12 m15
  tow hub private --off m12      shared again, with the rest of its project";

/// Keep memories to this machine.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Which: m12.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Share them again.
    #[arg(long)]
    off: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let writing = open(&scope.env)?;
    let archive = &writing.archive;
    let memories = memories_named(archive, &arguments.ids)?;
    if let Some(foreign) = memories.iter().find(|memory| memory.person.is_some()) {
        return Err(Failure::input(format!("{} is not yours", foreign.name()))
            .hint("Its own person can withdraw it; `tow data forget` erases it for all."));
    }
    let (presence, state) = match arguments.off {
        false => (Visibility::Withdrawn, "stays here"),
        true => (Visibility::Shared, "is shared with its project"),
    };
    let change = || {
        memories
            .iter()
            .try_for_each(|memory| archive.keep_private(memory.number, presence, scope.env.now).map(drop))
    };
    archive.in_transaction(change).map_err(not_changed)?;
    if arguments.json {
        let ids: Vec<String> = memories.iter().map(towline_core::memory::Memory::name).collect();
        scope.out.json(&json!({"memories": ids, "private": !arguments.off}));
        return Ok(());
    }
    for memory in &memories {
        scope.out.line(&format!("{} {state}: {}", memory.name(), escape_for_terminal(&memory.content.title)));
    }
    Ok(())
}
