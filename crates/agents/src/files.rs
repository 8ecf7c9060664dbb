//! Locates the agents' transcripts.
//!
//! Lists files, and opens none. An unreadable folder counts as empty.

use crate::adapter::{SubagentFiles, Variable};
use crate::agent::Agent;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use towline_core::id::SessionId;

/// Deeper folders hold no transcripts.
const DEEPEST: usize = 6;

impl Agent {
    /// All transcripts below the agent's folder: sessions before subagents, older names first.
    pub fn transcripts(self, folder: &Path) -> Vec<PathBuf> {
        let mut found = vec![];
        for place in self.adapter().transcript.places {
            collect(&folder.join(place), DEEPEST, &mut found);
        }
        found.retain(|path| self.is_transcript(path));
        found.sort_by_cached_key(|path| {
            (is_subagent(path), path.file_name().map(ToOwned::to_owned), path.clone())
        });
        found
    }

    /// The database that holds the agent's sessions, for agents that write no transcripts.
    pub fn database(self, variable: Variable<'_>) -> Option<PathBuf> {
        let (folder, file) = self.adapter().transcript.database?;
        Some(folder.path(variable)?.join(file))
    }

    /// The transcript of this session, for agents whose payloads do not name it.
    pub fn transcript_of(self, session: &SessionId, variable: Variable<'_>) -> Option<PathBuf> {
        if let Some(database) = self.database(variable) {
            return Some(session_in(&database, session.as_str()));
        }
        let of_session = self.adapter().transcript.of_session?;
        Some(of_session(&self.folder(variable)?, session.as_str()))
    }

    /// All transcripts without those of subagents.
    pub fn main_transcripts(self, folder: &Path) -> Vec<PathBuf> {
        let mut found = self.transcripts(folder);
        found.retain(|path| !is_subagent(path));
        found
    }

    /// The transcripts of a session's subagents. Some agents store them separately, under names of their own.
    pub fn subagent_transcripts(self, transcript: &Path) -> Vec<PathBuf> {
        match self.adapter().transcript.subagents {
            SubagentFiles::Below => {
                let mut found = vec![];
                collect(&transcript.with_extension("").join(SUBAGENTS), 2, &mut found);
                found.retain(|path| self.is_transcript(path));
                found.sort();
                found
            }
            SubagentFiles::Beside | SubagentFiles::Inside | SubagentFiles::Unread => vec![],
            SubagentFiles::InSiblingFolder => {
                let session = transcript.file_stem().unwrap_or_default();
                let project = transcript.parent().and_then(Path::parent).unwrap_or(Path::new(""));
                let mut found = vec![];
                collect(&project.join(SUBAGENTS).join(session), 0, &mut found);
                found.retain(|path| self.is_transcript(path));
                found.sort();
                found
            }
        }
    }

    /// The transcripts of the session whose subagent wrote this one.
    pub fn session_transcripts(self, subagent: &Path, session: &str) -> Vec<PathBuf> {
        let above = |names: &[&str]| {
            let is_named =
                |folder: &&Path| folder.file_name().is_some_and(|name| names.iter().any(|it| name == *it));
            subagent.ancestors().find(is_named).and_then(Path::parent)
        };
        let transcripts = &self.adapter().transcript;
        match transcripts.subagents {
            SubagentFiles::Below => {
                above(&[SUBAGENTS]).map(|folder| folder.with_extension("jsonl")).into_iter().collect()
            }
            SubagentFiles::Beside => {
                let mut all =
                    above(transcripts.places).map(|folder| self.transcripts(folder)).unwrap_or_default();
                let is_of = |path: &PathBuf| {
                    path.file_stem().and_then(OsStr::to_str).is_some_and(|name| name.ends_with(session))
                };
                all.retain(is_of);
                all
            }
            SubagentFiles::Unread => vec![],
            SubagentFiles::InSiblingFolder => {
                let file = |folder: &Path| folder.join(SESSIONS).join(format!("{session}.jsonl"));
                above(&[SUBAGENTS]).map(file).into_iter().collect()
            }
            SubagentFiles::Inside => vec![],
        }
    }

    fn is_transcript(self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        let is_lines = path.extension().is_some_and(|extension| extension == "jsonl");
        is_lines && (self.adapter().transcript.is_named)(name)
    }
}

/// How the name of a database may end.
pub(crate) const DATABASES: [&str; 3] = [".db", ".sqlite", ".sqlite3"];

/// The path that stands for a session in a database: `FILE.db#SESSION`.
pub fn session_in(database: &Path, session: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(format!("{SESSION_MARK}{session}"));
    path.into()
}

/// The database and the session in it that such a path stands for.
pub fn database_session(path: &Path) -> Option<(PathBuf, &str)> {
    let (database, session) = path.to_str()?.rsplit_once(SESSION_MARK)?;
    let is_database = DATABASES.iter().any(|ending| database.ends_with(ending));
    (is_database && !session.contains('/')).then(|| (PathBuf::from(database), session))
}

const SESSION_MARK: char = '#';

const SUBAGENTS: &str = "subagents";
/// The folder of sessions beside that of their subagents.
const SESSIONS: &str = "chats";

fn is_subagent(path: &Path) -> bool {
    path.ancestors().skip(1).take(2).any(|folder| folder.file_name().is_some_and(|name| name == SUBAGENTS))
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => collect(&entry.path(), depth - 1, found),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            // Symbolic links are not followed: they may form a cycle.
            Ok(_) | Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_are_found_and_those_of_subagents_come_last() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            "projects/-p/11111111.jsonl",
            "projects/-p/11111111/subagents/agent-a1.jsonl",
            "projects/-p/11111111/tool-results/x.txt",
            "projects/-p/00000000.jsonl",
            "sessions/2026/11/15/rollout-2026-11-15T00-28-04-2.jsonl",
            "sessions/2026/11/14/rollout-2026-11-14T00-28-04-1.jsonl",
            "archived_sessions/rollout-2026-11-13T00-28-04-0.jsonl",
            "sessions/other.jsonl",
            "tmp/project/chats/session-2026-11-16T17-59-214e8b45.jsonl",
            "tmp/project/chats/214e8b45-120d-4b18-8ac3-91290ddfa276/generalist-1.jsonl",
            "session-state/00000001/events.jsonl",
            "session-state/00000001/checkpoints/other.jsonl",
        ];
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = |agent: Agent| {
            let paths = agent.transcripts(folder.path()).into_iter();
            paths
                .map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(found(Agent::Claude), [files[3], files[0], files[1]]);
        assert_eq!(found(Agent::Codex), [files[6], files[5], files[4]]);
        assert_eq!(found(Agent::Gemini), [files[8]]);
        assert_eq!(found(Agent::Copilot), [files[10]]);
        let own = |name: &str| (name == "COPILOT_HOME").then(|| folder.path().display().to_string());
        let id = SessionId::parse("00000001").unwrap();
        assert_eq!(Agent::Copilot.transcript_of(&id, &own).unwrap(), folder.path().join(files[10]));
        assert_eq!(Agent::Claude.transcript_of(&id, &own), None);
        assert_eq!(
            Agent::Claude.subagent_transcripts(&folder.path().join(files[0])),
            [folder.path().join(files[1])]
        );
        let session =
            |agent: Agent, file: &str, id: &str| agent.session_transcripts(&folder.path().join(file), id);
        assert_eq!(session(Agent::Claude, files[1], "11111111"), [folder.path().join(files[0])]);
        assert_eq!(session(Agent::Codex, files[4], "04-1"), [folder.path().join(files[5])]);
    }
}
