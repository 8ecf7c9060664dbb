//! Tests of every reason not to type; only a state without any of them permits typing.

use super::*;
use crate::event::{BlockReason, Event, EventKind, PromptOrigin, StartedBy};
use crate::id::Uid;
use crate::inherit::InheritSettings;
use crate::seat::{SeatKind, SeatLocation, SeatProof};
use crate::step::{StepInput, step};
use crate::text::{SafeText, SecretPolicy, TextPolicy};
use crate::typing::IntentRequest;
use proptest::prelude::*;
use std::fmt::Write;

const SEAT: &str = "tmux:1:%1";
const NOW: Timestamp = Timestamp(100_000);

/// Everything that a moment borrows, with every condition met.
#[derive(Clone)]
struct World {
    intent: Intent,
    before: Option<Intent>,
    seat: Option<Seat>,
    session: Option<Session>,
    starts: SessionStartReport,
    process: ProcessProbe,
    abilities: TerminalAbilities,
    look: PaneObservation,
    line: InputLine,
    is_cursor_at_end: Option<bool>,
    shown: ShownSession,
    asked: Option<SafeText>,
    rules: TypingRules,
}

impl World {
    fn moment(&self) -> TypingContext<'_> {
        TypingContext {
            now: NOW,
            seat: self.seat.as_ref(),
            session: self.session.as_ref(),
            before: self.before.as_ref(),
            starts: self.starts,
            process: self.process,
            abilities: self.abilities,
            look: &self.look,
            line: &self.line,
            is_cursor_at_end: self.is_cursor_at_end,
            shown: &self.shown,
            asked: self.asked.as_ref(),
        }
    }

    fn may_type(&self) -> TypingVerdict {
        may_type(&self.intent, &self.moment(), &self.rules)
    }

    fn may_press(&self) -> TypingVerdict {
        let typed_on = PaneObservation { last_key_at: Some(Timestamp(1_000)), ..PaneObservation::default() };
        may_press(&self.intent, &self.moment(), &self.rules, &typed_on)
    }

    fn session(&mut self) -> &mut Session {
        self.session.as_mut().unwrap()
    }
}

fn key(raw: &str) -> SessionKey {
    SessionKey::parse(raw).unwrap()
}

fn session(raw: &str, state: SessionState) -> Session {
    let start = EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() };
    let at = Timestamp(1);
    let uid = Uid::v7(at, [0; 10]);
    let event =
        Event { uid, at, session: key(raw), subagent: None, turn: None, happening: start, scene: None };
    let begun = step(StepInput::default(), &event).session.unwrap();
    let prompt = SafeText::new("work", TextPolicy { longest_bytes: 99, secrets: SecretPolicy::Redacted });
    let happening = EventKind::PromptSubmitted { prompt, origin: PromptOrigin::Human, own: None };
    let event = Event { at: Timestamp(2), happening, ..event };
    let prompted = step(StepInput { session: Some(begun), ..StepInput::default() }, &event).session.unwrap();
    Session { state, seat: Some(SEAT.into()), ..prompted }
}

fn intent(purpose: IntentPurpose) -> Intent {
    Intent {
        uid: Uid([1; 16]),
        session: key("a:1"),
        wish: IntentRequest::new(SEAT, purpose, "go on with it", NOW.plus_ms(5_000)).unwrap(),
        made_at: NOW.plus_ms(-5_000),
        stage: IntentStage::Waiting,
        moved_at: NOW.plus_ms(-5_000),
        typing_at: None,
        why: None,
        into: None,
        led_to: None,
    }
}

fn all_is_well(purpose: IntentPurpose) -> World {
    let place = SeatLocation {
        key: SEAT.into(),
        kind: SeatKind::Tmux,
        pane: Some("%1".into()),
        server: Some("/run/tmux".into()),
        tty: None,
        pid: 42,
        started: 7,
        program: None,
        proof: SeatProof::Terminal,
    };
    let seat = Seat { place, current: Some(key("a:1")), first_seen: Timestamp(1), last_seen: Timestamp(1) };
    let state =
        if purpose == IntentPurpose::Resume { SessionState::Limited } else { SessionState::Completed };
    World {
        intent: intent(purpose),
        before: None,
        seat: Some(seat),
        session: Some(session("a:1", state)),
        starts: SessionStartReport::AtOnce,
        process: ProcessProbe::Alive,
        abilities: TerminalAbilities {
            identity: true,
            foreground: true,
            screen: true,
            mode: true,
            activity: true,
        },
        look: PaneObservation {
            is_there: Some(true),
            foreground: Some(42),
            in_mode: Some(false),
            last_key_at: Some(Timestamp(1_000)),
            screen: Some("> ".into()),
            cursor: None,
        },
        line: InputLine::Empty,
        is_cursor_at_end: Some(true),
        shown: ShownSession::Unknown,
        asked: None,
        rules: TypingRules { enabled: true, pause: None, quiet_ms: 3_000, without: vec![] },
    }
}

/// The state after the text was typed.
fn typed(purpose: IntentPurpose) -> World {
    let line = InputLine::Holds { text: "go on\n   with it  ".into() };
    World { line, ..all_is_well(purpose) }
}

fn after_clear(stage: IntentStage, led_to: Option<&str>) -> World {
    let mut world = all_is_well(IntentPurpose::Continue);
    let clear = Intent { uid: Uid([2; 16]), stage, led_to: led_to.map(key), ..intent(IntentPurpose::Clear) };
    world.intent.wish = world.intent.wish.after(clear.uid);
    world.before = Some(clear);
    if led_to.is_some() {
        world.session = Some(session("a:2", SessionState::Idle));
        world.seat.as_mut().unwrap().current = Some(key("a:2"));
    }
    world
}

type Change = (&'static str, fn(&mut World));

/// Each makes one change to a state in which every condition is met.
const CHANGES: [Change; 38] = [
    ("nothing", |_| {}),
    ("off", |w| w.rules.enabled = false),
    ("paused", |w| w.rules.pause = Some(TypingPause { until: None })),
    ("paused for a while", |w| w.rules.pause = Some(TypingPause { until: Some(NOW.plus_ms(1)) })),
    ("a pause that is over", |w| w.rules.pause = Some(TypingPause { until: Some(NOW) })),
    ("text forgotten", |w| w.intent.wish.text = SafeText::default()),
    ("expired", |w| w.intent.wish.expires_at = NOW),
    ("after something unknown", |w| w.intent.wish.after = Some(Uid([9; 16]))),
    ("after a clear that waits", |w| *w = after_clear(IntentStage::Waiting, None)),
    ("after a clear that was typed", |w| *w = after_clear(IntentStage::Typed, None)),
    ("the same, told late", |w| {
        *w = World { starts: SessionStartReport::WithFirstPrompt, ..after_clear(IntentStage::Typed, None) }
    }),
    ("after a clear that was confirmed", |w| *w = after_clear(IntentStage::Confirmed, Some("a:2"))),
    ("after a clear that failed", |w| *w = after_clear(IntentStage::Expired, None)),
    ("seat unknown", |w| w.seat = None),
    ("session unknown", |w| w.session = None),
    ("another session sits there", |w| w.seat.as_mut().unwrap().current = Some(key("a:2"))),
    ("nobody sits there", |w| w.seat.as_mut().unwrap().current = None),
    ("the session that sits is not meant", |w| w.intent.session = key("a:9")),
    ("the seat is not the one meant", |w| w.intent.wish.seat = "tmux:1:%9".into()),
    ("ended", |w| w.session().state = SessionState::Ended),
    ("working", |w| w.session().state = SessionState::Working),
    ("blocked", |w| w.session().state = SessionState::Blocked(BlockReason::Permission)),
    ("interrupted", |w| w.session().state = SessionState::Interrupted),
    ("limited", |w| w.session().state = SessionState::Limited),
    ("limited, and it lasts", |w| {
        w.session().state = SessionState::Limited;
        w.session().limited_until = Some(NOW.plus_ms(1));
    }),
    ("prompted since", |w| w.session().prompted_at = Some(NOW)),
    ("bookmarked since", |w| w.session().since_bookmark.set_at = Some(NOW)),
    ("process gone", |w| w.process = ProcessProbe::Gone),
    ("pane gone", |w| w.look.is_there = Some(false)),
    ("pane not told", |w| w.look.is_there = None),
    ("another program in front", |w| w.look.foreground = Some(43)),
    ("copy mode", |w| w.look.in_mode = Some(true)),
    ("half-typed text", |w| w.line = InputLine::Holds { text: "half".into() }),
    ("screen busy", |w| w.line = InputLine::Busy),
    ("dialog on the screen", |w| w.line = InputLine::Covered),
    ("screen not understood", |w| w.line = InputLine::Unknown),
    ("no screen", |w| w.look.screen = None),
    ("somebody types", |w| w.look.last_key_at = Some(NOW.plus_ms(-2_999))),
];

#[test]
fn every_reason() {
    let mut table = String::new();
    for (name, change) in CHANGES {
        let of = |purpose| {
            let mut world = all_is_well(purpose);
            change(&mut world);
            world.may_type()
        };
        let (bookmark, clear, resume) =
            (of(IntentPurpose::Bookmark), of(IntentPurpose::Clear), of(IntentPurpose::Resume));
        let _ = writeln!(table, "{name:38} {}", told(&bookmark));
        for (purpose, verdict) in [("clear", clear), ("resume", resume)] {
            if verdict != bookmark {
                let _ = writeln!(table, "{:>37}: {}", purpose, told(&verdict));
            }
        }
    }
    insta::assert_snapshot!("every_reason", table);
}

fn told(verdict: &TypingVerdict) -> String {
    match verdict {
        TypingVerdict::Ready => "ready".into(),
        TypingVerdict::NotYet(why) => format!("not yet: {why}"),
        TypingVerdict::Refused(why) => format!("refused: {why}"),
    }
}

#[test]
fn what_a_terminal_cannot_tell_refuses_unless_it_is_accepted() {
    let mut table = String::new();
    for ability in TerminalAbility::ALL {
        let mut world = all_is_well(IntentPurpose::Bookmark);
        match ability {
            TerminalAbility::Identity => (world.abilities.identity, world.look.is_there) = (false, None),
            TerminalAbility::Foreground => {
                (world.abilities.foreground, world.look.foreground) = (false, None)
            }
            TerminalAbility::Screen => (world.abilities.screen, world.look.screen) = (false, None),
            TerminalAbility::Mode => (world.abilities.mode, world.look.in_mode) = (false, None),
            TerminalAbility::Activity => (world.abilities.activity, world.look.last_key_at) = (false, None),
        }
        let _ = writeln!(table, "{:10} {}", ability.name(), told(&world.may_type()));
        world.rules.without = vec![ability];
        assert_eq!(world.may_type(), TypingVerdict::Ready, "{ability:?}");
        world.rules.without = TerminalAbility::ALL.into_iter().filter(|other| *other != ability).collect();
        assert_eq!(world.may_type(), TypingVerdict::Refused(TypingObstacle::CannotTell(ability)));
    }
    insta::assert_snapshot!("what_a_terminal_cannot_tell", table);
}

#[test]
fn enter_is_pressed_only_behind_exactly_the_text() {
    let check = |line: InputLine, expected: TypingVerdict| {
        let world = World { line: line.clone(), ..typed(IntentPurpose::Continue) };
        assert_eq!(world.may_press(), expected, "{line:?}");
    };
    let holds = |text: &str| InputLine::Holds { text: text.into() };
    assert_eq!(typed(IntentPurpose::Continue).may_press(), TypingVerdict::Ready);
    check(holds("go on with it"), TypingVerdict::Ready);
    let cursor = |is_cursor_at_end| World { is_cursor_at_end, ..typed(IntentPurpose::Continue) }.may_press();
    assert_eq!(cursor(Some(false)), TypingVerdict::NotYet(TypingObstacle::CursorElsewhere));
    assert_eq!(cursor(None), TypingVerdict::Ready, "the terminal does not tell");
    check(holds("go on wi"), TypingVerdict::NotYet(TypingObstacle::LineDiffers));
    check(InputLine::Empty, TypingVerdict::NotYet(TypingObstacle::LineDiffers));
    check(holds("mine go on with it"), TypingVerdict::Refused(TypingObstacle::LineDiffers));
    check(holds("go on with it and more"), TypingVerdict::Refused(TypingObstacle::LineDiffers));
    check(InputLine::Covered, TypingVerdict::NotYet(TypingObstacle::Covered));
    check(InputLine::Unknown, TypingVerdict::NotYet(TypingObstacle::NotUnderstood));
}

#[test]
fn a_key_or_a_pause_or_a_turn_in_the_meantime_keeps_enter_from_being_pressed() {
    let check = |change: fn(&mut World), expected: TypingVerdict| {
        let mut world = typed(IntentPurpose::Clear);
        change(&mut world);
        assert_eq!(world.may_press(), expected);
    };
    check(|w| w.look.last_key_at = Some(NOW), TypingVerdict::Refused(TypingObstacle::TypedMeanwhile));
    check(
        |w| w.rules.pause = Some(TypingPause { until: None }),
        TypingVerdict::Refused(TypingObstacle::Paused(TypingPause { until: None })),
    );
    check(|w| w.session().state = SessionState::Working, TypingVerdict::Refused(TypingObstacle::TurnRuns));
    check(|w| w.session().prompted_at = Some(NOW), TypingVerdict::Refused(TypingObstacle::PromptedSince));
    check(|w| w.look.in_mode = Some(true), TypingVerdict::NotYet(TypingObstacle::InMode));
    check(|w| w.look.foreground = Some(43), TypingVerdict::NotYet(TypingObstacle::OtherProgram));
    check(|w| w.look.is_there = Some(false), TypingVerdict::Refused(TypingObstacle::PaneGone));
}

fn kept(text: &str, longest_bytes: usize) -> SafeText {
    SafeText::new(text, TextPolicy { longest_bytes, secrets: SecretPolicy::Redacted })
}

/// A user can switch to another session in the same pane, which the agent does not report until the next prompt.
#[test]
fn a_session_that_is_not_shown_is_not_typed_into() {
    let mut world = all_is_well(IntentPurpose::Bookmark);
    let other = TypingVerdict::NotYet(TypingObstacle::OtherSession);
    for (shown, verdict) in [
        (ShownSession::Unknown, &TypingVerdict::Ready),
        (ShownSession::New, &other),
        (ShownSession::Said("work".into()), &TypingVerdict::Ready),
        (ShownSession::Said("work for another".into()), &other),
        (ShownSession::Said("wo".into()), &other),
    ] {
        world.shown = shown;
        assert_eq!(world.may_type(), *verdict, "{:?}", world.shown);
    }
    world.asked = Some(kept("· first\npart\n\nand more", 99));
    world.shown = ShownSession::Said("· first part".into());
    assert_eq!(world.may_type(), TypingVerdict::Ready);
    world.asked = Some(kept("a long prompt that is not kept whole", 20));
    world.shown = ShownSession::Said("a long prompt that is not kept whole".into());
    assert_eq!(world.may_type(), TypingVerdict::Ready);
    for (asked, longest, shown, verdict) in [
        ("one line\n\nand more of it", 99, "one line and mo", &TypingVerdict::Ready),
        ("one line\n\nand more of it", 99, "one line or mo", &other),
        ("one line\n\nand more of it", 9, "one line and mo", &TypingVerdict::Ready),
        ("one line", 99, "one line and mo", &other),
        ("one line", 99, "  ", &other),
    ] {
        world.asked = Some(kept(asked, longest));
        world.shown = ShownSession::Begins(shown.into());
        assert_eq!(world.may_type(), *verdict, "{asked:?} {shown:?}");
    }
    let mut typed = typed(IntentPurpose::Bookmark);
    typed.shown = ShownSession::New;
    assert_eq!(typed.may_press(), other);
}

/// Otherwise the continuation would run in the session that should have been left.
#[test]
fn behind_a_clear_that_is_told_late_only_a_new_session_is_typed_into() {
    let mut world = all_is_well(IntentPurpose::Continue);
    let clear = Intent { stage: IntentStage::Typed, ..intent(IntentPurpose::Clear) };
    world.intent.wish.after = Some(clear.uid);
    (world.before, world.starts) = (Some(clear), SessionStartReport::WithFirstPrompt);
    world.shown = ShownSession::Said("work".into());
    assert_eq!(world.may_type(), TypingVerdict::NotYet(TypingObstacle::Before));
    world.shown = ShownSession::New;
    assert_eq!(world.may_type(), TypingVerdict::Ready);
    world.session().state = SessionState::Ended;
    assert_eq!(world.may_type(), TypingVerdict::Ready, "the cleared session has ended");
    world.starts = SessionStartReport::AtOnce;
    assert_eq!(world.may_type(), TypingVerdict::Refused(TypingObstacle::SessionEnded));
}

#[test]
fn a_key_of_this_very_second_is_waited_for_though_no_quiet_is_wanted() {
    let mut world = all_is_well(IntentPurpose::Bookmark);
    world.rules.quiet_ms = 0;
    for (typed, verdict) in [
        (NOW.plus_ms(-1), TypingVerdict::Ready),
        (NOW, TypingVerdict::NotYet(TypingObstacle::SomebodyTypes)),
        (NOW.plus_ms(999), TypingVerdict::NotYet(TypingObstacle::SomebodyTypes)),
    ] {
        world.look.last_key_at = Some(typed);
        assert_eq!(world.may_type(), verdict);
    }
}

#[test]
fn text_after_leading_whitespace_is_not_submitted() {
    let mut world = typed(IntentPurpose::Bookmark);
    assert_eq!(world.may_press(), TypingVerdict::Ready);
    world.line = InputLine::Holds { text: "  go on with it".into() };
    assert_eq!(world.may_press(), TypingVerdict::Refused(TypingObstacle::LineDiffers));
}

proptest! {
    /// One unmet condition is enough, regardless of the others.
    #[test]
    fn several_unmet_conditions_never_permit_typing(
        others in prop::collection::vec(0..CHANGES.len(), 0..6), last in 0..CHANGES.len(),
    ) {
        // Excludes changes that overwrite others.
        let is_small = |index: &usize| !["unknown", "clear", "late"].iter().any(|word| CHANGES[*index].0.contains(word));
        let (mut world, mut alone) = (all_is_well(IntentPurpose::Bookmark), all_is_well(IntentPurpose::Bookmark));
        for index in others.into_iter().chain([last]).filter(is_small) {
            CHANGES[index].1(&mut world);
        }
        CHANGES[last].1(&mut alone);
        if is_small(&last) && alone.may_type() != TypingVerdict::Ready {
            prop_assert!(world.may_type() != TypingVerdict::Ready);
        }
    }

    /// A missing observation never permits anything.
    #[test]
    fn nothing_is_typed_blindly(seen in prop::collection::vec(any::<bool>(), 5)) {
        let mut world = all_is_well(IntentPurpose::Bookmark);
        let full = world.look.clone();
        world.look = PaneObservation {
            is_there: full.is_there.filter(|_| seen[0]),
            foreground: full.foreground.filter(|_| seen[1]),
            in_mode: full.in_mode.filter(|_| seen[2]),
            last_key_at: full.last_key_at.filter(|_| seen[3]),
            screen: full.screen.filter(|_| seen[4]),
            cursor: None,
        };
        let all = seen.iter().all(|seen| *seen);
        prop_assert_eq!(world.may_type() == TypingVerdict::Ready, all);
        world.abilities = TerminalAbilities::default();
        prop_assert_eq!(world.may_type() == TypingVerdict::Ready, all);
    }
}
