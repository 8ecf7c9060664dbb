//! A hop by its events: the intended path, and every event that ends it.

use super::super::hop::{HopIntents, HopRequest};
use super::*;
use crate::event::{EndedBy, PromptOrigin, TurnFailure};
use crate::id::Uid;
use crate::text::{SafeText, SecretPolicy, TextPolicy};
use crate::typing::{IntentPurpose, IntentRequest};

fn key(name: &str) -> SessionKey {
    SessionKey::parse(name).unwrap()
}

fn hop(stage: HopStage) -> Hop {
    Hop {
        uid: Uid([9; 16]),
        session: key("a:1"),
        asking: HopRequest {
            seat: "seat".into(),
            author: HandoffAuthor::Agent,
            ordinal: 1,
            percent: Some(80),
        },
        began_at: Timestamp(1_000),
        stage,
        moved_at: Timestamp(1_000),
        why: None,
        handoff: None,
        typed: Some(HopIntents { clear: Uid([1; 16]), go_on: Uid([2; 16]) }),
        successor: (stage == HopStage::Continuing).then(|| key("a:2")),
        given: None,
        told_at: None,
    }
}

fn event(session: &str, happening: EventKind) -> Event {
    let at = Timestamp(2_000);
    Event { uid: Uid([3; 16]), at, session: key(session), subagent: None, turn: None, happening, scene: None }
}

fn prompt(text: &str) -> EventKind {
    let keeping = TextPolicy { longest_bytes: 200, secrets: SecretPolicy::Redacted };
    EventKind::PromptSubmitted {
        prompt: SafeText::new(text, keeping),
        origin: PromptOrigin::Human,
        own: None,
    }
}

const END: EventKind = EventKind::TurnEnded { background: Some(0), answer: None };

fn intent(purpose: IntentPurpose, stage: typing::IntentStage, led_to: Option<&str>) -> Intent {
    Intent {
        uid: Uid([1; 16]),
        session: key("a:1"),
        wish: IntentRequest::new("seat", purpose, "text", Timestamp(9_000)).unwrap(),
        made_at: Timestamp(1_500),
        stage,
        moved_at: Timestamp(1_600),
        typing_at: None,
        why: Some("typing is paused".into()).filter(|_| stage == typing::IntentStage::Refused),
        into: None,
        led_to: led_to.map(key),
    }
}

#[track_caller]
fn check(
    hop: &Hop,
    happening: EventKind,
    typed: [typing::IntentStage; 2],
    expected: Option<(HopStage, &str)>,
) {
    let session = if hop.stage == HopStage::Continuing { "a:2" } else { "a:1" };
    let event = event(session, happening);
    let led = |stage| (stage == typing::IntentStage::Confirmed).then_some("a:2");
    let clear = intent(IntentPurpose::Clear, typed[0], led(typed[0]));
    let go_on = intent(IntentPurpose::Continue, typed[1], led(typed[1]));
    let next = follow(hop, &HopContext { event: &event, clear: Some(&clear), go_on: Some(&go_on) });
    let found = next.as_ref().map(|next| (next.to, next.why.as_deref().unwrap_or("")));
    assert_eq!(found, expected);
}

use typing::IntentStage::{Confirmed, Dropped, Expired, Refused, Typed as WasTyped, Waiting};

const NOTHING: [typing::IntentStage; 2] = [Waiting, Waiting];

#[test]
fn while_the_handoff_is_waited_for_anything_else_ends_the_hop() {
    let asked = hop(HopStage::Asked);
    let gone_on = Some((HopStage::Failed, "somebody went on in the session"));
    let ended = Some((HopStage::Failed, "its session ended before anything was typed"));
    let stopped = Some((HopStage::Failed, "the turn was stopped before the handoff was written"));
    check(&asked, END, NOTHING, None);
    check(&asked, EventKind::ToolsFinished, NOTHING, None);
    check(&asked, prompt("something else"), NOTHING, gone_on);
    check(&asked, EventKind::SessionEnded { by: EndedBy::Exit }, NOTHING, ended);
    check(&asked, EventKind::SessionEnded { by: EndedBy::Clear }, NOTHING, ended);
    check(&asked, EventKind::Interrupted, NOTHING, stopped);
    check(&asked, EventKind::TurnFailed { failure: TurnFailure::Other, until: None }, NOTHING, stopped);
    let seen = |what| EventKind::Observed { what, as_of: Timestamp(0), until: None };
    check(&asked, seen(ObservedChange::Gone), NOTHING, ended);
    check(&asked, seen(ObservedChange::Limited), NOTHING, stopped);
    check(&asked, seen(ObservedChange::Answered), NOTHING, None);
}

#[test]
fn events_of_other_sessions_and_subagents_leave_the_hop_alone() {
    let of_other = event("a:7", prompt("hello"));
    let of_helper = Event {
        subagent: Some(crate::id::SubagentId::parse("h").unwrap()),
        ..event("a:1", EventKind::Interrupted)
    };
    for event in [of_other, of_helper] {
        assert_eq!(
            follow(&hop(HopStage::Asked), &HopContext { event: &event, clear: None, go_on: None }),
            None
        );
    }
}

#[test]
fn a_clear_that_was_confirmed_names_the_successor() {
    let event = event("a:2", EventKind::SeatFound);
    let clear = intent(IntentPurpose::Clear, Confirmed, Some("a:2"));
    let go_on = intent(IntentPurpose::Continue, Waiting, None);
    let next = follow(
        &hop(HopStage::Clearing),
        &HopContext { event: &event, clear: Some(&clear), go_on: Some(&go_on) },
    );
    assert_eq!(
        next,
        Some(HopTransition { to: HopStage::Continuing, why: None, successor: Some(key("a:2")) })
    );
    check(&hop(HopStage::Clearing), END, [WasTyped, Waiting], None);
}

#[test]
fn an_intent_that_fails_ends_the_hop_with_its_reason() {
    let refused = Some((HopStage::Failed, "clear: typing is paused"));
    check(&hop(HopStage::Clearing), END, [Refused, Waiting], refused);
    check(&hop(HopStage::Clearing), END, [Expired, Waiting], Some((HopStage::Failed, "clear: expired")));
    check(&hop(HopStage::Clearing), END, [WasTyped, Dropped], Some((HopStage::Failed, "continue: dropped")));
    let refused = Some((HopStage::Failed, "continue: typing is paused"));
    check(&hop(HopStage::Continuing), EventKind::SeatFound, [Confirmed, Refused], refused);
    let event = event("a:1", END);
    let lost = follow(&hop(HopStage::Clearing), &HopContext { event: &event, clear: None, go_on: None });
    assert_eq!(lost.map(|next| next.to), Some(HopStage::Failed), "its intents were forgotten");
}

#[test]
fn a_hop_is_done_only_if_the_successor_was_prompted_and_had_the_handoff() {
    let given = |to: &str| Hop { given: Some((key(to), Timestamp(1_900))), ..hop(HopStage::Continuing) };
    check(&given("a:2"), prompt("go on"), [Confirmed, Confirmed], Some((HopStage::Done, "")));
    check(&given("a:2"), prompt("go on"), [Confirmed, WasTyped], None);
    check(&hop(HopStage::Continuing), prompt("go on"), [Confirmed, Confirmed], None);
    let without = Some((HopStage::Failed, "the successor went on without the handoff"));
    check(&hop(HopStage::Continuing), END, [Confirmed, Confirmed], without);
    check(&given("a:7"), END, [Confirmed, Confirmed], without);
    let other = Hop { successor: Some(key("a:8")), ..given("a:8") };
    check(&other, END, [Confirmed, Confirmed], Some((HopStage::Failed, "another session was prompted")));
}

#[test]
fn an_ended_hop_never_moves_again() {
    for stage in [HopStage::Done, HopStage::Failed, HopStage::Stopped] {
        check(&hop(stage), prompt("x"), [Refused, Refused], None);
        assert!(!is_overdue(&hop(stage), Timestamp(i64::MAX)));
    }
    let late = |ms| is_overdue(&hop(HopStage::Clearing), Timestamp(1_000 + ms));
    assert!(!late(OVERDUE_MS) && late(OVERDUE_MS + 1));
}

/// An agent that empties its conversation itself: nothing is typed.
fn in_place(stage: HopStage) -> Hop {
    Hop { typed: None, ..hop(stage) }
}

fn next(hop: &Hop, session: &str, happening: EventKind) -> Option<(HopStage, Option<SessionKey>)> {
    let event = event(session, happening);
    let next = follow(hop, &HopContext { event: &event, clear: None, go_on: None });
    next.map(|next| (next.to, next.successor))
}

#[test]
fn a_hop_for_which_nothing_is_typed_goes_on_in_the_same_session() {
    let clearing = in_place(HopStage::Clearing);
    let keeping = TextPolicy { longest_bytes: 0, secrets: SecretPolicy::Redacted };
    let ours = || EventKind::PromptSubmitted {
        prompt: SafeText::new("not kept", keeping),
        origin: PromptOrigin::Continuation,
        own: None,
    };
    assert_eq!(next(&clearing, "a:1", ours()), Some((HopStage::Continuing, Some(key("a:1")))));
    let continuing = Hop { successor: Some(key("a:1")), ..in_place(HopStage::Continuing) };
    assert_eq!(next(&continuing, "a:1", ours()), Some((HopStage::Done, None)));
    assert_eq!(next(&clearing, "a:1", END), None);
    assert_eq!(next(&clearing, "b:1", ours()), None, "of another agent");
}

#[test]
fn a_hop_for_which_nothing_is_typed_may_go_on_in_another_session() {
    let clearing = in_place(HopStage::Clearing);
    let said = |hop: &Hop| {
        let keeping = TextPolicy { longest_bytes: 200, secrets: SecretPolicy::Redacted };
        let prompt = SafeText::new(&super::super::form::prompt(hop.uid), keeping);
        EventKind::PromptSubmitted { prompt, origin: PromptOrigin::Continuation, own: None }
    };
    assert_eq!(next(&clearing, "a:2", said(&clearing)), Some((HopStage::Continuing, Some(key("a:2")))));
    let other = Hop { uid: Uid([7; 16]), ..in_place(HopStage::Clearing) };
    assert_eq!(next(&clearing, "a:2", said(&other)), None, "of another hop");
    let continuing = in_place(HopStage::Continuing);
    let ended = EventKind::SessionEnded { by: EndedBy::Clear };
    assert_eq!(next(&continuing, "a:1", ended), None, "the old session is left behind");
    assert_eq!(next(&continuing, "a:2", EventKind::ToolsFinished), None);
    assert_eq!(next(&continuing, "a:2", END), Some((HopStage::Failed, None)), "without the handoff");
    let given = Hop { given: Some((key("a:2"), Timestamp(1_900))), ..in_place(HopStage::Continuing) };
    assert_eq!(next(&given, "a:2", EventKind::ToolsFinished), Some((HopStage::Done, None)));
}

#[test]
fn a_hop_for_which_nothing_is_typed_fails_if_somebody_else_goes_on() {
    let clearing = in_place(HopStage::Clearing);
    assert_eq!(next(&clearing, "a:1", prompt("something else")), Some((HopStage::Failed, None)));
    let ended = EventKind::SessionEnded { by: EndedBy::Exit };
    assert_eq!(next(&clearing, "a:1", ended), Some((HopStage::Failed, None)));
}
