//! A hop: one continuation, from the request for a handoff to the successor that received it, or to its failure.
//!
//! Stages only move forward. An ended hop never restarts; its handoff stays.

use crate::id::{SessionKey, Uid};
use crate::text::SafeText;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

stored_enum! {
    pub enum HandoffAuthor as named {
        /// On our request.
        Agent = "agent",
        /// The agent wrote it into its file in the project.
        File = "file",
        /// Built from the captured turns, without a model.
        Mechanical = "mechanical",
        Person = "person",
    }
}

stored_enum! {
    #[derive(PartialOrd, Ord)]
    pub enum HopStage as named {
        /// The handoff was requested.
        Asked = "asked",
        /// The handoff exists; nothing was typed yet.
        Written = "written",
        /// The agent is being told to clear its conversation.
        Clearing = "clearing",
        /// Cleared; the successor is to be prompted.
        Continuing = "continuing",
        /// The successor was prompted and had the handoff.
        Done = "done",
        Failed = "failed",
        /// The handoff itself, or the user, stopped the continuation.
        Stopped = "stopped",
    }
}

impl HopStage {
    /// Whether the stage is final.
    pub fn is_over(self) -> bool {
        matches!(self, HopStage::Done | HopStage::Failed | HopStage::Stopped)
    }

    /// Whether `to` is the next stage, or an end for a hop that has not ended.
    pub fn can_advance_to(self, to: HopStage) -> bool {
        match to {
            HopStage::Asked => false,
            HopStage::Written => self == HopStage::Asked,
            HopStage::Clearing => self == HopStage::Written,
            HopStage::Continuing => self == HopStage::Clearing,
            HopStage::Done => self == HopStage::Continuing,
            HopStage::Failed | HopStage::Stopped => !self.is_over(),
        }
    }
}

/// The start of a hop, as recorded in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopRequest {
    /// The key of the seat.
    pub seat: String,
    /// The intended author of the handoff.
    pub author: HandoffAuthor,
    /// The position in the chain of hops without the user in between.
    pub ordinal: u32,
    /// Context usage, if that was the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
}

/// Ids of the two intents typed for a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopIntents {
    pub clear: Uid,
    pub go_on: Uid,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    pub uid: Uid,
    /// The session whose work is continued.
    pub session: SessionKey,
    pub asking: HopRequest,
    pub began_at: Timestamp,
    pub stage: HopStage,
    /// When it reached its stage.
    pub moved_at: Timestamp,
    /// The reason for its stage, as text.
    pub why: Option<String>,
    pub handoff: Option<(SafeText, HandoffAuthor)>,
    pub typed: Option<HopIntents>,
    /// The session that began when the agent was cleared.
    pub successor: Option<SessionKey>,
    /// The session that received the handoff, and when.
    pub given: Option<(SessionKey, Timestamp)>,
    /// When the user was notified of the outcome.
    pub told_at: Option<Timestamp>,
}

impl Hop {
    /// The short id shown to users and agents.
    pub fn short(&self) -> String {
        short(self.uid)
    }

    /// The handoff's text; `None` if there is none or it was forgotten.
    pub fn text(&self) -> Option<&str> {
        self.handoff.as_ref().map(|(text, _)| text.as_str()).filter(|text| !text.trim().is_empty())
    }
}

/// The end of the id, because it begins with the time.
pub fn short(uid: Uid) -> String {
    let id = uid.to_string();
    id[id.len() - 8..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_back() {
        assert!(HopStage::ALL.into_iter().all(|stage| HopStage::named(stage.name()) == Some(stage)));
        assert!(
            HandoffAuthor::ALL.into_iter().all(|author| HandoffAuthor::named(author.name()) == Some(author))
        );
        assert_eq!((HopStage::named("x"), HandoffAuthor::named("x")), (None, None));
    }

    #[test]
    fn a_stage_goes_forward_one_by_one_and_an_end_stays() {
        for (at, from) in HopStage::ALL.into_iter().enumerate() {
            for (to_at, to) in HopStage::ALL.into_iter().enumerate() {
                let is_next = to_at == at + 1 && to_at <= 4;
                let is_end = at <= 3 && to_at >= 5;
                assert_eq!(from.can_advance_to(to), is_next || is_end, "{from:?} {to:?}");
            }
        }
    }
}
