//! Whether text from outside has reached a session: from the first such turn on, the agent may only repeat it.
//!
//! Looks at all calls of a turn, also of subagents and of tools that distilling skips, and at what the user pasted. Each
//! turn is noted in the archive, so a long session is not read again. `core::memory::distil` decides what is outside. All
//! that the transcript of an agent without an adapter says counts as outside.

use super::turn_content::TurnContent;
use towline_agents::Agent;
use towline_core::capture::{DetailKind, Speaker};
use towline_core::event::PromptOrigin;
use towline_core::memory::MemoryTrust;
use towline_core::memory::distil::{CallInput, outside_trust, pasted_trust};
use towline_store::archive::{Conversation, TurnRow};
use towline_store::{Archive, StoreError};

/// The trust of all that a transcript says whose agent has no adapter: nobody proved what a description takes for a prompt,
/// which calls it leaves out, or what its tools read. `None` for an agent with an adapter.
pub(super) fn unproven(of: &Conversation) -> Option<MemoryTrust> {
    Agent::from_name(of.session.agent.as_str()).is_none().then_some(MemoryTrust::Web)
}

/// The least trusted text from outside in the turns before `turn`. Turns that were never looked at are read now.
pub(super) fn before(
    archive: &Archive,
    of: &Conversation,
    turn: u32,
) -> Result<Option<MemoryTrust>, StoreError> {
    if let Some(trust) = unproven(of) {
        return Ok(Some(trust));
    }
    let known = archive.outside_before(of, turn)?;
    let mut least = known.least;
    for ordinal in known.unread {
        for row in archive.turns(of, ordinal, ordinal)? {
            least = lower(least, look(archive, of, &row)?);
        }
    }
    Ok(least)
}

/// The least trusted text from outside in the session so far. The last turn may have gone on since it was looked at.
pub fn reached(archive: &Archive, of: &Conversation) -> Result<Option<MemoryTrust>, StoreError> {
    let mut least = before(archive, of, of.turns)?;
    for row in archive.turns(of, of.turns, u32::MAX)? {
        least = lower(least, look(archive, of, &row)?);
    }
    Ok(least)
}

/// Reads a turn and notes what it brought.
pub(super) fn look(
    archive: &Archive,
    of: &Conversation,
    row: &TurnRow,
) -> Result<Option<MemoryTrust>, StoreError> {
    look_at(of, row, &TurnContent::of(archive, row)?)
}

/// The same for a turn that was read.
pub(super) fn look_at(
    of: &Conversation,
    row: &TurnRow,
    content: &TurnContent<'_>,
) -> Result<Option<MemoryTrust>, StoreError> {
    let is_human = row.origin == PromptOrigin::Human;
    let pasted = content.said.iter().filter(|body| is_human && body.speaker == Speaker::Person);
    let pasted = pasted.filter_map(|body| pasted_trust(&body.text)).min();
    let found = lower(pasted, of_calls(of, content)?);
    content.archive.note_outside(row, found)?;
    Ok(found)
}

/// The lower of two trusts, if there are any.
pub(super) fn lower(one: Option<MemoryTrust>, other: Option<MemoryTrust>) -> Option<MemoryTrust> {
    one.into_iter().chain(other).min()
}

fn of_calls(of: &Conversation, content: &TurnContent<'_>) -> Result<Option<MemoryTrust>, StoreError> {
    let Some(agent) = Agent::from_name(of.session.agent.as_str()) else {
        return Ok(unproven(of));
    };
    let root = content.archive.project_root(of)?;
    let folders: Vec<&str> = of.folder.as_deref().into_iter().chain(root.as_deref()).collect();
    let mut least = None;
    for detail in content.details.iter().filter(|detail| detail.kind == DetailKind::Input) {
        let tool = detail.tool.as_deref().unwrap_or_default();
        let input = content.input(detail)?;
        let deed = agent.tool_action(tool, &input);
        least = lower(least, outside_trust(CallInput { tool, deed: &deed, input: &input }, &folders));
        if least == Some(MemoryTrust::Web) {
            break;
        }
    }
    Ok(least)
}
