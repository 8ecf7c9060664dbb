//! Resolves a transcript by its path, or by the beginning or end of its session's id.
//!
//! Never guesses: an ambiguous name is an error that lists all candidates.

use crate::runtime::text::plain_text;
use crate::runtime::{Failure, variable};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use towline_agents::Agent;
use towline_agents::repair::RepairOptions;

/// A transcript and its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub agent: Agent,
    pub path: PathBuf,
}

impl Subject {
    /// The session's id, which is the file's name.
    pub fn id(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

pub fn named(name: &str) -> Result<Subject, Failure> {
    let agent = mendable().next().ok_or_else(|| Failure::input("no agent's transcripts can be repaired"))?;
    if Path::new(name).is_file() {
        return Ok(Subject { agent, path: name.into() });
    }
    let id = name.rsplit(':').next().unwrap_or(name);
    let is_meant = |subject: &Subject| {
        let own = subject.id();
        !id.is_empty() && (own.starts_with(id) || own.ends_with(id))
    };
    let mut found: Vec<Subject> = all().into_iter().filter(is_meant).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Failure::input(format!("no transcript's id begins or ends with `{}`", plain_text(name)))
            .hint("Run `tow session repair --list --recent 100`, or give the path of a transcript.")),
        _ => {
            let paths: Vec<String> = found.iter().map(|one| one.path.display().to_string()).collect();
            Err(Failure::input(format!(
                "`{}` fits several transcripts: {}",
                plain_text(name),
                paths.join(", ")
            ))
            .hint("Give more of the id, or the path."))
        }
    }
}

/// The most recently written transcripts, newest first.
pub fn recent(most: usize) -> Vec<Subject> {
    let written = |subject: &Subject| fs::metadata(&subject.path).and_then(|meta| meta.modified());
    let mut all: Vec<(SystemTime, Subject)> =
        all().into_iter().filter_map(|subject| Some((written(&subject).ok()?, subject))).collect();
    all.sort_by(|(one, a), (other, b)| (other, &b.path).cmp(&(one, &a.path)));
    all.into_iter().take(most).map(|(_, subject)| subject).collect()
}

fn all() -> Vec<Subject> {
    let of = |agent: Agent| {
        let files = agent.folder(&variable).map(|folder| agent.transcripts(&folder)).unwrap_or_default();
        files.into_iter().filter(|path| !is_subagents(path)).map(move |path| Subject { agent, path })
    };
    mendable().flat_map(of).collect()
}

fn mendable() -> impl Iterator<Item = Agent> {
    let wish = RepairOptions { every: 1, marker: "" };
    Agent::ALL.into_iter().filter(move |agent| agent.repair_transcript(b"", wish).is_some())
}

/// A subagent's transcript is no session that could be resumed.
fn is_subagents(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"))
}
