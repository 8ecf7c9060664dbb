//! One session in two panes: what the pane of its successor showed.
//!
//! A pane shows the turns from before the session was open twice, and those prompted in it; hooks record the pane of each
//! prompt from then on. Changes only the material of such a session, and decides nothing about inheritance.

use crate::handoff::inherit::Giver;
use crate::handoff::past::TOGETHER_MS;
use crate::runtime::calendar::clock;
use std::collections::BTreeSet;
use towline_core::compose::{ComposeInput, OlderTurn, PastTurn, Speaker, TurnMessage};
use towline_core::event::PromptOrigin;
use towline_core::time::Timestamp;
use towline_store::archive::{Archive, Conversation, MessageRow, TurnFilter, TurnQuery, TurnRow};
use towline_store::{SeatPrompt, StoreError, shared};

/// Turns that are read, and those that are given with their words.
const MOST: usize = 200;
const WITH_WORDS: usize = 40;

/// How much earlier than its hook a prompt may be written, on a machine that is not overloaded.
const LAG_MS: i64 = 1_000;

/// A turn with its messages.
type WordedTurn = (TurnRow, Vec<MessageRow>);

impl Giver<'_> {
    /// Limits the material to what the heir's pane showed, if the session before it was open in two.
    pub(super) fn narrow_to_pane(
        &self,
        material: &mut ComposeInput,
        archive: Option<&Archive>,
    ) -> Result<(), StoreError> {
        let (Some(past), Some(seat), Some(archive)) = (&mut material.past, &self.session.seat, archive)
        else {
            return Ok(());
        };
        if !shared::is_shared(self.store.home(), &past.session) {
            return Ok(());
        }
        let Some(conversation) = archive.conversation(&past.session)? else { return Ok(()) };
        let prompts = self.store.prompted_seats(&past.session)?;
        let shown = shown_in(seat, &prompts, archive, &conversation)?;
        past.turns_in_all = u32::try_from(shown.len()).unwrap_or(u32::MAX);
        // The last answer that was heard may be the other pane's.
        past.answer_heard = None;
        let (older, latest) = shown.split_at(shown.len().saturating_sub(WITH_WORDS));
        let id = |turn: &TurnRow| (conversation.turn_id(turn), clock(turn.at, self.env.now));
        let as_line = |(turn, _): &WordedTurn| {
            let (id, clock) = id(turn);
            OlderTurn { id, clock, origin: turn.origin, line: turn.line.clone() }
        };
        let whole = |(turn, bodies): &WordedTurn| {
            let ((id, clock), line) = (id(turn), turn.line.clone());
            let said = |body: &MessageRow| TurnMessage { speaker: body.speaker, text: body.text.clone() };
            let words = bodies.iter().map(said).collect();
            PastTurn { id, clock, origin: turn.origin, line, words, details: vec![], stopped: turn.stopped }
        };
        past.older = older.iter().map(as_line).collect();
        past.turns = latest.iter().map(whole).collect();
        Ok(())
    }
}

/// The turns that stand in this pane, in order. A prompt of the other pane branches off the transcript as a rewind does, but
/// takes back nothing here.
fn shown_in(
    seat: &str,
    prompts: &[SeatPrompt],
    archive: &Archive,
    conversation: &Conversation,
) -> Result<Vec<WordedTurn>, StoreError> {
    let (mut shown, mut elsewhere) = (vec![], BTreeSet::new());
    for turn in archive.turns_of(conversation, &TurnQuery::last(MOST, TurnFilter::All))? {
        let bodies = archive.bodies(&turn)?;
        let asked = bodies.iter().find(|body| body.speaker == Speaker::Person);
        let owner = owner(prompts, turn.at, asked.map_or("", |body| &body.text));
        if owner.is_some_and(|owner| owner != seat) {
            elsewhere.insert(turn.at);
        } else if !matches!(turn.origin, PromptOrigin::Bookmark | PromptOrigin::Notification) {
            shown.push((turn, bodies));
        }
    }
    let reverted = archive.reverted_by(conversation)?;
    let is_taken_back = |turn: &TurnRow| {
        reverted.iter().any(|(ordinal, at)| *ordinal == turn.ordinal && !elsewhere.contains(at))
    };
    shown.retain(|(turn, _)| !is_taken_back(turn));
    Ok(shown)
}

/// The pane in which a turn was prompted: by its words if they tell, else by its time. `None` from before there were two.
fn owner<'a>(prompts: &'a [SeatPrompt], at: Timestamp, asked: &str) -> Option<&'a str> {
    let is_before = |first: &SeatPrompt| at.plus_ms(LAG_MS) < first.at;
    let distance = |prompt: &&SeatPrompt| prompt.at.0.abs_diff(at.0);
    let near = || prompts.iter().filter(|prompt| distance(prompt) <= TOGETHER_MS.unsigned_abs());
    let by_words = near().filter(|prompt| prompt.prompt.trim() == asked.trim()).min_by_key(distance);
    let by_time = || near().filter(|_| !prompts.first().is_some_and(is_before)).min_by_key(distance);
    by_words.or_else(by_time).map(|prompt| prompt.seat.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_belongs_to_the_pane_of_its_words_though_the_other_was_prompted_closer_to_it() {
        let prompt = |at, seat: &str, prompt: &str| SeatPrompt {
            at: Timestamp(at),
            seat: seat.to_owned(),
            prompt: prompt.to_owned(),
        };
        let prompts = [prompt(1_000, "left", "paint the mast"), prompt(1_100, "right", "caulk the keel")];
        assert_eq!(owner(&prompts, Timestamp(1_090), " paint the mast\n"), Some("left"));
        assert_eq!(owner(&prompts, Timestamp(1_090), "words that were redacted"), Some("right"));
        assert_eq!(owner(&prompts, Timestamp(-1), "measure the mast"), None, "from before there were two");
    }
}
