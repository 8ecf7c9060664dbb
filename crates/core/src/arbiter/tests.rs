//! Every rule, on sessions made by the events that lead there.

use super::*;
use crate::event::{EndedBy, Event, Failure, Happening, Origin, Reason, StartedBy, ToolOutcome};
use crate::id::{SessionKey, Uid};
use crate::step::{Before, step};
use crate::text::{Keeping, Kept, Secrets};

const PROMPTED: i64 = 100_000;
const LAST_HEARD: i64 = 200_000;

fn kept(text: &str) -> Kept {
    Kept::new(text, Keeping { longest_bytes: 60, secrets: Secrets::Redacted })
}

fn after(before: Option<Session>, at: i64, happening: Happening) -> Session {
    let session = SessionKey::parse("agent:one").unwrap();
    let at = Timestamp(at);
    let uid = Uid::v7(at, [0; 10]);
    let event = Event { uid, at, session, subagent: None, turn: None, happening, scene: None };
    step(Before { session: before, ..Before::default() }, &event).session.unwrap()
}

fn idle() -> Session {
    after(None, 1, Happening::SessionStarted { by: StartedBy::Startup })
}

fn prompted(before: Session, at: i64) -> Session {
    after(Some(before), at, Happening::PromptSubmitted { prompt: kept("go"), origin: Origin::Human })
}

/// Prompted, and a tool has finished since.
fn working() -> Session {
    let finished = Happening::ToolFinished { tool: kept("shell"), outcome: ToolOutcome::Done };
    after(Some(prompted(idle(), PROMPTED)), LAST_HEARD, finished)
}

fn blocked() -> Session {
    let asked = Happening::PermissionAsked { tool: kept("shell"), reason: Reason::Permission };
    after(Some(working()), LAST_HEARD, asked)
}

fn sights(process: ProcessSight, tail: Option<(TailEnd, i64)>) -> Sights {
    Sights {
        now: Timestamp(300_000),
        process,
        tail: tail.map(|(end, at)| Tail { end, at: Timestamp(at) }),
        last_written: tail.map(|(_, at)| Timestamp(at)),
    }
}

fn seen_alive(end: TailEnd, at: i64) -> Sights {
    sights(ProcessSight::Alive, Some((end, at)))
}

#[track_caller]
fn check(session: &Session, sights: &Sights, expected: (Option<Observed>, Confidence)) {
    let verdict = judge(session, sights);
    assert_eq!((verdict.observed, verdict.confidence), expected, "{}", verdict.rule);
}

#[test]
fn an_ended_session_stays_ended_whatever_is_seen() {
    let ended = after(Some(working()), LAST_HEARD, Happening::SessionEnded { by: EndedBy::Exit });
    for process in [ProcessSight::Alive, ProcessSight::Gone, ProcessSight::Unknown] {
        let verdict = judge(&ended, &sights(process, Some((TailEnd::Interrupted, LAST_HEARD))));
        assert_eq!((verdict.observed, verdict.rule), (None, "an ended session stays ended"));
    }
}

#[test]
fn a_session_without_its_process_is_gone_whatever_it_was_doing() {
    for session in [idle(), working(), blocked()] {
        let sights = sights(ProcessSight::Gone, Some((TailEnd::Interrupted, LAST_HEARD)));
        check(&session, &sights, (Some(Observed::Gone), Confidence::Certain));
    }
}

#[test]
fn a_process_that_cannot_be_seen_changes_nothing() {
    check(&working(), &sights(ProcessSight::Unknown, None), (None, Confidence::Guess));
    check(&blocked(), &sights(ProcessSight::Unknown, None), (None, Confidence::Guess));
    check(&idle(), &sights(ProcessSight::Unknown, None), (None, Confidence::Likely));
}

#[test]
fn an_interruption_that_no_hook_told_is_found_in_the_transcript() {
    for session in [working(), blocked()] {
        for at in [LAST_HEARD, LAST_HEARD + 60_000] {
            let expected = (Some(Observed::Interrupted), Confidence::Certain);
            check(&session, &seen_alive(TailEnd::Interrupted, at), expected);
        }
    }
}

#[test]
fn an_interruption_counts_although_the_process_cannot_be_seen() {
    let sights = sights(ProcessSight::Unknown, Some((TailEnd::Interrupted, LAST_HEARD)));
    check(&working(), &sights, (Some(Observed::Interrupted), Confidence::Certain));
}

#[test]
fn errors_and_limits_are_told_apart() {
    let certain = |observed| (Some(observed), Confidence::Certain);
    check(&working(), &seen_alive(TailEnd::Failed, LAST_HEARD), certain(Observed::Failed));
    check(&working(), &seen_alive(TailEnd::Limited, LAST_HEARD), certain(Observed::Limited));
    check(&blocked(), &seen_alive(TailEnd::Failed, LAST_HEARD), certain(Observed::Failed));
}

#[test]
fn stamps_may_differ_a_little_but_are_then_less_sure() {
    for (end, observed) in [
        (TailEnd::Interrupted, Observed::Interrupted),
        (TailEnd::Failed, Observed::Failed),
        (TailEnd::Limited, Observed::Limited),
    ] {
        check(&working(), &seen_alive(end, LAST_HEARD - 1), (Some(observed), Confidence::Likely));
        check(&working(), &seen_alive(end, LAST_HEARD - SKEW_MS), (Some(observed), Confidence::Likely));
    }
}

#[test]
fn a_stale_tail_changes_nothing() {
    for end in [TailEnd::Interrupted, TailEnd::Failed, TailEnd::Limited, TailEnd::Other] {
        let stale = seen_alive(end, LAST_HEARD - SKEW_MS - 1);
        check(&working(), &stale, (None, Confidence::Likely));
        check(&blocked(), &stale, (None, Confidence::Likely));
    }
}

#[test]
fn a_prompt_right_after_an_interruption_is_not_taken_for_interrupted() {
    let again = prompted(idle(), LAST_HEARD);
    check(&again, &seen_alive(TailEnd::Interrupted, LAST_HEARD - 100), (None, Confidence::Likely));
    let soon = seen_alive(TailEnd::Interrupted, LAST_HEARD + 100);
    check(&again, &soon, (Some(Observed::Interrupted), Confidence::Certain));
}

#[test]
fn a_turn_that_is_over_does_not_end_again() {
    let completed = after(Some(working()), LAST_HEARD, Happening::TurnEnded { background: None });
    let interrupted = after(Some(working()), LAST_HEARD, Happening::Interrupted);
    let limit = Happening::TurnFailed { failure: Failure::UsageLimit, until: None };
    let limited = after(Some(working()), LAST_HEARD, limit);
    for session in [idle(), completed, interrupted, limited] {
        for end in [TailEnd::Interrupted, TailEnd::Failed, TailEnd::Limited] {
            check(&session, &seen_alive(end, LAST_HEARD), (None, Confidence::Certain));
        }
    }
}

#[test]
fn hooks_stand_where_the_transcript_goes_on() {
    let verdict = judge(&working(), &seen_alive(TailEnd::Other, LAST_HEARD + 1));
    assert_eq!((verdict.observed, verdict.confidence), (None, Confidence::Certain));
    assert_eq!(verdict.rule, "nothing seen contradicts the hooks");
    check(&working(), &sights(ProcessSight::Alive, None), (None, Confidence::Likely));
    let unseen = sights(ProcessSight::Unknown, Some((TailEnd::Other, LAST_HEARD + 1)));
    check(&working(), &unseen, (None, Confidence::Likely));
}

#[test]
fn a_prompt_without_a_word_of_answer_is_not_certain_to_be_worked_on() {
    let asked = prompted(idle(), LAST_HEARD);
    check(&asked, &seen_alive(TailEnd::Other, LAST_HEARD - 100), (None, Confidence::Likely));
    check(&asked, &seen_alive(TailEnd::Other, LAST_HEARD + 100), (None, Confidence::Certain));
}

#[test]
fn every_piece_of_evidence_is_given_with_its_time() {
    let verdict = judge(&blocked(), &seen_alive(TailEnd::Interrupted, LAST_HEARD + 5));
    let lines: Vec<String> = verdict
        .evidence
        .iter()
        .map(|piece| format!("{}: {} @ {:?}", piece.source, piece.says, piece.at.map(|at| at.0)))
        .collect();
    let expected = [
        "state: blocked (permission) @ Some(200000)",
        "hooks: last heard of it @ Some(200000)",
        "process: alive @ Some(300000)",
        "transcript: ends with an interruption @ Some(200005)",
        "transcript file: last written @ Some(200005)",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn what_was_not_seen_is_said_to_be_unseen() {
    let verdict = judge(&idle(), &sights(ProcessSight::Unknown, None));
    let unseen: Vec<&str> = verdict.evidence[2..].iter().map(|piece| piece.says.as_str()).collect();
    assert_eq!(unseen, ["unknown", "tells nothing", "not found"]);
}

#[test]
fn what_is_observed_takes_effect_unless_the_agent_went_on() {
    let session = working();
    let what = judge(&session, &seen_alive(TailEnd::Interrupted, LAST_HEARD)).observed.unwrap();
    let observation = Happening::Observed { what, as_of: session.last_event_at, until: None };
    let told = after(Some(session.clone()), 300_000, observation.clone());
    assert_eq!((told.state, told.open_turn), (State::Interrupted, None));
    let went_on = prompted(session, LAST_HEARD + 1);
    assert_eq!(after(Some(went_on), 300_000, observation).state, State::Working);
}
