//! Every rule, on sessions built from the events that lead to them.

use super::*;
use crate::event::{EndedBy, Event, Failure, Happening, Origin, Reason, StartedBy, ToolOutcome};
use crate::id::{SessionKey, Uid};
use crate::inherit::Wishes;
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
    after(None, 1, Happening::SessionStarted { by: StartedBy::Startup, wishes: Wishes::default() })
}

fn prompted(before: Session, at: i64) -> Session {
    after(
        Some(before),
        at,
        Happening::PromptSubmitted { prompt: kept("go"), origin: Origin::Human, own: None },
    )
}

/// Prompted, and one tool has finished since.
fn working() -> Session {
    let finished = Happening::ToolFinished { tool: kept("shell"), outcome: ToolOutcome::Done, bytes: 0 };
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
        children: ChildrenSight::Unknown,
        tail: tail.map(|(end, at)| Tail { end, at: Timestamp(at), until: None }),
        last_written: tail.map(|(_, at)| Timestamp(at)),
        screen: None,
    }
}

/// A hundred seconds after the last event, with no transcript entry in between.
fn shows(screen: ScreenSight) -> Sights {
    Sights {
        children: ChildrenSight::None,
        screen: Some(screen),
        last_written: Some(Timestamp(LAST_HEARD)),
        ..sights(ProcessSight::Alive, None)
    }
}

fn with_tail(end: TailEnd, at: i64) -> Sights {
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
fn an_interruption_without_a_hook_is_found_in_the_transcript() {
    for session in [working(), blocked()] {
        for at in [LAST_HEARD, LAST_HEARD + 60_000] {
            let expected = (Some(Observed::Interrupted), Confidence::Certain);
            check(&session, &with_tail(TailEnd::Interrupted, at), expected);
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
    check(&working(), &with_tail(TailEnd::Failed, LAST_HEARD), certain(Observed::Failed));
    check(&working(), &with_tail(TailEnd::Limited, LAST_HEARD), certain(Observed::Limited));
    check(&blocked(), &with_tail(TailEnd::Failed, LAST_HEARD), certain(Observed::Failed));
}

#[test]
fn stamps_may_differ_a_little_but_are_then_less_sure() {
    for (end, observed) in [
        (TailEnd::Interrupted, Observed::Interrupted),
        (TailEnd::Failed, Observed::Failed),
        (TailEnd::Limited, Observed::Limited),
    ] {
        check(&working(), &with_tail(end, LAST_HEARD - 1), (Some(observed), Confidence::Likely));
        check(&working(), &with_tail(end, LAST_HEARD - SKEW_MS), (Some(observed), Confidence::Likely));
    }
}

#[test]
fn a_stale_tail_changes_nothing() {
    for end in [TailEnd::Interrupted, TailEnd::Failed, TailEnd::Limited, TailEnd::Other] {
        let stale = with_tail(end, LAST_HEARD - SKEW_MS - 1);
        check(&working(), &stale, (None, Confidence::Likely));
        check(&blocked(), &stale, (None, Confidence::Likely));
    }
}

#[test]
fn a_prompt_right_after_an_interruption_is_not_taken_for_interrupted() {
    let again = prompted(idle(), LAST_HEARD);
    check(&again, &with_tail(TailEnd::Interrupted, LAST_HEARD - 100), (None, Confidence::Likely));
    let soon = with_tail(TailEnd::Interrupted, LAST_HEARD + 100);
    check(&again, &soon, (Some(Observed::Interrupted), Confidence::Certain));
}

#[test]
fn a_turn_that_is_over_does_not_end_again() {
    let completed =
        after(Some(working()), LAST_HEARD, Happening::TurnEnded { background: None, answer: None });
    let interrupted = after(Some(working()), LAST_HEARD, Happening::Interrupted);
    let limit = Happening::TurnFailed { failure: Failure::UsageLimit, until: None };
    let limited = after(Some(working()), LAST_HEARD, limit);
    for session in [idle(), completed, interrupted, limited] {
        for end in [TailEnd::Interrupted, TailEnd::Failed, TailEnd::Limited] {
            check(&session, &with_tail(end, LAST_HEARD), (None, Confidence::Certain));
        }
    }
}

#[test]
fn hooks_stand_where_the_transcript_goes_on() {
    let verdict = judge(&working(), &with_tail(TailEnd::Other, LAST_HEARD + 1));
    assert_eq!((verdict.observed, verdict.confidence), (None, Confidence::Certain));
    assert_eq!(verdict.rule, "nothing seen contradicts the hooks");
    check(&working(), &sights(ProcessSight::Alive, None), (None, Confidence::Likely));
    let unseen = sights(ProcessSight::Unknown, Some((TailEnd::Other, LAST_HEARD + 1)));
    check(&working(), &unseen, (None, Confidence::Likely));
}

#[test]
fn a_prompt_without_a_word_of_answer_is_not_certain_to_be_worked_on() {
    let asked = prompted(idle(), LAST_HEARD);
    check(&asked, &with_tail(TailEnd::Other, LAST_HEARD - 100), (None, Confidence::Likely));
    check(&asked, &with_tail(TailEnd::Other, LAST_HEARD + 100), (None, Confidence::Certain));
}

#[test]
fn the_end_of_a_limit_is_passed_on_and_no_other_time() {
    let until = Some(Timestamp(900_000));
    let ends =
        |end| Sights { tail: Some(Tail { end, at: Timestamp(LAST_HEARD), until }), ..with_tail(end, 0) };
    assert_eq!(judge(&working(), &ends(TailEnd::Limited)).until, until);
    assert_eq!(judge(&working(), &ends(TailEnd::Failed)).until, None);
    assert_eq!(judge(&idle(), &ends(TailEnd::Limited)).until, None);
}

#[test]
fn the_end_of_a_limit_that_a_hook_reported_is_found_in_the_transcript() {
    let until = Some(Timestamp(900_000));
    let failed = Happening::TurnFailed { failure: Failure::UsageLimit, until: None };
    let limited = after(Some(working()), LAST_HEARD, failed);
    let tail = Tail { end: TailEnd::Limited, at: Timestamp(LAST_HEARD - 50), until };
    let seen = Sights { tail: Some(tail), ..with_tail(TailEnd::Limited, 0) };
    let verdict = judge(&limited, &seen);
    assert_eq!((verdict.observed, verdict.until), (Some(Observed::Limited), until));
    let what = Happening::Observed { what: Observed::Limited, as_of: limited.last_event_at, until };
    let dated = after(Some(limited.clone()), 300_000, what);
    assert_eq!((dated.state, dated.since, dated.limited_until), (State::Limited, limited.since, until));
    check(&dated, &seen, (None, Confidence::Certain));
    let old = Tail { at: Timestamp(LAST_HEARD - SKEW_MS - 1), ..tail };
    check(&limited, &Sights { tail: Some(old), ..seen }, (None, Confidence::Certain));
}

fn asks(reason: Reason) -> Session {
    after(Some(working()), LAST_HEARD, Happening::PermissionAsked { tool: kept("shell"), reason })
}

#[test]
fn a_permission_was_granted_if_the_screen_shows_work_and_no_dialog() {
    check(&blocked(), &shows(ScreenSight::Busy), (Some(Observed::Answered), Confidence::Likely));
    let tool = ChildrenSight::Youngest(Timestamp(LAST_HEARD + 1));
    let runs = Sights { children: tool, ..shows(ScreenSight::Busy) };
    check(&blocked(), &runs, (Some(Observed::Answered), Confidence::Certain));
    let server = ChildrenSight::Youngest(Timestamp(LAST_HEARD));
    let kept = Sights { children: server, ..shows(ScreenSight::Busy) };
    check(&blocked(), &kept, (Some(Observed::Answered), Confidence::Likely));
}

#[test]
fn a_block_stands_unless_the_screen_surely_shows_work() {
    check(&blocked(), &shows(ScreenSight::Dialog), (None, Confidence::Certain));
    check(&blocked(), &shows(ScreenSight::Prompt), (None, Confidence::Likely));
    check(&blocked(), &shows(ScreenSight::Unknown), (None, Confidence::Likely));
    let unseen = Sights { screen: None, ..shows(ScreenSight::Busy) };
    check(&blocked(), &unseen, (None, Confidence::Likely));
}

#[test]
fn a_dialog_that_is_not_drawn_yet_is_not_taken_for_answered() {
    let at = |ms| Sights { now: Timestamp(LAST_HEARD + ms), ..shows(ScreenSight::Busy) };
    check(&blocked(), &at(DRAWN_MS - 1), (None, Confidence::Likely));
    check(&blocked(), &at(DRAWN_MS), (Some(Observed::Answered), Confidence::Likely));
    let asked_again = Happening::PermissionAsked { tool: kept("other"), reason: Reason::Permission };
    let again = after(Some(blocked()), LAST_HEARD + DRAWN_MS, asked_again);
    check(&again, &at(DRAWN_MS), (None, Confidence::Likely));
}

#[test]
fn questions_are_left_to_the_hook_that_their_answer_runs() {
    for reason in [Reason::Question, Reason::Elicitation] {
        check(&asks(reason), &shows(ScreenSight::Busy), (None, Confidence::Likely));
    }
}

#[test]
fn a_prompt_that_was_taken_back_before_the_first_word_is_an_interruption() {
    let asked = prompted(idle(), LAST_HEARD);
    check(&asked, &shows(ScreenSight::Prompt), (Some(Observed::Interrupted), Confidence::Likely));
    let old = ChildrenSight::Youngest(Timestamp(LAST_HEARD - 1));
    let server = Sights { children: old, ..shows(ScreenSight::Prompt) };
    check(&asked, &server, (Some(Observed::Interrupted), Confidence::Likely));
}

#[test]
fn a_turn_goes_on_unless_the_screen_surely_shows_a_prompt() {
    let asked = prompted(idle(), LAST_HEARD);
    check(&asked, &shows(ScreenSight::Busy), (None, Confidence::Certain));
    check(&asked, &shows(ScreenSight::Dialog), (None, Confidence::Likely));
    check(&asked, &shows(ScreenSight::Unknown), (None, Confidence::Likely));
}

#[test]
fn any_sign_of_life_keeps_a_turn_open() {
    let asked = prompted(idle(), LAST_HEARD);
    let prompt = shows(ScreenSight::Prompt);
    let heard = Sights { now: Timestamp(LAST_HEARD + SILENT_MS), ..prompt };
    let written = Sights { last_written: Some(Timestamp(300_000 - SILENT_MS)), ..prompt };
    let tool = ChildrenSight::Youngest(Timestamp(LAST_HEARD + 1));
    for alive in [heard, written, Sights { children: tool, ..prompt }] {
        check(&asked, &alive, (None, Confidence::Likely));
    }
}

#[test]
fn running_subagents_behind_an_input_box_are_no_interruption() {
    let mut with_helper = prompted(idle(), LAST_HEARD);
    with_helper.subagents.insert(crate::id::SubagentId::parse("helper").unwrap());
    let in_background =
        after(Some(working()), LAST_HEARD, Happening::TurnEnded { background: Some(1), answer: None });
    for session in [with_helper, in_background] {
        assert_eq!(session.state, State::Working);
        check(&session, &shows(ScreenSight::Prompt), (None, Confidence::Likely));
    }
}

#[test]
fn the_transcript_takes_precedence_over_the_screen() {
    let both = Sights { screen: Some(ScreenSight::Busy), ..with_tail(TailEnd::Interrupted, LAST_HEARD) };
    check(&blocked(), &both, (Some(Observed::Interrupted), Confidence::Certain));
}

#[test]
fn a_screen_is_worth_reading_only_if_it_could_show_a_change() {
    let seen = |after_ms, youngest_ms: i64| Sights {
        now: Timestamp(LAST_HEARD + after_ms),
        children: ChildrenSight::Youngest(Timestamp(LAST_HEARD + youngest_ms)),
        ..shows(ScreenSight::Unknown)
    };
    let asked = prompted(idle(), LAST_HEARD);
    for (session, sights, expected) in [
        (blocked(), seen(DRAWN_MS - 1, 1), Promise::Nothing),
        (blocked(), seen(DRAWN_MS, 1), Promise::Change),
        (blocked(), seen(WAITED_MS, 0), Promise::Nothing),
        (blocked(), seen(WAITED_MS + 1, 0), Promise::Perhaps),
        (asks(Reason::Question), seen(WAITED_MS + 1, 1), Promise::Nothing),
        (asked.clone(), seen(SILENT_MS, 0), Promise::Nothing),
        (asked, seen(SILENT_MS + 1, 0), Promise::Perhaps),
        (idle(), seen(WAITED_MS + 1, 1), Promise::Nothing),
    ] {
        assert_eq!(promise(&session, &sights), expected, "{:?} {sights:?}", session.state);
    }
}

#[test]
fn an_answer_is_not_missed_where_the_tools_of_a_session_cannot_be_seen() {
    let unseen = |after_ms| Sights {
        now: Timestamp(LAST_HEARD + after_ms),
        children: ChildrenSight::Unknown,
        ..shows(ScreenSight::Unknown)
    };
    for (session, after_ms, expected) in [
        (blocked(), DRAWN_MS - 1, Promise::Nothing),
        (blocked(), DRAWN_MS, Promise::Change),
        (asks(Reason::Question), DRAWN_MS, Promise::Nothing),
        (working(), DRAWN_MS, Promise::Nothing),
    ] {
        assert_eq!(promise(&session, &unseen(after_ms)), expected, "{:?}", session.state);
    }
}

#[test]
fn every_piece_of_evidence_is_given_with_its_time() {
    let verdict = judge(&blocked(), &with_tail(TailEnd::Interrupted, LAST_HEARD + 5));
    let lines: Vec<String> = verdict
        .evidence
        .iter()
        .map(|piece| format!("{}: {} @ {:?}", piece.source, piece.says, piece.at.map(|at| at.0)))
        .collect();
    let expected = [
        "state: blocked (permission) @ Some(200000)",
        "hooks: last heard of it @ Some(200000)",
        "process: alive @ Some(300000)",
        "children: unknown @ None",
        "transcript: ends with an interruption @ Some(200005)",
        "transcript file: last written @ Some(200005)",
        "screen: not looked at @ None",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn children_and_screen_are_evidence_with_their_time() {
    let told = |sights: &Sights| {
        let evidence = judge(&blocked(), sights).evidence;
        let of = |source| evidence.iter().find(|piece: &&Evidence| piece.source == source).unwrap().clone();
        (of("children"), of("screen"))
    };
    let piece = |source, says: &str, at| Evidence { source, says: says.into(), at: Some(Timestamp(at)) };
    let none = (piece("children", "none", 300_000), piece("screen", "shows a dialog", 300_000));
    assert_eq!(told(&shows(ScreenSight::Dialog)), none);
    let started = ChildrenSight::Youngest(Timestamp(7));
    let youngest = (piece("children", "the youngest started", 7), piece("screen", "shows work", 300_000));
    assert_eq!(told(&Sights { children: started, ..shows(ScreenSight::Busy) }), youngest);
}

#[test]
fn missing_observations_are_listed_as_missing() {
    let verdict = judge(&idle(), &sights(ProcessSight::Unknown, None));
    let unseen: Vec<&str> = verdict.evidence[2..].iter().map(|piece| piece.says.as_str()).collect();
    assert_eq!(unseen, ["unknown", "unknown", "tells nothing", "not found", "not looked at"]);
}

#[test]
fn an_observation_takes_effect_unless_the_agent_went_on() {
    let session = working();
    let what = judge(&session, &with_tail(TailEnd::Interrupted, LAST_HEARD)).observed.unwrap();
    let observation = Happening::Observed { what, as_of: session.last_event_at, until: None };
    let told = after(Some(session.clone()), 300_000, observation.clone());
    assert_eq!((told.state, told.open_turn), (State::Interrupted, None));
    let went_on = prompted(session, LAST_HEARD + 1);
    assert_eq!(after(Some(went_on), 300_000, observation).state, State::Working);
}
