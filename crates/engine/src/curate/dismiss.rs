//! A model asks to forget a memory: the memory is held back, and the user can bring it back.
//!
//! Refuses memories of other projects and those that the user wrote, edited or pinned. Erases nothing.

use super::Actor;
use crate::capture::Wishes;
use crate::memory::remember::{is_memory_id, memories_named, open};
use crate::query::unreadable_data;
use crate::runtime::env::current_folder;
use crate::runtime::text::plain_text;
use crate::runtime::{Env, Failure};
use towline_core::escape::fit_to_width;
use towline_core::memory::{Memory, MemoryTrust};
use towline_store::Archive;

/// Longest quote of a model's input in an error, in columns.
const LONGEST_SHOWN: usize = 80;

/// Holds one memory of the project back from every model, and returns it as it is afterwards.
pub fn dismiss(env: &Env, actor: &Actor, id: &str) -> Result<Memory, Failure> {
    if !is_memory_id(id) {
        let shown = fit_to_width(&plain_text(id), LONGEST_SHOWN);
        return Err(Failure::input(format!("`{shown}` is no memory: only memories can be forgotten here"))
            .hint("Give a whole id such as m12."));
    }
    let ids = [id.to_owned()];
    let writing = open(env)?;
    let archive = &writing.archive;
    for memory in memories_named(archive, &ids)? {
        if let Some(why) = objection(env, archive, &memory)?.filter(|_| !actor.is_person()) {
            return Err(Failure::input(format!("{id} stays: {why}")).hint(format!(
                "The user can run `tow data forget {id}` or `tow memory hold {id}` in a terminal."
            )));
        }
        archive
            .quarantine_memory(memory.number, Some("an agent asked to forget it"), env.now)
            .map_err(unreadable_data)?;
    }
    let after = memories_named(archive, &ids)?.pop();
    after.ok_or_else(|| Failure::input(format!("{id} is gone")))
}

/// Why a model may not dismiss it.
fn objection(env: &Env, archive: &Archive, memory: &Memory) -> Result<Option<&'static str>, Failure> {
    let wishes = Wishes::load(env)?;
    let here = current_folder().map(|folder| archive.project(&wishes.traces(&folder)));
    let here = here.transpose().map_err(unreadable_data)?.flatten();
    let project = archive.memory_project(memory.number).map_err(unreadable_data)?;
    let is_curated = archive.is_curated(memory.number).map_err(unreadable_data)?;
    Ok(match memory {
        _ if here.is_none() || project != here => Some("it belongs to another project"),
        _ if memory.person.is_some() => Some("it is a teammate's"),
        _ if memory.trust == MemoryTrust::Person => Some("the user wrote it"),
        _ if memory.pinned_at.is_some() || is_curated => Some("the user edited, pinned or released it"),
        _ if memory.quarantine.is_some() => Some("it is held back from every model already"),
        _ => None,
    })
}
