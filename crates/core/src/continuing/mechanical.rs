//! The handoff built without a model: the last directive, the summary lines of the turns, the last answer.
//!
//! Invents nothing. It is inferior to a handoff that the agent writes, and leaves fields open accordingly.

use crate::compose::{Handoff, PastSession, PastTurn, Speaker};
use crate::event::PromptOrigin;
use crate::text::{clip, clip_start};
use std::fmt::Write;

/// Bytes of each field: together below the size limit of a handoff.
const MAX_TASK_BYTES: usize = 2_500;
const MAX_COMPLETED_BYTES: usize = 3_000;
const MAX_REMAINING_BYTES: usize = 4_000;

/// Number of turns listed.
const MAX_TURNS: usize = 12;

pub fn mechanical(past: &PastSession) -> Handoff {
    let task = last_message(past, Speaker::Person).unwrap_or("The task was not recorded; ask for it.");
    let answer = last_message(past, Speaker::Agent).or(past.answer_heard.as_deref());
    let remaining = match answer.map(str::trim).filter(|answer| !answer.is_empty()) {
        Some(answer) => format!("Go on from the last answer:\n{}", clip_start(answer, MAX_REMAINING_BYTES)),
        None => "Go on with the task.".to_owned(),
    };
    Handoff {
        task: clip(task.trim(), MAX_TASK_BYTES).to_owned(),
        completed: completed(past),
        remaining,
        key_context: key_context(past),
    }
}

fn last_message(past: &PastSession, speaker: Speaker) -> Option<&str> {
    let is_work = |turn: &&PastTurn| match turn.origin {
        PromptOrigin::Human | PromptOrigin::Command => true,
        PromptOrigin::Continuation => speaker == Speaker::Agent,
        PromptOrigin::Notification | PromptOrigin::Bookmark => false,
    };
    past.turns.iter().rev().filter(is_work).find_map(|turn| {
        let words = turn.words.iter().rev().filter(|words| words.speaker == speaker);
        words.map(|words| words.text.as_str()).find(|text| !text.trim().is_empty())
    })
}

/// The newest lines, oldest first.
fn completed(past: &PastSession) -> String {
    let older = past.older.iter().map(|turn| turn.line.as_str());
    let lines: Vec<&str> = older
        .chain(past.turns.iter().map(|turn| turn.line.as_str()))
        .filter(|line| !line.is_empty())
        .collect();
    let newest = &lines[lines.len().saturating_sub(MAX_TURNS)..];
    let mut text = String::new();
    for line in newest {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- {line}");
    }
    clip_start(text.trim_end(), MAX_COMPLETED_BYTES).to_owned()
}

fn key_context(past: &PastSession) -> String {
    let names = [("project", &past.project), ("branch", &past.branch)];
    let names = names.iter().filter_map(|(what, name)| Some(format!("{what} {}", name.as_ref()?)));
    names.chain([format!("earlier session {}", past.session)]).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::{OlderTurn, TurnMessage};
    use crate::id::SessionKey;

    fn past() -> PastSession {
        PastSession {
            session: SessionKey::parse("agent:one").unwrap(),
            way: String::new(),
            project: Some("app".into()),
            branch: Some("main".into()),
            model: None,
            last_active: String::new(),
            turns_in_all: 0,
            turns: vec![],
            older: vec![],
            answer_heard: None,
            handoff: None,
            away: None,
            summary: None,
        }
    }

    fn turn(origin: PromptOrigin, line: &str, words: &[(Speaker, &str)]) -> PastTurn {
        PastTurn {
            id: "one#1".into(),
            clock: "14:05".into(),
            origin,
            line: line.into(),
            words: words
                .iter()
                .map(|(speaker, text)| TurnMessage { speaker: *speaker, text: (*text).into() })
                .collect(),
            details: vec![],
            stopped: None,
        }
    }

    #[test]
    fn captured_turns_become_the_four_parts() {
        let older = vec![OlderTurn {
            id: "one#0".into(),
            clock: "14:00".into(),
            origin: PromptOrigin::Human,
            line: "read the plan".into(),
        }];
        let turns = vec![
            turn(
                PromptOrigin::Human,
                "painted the mast",
                &[(Speaker::Person, "paint the mast"), (Speaker::Agent, "half done")],
            ),
            turn(PromptOrigin::Bookmark, "", &[(Speaker::Person, "·"), (Speaker::Agent, "noted")]),
        ];
        let handoff = mechanical(&PastSession { older, turns, ..past() });
        assert_eq!(handoff.task, "paint the mast");
        assert_eq!(handoff.completed, "- read the plan\n- painted the mast");
        assert_eq!(handoff.remaining, "Go on from the last answer:\nhalf done");
        assert_eq!(handoff.key_context, "project app, branch main, earlier session agent:one");
    }

    #[test]
    fn an_empty_session_still_gives_a_valid_handoff() {
        let handoff = mechanical(&past());
        assert!(super::super::form::validation_error(&handoff).is_none());
    }
}
