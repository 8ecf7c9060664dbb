//! Every rule, on sessions built from the events that lead to them.

use super::*;
use crate::event::{
    BlockReason, EndedBy, Event, EventKind, PromptOrigin, StartedBy, ToolOutcome, TurnFailure,
};
use crate::id::{SessionKey, Uid};
use crate::inherit::InheritSettings;
use crate::step::{StepInput, step};
use crate::text::{SafeText, SecretPolicy, TextPolicy};

const PROMPTED: i64 = 100_000;
const LAST_HEARD: i64 = 200_000;

fn kept(text: &str) -> SafeText {
    SafeText::new(text, TextPolicy { longest_bytes: 60, secrets: SecretPolicy::Redacted })
}

fn after(before: Option<Session>, at: i64, happening: EventKind) -> Session {
    let session = SessionKey::parse("agent:one").unwrap();
    let at = Timestamp(at);
    let uid = Uid::v7(at, [0; 10]);
    let event = Event { uid, at, session, subagent: None, turn: None, happening, scene: None };
    step(StepInput { session: before, ..StepInput::default() }, &event).session.unwrap()
}

fn idle() -> Session {
    after(None, 1, EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() })
}

fn prompted(before: Session, at: i64) -> Session {
    after(
        Some(before),
        at,
        EventKind::PromptSubmitted { prompt: kept("go"), origin: PromptOrigin::Human, own: None },
    )
}

/// Prompted, and one tool has finished since.
fn working() -> Session {
    let finished = EventKind::ToolFinished { tool: kept("shell"), outcome: ToolOutcome::Done, bytes: 0 };
    after(Some(prompted(idle(), PROMPTED)), LAST_HEARD, finished)
}

fn blocked() -> Session {
    let asked = EventKind::PermissionAsked { tool: kept("shell"), reason: BlockReason::Permission };
    after(Some(working()), LAST_HEARD, asked)
}

fn sights(process: ProcessProbe, tail: Option<(TranscriptEnd, i64)>) -> Observations {
    Observations {
        now: Timestamp(300_000),
        process,
        children: ChildrenProbe::Unknown,
        tail: tail.map(|(end, at)| TranscriptTail { end, at: Timestamp(at), until: None }),
        last_written: tail.map(|(_, at)| Timestamp(at)),
        screen: None,
    }
}

/// A hundred seconds after the last event, with no transcript entry in between.
fn shows(screen: ScreenProbe) -> Observations {
    Observations {
        children: ChildrenProbe::None,
        screen: Some(screen),
        last_written: Some(Timestamp(LAST_HEARD)),
        ..sights(ProcessProbe::Alive, None)
    }
}

fn with_tail(end: TranscriptEnd, at: i64) -> Observations {
    sights(ProcessProbe::Alive, Some((end, at)))
}

#[track_caller]
fn check(session: &Session, sights: &Observations, expected: (Option<ObservedChange>, StateConfidence)) {
    let verdict = resolve_state(session, sights);
    assert_eq!((verdict.observed, verdict.confidence), expected, "{}", verdict.rule);
}

#[test]
fn an_ended_session_stays_ended_whatever_is_seen() {
    let ended = after(Some(working()), LAST_HEARD, EventKind::SessionEnded { by: EndedBy::Exit });
    for process in [ProcessProbe::Alive, ProcessProbe::Gone, ProcessProbe::Unknown] {
        let verdict = resolve_state(&ended, &sights(process, Some((TranscriptEnd::Interrupted, LAST_HEARD))));
        assert_eq!((verdict.observed, verdict.rule), (None, "an ended session stays ended"));
    }
}

#[test]
fn a_session_without_its_process_is_gone_whatever_it_was_doing() {
    for session in [idle(), working(), blocked()] {
        let sights = sights(ProcessProbe::Gone, Some((TranscriptEnd::Interrupted, LAST_HEARD)));
        check(&session, &sights, (Some(ObservedChange::Gone), StateConfidence::Certain));
    }
}

#[test]
fn a_process_that_cannot_be_seen_changes_nothing() {
    check(&working(), &sights(ProcessProbe::Unknown, None), (None, StateConfidence::Guess));
    check(&blocked(), &sights(ProcessProbe::Unknown, None), (None, StateConfidence::Guess));
    check(&idle(), &sights(ProcessProbe::Unknown, None), (None, StateConfidence::Likely));
}

#[test]
fn an_interruption_without_a_hook_is_found_in_the_transcript() {
    for session in [working(), blocked()] {
        for at in [LAST_HEARD, LAST_HEARD + 60_000] {
            let expected = (Some(ObservedChange::Interrupted), StateConfidence::Certain);
            check(&session, &with_tail(TranscriptEnd::Interrupted, at), expected);
        }
    }
}

#[test]
fn an_interruption_counts_although_the_process_cannot_be_seen() {
    let sights = sights(ProcessProbe::Unknown, Some((TranscriptEnd::Interrupted, LAST_HEARD)));
    check(&working(), &sights, (Some(ObservedChange::Interrupted), StateConfidence::Certain));
}

#[test]
fn errors_and_limits_are_told_apart() {
    let certain = |observed| (Some(observed), StateConfidence::Certain);
    check(&working(), &with_tail(TranscriptEnd::Failed, LAST_HEARD), certain(ObservedChange::Failed));
    check(&working(), &with_tail(TranscriptEnd::Limited, LAST_HEARD), certain(ObservedChange::Limited));
    check(&blocked(), &with_tail(TranscriptEnd::Failed, LAST_HEARD), certain(ObservedChange::Failed));
}

#[test]
fn stamps_may_differ_a_little_but_are_then_less_sure() {
    for (end, observed) in [
        (TranscriptEnd::Interrupted, ObservedChange::Interrupted),
        (TranscriptEnd::Failed, ObservedChange::Failed),
        (TranscriptEnd::Limited, ObservedChange::Limited),
    ] {
        check(&working(), &with_tail(end, LAST_HEARD - 1), (Some(observed), StateConfidence::Likely));
        check(&working(), &with_tail(end, LAST_HEARD - SKEW_MS), (Some(observed), StateConfidence::Likely));
    }
}

#[test]
fn a_stale_tail_changes_nothing() {
    for end in
        [TranscriptEnd::Interrupted, TranscriptEnd::Failed, TranscriptEnd::Limited, TranscriptEnd::Other]
    {
        let stale = with_tail(end, LAST_HEARD - SKEW_MS - 1);
        check(&working(), &stale, (None, StateConfidence::Likely));
        check(&blocked(), &stale, (None, StateConfidence::Likely));
    }
}

#[test]
fn a_prompt_right_after_an_interruption_is_not_taken_for_interrupted() {
    let again = prompted(idle(), LAST_HEARD);
    check(&again, &with_tail(TranscriptEnd::Interrupted, LAST_HEARD - 100), (None, StateConfidence::Likely));
    let soon = with_tail(TranscriptEnd::Interrupted, LAST_HEARD + 100);
    check(&again, &soon, (Some(ObservedChange::Interrupted), StateConfidence::Certain));
}

#[test]
fn a_turn_that_is_over_does_not_end_again() {
    let completed =
        after(Some(working()), LAST_HEARD, EventKind::TurnEnded { background: None, answer: None });
    let interrupted = after(Some(working()), LAST_HEARD, EventKind::Interrupted);
    let limit = EventKind::TurnFailed { failure: TurnFailure::UsageLimit, until: None };
    let limited = after(Some(working()), LAST_HEARD, limit);
    for session in [idle(), completed, interrupted, limited] {
        for end in [TranscriptEnd::Interrupted, TranscriptEnd::Failed, TranscriptEnd::Limited] {
            check(&session, &with_tail(end, LAST_HEARD), (None, StateConfidence::Certain));
        }
    }
}

#[test]
fn hooks_stand_where_the_transcript_goes_on() {
    let verdict = resolve_state(&working(), &with_tail(TranscriptEnd::Other, LAST_HEARD + 1));
    assert_eq!((verdict.observed, verdict.confidence), (None, StateConfidence::Certain));
    assert_eq!(verdict.rule, "nothing seen contradicts the hooks");
    check(&working(), &sights(ProcessProbe::Alive, None), (None, StateConfidence::Likely));
    let unseen = sights(ProcessProbe::Unknown, Some((TranscriptEnd::Other, LAST_HEARD + 1)));
    check(&working(), &unseen, (None, StateConfidence::Likely));
}

#[test]
fn a_prompt_without_a_word_of_answer_is_not_certain_to_be_worked_on() {
    let asked = prompted(idle(), LAST_HEARD);
    check(&asked, &with_tail(TranscriptEnd::Other, LAST_HEARD - 100), (None, StateConfidence::Likely));
    check(&asked, &with_tail(TranscriptEnd::Other, LAST_HEARD + 100), (None, StateConfidence::Certain));
}

#[test]
fn the_end_of_a_limit_is_passed_on_and_no_other_time() {
    let until = Some(Timestamp(900_000));
    let ends = |end| Observations {
        tail: Some(TranscriptTail { end, at: Timestamp(LAST_HEARD), until }),
        ..with_tail(end, 0)
    };
    assert_eq!(resolve_state(&working(), &ends(TranscriptEnd::Limited)).until, until);
    assert_eq!(resolve_state(&working(), &ends(TranscriptEnd::Failed)).until, None);
    assert_eq!(resolve_state(&idle(), &ends(TranscriptEnd::Limited)).until, None);
}

#[test]
fn the_end_of_a_limit_that_a_hook_reported_is_found_in_the_transcript() {
    let until = Some(Timestamp(900_000));
    let failed = EventKind::TurnFailed { failure: TurnFailure::UsageLimit, until: None };
    let limited = after(Some(working()), LAST_HEARD, failed);
    let tail = TranscriptTail { end: TranscriptEnd::Limited, at: Timestamp(LAST_HEARD - 50), until };
    let seen = Observations { tail: Some(tail), ..with_tail(TranscriptEnd::Limited, 0) };
    let verdict = resolve_state(&limited, &seen);
    assert_eq!((verdict.observed, verdict.until), (Some(ObservedChange::Limited), until));
    let what = EventKind::Observed { what: ObservedChange::Limited, as_of: limited.last_event_at, until };
    let dated = after(Some(limited.clone()), 300_000, what);
    assert_eq!(
        (dated.state, dated.since, dated.limited_until),
        (SessionState::Limited, limited.since, until)
    );
    check(&dated, &seen, (None, StateConfidence::Certain));
    let old = TranscriptTail { at: Timestamp(LAST_HEARD - SKEW_MS - 1), ..tail };
    check(&limited, &Observations { tail: Some(old), ..seen }, (None, StateConfidence::Certain));
}

fn asks(reason: BlockReason) -> Session {
    after(Some(working()), LAST_HEARD, EventKind::PermissionAsked { tool: kept("shell"), reason })
}

#[test]
fn a_permission_was_granted_if_the_screen_shows_work_and_no_dialog() {
    check(&blocked(), &shows(ScreenProbe::Busy), (Some(ObservedChange::Answered), StateConfidence::Likely));
    let tool = ChildrenProbe::Youngest(Timestamp(LAST_HEARD + 1));
    let runs = Observations { children: tool, ..shows(ScreenProbe::Busy) };
    check(&blocked(), &runs, (Some(ObservedChange::Answered), StateConfidence::Certain));
    let server = ChildrenProbe::Youngest(Timestamp(LAST_HEARD));
    let kept = Observations { children: server, ..shows(ScreenProbe::Busy) };
    check(&blocked(), &kept, (Some(ObservedChange::Answered), StateConfidence::Likely));
}

#[test]
fn a_block_stands_unless_the_screen_surely_shows_work() {
    check(&blocked(), &shows(ScreenProbe::Dialog), (None, StateConfidence::Certain));
    check(&blocked(), &shows(ScreenProbe::Prompt), (None, StateConfidence::Likely));
    check(&blocked(), &shows(ScreenProbe::Unknown), (None, StateConfidence::Likely));
    let unseen = Observations { screen: None, ..shows(ScreenProbe::Busy) };
    check(&blocked(), &unseen, (None, StateConfidence::Likely));
}

#[test]
fn a_dialog_that_is_not_drawn_yet_is_not_taken_for_answered() {
    let at = |ms| Observations { now: Timestamp(LAST_HEARD + ms), ..shows(ScreenProbe::Busy) };
    check(&blocked(), &at(DRAWN_MS - 1), (None, StateConfidence::Likely));
    check(&blocked(), &at(DRAWN_MS), (Some(ObservedChange::Answered), StateConfidence::Likely));
    let asked_again = EventKind::PermissionAsked { tool: kept("other"), reason: BlockReason::Permission };
    let again = after(Some(blocked()), LAST_HEARD + DRAWN_MS, asked_again);
    check(&again, &at(DRAWN_MS), (None, StateConfidence::Likely));
}

#[test]
fn questions_are_left_to_the_hook_that_their_answer_runs() {
    for reason in [BlockReason::Question, BlockReason::Elicitation] {
        check(&asks(reason), &shows(ScreenProbe::Busy), (None, StateConfidence::Likely));
    }
}

#[test]
fn a_prompt_that_was_taken_back_before_the_first_word_is_an_interruption() {
    let asked = prompted(idle(), LAST_HEARD);
    check(&asked, &shows(ScreenProbe::Prompt), (Some(ObservedChange::Interrupted), StateConfidence::Likely));
    let old = ChildrenProbe::Youngest(Timestamp(LAST_HEARD - 1));
    let server = Observations { children: old, ..shows(ScreenProbe::Prompt) };
    check(&asked, &server, (Some(ObservedChange::Interrupted), StateConfidence::Likely));
}

#[test]
fn a_turn_goes_on_unless_the_screen_surely_shows_a_prompt() {
    let asked = prompted(idle(), LAST_HEARD);
    check(&asked, &shows(ScreenProbe::Busy), (None, StateConfidence::Certain));
    check(&asked, &shows(ScreenProbe::Dialog), (None, StateConfidence::Likely));
    check(&asked, &shows(ScreenProbe::Unknown), (None, StateConfidence::Likely));
}

#[test]
fn any_sign_of_life_keeps_a_turn_open() {
    let prompt = shows(ScreenProbe::Prompt);
    let tool = ChildrenProbe::Youngest(Timestamp(LAST_HEARD + 1));
    for (session, silence) in [(prompted(idle(), LAST_HEARD), UNANSWERED_MS), (working(), SILENT_MS)] {
        let heard = Observations { now: Timestamp(LAST_HEARD + silence), ..prompt };
        let written = Observations { last_written: Some(Timestamp(300_000 - silence)), ..prompt };
        for alive in [heard, written, Observations { children: tool, ..prompt }] {
            check(&session, &alive, (None, StateConfidence::Likely));
        }
    }
}

#[test]
fn running_subagents_behind_an_input_box_are_no_interruption() {
    let mut with_helper = prompted(idle(), LAST_HEARD);
    with_helper.subagents.insert(crate::id::SubagentId::parse("helper").unwrap());
    let in_background =
        after(Some(working()), LAST_HEARD, EventKind::TurnEnded { background: Some(1), answer: None });
    for session in [with_helper, in_background] {
        assert_eq!(session.state, SessionState::Working);
        check(&session, &shows(ScreenProbe::Prompt), (None, StateConfidence::Likely));
    }
}

#[test]
fn the_transcript_takes_precedence_over_the_screen() {
    let both =
        Observations { screen: Some(ScreenProbe::Busy), ..with_tail(TranscriptEnd::Interrupted, LAST_HEARD) };
    check(&blocked(), &both, (Some(ObservedChange::Interrupted), StateConfidence::Certain));
}

#[test]
fn a_screen_is_worth_reading_only_if_it_could_show_a_change() {
    let seen = |after_ms, youngest_ms: i64| Observations {
        now: Timestamp(LAST_HEARD + after_ms),
        children: ChildrenProbe::Youngest(Timestamp(LAST_HEARD + youngest_ms)),
        ..shows(ScreenProbe::Unknown)
    };
    let asked = prompted(idle(), LAST_HEARD);
    for (session, sights, expected) in [
        (blocked(), seen(DRAWN_MS - 1, 1), ScreenReadValue::Nothing),
        (blocked(), seen(DRAWN_MS, 1), ScreenReadValue::Change),
        (blocked(), seen(WAITED_MS, 0), ScreenReadValue::Nothing),
        (blocked(), seen(WAITED_MS + 1, 0), ScreenReadValue::Perhaps),
        (asks(BlockReason::Question), seen(WAITED_MS + 1, 1), ScreenReadValue::Nothing),
        (asked.clone(), seen(UNANSWERED_MS, 0), ScreenReadValue::Nothing),
        (asked.clone(), seen(UNANSWERED_MS + 1, 0), ScreenReadValue::Change),
        (asked, seen(SOON_MS, 0), ScreenReadValue::Perhaps),
        (working(), seen(SILENT_MS, 0), ScreenReadValue::Nothing),
        (working(), seen(SILENT_MS + 1, 0), ScreenReadValue::Perhaps),
        (idle(), seen(WAITED_MS + 1, 1), ScreenReadValue::Nothing),
    ] {
        assert_eq!(screen_read_value(&session, &sights), expected, "{:?} {sights:?}", session.state);
    }
}

#[test]
fn an_answer_is_not_missed_where_the_tools_of_a_session_cannot_be_seen() {
    let unseen = |after_ms| Observations {
        now: Timestamp(LAST_HEARD + after_ms),
        children: ChildrenProbe::Unknown,
        ..shows(ScreenProbe::Unknown)
    };
    for (session, after_ms, expected) in [
        (blocked(), DRAWN_MS - 1, ScreenReadValue::Nothing),
        (blocked(), DRAWN_MS, ScreenReadValue::Change),
        (asks(BlockReason::Question), DRAWN_MS, ScreenReadValue::Nothing),
        (working(), DRAWN_MS, ScreenReadValue::Nothing),
    ] {
        assert_eq!(screen_read_value(&session, &unseen(after_ms)), expected, "{:?}", session.state);
    }
}

#[test]
fn every_piece_of_evidence_is_given_with_its_time() {
    let verdict = resolve_state(&blocked(), &with_tail(TranscriptEnd::Interrupted, LAST_HEARD + 5));
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
    let told = |sights: &Observations| {
        let evidence = resolve_state(&blocked(), sights).evidence;
        let of =
            |source| evidence.iter().find(|piece: &&StateEvidence| piece.source == source).unwrap().clone();
        (of("children"), of("screen"))
    };
    let piece = |source, says: &str, at| StateEvidence { source, says: says.into(), at: Some(Timestamp(at)) };
    let none = (piece("children", "none", 300_000), piece("screen", "shows a dialog", 300_000));
    assert_eq!(told(&shows(ScreenProbe::Dialog)), none);
    let started = ChildrenProbe::Youngest(Timestamp(7));
    let youngest = (piece("children", "the youngest started", 7), piece("screen", "shows work", 300_000));
    assert_eq!(told(&Observations { children: started, ..shows(ScreenProbe::Busy) }), youngest);
}

#[test]
fn missing_observations_are_listed_as_missing() {
    let verdict = resolve_state(&idle(), &sights(ProcessProbe::Unknown, None));
    let unseen: Vec<&str> = verdict.evidence[2..].iter().map(|piece| piece.says.as_str()).collect();
    assert_eq!(unseen, ["unknown", "unknown", "tells nothing", "not found", "not looked at"]);
}

#[test]
fn an_observation_takes_effect_unless_the_agent_went_on() {
    let session = working();
    let what = resolve_state(&session, &with_tail(TranscriptEnd::Interrupted, LAST_HEARD)).observed.unwrap();
    let observation = EventKind::Observed { what, as_of: session.last_event_at, until: None };
    let told = after(Some(session.clone()), 300_000, observation.clone());
    assert_eq!((told.state, told.open_turn), (SessionState::Interrupted, None));
    let went_on = prompted(session, LAST_HEARD + 1);
    assert_eq!(after(Some(went_on), 300_000, observation).state, SessionState::Working);
}
