//! Which memory is meant, and the archive opened to change it.
//!
//! A name is `m12`. What is not there is a mistake that says how to find what is.

use crate::runtime::archive;
use crate::runtime::archive::Writable;
use crate::runtime::env::Env;
use crate::runtime::failure::Failure;
use crate::runtime::text::plain;
use std::time::Duration;
use towline_core::memory::{Memory, name, number};
use towline_store::{Archive, StoreError};

/// How long a person waits for whoever else writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// The archive, to be changed for a person who waits.
pub fn open(env: &Env) -> Result<Writable, Failure> {
    let opened = archive::open(env, PATIENCE).map_err(|error| failed(&error))?;
    opened.ok_or_else(|| {
        Failure::busy("another process writes what is kept").hint("Wait for it, then run this again.")
    })
}

fn failed(error: &StoreError) -> Failure {
    Failure::about("could not change what is remembered", error).hint("Run `tow doctor`.")
}

/// Whether this is the name of a memory and nothing else: digits alone may be a session's.
pub fn is_memory_id(text: &str) -> bool {
    text.starts_with(['m', 'M']) && number(text).is_some()
}

/// The numbers that names stand for.
pub fn numbers(names: &[String]) -> Result<Vec<i64>, Failure> {
    let each = |name: &String| {
        number(name).ok_or_else(|| {
            Failure::input(format!("`{}` is no memory", plain(name)))
                .hint("Memories are called m1, m2 and so on; `tow memories` lists them.")
        })
    };
    names.iter().map(each).collect()
}

/// The memories that names stand for; all of them, or a mistake.
pub fn memories_named(archive: &Archive, names: &[String]) -> Result<Vec<Memory>, Failure> {
    let each = |number: i64| {
        let found = archive.memory(number).map_err(|error| failed(&error))?;
        found.ok_or_else(|| no_memory(number))
    };
    numbers(names)?.into_iter().map(each).collect()
}

pub fn no_memory(number: i64) -> Failure {
    Failure::input(format!("there is no memory {}", name(number)))
        .hint("Run `tow memories --all --all-projects` to see those there are.")
}
