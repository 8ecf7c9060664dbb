//! Tests of every reason not to type; only a state without any of them permits typing.

use super::*;
use crate::event::{Event, Happening, Origin, Reason, StartedBy};
use crate::id::Uid;
use crate::inherit::Wishes;
use crate::seat::{Place, Proof, SeatKind};
use crate::step::{Before, step};
use crate::text::{Keeping, Kept, Secrets};
use crate::typing::Wish;
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
    starts: Starts,
    process: ProcessSight,
    abilities: Abilities,
    look: Look,
    line: InputLine,
    shown: Shown,
    asked: Option<Kept>,
    rules: Rules,
}

impl World {
    fn moment(&self) -> Moment<'_> {
        Moment {
            now: NOW,
            seat: self.seat.as_ref(),
            session: self.session.as_ref(),
            before: self.before.as_ref(),
            starts: self.starts,
            process: self.process,
            abilities: self.abilities,
            look: &self.look,
            line: &self.line,
            shown: &self.shown,
            asked: self.asked.as_ref(),
        }
    }

    fn may_type(&self) -> Verdict {
        may_type(&self.intent, &self.moment(), &self.rules)
    }

    fn may_press(&self) -> Verdict {
        let typed_on = Look { last_key_at: Some(Timestamp(1_000)), ..Look::default() };
        may_press(&self.intent, &self.moment(), &self.rules, &typed_on)
    }

    fn session(&mut self) -> &mut Session {
        self.session.as_mut().unwrap()
    }
}

fn key(raw: &str) -> SessionKey {
    SessionKey::parse(raw).unwrap()
}

fn session(raw: &str, state: State) -> Session {
    let start = Happening::SessionStarted { by: StartedBy::Startup, wishes: Wishes::default() };
    let at = Timestamp(1);
    let uid = Uid::v7(at, [0; 10]);
    let event =
        Event { uid, at, session: key(raw), subagent: None, turn: None, happening: start, scene: None };
    let begun = step(Before::default(), &event).session.unwrap();
    let prompt = Kept::new("work", Keeping { longest_bytes: 99, secrets: Secrets::Redacted });
    let happening = Happening::PromptSubmitted { prompt, origin: Origin::Human, own: None };
    let event = Event { at: Timestamp(2), happening, ..event };
    let prompted = step(Before { session: Some(begun), ..Before::default() }, &event).session.unwrap();
    Session { state, seat: Some(SEAT.into()), ..prompted }
}

fn intent(purpose: Purpose) -> Intent {
    Intent {
        uid: Uid([1; 16]),
        session: key("a:1"),
        wish: Wish::new(SEAT, purpose, "go on with it", NOW.plus_ms(5_000)).unwrap(),
        made_at: NOW.plus_ms(-5_000),
        stage: Stage::Waiting,
        moved_at: NOW.plus_ms(-5_000),
        typing_at: None,
        why: None,
        into: None,
        led_to: None,
    }
}

fn all_is_well(purpose: Purpose) -> World {
    let place = Place {
        key: SEAT.into(),
        kind: SeatKind::Tmux,
        pane: Some("%1".into()),
        server: Some("/run/tmux".into()),
        tty: None,
        pid: 42,
        started: 7,
        program: None,
        proof: Proof::Terminal,
    };
    let seat = Seat { place, current: Some(key("a:1")), first_seen: Timestamp(1), last_seen: Timestamp(1) };
    let state = if purpose == Purpose::Resume { State::Limited } else { State::Completed };
    World {
        intent: intent(purpose),
        before: None,
        seat: Some(seat),
        session: Some(session("a:1", state)),
        starts: Starts::AtOnce,
        process: ProcessSight::Alive,
        abilities: Abilities { identity: true, foreground: true, screen: true, mode: true, activity: true },
        look: Look {
            is_there: Some(true),
            foreground: Some(42),
            in_mode: Some(false),
            last_key_at: Some(Timestamp(1_000)),
            screen: Some("> ".into()),
            cursor: None,
        },
        line: InputLine::Empty,
        shown: Shown::Unknown,
        asked: None,
        rules: Rules { enabled: true, pause: None, quiet_ms: 3_000, without: vec![] },
    }
}

/// The state after the text was typed.
fn typed(purpose: Purpose) -> World {
    let line = InputLine::Holds { text: "go on\n   with it  ".into() };
    World { line, ..all_is_well(purpose) }
}

fn after_clear(stage: Stage, led_to: Option<&str>) -> World {
    let mut world = all_is_well(Purpose::Continue);
    let clear = Intent { uid: Uid([2; 16]), stage, led_to: led_to.map(key), ..intent(Purpose::Clear) };
    world.intent.wish = world.intent.wish.after(clear.uid);
    world.before = Some(clear);
    if led_to.is_some() {
        world.session = Some(session("a:2", State::Idle));
        world.seat.as_mut().unwrap().current = Some(key("a:2"));
    }
    world
}

type Change = (&'static str, fn(&mut World));

/// Each makes one change to a state in which every condition is met.
const CHANGES: [Change; 37] = [
    ("nothing", |_| {}),
    ("off", |w| w.rules.enabled = false),
    ("paused", |w| w.rules.pause = Some(Pause { until: None })),
    ("paused for a while", |w| w.rules.pause = Some(Pause { until: Some(NOW.plus_ms(1)) })),
    ("a pause that is over", |w| w.rules.pause = Some(Pause { until: Some(NOW) })),
    ("text forgotten", |w| w.intent.wish.text = Kept::default()),
    ("expired", |w| w.intent.wish.expires_at = NOW),
    ("after something unknown", |w| w.intent.wish.after = Some(Uid([9; 16]))),
    ("after a clear that waits", |w| *w = after_clear(Stage::Waiting, None)),
    ("after a clear that was typed", |w| *w = after_clear(Stage::Typed, None)),
    ("the same, told late", |w| {
        *w = World { starts: Starts::WithFirstPrompt, ..after_clear(Stage::Typed, None) }
    }),
    ("after a clear that was confirmed", |w| *w = after_clear(Stage::Confirmed, Some("a:2"))),
    ("after a clear that failed", |w| *w = after_clear(Stage::Expired, None)),
    ("seat unknown", |w| w.seat = None),
    ("session unknown", |w| w.session = None),
    ("another session sits there", |w| w.seat.as_mut().unwrap().current = Some(key("a:2"))),
    ("nobody sits there", |w| w.seat.as_mut().unwrap().current = None),
    ("the session that sits is not meant", |w| w.intent.session = key("a:9")),
    ("the seat is not the one meant", |w| w.intent.wish.seat = "tmux:1:%9".into()),
    ("ended", |w| w.session().state = State::Ended),
    ("working", |w| w.session().state = State::Working),
    ("blocked", |w| w.session().state = State::Blocked(Reason::Permission)),
    ("interrupted", |w| w.session().state = State::Interrupted),
    ("limited", |w| w.session().state = State::Limited),
    ("limited, and it lasts", |w| {
        w.session().state = State::Limited;
        w.session().limited_until = Some(NOW.plus_ms(1));
    }),
    ("prompted since", |w| w.session().prompted_at = Some(NOW)),
    ("process gone", |w| w.process = ProcessSight::Gone),
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
        let (bookmark, clear, resume) = (of(Purpose::Bookmark), of(Purpose::Clear), of(Purpose::Resume));
        let _ = writeln!(table, "{name:38} {}", told(&bookmark));
        for (purpose, verdict) in [("clear", clear), ("resume", resume)] {
            if verdict != bookmark {
                let _ = writeln!(table, "{:>37}: {}", purpose, told(&verdict));
            }
        }
    }
    insta::assert_snapshot!("every_reason", table);
}

fn told(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Ready => "ready".into(),
        Verdict::NotYet(why) => format!("not yet: {why}"),
        Verdict::Refused(why) => format!("refused: {why}"),
    }
}

#[test]
fn what_a_terminal_cannot_tell_refuses_unless_it_is_accepted() {
    let mut table = String::new();
    for ability in Ability::ALL {
        let mut world = all_is_well(Purpose::Bookmark);
        match ability {
            Ability::Identity => (world.abilities.identity, world.look.is_there) = (false, None),
            Ability::Foreground => (world.abilities.foreground, world.look.foreground) = (false, None),
            Ability::Screen => (world.abilities.screen, world.look.screen) = (false, None),
            Ability::Mode => (world.abilities.mode, world.look.in_mode) = (false, None),
            Ability::Activity => (world.abilities.activity, world.look.last_key_at) = (false, None),
        }
        let _ = writeln!(table, "{:10} {}", ability.name(), told(&world.may_type()));
        world.rules.without = vec![ability];
        assert_eq!(world.may_type(), Verdict::Ready, "{ability:?}");
        world.rules.without = Ability::ALL.into_iter().filter(|other| *other != ability).collect();
        assert_eq!(world.may_type(), Verdict::Refused(Why::CannotTell(ability)));
    }
    insta::assert_snapshot!("what_a_terminal_cannot_tell", table);
}

#[test]
fn enter_is_pressed_only_behind_exactly_the_text() {
    let check = |line: InputLine, expected: Verdict| {
        let world = World { line: line.clone(), ..typed(Purpose::Continue) };
        assert_eq!(world.may_press(), expected, "{line:?}");
    };
    let holds = |text: &str| InputLine::Holds { text: text.into() };
    assert_eq!(typed(Purpose::Continue).may_press(), Verdict::Ready);
    check(holds("go on with it"), Verdict::Ready);
    check(holds("go on wi"), Verdict::NotYet(Why::LineDiffers));
    check(InputLine::Empty, Verdict::NotYet(Why::LineDiffers));
    check(holds("mine go on with it"), Verdict::Refused(Why::LineDiffers));
    check(holds("go on with it and more"), Verdict::Refused(Why::LineDiffers));
    check(InputLine::Covered, Verdict::NotYet(Why::Covered));
    check(InputLine::Unknown, Verdict::NotYet(Why::NotUnderstood));
}

#[test]
fn a_key_or_a_pause_or_a_turn_in_the_meantime_keeps_enter_from_being_pressed() {
    let check = |change: fn(&mut World), expected: Verdict| {
        let mut world = typed(Purpose::Clear);
        change(&mut world);
        assert_eq!(world.may_press(), expected);
    };
    check(|w| w.look.last_key_at = Some(NOW), Verdict::Refused(Why::TypedMeanwhile));
    check(
        |w| w.rules.pause = Some(Pause { until: None }),
        Verdict::Refused(Why::Paused(Pause { until: None })),
    );
    check(|w| w.session().state = State::Working, Verdict::Refused(Why::TurnRuns));
    check(|w| w.session().prompted_at = Some(NOW), Verdict::Refused(Why::PromptedSince));
    check(|w| w.look.in_mode = Some(true), Verdict::NotYet(Why::InMode));
    check(|w| w.look.foreground = Some(43), Verdict::NotYet(Why::OtherProgram));
    check(|w| w.look.is_there = Some(false), Verdict::Refused(Why::PaneGone));
}

fn kept(text: &str, longest_bytes: usize) -> Kept {
    Kept::new(text, Keeping { longest_bytes, secrets: Secrets::Redacted })
}

/// A user can switch to another session in the same pane, which the agent does not report until the next prompt.
#[test]
fn a_session_that_is_not_shown_is_not_typed_into() {
    let mut world = all_is_well(Purpose::Bookmark);
    let other = Verdict::NotYet(Why::OtherSession);
    for (shown, verdict) in [
        (Shown::Unknown, &Verdict::Ready),
        (Shown::New, &other),
        (Shown::Said("work".into()), &Verdict::Ready),
        (Shown::Said("work for another".into()), &other),
        (Shown::Said("wo".into()), &other),
    ] {
        world.shown = shown;
        assert_eq!(world.may_type(), *verdict, "{:?}", world.shown);
    }
    world.asked = Some(kept("· first\npart\n\nand more", 99));
    world.shown = Shown::Said("· first part".into());
    assert_eq!(world.may_type(), Verdict::Ready);
    world.asked = Some(kept("a long prompt that is not kept whole", 20));
    world.shown = Shown::Said("a long prompt that is not kept whole".into());
    assert_eq!(world.may_type(), Verdict::Ready);
    for (asked, longest, shown, verdict) in [
        ("one line\n\nand more of it", 99, "one line and mo", &Verdict::Ready),
        ("one line\n\nand more of it", 99, "one line or mo", &other),
        ("one line\n\nand more of it", 9, "one line and mo", &Verdict::Ready),
        ("one line", 99, "one line and mo", &other),
        ("one line", 99, "  ", &other),
    ] {
        world.asked = Some(kept(asked, longest));
        world.shown = Shown::Begins(shown.into());
        assert_eq!(world.may_type(), *verdict, "{asked:?} {shown:?}");
    }
    let mut typed = typed(Purpose::Bookmark);
    typed.shown = Shown::New;
    assert_eq!(typed.may_press(), other);
}

/// Otherwise the continuation would run in the session that should have been left.
#[test]
fn behind_a_clear_that_is_told_late_only_a_new_session_is_typed_into() {
    let mut world = all_is_well(Purpose::Continue);
    let clear = Intent { stage: Stage::Typed, ..intent(Purpose::Clear) };
    world.intent.wish.after = Some(clear.uid);
    (world.before, world.starts) = (Some(clear), Starts::WithFirstPrompt);
    world.shown = Shown::Said("work".into());
    assert_eq!(world.may_type(), Verdict::NotYet(Why::Before));
    world.shown = Shown::New;
    assert_eq!(world.may_type(), Verdict::Ready);
}

#[test]
fn a_key_of_this_very_second_is_waited_for_though_no_quiet_is_wanted() {
    let mut world = all_is_well(Purpose::Bookmark);
    world.rules.quiet_ms = 0;
    for (typed, verdict) in [
        (NOW.plus_ms(-1), Verdict::Ready),
        (NOW, Verdict::NotYet(Why::SomebodyTypes)),
        (NOW.plus_ms(999), Verdict::NotYet(Why::SomebodyTypes)),
    ] {
        world.look.last_key_at = Some(typed);
        assert_eq!(world.may_type(), verdict);
    }
}

#[test]
fn text_after_leading_whitespace_is_not_submitted() {
    let mut world = typed(Purpose::Bookmark);
    assert_eq!(world.may_press(), Verdict::Ready);
    world.line = InputLine::Holds { text: "  go on with it".into() };
    assert_eq!(world.may_press(), Verdict::Refused(Why::LineDiffers));
}

proptest! {
    /// One unmet condition is enough, regardless of the others.
    #[test]
    fn several_unmet_conditions_never_permit_typing(
        others in prop::collection::vec(0..CHANGES.len(), 0..6), last in 0..CHANGES.len(),
    ) {
        // Excludes changes that overwrite others.
        let is_small = |index: &usize| !["unknown", "clear", "late"].iter().any(|word| CHANGES[*index].0.contains(word));
        let (mut world, mut alone) = (all_is_well(Purpose::Bookmark), all_is_well(Purpose::Bookmark));
        for index in others.into_iter().chain([last]).filter(is_small) {
            CHANGES[index].1(&mut world);
        }
        CHANGES[last].1(&mut alone);
        if is_small(&last) && alone.may_type() != Verdict::Ready {
            prop_assert!(world.may_type() != Verdict::Ready);
        }
    }

    /// A missing observation never permits anything.
    #[test]
    fn nothing_is_typed_blindly(seen in prop::collection::vec(any::<bool>(), 5)) {
        let mut world = all_is_well(Purpose::Bookmark);
        let full = world.look.clone();
        world.look = Look {
            is_there: full.is_there.filter(|_| seen[0]),
            foreground: full.foreground.filter(|_| seen[1]),
            in_mode: full.in_mode.filter(|_| seen[2]),
            last_key_at: full.last_key_at.filter(|_| seen[3]),
            screen: full.screen.filter(|_| seen[4]),
            cursor: None,
        };
        let all = seen.iter().all(|seen| *seen);
        prop_assert_eq!(world.may_type() == Verdict::Ready, all);
        world.abilities = Abilities::default();
        prop_assert_eq!(world.may_type() == Verdict::Ready, all);
    }
}
