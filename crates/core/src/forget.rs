//! The record of erased content, which must not be captured again, and the text searched for to erase it.
//!
//! Agents' transcripts still contain what was erased here. The record consists of marks and time ranges only, never of
//! erased text.

mod needle;

pub use needle::ForgetText;

use crate::id::{IdHash, SessionKey};
use crate::project::ProjectIdentity;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A time range, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeRange {
    pub from: Timestamp,
    pub until: Timestamp,
}

impl TimeRange {
    pub fn holds(&self, at: Timestamp) -> bool {
        (self.from..=self.until).contains(&at)
    }

    /// Whether `other` lies within this range.
    pub fn covers(&self, other: TimeRange) -> bool {
        self.from <= other.from && other.until <= self.until
    }
}

/// All erased content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    sessions: BTreeMap<SessionKey, ForgottenInSession>,
    projects: BTreeSet<(IdHash, TimeRange)>,
    everyone: BTreeSet<TimeRange>,
    /// Marks of their ids and of their text.
    memories: BTreeSet<IdHash>,
    /// Lines written by a newer version, preserved verbatim.
    unknown: BTreeSet<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ForgottenInSession {
    /// By the mark of the prompt; the range identifies the pieces of the turn's subagents.
    turns: BTreeMap<IdHash, TimeRange>,
    pieces: BTreeSet<IdHash>,
    stretches: BTreeSet<TimeRange>,
    /// The folder and project names contained erased text.
    is_placeless: bool,
}

impl Forgotten {
    pub fn is_empty(&self) -> bool {
        *self == Forgotten::default()
    }

    /// Adds a whole turn: its prompt and everything after it.
    pub fn add_turn(&mut self, session: &SessionKey, mark: IdHash, stretch: TimeRange) {
        self.session(session).turns.insert(mark, stretch);
    }

    /// Adds one message or tool call.
    pub fn add_piece(&mut self, session: &SessionKey, mark: IdHash) {
        self.session(session).pieces.insert(mark);
    }

    /// Adds everything of a session in a time range.
    pub fn add_stretch(&mut self, session: &SessionKey, stretch: TimeRange) {
        self.session(session).stretches.insert(stretch);
    }

    /// Adds a session's folder and project.
    pub fn add_place(&mut self, session: &SessionKey) {
        self.session(session).is_placeless = true;
    }

    /// Adds everything of a project in a time range.
    pub fn add_project(&mut self, project: &[IdHash], stretch: TimeRange) {
        self.projects.extend(project.iter().map(|mark| (*mark, stretch)));
    }

    /// Adds everything of all sessions in a time range.
    pub fn add_everyone(&mut self, stretch: TimeRange) {
        self.everyone.insert(stretch);
    }

    /// Adds a memory, by a mark of its id or text.
    pub fn add_memory(&mut self, mark: IdHash) {
        self.memories.insert(mark);
    }

    pub fn is_memory_erased(&self, mark: IdHash) -> bool {
        self.memories.contains(&mark)
    }

    fn session(&mut self, session: &SessionKey) -> &mut ForgottenInSession {
        self.sessions.entry(session.clone()).or_default()
    }

    pub fn merge(&mut self, other: Forgotten) {
        for (session, more) in other.sessions {
            let entry = self.sessions.entry(session).or_default();
            entry.turns.extend(more.turns);
            entry.pieces.extend(more.pieces);
            entry.stretches.extend(more.stretches);
            entry.is_placeless |= more.is_placeless;
        }
        self.projects.extend(other.projects);
        self.everyone.extend(other.everyone);
        self.memories.extend(other.memories);
        self.unknown.extend(other.unknown);
    }

    /// The erased parts of a session of this project; `None` if there are none.
    pub fn of(&self, session: &SessionKey, project: &[IdHash]) -> Option<ForgottenParts<'_>> {
        let own = self.sessions.get(session);
        let of_project = self.projects.iter().filter(|(mark, _)| project.contains(mark)).map(|it| &it.1);
        let of_session = own.into_iter().flat_map(|own| &own.stretches);
        let stretches: Vec<TimeRange> = of_session.chain(of_project).chain(&self.everyone).copied().collect();
        (own.is_some() || !stretches.is_empty()).then_some(ForgottenParts { own, stretches })
    }

    /// The inverse of `Display`. Lines that this version does not know are preserved.
    pub fn parse(text: &str) -> Forgotten {
        let mut all = Forgotten::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if all.parse_line(line).is_none() {
                all.unknown.insert(line.to_owned());
            }
        }
        all
    }

    fn parse_line(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let mark = |word: &str| word.parse().ok().map(IdHash);
        let session = |word: &str| SessionKey::parse(word).ok();
        match words.as_slice() {
            ["turn", key, of, from, until] => {
                self.add_turn(&session(key)?, mark(of)?, stretch(from, until)?);
            }
            ["piece", key, of] => self.add_piece(&session(key)?, mark(of)?),
            ["place", key] => self.add_place(&session(key)?),
            ["session", key, from, until] => self.add_stretch(&session(key)?, stretch(from, until)?),
            ["project", of, from, until] => self.add_project(&[mark(of)?], stretch(from, until)?),
            ["all", from, until] => self.add_everyone(stretch(from, until)?),
            ["memory", of] => self.add_memory(mark(of)?),
            _ => return None,
        }
        Some(())
    }
}

fn stretch(from: &str, until: &str) -> Option<TimeRange> {
    let time = |word: &str| word.parse().ok().map(Timestamp);
    Some(TimeRange { from: time(from)?, until: time(until)? })
}

impl fmt::Display for TimeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.from.0, self.until.0)
    }
}

impl fmt::Display for Forgotten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, own) in &self.sessions {
            for (mark, stretch) in &own.turns {
                writeln!(f, "turn {key} {} {stretch}", mark.0)?;
            }
            for mark in &own.pieces {
                writeln!(f, "piece {key} {}", mark.0)?;
            }
            for stretch in &own.stretches {
                writeln!(f, "session {key} {stretch}")?;
            }
            if own.is_placeless {
                writeln!(f, "place {key}")?;
            }
        }
        for (mark, stretch) in &self.projects {
            writeln!(f, "project {} {stretch}", mark.0)?;
        }
        for stretch in &self.everyone {
            writeln!(f, "all {stretch}")?;
        }
        for mark in &self.memories {
            writeln!(f, "memory {}", mark.0)?;
        }
        self.unknown.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// The marks that identify a project: of its root and of its remote.
pub fn project_marks(root: &str, remote: Option<&str>) -> Vec<IdHash> {
    std::iter::once(root).chain(remote).map(IdHash::of).collect()
}

/// The project marks of a folder's traces.
pub fn marks_of(traces: &ProjectIdentity) -> Vec<IdHash> {
    project_marks(&traces.root, traces.remote.as_deref())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceSource {
    Session,
    /// A subagent's pieces do not name their turn.
    Subagent,
}

impl PieceSource {
    pub fn of<Id>(subagent: Option<Id>) -> PieceSource {
        if subagent.is_some() { PieceSource::Subagent } else { PieceSource::Session }
    }
}

/// The erased parts of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgottenParts<'a> {
    own: Option<&'a ForgottenInSession>,
    stretches: Vec<TimeRange>,
}

impl ForgottenParts<'_> {
    /// Whether the turn of this prompt was erased, with everything after the prompt.
    pub fn is_turn_erased(&self, mark: IdHash, at: Timestamp) -> bool {
        self.own.is_some_and(|own| own.turns.contains_key(&mark)) || self.is_in_stretch(at)
    }

    pub fn is_piece_erased(&self, mark: IdHash, at: Timestamp, whose: PieceSource) -> bool {
        self.own.is_some_and(|own| own.pieces.contains(&mark)) || self.is_time_erased(at, whose)
    }

    /// Whether everything at this time was erased.
    pub fn is_time_erased(&self, at: Timestamp, whose: PieceSource) -> bool {
        let in_turn = |own: &ForgottenInSession| own.turns.values().any(|turn| turn.holds(at));
        self.is_in_stretch(at) || (whose == PieceSource::Subagent && self.own.is_some_and(in_turn))
    }

    /// Whether the session's folder and project were erased.
    pub fn is_folder_erased(&self) -> bool {
        self.own.is_some_and(|own| own.is_placeless)
    }

    fn is_in_stretch(&self, at: Timestamp) -> bool {
        self.stretches.iter().any(|stretch| stretch.holds(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> SessionKey {
        SessionKey::parse(&format!("agent:{id}")).unwrap()
    }

    fn between(from: i64, until: i64) -> TimeRange {
        TimeRange { from: Timestamp(from), until: Timestamp(until) }
    }

    #[test]
    fn the_record_parses_back_and_a_newer_versions_lines_stay() {
        let mut all = Forgotten::default();
        all.add_turn(&key("a"), IdHash::of("p1"), between(5, 9));
        all.add_piece(&key("a"), IdHash::of("x"));
        all.add_place(&key("a"));
        all.add_stretch(&key("b"), between(0, 7));
        all.add_project(&project_marks("/r", Some("git@x:y")), between(0, 8));
        all.add_everyone(between(3, 4));
        all.add_memory(IdHash::of("m"));
        let text = format!("{all}memory 12 of a newer version\n");
        let read = Forgotten::parse(&text);
        assert_eq!(read.to_string(), text);
        assert!(read.is_memory_erased(IdHash::of("m")) && !read.is_memory_erased(IdHash::of("n")));
        let mut merged = Forgotten::default();
        merged.merge(read.clone());
        merged.merge(all);
        assert_eq!(merged, read);
    }

    #[test]
    fn a_forgotten_turn_includes_its_subagents_and_leaves_its_neighbours() {
        let mut all = Forgotten::default();
        all.add_turn(&key("a"), IdHash::of("p1"), between(5, 9));
        let gone = all.of(&key("a"), &[]).unwrap();
        assert!(gone.is_turn_erased(IdHash::of("p1"), Timestamp(5)));
        assert!(!gone.is_turn_erased(IdHash::of("p2"), Timestamp(9)));
        assert!(gone.is_piece_erased(IdHash::of("h"), Timestamp(7), PieceSource::Subagent));
        assert!(!gone.is_piece_erased(IdHash::of("h"), Timestamp(7), PieceSource::Session));
        assert_eq!(all.of(&key("b"), &[]), None);
    }

    #[test]
    fn a_project_is_known_by_its_root_or_its_remote_until_the_time_it_was_forgotten() {
        let mut all = Forgotten::default();
        all.add_project(&project_marks("/r", Some("git@x:y")), between(0, 8));
        let moved = all.of(&key("a"), &project_marks("/moved", Some("git@x:y"))).unwrap();
        assert!(moved.is_turn_erased(IdHash::of("p"), Timestamp(8)));
        assert!(!moved.is_turn_erased(IdHash::of("p"), Timestamp(9)));
        assert_eq!(all.of(&key("a"), &project_marks("/other", None)), None);
    }
}
