//! The handoff built without a model: the first and the last directive, the summary lines of the turns, the last answer.
//!
//! Invents nothing. It is inferior to a handoff that the agent writes, and leaves fields open accordingly.

use super::form;
use crate::compose::{Handoff, PastSession, SENT, Speaker, first_directive, last_directive};
use crate::text::clip_start;
use std::fmt::Write;
use std::iter;

/// Bytes of each field: together with the task below the size limit of a handoff.
const MAX_COMPLETED_BYTES: usize = 3_000;
const MAX_REMAINING_BYTES: usize = 4_000;

/// Number of turns listed.
const MAX_TURNS: usize = 12;

/// `handed` is the task that the session was itself handed, if any.
pub fn mechanical(past: &PastSession, chain: &[PastSession], handed: Option<&str>) -> Handoff {
    let sessions = || iter::once(past).chain(chain);
    let last = sessions().find_map(last_directive).map(|directive| asked(directive.text));
    let first = sessions().collect::<Vec<_>>().into_iter().rev().find_map(first_directive);
    let original =
        handed.map(|task| form::original(task).to_owned()).or(first.map(|first| asked(first.text)));
    let task = match (original, last) {
        (Some(original), Some(last)) => form::task(&original, &last),
        (original, last) => original.or(last).unwrap_or("The task was not recorded; ask for it.".to_owned()),
    };
    let answer = last_answer(past).or(past.answer_heard.as_deref());
    let remaining = match answer.map(str::trim).filter(|answer| !answer.is_empty()) {
        Some(answer) => format!("Go on from the last answer:\n{}", clip_start(answer, MAX_REMAINING_BYTES)),
        None => "Go on with the task.".to_owned(),
    };
    Handoff { task, completed: completed(past), remaining, key_context: key_context(past) }
}

/// The task of a directive: of a handoff that was sent by hand, the task that it names.
fn asked(directive: &str) -> String {
    let sent = directive.strip_prefix(SENT).map(|handoff| form::parts(handoff).task);
    sent.filter(|task| !task.is_empty()).unwrap_or_else(|| directive.trim().to_owned())
}

fn last_answer(past: &PastSession) -> Option<&str> {
    past.turns.iter().rev().filter(|turn| turn.origin.is_work()).find_map(|turn| {
        let words = turn.words.iter().rev().filter(|words| words.speaker == Speaker::Agent);
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
    use crate::compose::{OlderTurn, PastTurn, TurnMessage};
    use crate::event::PromptOrigin;
    use crate::id::SessionKey;

    fn past() -> PastSession {
        PastSession {
            project: Some("app".into()),
            branch: Some("main".into()),
            ..PastSession::new(SessionKey::parse("agent:one").unwrap())
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
        let handoff = mechanical(&PastSession { older, turns, ..past() }, &[], None);
        assert_eq!(handoff.task, "paint the mast");
        assert_eq!(handoff.completed, "- read the plan\n- painted the mast");
        assert_eq!(handoff.remaining, "Go on from the last answer:\nhalf done");
        assert_eq!(handoff.key_context, "project app, branch main, earlier session agent:one");
    }

    #[test]
    fn an_empty_session_still_gives_a_valid_handoff() {
        let handoff = mechanical(&past(), &[], None);
        assert!(super::super::form::validation_error(&handoff).is_none());
    }

    /// It once handed on its own prompt: "Task: Go on with the work as the handoff … says".
    #[test]
    fn five_handoffs_later_the_task_is_still_the_one_that_was_asked_for() {
        let asked = "Paint the heron,\nboth wings and the beak.";
        let said = |origin, prompt: &str| {
            turn(origin, "painted", &[(Speaker::Person, prompt), (Speaker::Agent, "A wing is done.")])
        };
        let turns = vec![said(PromptOrigin::Human, asked), said(PromptOrigin::Human, "thanks")];
        let mut handoff = mechanical(&PastSession { turns, ..past() }, &[], None);
        assert_eq!(handoff.task, asked);
        for origin in [PromptOrigin::Continuation, PromptOrigin::Human, PromptOrigin::Continuation] {
            // Older versions captured what was typed as the user's own.
            let turns = vec![said(origin, "Go on with the work as the handoff 9f3c1a2b says.")];
            handoff = mechanical(&PastSession { turns, ..past() }, &[], Some(&handoff.task));
            assert_eq!(handoff.task, asked);
        }
        let turns = vec![said(PromptOrigin::Human, "use slate for the beak")];
        handoff = mechanical(&PastSession { turns, ..past() }, &[], Some(&handoff.task));
        assert_eq!(handoff.task, format!("{asked}\n\nMost recently: use slate for the beak"));
        handoff = mechanical(&PastSession { turns: vec![], ..past() }, &[], Some(&handoff.task));
        assert_eq!(form::original(&handoff.task), asked);
    }

    #[test]
    fn a_handoff_that_was_sent_by_hand_is_handed_on_by_its_task() {
        let prompt = form::sent("## Task\nPaint the heron.\n\n## Remaining\nIts beak.");
        let turns = vec![turn(PromptOrigin::Continuation, "painted", &[(Speaker::Person, &prompt)])];
        assert_eq!(mechanical(&PastSession { turns, ..past() }, &[], None).task, "Paint the heron.");
    }
}
