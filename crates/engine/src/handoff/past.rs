//! Collects the history of an earlier session as material for the composer.
//!
//! Reads the archive, and hook data where the transcript lags behind. Selects nothing: `core::compose`
//! decides what is worth its space.

use crate::memory::work::work_of;
use crate::runtime::calendar::clock;
use crate::runtime::env::program;
use towline_agents::Agent;
use towline_core::compose::{
    Compaction, ComposeInput, OlderTurn, PastSession, PastTurn, RemoteMachine, Speaker, TurnMessage,
    directives, is_typed,
};
use towline_core::event::{OwnCommand, PromptOrigin};
use towline_core::id::SessionKey;
use towline_core::redact::HIDDEN;
use towline_core::session::Session;
use towline_core::time::Timestamp;
use towline_store::archive::{Archive, Conversation, MessageRow, TurnFilter, TurnQuery, TurnRow};
use towline_store::{Store, StoreError};

/// More turns than any agent's budget can hold.
const WITH_WORDS: usize = 40;
const AS_LINES: usize = 100;

/// Sessions before the one that is continued: with it, six.
const MOST_ANCESTORS: usize = 5;
/// More turns than the property of a line per turn needs; an ancestor only gets room that is left.
const LINES_OF_ANCESTOR: usize = 60;
/// Turns that are read to find a directive among small talk.
const TRIES: usize = 24;

/// Turns among which one that was taken back may be the last that a hook reported.
const LATELY: usize = 8;

/// More text than any agent's budget can hold, in bytes.
const ENOUGH: usize = 24 * 1024;

/// All material about a session for its successor. `way` says how the work came there.
pub fn material(
    archive: Option<&Archive>,
    hot: Option<&Store>,
    from: &SessionKey,
    way: String,
    now: Timestamp,
) -> Result<ComposeInput, StoreError> {
    let heard = hot.map(|store| store.session(from)).transpose()?.flatten();
    let conversation = archive.map(|archive| archive.conversation(from)).transpose()?.flatten();
    let mut past = PastSession {
        way,
        project: heard
            .as_ref()
            .and_then(|session| session.project.as_ref())
            .map(|it| it.display_name().to_owned()),
        branch: heard.as_ref().and_then(|session| session.project.as_ref()).and_then(|it| it.branch.clone()),
        model: heard.as_ref().and_then(|session| session.model.clone()),
        last_active: heard.as_ref().map_or(String::new(), |session| clock(session.last_event_at, now)),
        ..PastSession::new(from.clone())
    };
    let mut chain = vec![];
    if let (Some(archive), Some(conversation)) = (archive, &conversation) {
        fill(&mut past, archive, conversation, now)?;
        chain = hot.map_or(Ok(vec![]), |store| ancestors(archive, store, from, now))?;
    }
    if let Some(heard) = &heard {
        hear(&mut past, heard, conversation.as_ref(), now);
    }
    if let (Some(archive), Some(conversation)) = (archive, &conversation) {
        forget_rewound(&mut past, archive, conversation)?;
    }
    Ok(ComposeInput { past: Some(past), chain, program: program(), ..ComposeInput::default() })
}

/// The sessions whose work led to this one, newest first, as far as they were captured on this machine.
fn ancestors(
    archive: &Archive,
    store: &Store,
    session: &SessionKey,
    now: Timestamp,
) -> Result<Vec<PastSession>, StoreError> {
    let mut chain: Vec<PastSession> = vec![];
    let mut next = store.predecessor_of(session)?;
    while let Some(key) = next.take().filter(|_| chain.len() < MOST_ANCESTORS) {
        let is_known = key == *session || chain.iter().any(|past| past.session == key);
        let Some(conversation) = archive.conversation(&key)?.filter(|_| !is_known) else { break };
        next = store.predecessor_of(&key)?;
        chain.push(ancestor(archive, &conversation, now)?);
    }
    Ok(chain)
}

fn ancestor(
    archive: &Archive,
    conversation: &Conversation,
    now: Timestamp,
) -> Result<PastSession, StoreError> {
    let mut past = PastSession {
        last_active: clock(conversation.last_at, now),
        turns_in_all: archive.turns_worth_giving(conversation)?,
        first: first_directive(archive, conversation, now)?,
        ..PastSession::new(conversation.session.clone())
    };
    let mut older = archive.last_turns(conversation, LINES_OF_ANCESTOR)?;
    // Up to the last directive: what came after it was small talk.
    while past.turns.len() < TRIES && !past.turns.last().is_some_and(has_directive) {
        let Some(turn) = older.pop() else { break };
        let turn = with_words(archive, conversation, turn, now)?;
        if only_hands_on(&conversation.session, &turn) {
            past.turns_in_all = past.turns_in_all.saturating_sub(1);
        } else {
            past.turns.push(turn);
        }
    }
    past.turns.reverse();
    past.older = older.iter().map(|turn| as_line(conversation, turn, now)).collect();
    Ok(past)
}

/// The turn of the session's first directive, if that is among its first turns.
fn first_directive(
    archive: &Archive,
    conversation: &Conversation,
    now: Timestamp,
) -> Result<Option<PastTurn>, StoreError> {
    for turn in archive.turns_after(conversation, 0, &TurnQuery::last(TRIES, TurnFilter::Standing))? {
        let turn = with_words(archive, conversation, turn, now)?;
        if has_directive(&turn) && !only_hands_on(&conversation.session, &turn) {
            return Ok(Some(turn));
        }
    }
    Ok(None)
}

fn has_directive(turn: &PastTurn) -> bool {
    directives(turn).next().is_some()
}

/// Notes that the session ran on another machine and which parts are missing here; its summary fills in.
pub fn mark_remote(
    material: &mut ComposeInput,
    archive: Option<&Archive>,
    machine: String,
) -> Result<(), StoreError> {
    let Some(past) = &mut material.past else { return Ok(()) };
    let conversation = archive.map(|archive| archive.conversation(&past.session)).transpose()?.flatten();
    let (Some(archive), Some(conversation)) = (archive, conversation) else {
        past.away =
            Some(RemoteMachine { machine, missing: vec!["all of its turns, which have not come yet"] });
        return Ok(());
    };
    let has_words = past.turns.iter().any(|turn| !turn.words.is_empty());
    let has_details = past.turns.iter().any(|turn| !turn.details.is_empty());
    let turns = archive.last_turns(&conversation, WITH_WORDS)?;
    let tools: u32 = turns.iter().map(|turn| turn.tools).sum();
    let missing = [(!has_words, "what was said"), (!has_details && tools > 0, "its tool calls")];
    let missing = missing.into_iter().filter_map(|(is_missing, what)| is_missing.then_some(what)).collect();
    past.away = Some(RemoteMachine { machine, missing });
    if !has_words {
        past.summary = archive.summary(&conversation)?.map(|kept| (*kept.summary).clone());
    }
    Ok(())
}

fn fill(
    past: &mut PastSession,
    archive: &Archive,
    conversation: &Conversation,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut older = archive.last_turns(conversation, WITH_WORDS + AS_LINES)?;
    let (mut bytes, mut is_found, mut ordinals) = (0, false, vec![]);
    // Long answers to small talk must not hide the last directive.
    while past.turns.len() < WITH_WORDS && (bytes < ENOUGH || !is_found) {
        let Some(turn) = older.pop() else { break };
        ordinals.push(turn.ordinal);
        let turn = with_words(archive, conversation, turn, now)?;
        bytes += turn.words.iter().map(|word| word.text.len()).sum::<usize>();
        is_found = is_found || has_directive(&turn);
        past.turns.push(turn);
    }
    if let (Some(last), Some(first)) = (ordinals.first(), ordinals.last()) {
        let mut tools = archive.tools(conversation, *first..=*last)?;
        for (turn, ordinal) in past.turns.iter_mut().zip(&ordinals) {
            turn.details = tools.remove(ordinal).unwrap_or_default();
        }
    }
    past.turns.reverse();
    past.first = first_directive(archive, conversation, now)?;
    let captured = past.turns.len();
    past.turns.retain(|turn| !only_hands_on(&conversation.session, turn));
    let passed_over = u32::try_from(captured - past.turns.len()).unwrap_or(0);
    past.older = older.iter().map(|turn| as_line(conversation, turn, now)).collect();
    past.turns_in_all = archive.turns_worth_giving(conversation)?.saturating_sub(passed_over);
    past.last_active = clock(conversation.last_at, now);
    past.work = work_of(archive, conversation)?;
    past.project = conversation.project.clone().or(past.project.take());
    past.branch = conversation.branch.clone().or(past.branch.take());
    Ok(())
}

/// Whether a turn only passes the work on or discards it: it does not show where the work stood.
fn only_hands_on(session: &SessionKey, turn: &PastTurn) -> bool {
    let Some(agent) = Agent::from_name(session.agent.as_str()) else { return false };
    let is_ours = |words: &TurnMessage| match agent.own_command(&words.text) {
        // Any further text in that prompt is meant for the successor.
        Some(OwnCommand::Baton) => words.text.split_whitespace().count() == 1,
        Some(OwnCommand::Fresh) => true,
        Some(OwnCommand::Other) | None => false,
    };
    let mut said = turn.words.iter().filter(|words| words.speaker == Speaker::Person).peekable();
    said.peek().is_some() && said.all(is_ours)
}

/// How far a prompt's hook and its transcript entry may lie apart in time.
pub(super) const TOGETHER_MS: i64 = 10_000;

/// Adds the last prompt and the last answer from hooks, if the transcript does not hold them yet.
fn hear(past: &mut PastSession, heard: &Session, conversation: Option<&Conversation>, now: Timestamp) {
    past.answer_heard = heard.answer.as_ref().map(|answer| answer.as_str().to_owned());
    let (Some(prompt), Some(at)) = (&heard.prompt, heard.prompted_at) else { return };
    let captured = conversation.map_or(0, |conversation| conversation.last_at.0);
    let is_captured = captured.saturating_add(TOGETHER_MS) >= at.0;
    if is_captured || prompt.is_blank() || prompt.as_str() == HIDDEN {
        return;
    }
    past.turns_in_all += 1;
    past.turns.push(PastTurn {
        id: heard.key.short().to_owned(),
        clock: clock(at, now),
        origin: PromptOrigin::Human,
        line: String::new(),
        words: vec![TurnMessage { speaker: Speaker::Person, text: prompt.as_str().to_owned() }],
        details: vec![],
        stopped: None,
    });
}

/// Drops the answer that a hook reported if turns were taken back lately: it may be of one of them.
fn forget_rewound(
    past: &mut PastSession,
    archive: &Archive,
    conversation: &Conversation,
) -> Result<(), StoreError> {
    let latest = archive.turns_of(conversation, &TurnQuery::last(LATELY, TurnFilter::All))?;
    past.answer_heard = past.answer_heard.take().filter(|_| !latest.iter().any(|turn| turn.reverted));
    Ok(())
}

/// A turn with its messages, without its details.
fn with_words(
    archive: &Archive,
    conversation: &Conversation,
    turn: TurnRow,
    now: Timestamp,
) -> Result<PastTurn, StoreError> {
    let bodies = archive.bodies(&turn)?;
    // Older versions captured what was typed in the user's place as the user's own.
    let is_ours = |body: &MessageRow| body.speaker == Speaker::Person && is_typed(&body.text);
    let origin = if bodies.iter().any(is_ours) { PromptOrigin::Continuation } else { turn.origin };
    Ok(PastTurn {
        id: conversation.turn_id(&turn),
        clock: clock(turn.at, now),
        origin,
        words: bodies
            .into_iter()
            .map(|body| TurnMessage { speaker: body.speaker, text: body.text })
            .collect(),
        details: vec![],
        stopped: turn.stopped,
        line: turn.line,
    })
}

fn as_line(conversation: &Conversation, turn: &TurnRow, now: Timestamp) -> OlderTurn {
    OlderTurn {
        id: conversation.turn_id(turn),
        clock: clock(turn.at, now),
        origin: turn.origin,
        line: turn.line.clone(),
    }
}

/// The turns that a session lost to its own compaction.
pub fn compacted(
    archive: &Archive,
    session: &SessionKey,
    now: Timestamp,
) -> Result<Option<ComposeInput>, StoreError> {
    let Some(conversation) = archive.conversation(session)? else { return Ok(None) };
    let turns = archive.last_turns(&conversation, AS_LINES)?;
    let compaction = Compaction {
        session: session.clone(),
        turns_in_all: archive.turns_worth_giving(&conversation)?,
        turns: turns.iter().map(|turn| as_line(&conversation, turn, now)).collect(),
    };
    Ok(Some(ComposeInput { compaction: Some(compaction), program: program(), ..ComposeInput::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(agent: Agent, prompt: &str, expected: bool) {
        let turn = PastTurn {
            id: "1a2b3c4d#4".into(),
            clock: "14:05".into(),
            origin: PromptOrigin::Command,
            line: String::new(),
            words: vec![
                TurnMessage { speaker: Speaker::Person, text: prompt.to_owned() },
                TurnMessage {
                    speaker: Speaker::Agent,
                    text: "The next session will go on from this one.".into(),
                },
            ],
            details: vec![],
            stopped: None,
        };
        let session = agent.session_named("s-1").unwrap();
        assert_eq!(only_hands_on(&session, &turn), expected, "{prompt}");
    }

    #[test]
    fn a_turn_that_only_passed_the_baton_is_not_where_the_work_stood() {
        for agent in Agent::ALL {
            let is_sign = |sign: &&str| agent.own_command(&format!("{sign}tow")).is_some();
            let sign = ["$", "/"].into_iter().find(is_sign).unwrap();
            check(agent, &format!("{sign}tow"), true);
            check(agent, &format!(" {sign}tow\n"), true);
            check(agent, &format!("{sign}tow fresh"), true);
            check(agent, &format!("{sign}tow and run the tests first"), false);
            check(agent, &format!("{sign}tow-detail 14:05"), false);
            check(agent, "now paint the mast", false);
        }
    }
}
