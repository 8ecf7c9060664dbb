//! A hop: one continuation, from asking for the handoff to the successor that was given it, or to why it stopped.
//!
//! Its stage only ever goes forward. What has ended is never begun again; its handoff stays.

use crate::id::{SessionKey, Uid};
use crate::text::Kept;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Who wrote a handoff, or is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The agent was asked for it.
    Agent,
    /// The agent wrote it into its file in the project.
    File,
    /// Made of what is known, at no cost.
    Mechanical,
    Person,
}

impl Author {
    pub const ALL: [Author; 4] = [Author::Agent, Author::File, Author::Mechanical, Author::Person];

    pub fn name(self) -> &'static str {
        match self {
            Author::Agent => "agent",
            Author::File => "file",
            Author::Mechanical => "mechanical",
            Author::Person => "person",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Author> {
        Author::ALL.into_iter().find(|author| author.name() == name)
    }
}

/// How far a hop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The handoff was asked for.
    Asked,
    /// It is there, and nothing was typed yet.
    Written,
    /// The agent is to begin anew.
    Clearing,
    /// It has; the successor is to go on.
    Continuing,
    /// The successor was prompted and had the handoff.
    Done,
    Failed,
    /// The handoff itself, or a person, said that the work is not to go on.
    Stopped,
}

impl Stage {
    pub const ALL: [Stage; 7] = [
        Stage::Asked,
        Stage::Written,
        Stage::Clearing,
        Stage::Continuing,
        Stage::Done,
        Stage::Failed,
        Stage::Stopped,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Stage::Asked => "asked",
            Stage::Written => "written",
            Stage::Clearing => "clearing",
            Stage::Continuing => "continuing",
            Stage::Done => "done",
            Stage::Failed => "failed",
            Stage::Stopped => "stopped",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// Whether nothing more will become of it.
    pub fn is_over(self) -> bool {
        match self {
            Stage::Asked | Stage::Written | Stage::Clearing | Stage::Continuing => false,
            Stage::Done | Stage::Failed | Stage::Stopped => true,
        }
    }

    /// Only forward, and never from an end.
    pub fn may_become(self, to: Stage) -> bool {
        match to {
            Stage::Asked => false,
            Stage::Written => self == Stage::Asked,
            Stage::Clearing => self == Stage::Written,
            Stage::Continuing => self == Stage::Clearing,
            Stage::Done => self == Stage::Continuing,
            Stage::Failed | Stage::Stopped => !self.is_over(),
        }
    }
}

/// How a hop begins, as it stands in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// The key of the seat.
    pub seat: String,
    /// Who is to write the handoff.
    pub author: Author,
    /// Which one in a row it is, without a person in between.
    pub ordinal: u32,
    /// How full the context was, where that was the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
}

/// What was to be typed for a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    pub clear: Uid,
    pub go_on: Uid,
}

/// A hop as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    pub uid: Uid,
    /// The session whose work goes on.
    pub session: SessionKey,
    pub asking: Asking,
    pub began_at: Timestamp,
    pub stage: Stage,
    /// When it reached its stage.
    pub moved_at: Timestamp,
    /// Why it is where it is, in words.
    pub why: Option<String>,
    /// The handoff, and who wrote it.
    pub handoff: Option<(Kept, Author)>,
    pub typed: Option<Typed>,
    /// The session that began when the agent was cleared.
    pub successor: Option<SessionKey>,
    /// Who was given the handoff, and when.
    pub given: Option<(SessionKey, Timestamp)>,
    /// When the person was told how it ended.
    pub told_at: Option<Timestamp>,
}

impl Hop {
    /// What tells it from others where people and agents read it.
    pub fn short(&self) -> String {
        short(self.uid)
    }

    /// The handoff's text, unless there is none or it was forgotten.
    pub fn text(&self) -> Option<&str> {
        self.handoff.as_ref().map(|(text, _)| text.as_str()).filter(|text| !text.trim().is_empty())
    }
}

/// The end of an id: it begins with the time.
pub fn short(uid: Uid) -> String {
    let id = uid.to_string();
    id[id.len() - 8..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        assert!(Stage::ALL.into_iter().all(|stage| Stage::named(stage.name()) == Some(stage)));
        assert!(Author::ALL.into_iter().all(|author| Author::named(author.name()) == Some(author)));
        assert_eq!((Stage::named("x"), Author::named("x")), (None, None));
    }

    #[test]
    fn a_stage_goes_forward_one_by_one_and_an_end_stays() {
        for (at, from) in Stage::ALL.into_iter().enumerate() {
            for (to_at, to) in Stage::ALL.into_iter().enumerate() {
                let is_next = to_at == at + 1 && to_at <= 4;
                let is_end = at <= 3 && to_at >= 5;
                assert_eq!(from.may_become(to), is_next || is_end, "{from:?} {to:?}");
            }
        }
    }
}
