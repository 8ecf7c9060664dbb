//! Counts the files, commits and tokens of a range of a session's turns.
//!
//! Reads the archive only. It must not write or format anything.

use super::past::{Past, unreadable_data};
use crate::runtime::Failure;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use towline_core::capture::FileAccess;
use towline_core::deed::Commit;
use towline_store::archive::{Conversation, ModelUsage};

pub struct Figures {
    /// By path; changed wins over read.
    pub files: BTreeMap<String, FileAccess>,
    pub commits: Vec<Commit>,
    pub usage: Vec<ModelUsage>,
}

pub fn figures(past: &Past, of: &Conversation, turns: RangeInclusive<u32>) -> Result<Figures, Failure> {
    let archive = &past.archive;
    let mut files: BTreeMap<String, FileAccess> = BTreeMap::new();
    for file in archive.files(of, turns.clone()).map_err(unreadable_data)? {
        let known = files.entry(file.path).or_insert(file.how);
        *known = (*known).max(file.how);
    }
    let commits = archive.commits(of, turns.clone()).map_err(unreadable_data)?;
    let usage = archive.usage(of, turns).map_err(unreadable_data)?;
    Ok(Figures { files, commits, usage })
}
