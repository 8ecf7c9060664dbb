//! Detects memories that may no longer hold: files deleted or changed, commits that are not in this branch.
//!
//! Checks few files. Runs `git` at most once and only for memories from another branch: an agent waits.

use super::Asker;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use towline_core::capture::FileAccess;
use towline_core::memory::{Citation, Memory};
use towline_terminal::repository;

/// A memory may be stored before its turn's last change to a file.
const LATE_MS: i64 = 600_000;

/// The number of files checked per memory, and of commits per `git` call.
const FILES: usize = 3;
const COMMITS: usize = 64;

/// The state of the checkout to compare memories with.
pub struct Staleness {
    /// The base folders for relative paths.
    folders: Vec<PathBuf>,
    /// Commits that are not in the current branch.
    elsewhere: Vec<String>,
}

impl Staleness {
    pub fn of<'m>(memories: impl Iterator<Item = &'m Memory>, asker: Asker<'_>) -> Staleness {
        let folders = folders(asker);
        let branch = asker.project.and_then(|traces| traces.branch.as_deref());
        let sources = memories.filter_map(|memory| memory.source.as_ref());
        let foreign = sources.filter(|source| source.branch.is_some() && source.branch.as_deref() != branch);
        let commits: Vec<&str> =
            foreign.filter_map(|source| source.commit.as_deref()).take(COMMITS).collect();
        let ask = |folder: &PathBuf| repository::elsewhere(folder, &commits);
        let elsewhere = folders.first().map(ask).unwrap_or_default();
        Staleness { elsewhere: elsewhere.into_iter().map(str::to_owned).collect(), folders }
    }

    /// The reason why a memory may be stale, or `None`.
    pub fn why(&self, memory: &Memory) -> Option<String> {
        self.changed_file(memory).or_else(|| self.other_branch(memory.source.as_ref()?))
    }

    fn changed_file(&self, memory: &Memory) -> Option<String> {
        let files = memory.content.files.iter().filter(|(_, how)| *how == FileAccess::Changed);
        files.take(FILES).find_map(|(path, _)| {
            let found = self.folders.iter().find_map(|folder| fs::metadata(folder.join(path)).ok());
            let Some(meta) = found else { return Some(format!("{path} is gone")) };
            let written = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            let is_newer = i64::try_from(written.as_millis()).ok()? > memory.changed_at.plus_ms(LATE_MS).0;
            is_newer.then(|| format!("{path} was changed since"))
        })
    }

    fn other_branch(&self, source: &Citation) -> Option<String> {
        let (commit, branch) = (source.commit.as_ref()?, source.branch.as_ref()?);
        let short: String = commit.chars().take(9).collect();
        self.elsewhere.contains(commit).then(|| format!("commit {short} of {branch} is not in this branch"))
    }
}

/// The session's folder and the top of the repository, whose root all worktrees share.
fn folders(asker: Asker<'_>) -> Vec<PathBuf> {
    let root = asker.project.map(|traces| Path::new(&traces.root));
    let top = root.and_then(|root| if root.ends_with(".git") { root.parent() } else { Some(root) });
    asker.folder.map(PathBuf::from).into_iter().chain(top.map(Path::to_owned)).collect()
}
