//! Decides whether a session in another product's database is imported.
//!
//! Reads the archive and the user's settings; changes nothing.

use crate::capture::rules::{Admission, Wishes};
use std::collections::HashSet;
use towline_agents::Agent;
use towline_store::archive::TranscriptSource;
use towline_store::foreign::{ForeignSession, Product, ReadScope};
use towline_store::{Archive, StoreError};

towline_core::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Verdict {
        /// The archive has no turn of it.
        Taken = "taken",
        /// The archive has its turns: only notes about them are added.
        Noted = "noted",
        Known = "known",
        /// Its transcript exists and has not been captured yet.
        HasTranscript = "has_transcript",
        /// Too old, or of another project than the requested one.
        NotAsked = "not_asked",
        Excluded = "excluded",
        /// Its folder is unknown, so it may be an excluded one.
        PerhapsExcluded = "perhaps_excluded",
        UnknownAgent = "unknown_agent",
    }
}

impl Verdict {
    pub fn extent(self) -> Option<ReadScope> {
        match self {
            Verdict::Taken => Some(ReadScope::Whole),
            Verdict::Noted => Some(ReadScope::Notes),
            Verdict::Known
            | Verdict::HasTranscript
            | Verdict::NotAsked
            | Verdict::Excluded
            | Verdict::PerhapsExcluded
            | Verdict::UnknownAgent => None,
        }
    }

    /// Text for the user, with the next command if there is one.
    pub fn message(self) -> &'static str {
        match self {
            Verdict::Taken => "of which the archive had nothing",
            Verdict::Noted => "that are known: what was noted goes beside their turns",
            Verdict::Known => "that are known already",
            Verdict::HasTranscript => "whose transcripts are there and come first: run `tow data import`",
            Verdict::NotAsked => "that were not asked for",
            Verdict::Excluded => "in excluded projects",
            Verdict::PerhapsExcluded => {
                "whose folder is not told, so they may be excluded: name a project with `--project` to take its"
            }
            Verdict::UnknownAgent => "of agents that are not known",
        }
    }
}

pub(super) struct Judge<'a> {
    pub wishes: &'a Wishes,
    pub product: Product,
    pub archive: Option<&'a Archive>,
    /// The ids of the sessions whose transcripts exist.
    pub on_disk: HashSet<String>,
}

impl Judge<'_> {
    pub fn verdict(
        &self,
        session: &ForeignSession,
        source: Option<&TranscriptSource>,
    ) -> Result<Verdict, StoreError> {
        if Agent::from_name(session.key.agent.as_str()).is_none() {
            return Ok(Verdict::UnknownAgent);
        }
        let conversation =
            self.archive.map(|archive| archive.conversation(&session.key)).transpose()?.flatten();
        let folder = session.folder.as_deref().or_else(|| conversation.as_ref()?.folder.as_deref());
        match self.wishes.place(folder, session.project.as_deref()) {
            Admission::Wanted if self.wishes.is_recent(session.last_at) => {}
            Admission::Wanted | Admission::Elsewhere => return Ok(Verdict::NotAsked),
            Admission::Private => return Ok(Verdict::Excluded),
            Admission::Unknown => return Ok(Verdict::PerhapsExcluded),
        }
        let turns = conversation.map_or(0, |conversation| conversation.turns);
        let extent = self.extent(session, source, turns);
        let is_done = |extent| source.is_some_and(|source| source.reading.state == state(extent, session));
        Ok(match extent {
            Some(extent) if is_done(extent) => Verdict::Known,
            Some(ReadScope::Whole) => Verdict::Taken,
            Some(ReadScope::Notes) => Verdict::Noted,
            None if turns == 0 => Verdict::HasTranscript,
            None => Verdict::Known,
        })
    }

    /// A session whose turns came from this very database is imported whole again.
    fn extent(
        &self,
        session: &ForeignSession,
        source: Option<&TranscriptSource>,
        turns: u32,
    ) -> Option<ReadScope> {
        let is_ours = source.is_some_and(|source| !source.reading.state.starts_with(NOTES));
        let has_transcript = self.on_disk.contains(session.key.id.as_str());
        match (turns, has_transcript) {
            (0, true) => None,
            (0, false) => Some(ReadScope::Whole),
            (_, false) if is_ours => Some(ReadScope::Whole),
            (_, _) => self.product.keeps_notes().then_some(ReadScope::Notes),
        }
    }
}

const WHOLE: &str = "whole";
const NOTES: &str = "notes";

/// The stored state of an imported session: its extent, and a stamp that shows later growth.
pub(super) fn state(extent: ReadScope, session: &ForeignSession) -> String {
    let how = match extent {
        ReadScope::Whole => WHOLE,
        ReadScope::Notes => NOTES,
    };
    format!("{how} {}", session.stamp)
}
