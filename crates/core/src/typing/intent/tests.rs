//! Tests of an intent's life and its confirmation.

use super::*;
use crate::event::{CompactionTrigger, EndedBy, Event, EventKind, StartedBy};
use crate::id::SubagentId;
use crate::inherit::InheritSettings;
use crate::seat::{SeatKind, SeatLocation, SeatProof};
use crate::session::Session;
use crate::step::{StepInput, step};
use crate::typing::answers;
use proptest::prelude::*;

fn key(raw: &str) -> SessionKey {
    SessionKey::parse(raw).unwrap()
}

fn kept(text: &str, longest_bytes: usize) -> SafeText {
    SafeText::new(text, TextPolicy { longest_bytes, secrets: SecretPolicy::Redacted })
}

fn in_flight(purpose: IntentPurpose, text: &str) -> Intent {
    let wish = IntentRequest::new("tmux:1:%1", purpose, text, Timestamp(9_000)).unwrap();
    Intent {
        uid: Uid([1; 16]),
        session: key("a:1"),
        wish,
        made_at: Timestamp(100),
        stage: IntentStage::Typed,
        moved_at: Timestamp(210),
        typing_at: Some(Timestamp(200)),
        why: None,
        into: Some(key("a:1")),
        led_to: None,
    }
}

fn event(session: &str, at: i64, happening: EventKind) -> Event {
    let at = Timestamp(at);
    Event {
        uid: Uid::v7(at, [0; 10]),
        at,
        session: key(session),
        subagent: None,
        turn: None,
        happening,
        scene: None,
    }
}

fn started(session: &str, at: i64, by: StartedBy) -> Session {
    let start = EventKind::SessionStarted { by, wishes: InheritSettings::default() };
    let mut session = step(StepInput::default(), &event(session, at, start)).session.unwrap();
    session.seat = Some("tmux:1:%1".into());
    session
}

fn prompt(text: &str) -> EventKind {
    EventKind::PromptSubmitted { prompt: kept(text, 2_000), origin: PromptOrigin::Human, own: None }
}

/// Whether an event of the session confirms the intent.
fn is_answered(intent: &Intent, session: &Session, event: &Event) -> bool {
    let after =
        step(StepInput { session: Some(session.clone()), ..StepInput::default() }, event).session.unwrap();
    answers(intent, event, &after)
}

#[test]
fn a_prompt_is_confirmed_by_exactly_its_text_in_its_session_after_typing_began() {
    let (intent, session) = (in_flight(IntentPurpose::Bookmark, "·"), started("a:1", 1, StartedBy::Startup));
    let check = |event: Event, expected: bool| {
        assert_eq!(is_answered(&intent, &session, &event), expected, "{event:?}");
    };
    check(event("a:1", 300, prompt("·")), true);
    check(event("a:1", 300, prompt(" ·\n")), true);
    check(event("a:1", 300, prompt("half·")), false);
    check(event("a:1", 199, prompt("·")), false);
    check(event("a:1", 300, EventKind::TurnEnded { background: None, answer: None }), false);
    let helper = Some(SubagentId::parse("h").unwrap());
    check(Event { subagent: helper, ..event("a:1", 300, prompt("·")) }, false);
    let other = started("a:2", 1, StartedBy::Startup);
    assert!(!is_answered(&intent, &other, &event("a:2", 300, prompt("·"))));
}

#[test]
fn a_long_prompt_is_known_by_what_was_kept_of_it() {
    let text = "Continue with the work that was handed over. ".repeat(100);
    let whole = kept(text.trim(), 20_000);
    assert!(shows(&kept(&text, 2_000), &whole));
    assert!(shows(&kept(&text, 100), &whole));
    assert!(!shows(&kept(&text.replace("work", "play"), 100), &whole));
    assert!(!shows(&SafeText::default(), &whole), "nothing was kept of it: it may be any");
    assert!(!shows(&kept("…", 100), &whole));
}

#[test]
fn a_clear_is_confirmed_by_the_session_that_begins_in_its_seat() {
    let intent = in_flight(IntentPurpose::Clear, "/clear");
    let start = |by| EventKind::SessionStarted { by, wishes: InheritSettings::default() };
    let begins = |key: &str, at, by| answers(&intent, &event(key, at, start(by)), &started(key, at, by));
    assert!(begins("a:2", 300, StartedBy::Clear));
    assert!(!begins("a:2", 300, StartedBy::Startup));
    assert!(!begins("a:1", 300, StartedBy::Clear), "it is the old one");
    let mut elsewhere = started("a:2", 300, StartedBy::Clear);
    elsewhere.seat = Some("tmux:1:%2".into());
    assert!(!answers(&intent, &event("a:2", 300, start(StartedBy::Clear)), &elsewhere));
    let found = event("a:2", 301, EventKind::SeatFound);
    assert!(answers(&intent, &found, &started("a:2", 300, StartedBy::Clear)), "its seat was found later");
    assert!(!answers(&intent, &found, &started("a:2", 150, StartedBy::Clear)), "it began before");
    let ended = EventKind::SessionEnded { by: EndedBy::Clear };
    assert!(!is_answered(&intent, &started("a:1", 1, StartedBy::Startup), &event("a:1", 300, ended)));
}

#[test]
fn a_compaction_is_confirmed_only_by_one_that_was_asked_for() {
    let (intent, session) =
        (in_flight(IntentPurpose::Compact, "/compact"), started("a:1", 1, StartedBy::Startup));
    let began = |trigger| event("a:1", 300, EventKind::CompactionStarted { trigger });
    assert!(is_answered(&intent, &session, &began(CompactionTrigger::Manual)));
    assert!(!is_answered(&intent, &session, &began(CompactionTrigger::Auto)));
}

#[test]
fn a_continuation_is_confirmed_in_the_session_that_its_first_prompt_begins() {
    let intent = in_flight(IntentPurpose::Continue, "go on");
    let cleared = started("a:2", 300, StartedBy::Clear);
    assert!(is_answered(&intent, &cleared, &event("a:2", 301, prompt("go on"))));
    let place = SeatLocation {
        key: "tmux:1:%1".into(),
        kind: SeatKind::Tmux,
        pane: None,
        server: None,
        tty: None,
        pid: 1,
        started: 1,
        program: None,
        proof: SeatProof::Evidence,
    };
    let unseated = Session { seat: None, ..cleared };
    let prompted = step(
        StepInput { session: Some(unseated), ..StepInput::default() },
        &event("a:2", 301, prompt("go on")),
    );
    let mut prompted = prompted.session.unwrap();
    assert!(!answers(&intent, &event("a:2", 301, prompt("go on")), &prompted), "nobody knows where it sits");
    prompted.seat = Some(place.key);
    assert!(answers(&intent, &event("a:2", 302, EventKind::SeatFound), &prompted));
}

#[test]
fn an_intent_that_is_not_in_flight_is_never_confirmed() {
    let session = started("a:1", 1, StartedBy::Startup);
    for stage in IntentStage::ALL.into_iter().filter(|stage| !stage.is_in_flight()) {
        let intent = Intent { stage, ..in_flight(IntentPurpose::Bookmark, "·") };
        assert!(!is_answered(&intent, &session, &event("a:1", 300, prompt("·"))), "{stage:?}");
    }
}

#[test]
fn text_that_cannot_be_typed_is_rejected_with_its_reason() {
    let wish = |text: &str| {
        IntentRequest::new("s", IntentPurpose::Continue, text, Timestamp(1)).map(|wish| wish.text)
    };
    assert_eq!(wish(" \n"), Err(BadIntent::Blank));
    assert_eq!(wish("a\x1b[201~b"), Err(BadIntent::Control));
    assert_eq!(wish("a\rb"), Err(BadIntent::Control));
    assert_eq!(wish(&"x ".repeat(15_000)), Err(BadIntent::TooLong { bytes: 29_999 }));
    assert_eq!(wish(&"x ".repeat(200_000)), Err(BadIntent::TooLong { bytes: 80_000 + '…'.len_utf8() }));
    assert_eq!(wish("two\nlines ").unwrap().as_str(), "two\nlines");
    let secret = format!("use {}{}", "ghp_", "A1".repeat(18));
    assert!(!wish(&secret).unwrap().as_str().contains("A1A1"));
}

#[test]
fn every_name_parses_back() {
    for purpose in IntentPurpose::ALL {
        assert_eq!(IntentPurpose::named(purpose.name()), Some(purpose));
        assert_eq!(serde_json::to_string(&purpose).unwrap(), format!("\"{}\"", purpose.name()));
    }
    for stage in IntentStage::ALL {
        assert_eq!(IntentStage::named(stage.name()), Some(stage));
        assert_eq!(serde_json::to_string(&stage).unwrap(), format!("\"{}\"", stage.name()));
    }
}

proptest! {
    /// Once typing has begun it never begins again, and a final stage is final.
    #[test]
    fn a_stage_never_returns_to_typing(moves in prop::collection::vec(0..7_usize, 0..40)) {
        let (mut stage, mut typed) = (IntentStage::Waiting, 0);
        for to in moves.into_iter().map(|index| IntentStage::ALL[index]) {
            let was = stage;
            if stage.can_advance_to(to) {
                stage = to;
            }
            typed += u32::from(was != IntentStage::Typing && stage == IntentStage::Typing);
            prop_assert!(!was.is_over() || stage == was);
        }
        prop_assert!(typed <= 1);
    }
}

#[test]
fn a_prompt_that_agents_would_run_as_a_command_is_rejected() {
    for text in ["!rm -rf .", "/exit", " /clear and go on", "& sleep 1"] {
        for purpose in [IntentPurpose::Bookmark, IntentPurpose::Continue, IntentPurpose::Resume] {
            let wish = IntentRequest::new("tmux:1:%1", purpose, text, Timestamp(9));
            assert_eq!(wish.unwrap_err(), BadIntent::Command, "{text}");
        }
    }
    assert!(IntentRequest::new("tmux:1:%1", IntentPurpose::Clear, "/clear", Timestamp(9)).is_ok());
    assert!(
        IntentRequest::new("tmux:1:%1", IntentPurpose::Continue, "# Handoff\n!important", Timestamp(9))
            .is_ok()
    );
}
