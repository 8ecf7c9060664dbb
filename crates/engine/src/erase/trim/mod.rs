//! Makes room in a nearly full session: reverts its turns and gives the model a memory of them.
//!
//! Uses the agent's own token counts only, changes nothing while the session is active, and calls a half done
//! only when the session's own file shows it.

mod carry_out;
mod survey;

pub use carry_out::{Half, Outcome, carry_out};
pub use survey::{Check, Survey, checks, survey};

use std::collections::BTreeSet;
use towline_agents::Agent;
use towline_agents::server::ThreadTurn;
use towline_core::compose::{ComposeInput, ComposedContext, compose};
use towline_core::id::TurnId;
use towline_core::time::Timestamp;
use towline_store::StoreError;
use towline_store::archive::{Archive, Conversation};

/// The turns to revert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The first turn to go; all after it go too.
    pub before: TurnId,
    pub since: Option<Timestamp>,
    pub kept: usize,
    pub turns: usize,
    /// Context size after the last kept turn; `None` if the agent wrote no number.
    pub tokens_kept: Option<u64>,
}

/// The first turn is kept by default if it is at most this fraction (1/n) of the context.
const SMALL_PART: u64 = 4;

/// Selects the turns to revert. By default the first turn stays if it is small, since it states the task.
pub fn cut(survey: &Survey, keep: Option<usize>) -> Option<Cut> {
    let turns = &survey.turns;
    let tokens_after = |turn: &ThreadTurn| survey.tokens.get(&turn.id).copied();
    let kept = keep.unwrap_or_else(|| {
        let first = turns.first().and_then(tokens_after);
        let all = survey.usage.map(|usage| usage.tokens);
        let is_small = first.zip(all).is_some_and(|(first, all)| first <= all / SMALL_PART);
        usize::from(turns.len() > 1 && is_small)
    });
    let first = turns.get(kept)?;
    Some(Cut {
        before: first.id.clone(),
        since: first.started_at,
        kept,
        turns: turns.len() - kept,
        tokens_kept: kept.checked_sub(1).and_then(|last| turns.get(last)).and_then(tokens_after),
    })
}

/// More turns than a memory ever includes.
const MOST_TURNS: usize = 10_000;

/// The memory of the reverted turns; kept turns are not repeated in it.
pub fn memory(
    agent: Agent,
    mut material: ComposeInput,
    archive: &Archive,
    conversation: &Conversation,
    cut: &Cut,
) -> Result<ComposedContext, StoreError> {
    if let (Some(past), Some(since), 1..) = (material.past.as_mut(), cut.since, cut.kept) {
        let stays = archive.last_turns(conversation, MOST_TURNS)?.into_iter().filter(|turn| turn.at < since);
        let stays: BTreeSet<String> = stays.map(|turn| conversation.turn_id(&turn)).collect();
        past.turns.retain(|turn| !stays.contains(&turn.id));
        past.older.retain(|turn| !stays.contains(&turn.id));
        past.first = past.first.take().filter(|turn| !stays.contains(&turn.id));
        past.turns_in_all = past.turns_in_all.saturating_sub(u32::try_from(stays.len()).unwrap_or(u32::MAX));
        // Given with the first turn, which stays.
        material.chain.clear();
    }
    Ok(compose(&material, agent.budget()))
}

#[cfg(test)]
mod tests;
