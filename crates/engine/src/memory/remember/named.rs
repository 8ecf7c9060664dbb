//! Resolves memory names such as `m12`, and opens the archive to change them.
//!
//! An unknown name is an error that says how to list the existing ones.

use crate::runtime::archive::Writable;
use crate::runtime::text::plain_text;
use crate::runtime::{Env, Failure, archive};
use std::time::Duration;
use towline_core::memory::{Memory, MemoryType, name, number};
use towline_store::{Archive, StoreError};

/// How long a user waits for another writer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Opens the archive for writing while a user waits.
pub fn open(env: &Env) -> Result<Writable, Failure> {
    let opened = archive::open(env, PATIENCE).map_err(|error| failed(&error))?;
    opened.ok_or_else(|| {
        Failure::busy("another process writes what is kept").hint("Wait for it, then run this again.")
    })
}

fn failed(error: &StoreError) -> Failure {
    Failure::about("could not change what is remembered", error).hint("Run `tow doctor`.")
}

/// Whether this can only be the name of a memory: digits alone may be a session id.
pub fn is_memory_id(text: &str) -> bool {
    text.starts_with(['m', 'M']) && number(text).is_some()
}

pub fn numbers(names: &[String]) -> Result<Vec<i64>, Failure> {
    let each = |name: &String| {
        number(name).ok_or_else(|| {
            Failure::input(format!("`{}` is no memory", plain_text(name)))
                .hint("Memories are called m1, m2 and so on; `tow memory list` lists them.")
        })
    };
    names.iter().map(each).collect()
}

/// Loads all named memories, or fails if one does not exist.
pub fn memories_named(archive: &Archive, names: &[String]) -> Result<Vec<Memory>, Failure> {
    let each = |number: i64| {
        let found = archive.memory(number).map_err(|error| failed(&error))?;
        found.ok_or_else(|| no_memory(number))
    };
    numbers(names)?.into_iter().map(each).collect()
}

pub fn no_memory(number: i64) -> Failure {
    Failure::input(format!("there is no memory {}", name(number)))
        .hint("Run `tow memory list --all --all-projects` to see those there are.")
}

/// The type that a word names.
pub fn type_named(word: &str) -> Result<MemoryType, Failure> {
    let known: Vec<&str> = MemoryType::KNOWN.iter().map(|(known, _)| *known).collect();
    MemoryType::parse(word).ok_or_else(|| {
        Failure::input(format!("`{}` is no type of a memory", plain_text(word)))
            .hint(format!("Give one word: {}, or one of your own.", known.join(", ")))
    })
}
