//! Loads a turn from the archive, in the order in which it happened.
//!
//! Omits only irrelevant parts: calls of excluded tools, the calls of subagents, and the middle of long
//! outputs. What earlier turns and subagents brought from outside is added by the caller.

use crate::memory::outside;
use crate::memory::turn_content::TurnContent;
use crate::runtime::config::Distil;
use std::borrow::Cow;
use std::collections::HashMap;
use towline_agents::Agent;
use towline_core::capture::DetailKind;
use towline_core::deed::ToolAction;
use towline_core::event::ToolOutcome;
use towline_core::memory::MemoryTrust;
use towline_core::memory::distil::{DistilTurn, TurnCall, TurnStep, wants_output};
use towline_core::text::{clip, clip_start};
use towline_core::time::Timestamp;
use towline_store::archive::{Conversation, DetailRow, TurnRow};
use towline_store::{Archive, StoreError};

/// The bytes of an output that are read at each end.
const OUTPUT_END: usize = 16 * 1024;

/// The most calls read for one turn.
const MOST_CALLS: usize = 3000;

pub(super) fn turn<'a>(
    config: &Distil,
    conversation: &'a Conversation,
    row: &TurnRow,
    mut content: TurnContent<'_>,
) -> Result<DistilTurn<'a>, StoreError> {
    let archive = content.archive;
    let said = std::mem::take(&mut content.said)
        .into_iter()
        .map(|body| (body.at, TurnStep::Said { speaker: body.speaker, text: Cow::Owned(body.text) }));
    let mut steps: Vec<(Timestamp, TurnStep<'a>)> = said.collect();
    steps.extend(calls(config, conversation, &content)?);
    // Messages precede calls of the same time: the sort is stable.
    steps.sort_by_key(|(at, _)| *at);
    let files = archive.files(conversation, row.ordinal..=row.ordinal)?;
    Ok(DistilTurn {
        origin: row.origin,
        stopped: row.stopped,
        steps: steps.into_iter().map(|(_, step)| step).collect(),
        files: files.into_iter().map(|file| (Cow::Owned(file.path), file.how)).collect(),
        commits: archive.commits(conversation, row.ordinal..=row.ordinal)?,
        folder: conversation.folder.as_deref(),
        outside: None,
        prompts: prompts_trust(conversation),
    })
}

/// Prompts that a program sent, or that only a description takes for prompts, are not proven to be the user's.
fn prompts_trust(conversation: &Conversation) -> MemoryTrust {
    let is_proven = !conversation.session.id.is_of_host() && outside::unproven(conversation).is_none();
    if is_proven { MemoryTrust::Person } else { MemoryTrust::Agent }
}

fn calls<'a>(
    config: &Distil,
    conversation: &Conversation,
    content: &TurnContent<'_>,
) -> Result<Vec<(Timestamp, TurnStep<'a>)>, StoreError> {
    let Some(agent) = Agent::from_name(conversation.session.agent.as_str()) else { return Ok(vec![]) };
    let own = || content.details.iter().filter(|detail| detail.subagent.is_none());
    let output_of = |detail: &'_ &DetailRow| detail.kind == DetailKind::Output;
    let outputs: HashMap<i64, &DetailRow> =
        own().filter(output_of).filter_map(|detail| Some((detail.call?, detail))).collect();
    let mut calls = vec![];
    for input in own().filter(|detail| detail.kind == DetailKind::Input).take(MOST_CALLS) {
        let tool = input.tool.clone().unwrap_or_default();
        if config.skips(&tool) {
            continue;
        }
        let deed = agent.tool_action(&tool, &content.input(input)?).into_owned();
        let output = input.call.and_then(|call| outputs.get(&call)).copied();
        calls.push((input.at, TurnStep::Did(call(content.archive, tool, deed, output)?)));
    }
    Ok(calls)
}

fn call<'a>(
    archive: &Archive,
    tool: String,
    deed: ToolAction<'static>,
    output: Option<&DetailRow>,
) -> Result<TurnCall<'a>, StoreError> {
    let text = match output.filter(|_| wants_output(&deed)) {
        Some(detail) => ends(archive.content(detail)?),
        None => String::new(),
    };
    let outcome = output.map(|detail| detail.outcome.as_deref().and_then(ToolOutcome::named));
    let outcome = outcome.map(|outcome| outcome.unwrap_or(ToolOutcome::Done));
    Ok(TurnCall { tool: Cow::Owned(tool), deed, output: Cow::Owned(text), outcome })
}

fn ends(text: String) -> String {
    if text.len() <= 2 * OUTPUT_END {
        return text;
    }
    format!("{}\n{}", clip(&text, OUTPUT_END), clip_start(&text, OUTPUT_END))
}
