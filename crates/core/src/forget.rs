//! What was forgotten and must not be captured again, and the text that is looked for to be forgotten.
//!
//! The agents' transcripts still hold what was erased here. What must stay away is known by marks and stretches of time
//! alone: no text that was forgotten is ever part of it.

mod needle;

pub use needle::Needle;

use crate::id::{Mark, SessionKey};
use crate::project::ProjectTraces;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A stretch of time, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stretch {
    pub from: Timestamp,
    pub until: Timestamp,
}

impl Stretch {
    pub fn holds(&self, at: Timestamp) -> bool {
        (self.from..=self.until).contains(&at)
    }

    /// Whether all of the other lies in this one.
    pub fn covers(&self, other: Stretch) -> bool {
        self.from <= other.from && other.until <= self.until
    }
}

/// Everything that must not come back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    sessions: BTreeMap<SessionKey, OfSession>,
    projects: BTreeSet<(Mark, Stretch)>,
    everyone: BTreeSet<Stretch>,
    /// By what they are known by: their ids, and their words.
    memories: BTreeSet<Mark>,
    /// Lines of a newer version: kept as they are.
    unknown: BTreeSet<String>,
}

/// What must not come back of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OfSession {
    /// By the mark of the prompt; the stretch is what the turn's helpers are known by.
    turns: BTreeMap<Mark, Stretch>,
    pieces: BTreeSet<Mark>,
    stretches: BTreeSet<Stretch>,
    /// The names of its folder and project held what was forgotten.
    is_placeless: bool,
}

impl Forgotten {
    pub fn is_empty(&self) -> bool {
        *self == Forgotten::default()
    }

    /// A whole turn, with all that followed its prompt.
    pub fn add_turn(&mut self, session: &SessionKey, mark: Mark, stretch: Stretch) {
        self.session(session).turns.insert(mark, stretch);
    }

    /// One thing that was said or done.
    pub fn add_piece(&mut self, session: &SessionKey, mark: Mark) {
        self.session(session).pieces.insert(mark);
    }

    /// All that a session said and did in a stretch of time.
    pub fn add_stretch(&mut self, session: &SessionKey, stretch: Stretch) {
        self.session(session).stretches.insert(stretch);
    }

    /// Where a session worked.
    pub fn add_place(&mut self, session: &SessionKey) {
        self.session(session).is_placeless = true;
    }

    /// All that was said and done in a project in a stretch of time.
    pub fn add_project(&mut self, project: &[Mark], stretch: Stretch) {
        self.projects.extend(project.iter().map(|mark| (*mark, stretch)));
    }

    /// All that anybody said and did in a stretch of time.
    pub fn add_everyone(&mut self, stretch: Stretch) {
        self.everyone.insert(stretch);
    }

    /// A memory, by a mark of it.
    pub fn add_memory(&mut self, mark: Mark) {
        self.memories.insert(mark);
    }

    pub fn is_memory_gone(&self, mark: Mark) -> bool {
        self.memories.contains(&mark)
    }

    fn session(&mut self, session: &SessionKey) -> &mut OfSession {
        self.sessions.entry(session.clone()).or_default()
    }

    pub fn merge(&mut self, other: Forgotten) {
        for (session, more) in other.sessions {
            let known = self.sessions.entry(session).or_default();
            known.turns.extend(more.turns);
            known.pieces.extend(more.pieces);
            known.stretches.extend(more.stretches);
            known.is_placeless |= more.is_placeless;
        }
        self.projects.extend(other.projects);
        self.everyone.extend(other.everyone);
        self.memories.extend(other.memories);
        self.unknown.extend(other.unknown);
    }

    /// What is gone of a session of this project; `None` if nothing is.
    pub fn of(&self, session: &SessionKey, project: &[Mark]) -> Option<Gone<'_>> {
        let own = self.sessions.get(session);
        let of_project = self.projects.iter().filter(|(mark, _)| project.contains(mark)).map(|it| &it.1);
        let of_session = own.into_iter().flat_map(|own| &own.stretches);
        let stretches: Vec<Stretch> = of_session.chain(of_project).chain(&self.everyone).copied().collect();
        (own.is_some() || !stretches.is_empty()).then_some(Gone { own, stretches })
    }

    /// Reads back what was written. A line that says nothing to this version is kept for a newer one.
    pub fn parse(text: &str) -> Forgotten {
        let mut all = Forgotten::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if all.take_line(line).is_none() {
                all.unknown.insert(line.to_owned());
            }
        }
        all
    }

    fn take_line(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let mark = |word: &str| word.parse().ok().map(Mark);
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

fn stretch(from: &str, until: &str) -> Option<Stretch> {
    let time = |word: &str| word.parse().ok().map(Timestamp);
    Some(Stretch { from: time(from)?, until: time(until)? })
}

impl fmt::Display for Stretch {
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

/// What a project is known by here: marks of its root and of its remote.
pub fn project_marks(root: &str, remote: Option<&str>) -> Vec<Mark> {
    std::iter::once(root).chain(remote).map(Mark::of).collect()
}

/// The same from a folder's traces.
pub fn marks_of(traces: &ProjectTraces) -> Vec<Mark> {
    project_marks(&traces.root, traces.remote.as_deref())
}

/// Who said or did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Session,
    /// A helper's pieces do not say in which turn they are.
    Helper,
}

/// What is gone of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone<'a> {
    own: Option<&'a OfSession>,
    stretches: Vec<Stretch>,
}

impl Gone<'_> {
    /// Whether the turn that this prompt begins is gone, with all that follows.
    pub fn is_turn_gone(&self, mark: Mark, at: Timestamp) -> bool {
        self.own.is_some_and(|own| own.turns.contains_key(&mark)) || self.is_then(at)
    }

    pub fn is_piece_gone(&self, mark: Mark, at: Timestamp, whose: Whose) -> bool {
        self.own.is_some_and(|own| own.pieces.contains(&mark)) || self.is_time_gone(at, whose)
    }

    /// Whether all that happened at this time is gone.
    pub fn is_time_gone(&self, at: Timestamp, whose: Whose) -> bool {
        let in_turn = |own: &OfSession| own.turns.values().any(|turn| turn.holds(at));
        self.is_then(at) || (whose == Whose::Helper && self.own.is_some_and(in_turn))
    }

    /// Whether it may not be known where the session worked.
    pub fn is_place_gone(&self) -> bool {
        self.own.is_some_and(|own| own.is_placeless)
    }

    fn is_then(&self, at: Timestamp) -> bool {
        self.stretches.iter().any(|stretch| stretch.holds(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> SessionKey {
        SessionKey::parse(&format!("agent:{id}")).unwrap()
    }

    fn between(from: i64, until: i64) -> Stretch {
        Stretch { from: Timestamp(from), until: Timestamp(until) }
    }

    #[test]
    fn what_is_forgotten_reads_back_and_a_newer_versions_lines_stay() {
        let mut all = Forgotten::default();
        all.add_turn(&key("a"), Mark::of("p1"), between(5, 9));
        all.add_piece(&key("a"), Mark::of("x"));
        all.add_place(&key("a"));
        all.add_stretch(&key("b"), between(0, 7));
        all.add_project(&project_marks("/r", Some("git@x:y")), between(0, 8));
        all.add_everyone(between(3, 4));
        all.add_memory(Mark::of("m"));
        let text = format!("{all}memory 12 of a newer version\n");
        let read = Forgotten::parse(&text);
        assert_eq!(read.to_string(), text);
        assert!(read.is_memory_gone(Mark::of("m")) && !read.is_memory_gone(Mark::of("n")));
        let mut merged = Forgotten::default();
        merged.merge(read.clone());
        merged.merge(all);
        assert_eq!(merged, read);
    }

    #[test]
    fn a_turn_takes_its_helpers_with_it_and_leaves_its_neighbours() {
        let mut all = Forgotten::default();
        all.add_turn(&key("a"), Mark::of("p1"), between(5, 9));
        let gone = all.of(&key("a"), &[]).unwrap();
        assert!(gone.is_turn_gone(Mark::of("p1"), Timestamp(5)));
        assert!(!gone.is_turn_gone(Mark::of("p2"), Timestamp(9)));
        assert!(gone.is_piece_gone(Mark::of("h"), Timestamp(7), Whose::Helper));
        assert!(!gone.is_piece_gone(Mark::of("h"), Timestamp(7), Whose::Session));
        assert_eq!(all.of(&key("b"), &[]), None);
    }

    #[test]
    fn a_project_is_known_by_its_root_or_its_remote_until_the_time_it_was_forgotten() {
        let mut all = Forgotten::default();
        all.add_project(&project_marks("/r", Some("git@x:y")), between(0, 8));
        let moved = all.of(&key("a"), &project_marks("/moved", Some("git@x:y"))).unwrap();
        assert!(moved.is_turn_gone(Mark::of("p"), Timestamp(8)));
        assert!(!moved.is_turn_gone(Mark::of("p"), Timestamp(9)));
        assert_eq!(all.of(&key("a"), &project_marks("/other", None)), None);
    }
}
