//! Each threshold, each barrier alone, and any order of events.

use super::*;
use crate::effect::Effect;
use crate::event::{
    CompactionTrigger, Event, EventKind, EventScene, ObservedChange, PromptOrigin, SessionPresence,
    StartedBy, ToolOutcome, TurnFailure,
};
use crate::id::SubagentId;
use crate::inherit::InheritSettings;
use crate::session::Session;
use crate::step::{StepInput, step};
use crate::text::{SafeText, SecretPolicy, TextPolicy};
use proptest::prelude::*;

/// Feeds events to a session and sets the bookmarks that become due.
struct World {
    rules: BookmarkRules,
    presence: SessionPresence,
    clock: i64,
    session: Option<Session>,
    journal: Vec<Event>,
    set: Vec<Bookmark>,
}

impl World {
    fn with(rules: BookmarkRules) -> World {
        let presence = SessionPresence::Terminal;
        let mut world = World { rules, presence, clock: 0, session: None, journal: vec![], set: vec![] };
        world.apply(
            1,
            EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() },
        );
        world
    }

    fn event(&self, happening: EventKind) -> Event {
        let helper = matches!(happening, EventKind::SubagentStopped | EventKind::SubagentStarted);
        let at = Timestamp(self.clock);
        let number = u8::try_from(self.journal.len() % 251).unwrap();
        Event {
            uid: Uid::v7(at, [number; 10]),
            at,
            session: SessionKey::parse("a:1").unwrap(),
            subagent: helper.then(|| SubagentId::parse("h").unwrap()),
            turn: None,
            happening,
            scene: Some(EventScene {
                presence: self.presence,
                folder: None,
                transcript: None,
                model: None,
                place: None,
                project: None,
            }),
        }
    }

    /// Applies one event, then the events that are due because of it.
    fn apply(&mut self, after_ms: i64, happening: EventKind) {
        self.clock += after_ms;
        let mut next = Some(self.event(happening));
        while let Some(event) = next.take() {
            self.journal.push(event.clone());
            let after = step(StepInput { session: self.session.take(), ..StepInput::default() }, &event);
            self.session = after.session;
            self.set.extend(after.bookmark);
            for effect in after.effects {
                if let Effect::PointReached(point) = effect {
                    next = self.answer(&point);
                }
            }
        }
    }

    fn answer(&self, point: &BookmarkPoint) -> Option<Event> {
        let set = |reason| NewBookmark {
            how: BookmarkOrigin::Silent,
            after_turn: point.after_turn,
            reason: Some(reason),
            label: None,
        };
        match due(point, &self.rules, Timestamp(self.clock)) {
            DueBookmark::Nothing | DueBookmark::Hold(_) => None,
            DueBookmark::Set(reason) => Some(self.event(EventKind::BookmarkSet(set(reason)))),
            DueBookmark::Type(reason) => Some(self.event(EventKind::MarkerWanted { reason })),
        }
    }

    fn ask(&mut self) {
        self.apply(1, prompted("do it", PromptOrigin::Human));
    }

    fn tools(&mut self, number: usize, bytes: u64) {
        (0..number).for_each(|_| self.apply(1, tool(bytes)));
    }

    fn reasons(&self) -> Vec<String> {
        self.set.iter().filter_map(|bookmark| bookmark.set.reason.map(BookmarkReason::label)).collect()
    }
}

const NEVER: BookmarkRules = BookmarkRules {
    mode: BookmarkMode::Silent,
    min_tokens: u64::MAX,
    min_tool_calls: u32::MAX,
    min_seconds: u32::MAX,
    agent_burst: u32::MAX,
    cooldown_seconds: 25,
};

const ALWAYS: BookmarkRules = BookmarkRules {
    min_tokens: 0,
    min_tool_calls: 0,
    min_seconds: 0,
    agent_burst: 0,
    cooldown_seconds: 0,
    ..NEVER
};

const STOP: EventKind = EventKind::TurnEnded { background: Some(0), answer: None };

fn prompted(text: &str, origin: PromptOrigin) -> EventKind {
    let keeping = TextPolicy { longest_bytes: 200, secrets: SecretPolicy::Redacted };
    EventKind::PromptSubmitted { prompt: SafeText::new(text, keeping), origin, own: None }
}

fn tool(bytes: u64) -> EventKind {
    EventKind::ToolFinished { tool: SafeText::default(), outcome: ToolOutcome::Done, bytes }
}

#[test]
fn tav_23_each_threshold_triggers_alone_and_is_named() {
    let check = |rules: BookmarkRules, work: &dyn Fn(&mut World), expected: &[&str]| {
        let mut world = World::with(rules);
        world.ask();
        work(&mut world);
        world.apply(1, STOP);
        assert_eq!(world.reasons(), expected);
    };
    let by_tokens = BookmarkRules { min_tokens: 6_000, ..NEVER };
    check(by_tokens, &|world| world.tools(3, 8_000), &["about 6001 tokens"]);
    check(by_tokens, &|world| world.tools(2, 8_000), &[]);
    let by_tools = BookmarkRules { min_tool_calls: 15, ..NEVER };
    check(by_tools, &|world| world.tools(15, 0), &["15 tool calls"]);
    check(by_tools, &|world| world.tools(14, 0), &[]);
    let by_seconds = BookmarkRules { min_seconds: 120, ..NEVER };
    let spread = |world: &mut World, ms| {
        world.tools(1, 0);
        world.apply(ms, tool(0));
    };
    check(by_seconds, &|world| spread(world, 120_000), &["120 s of work"]);
    check(by_seconds, &|world| spread(world, 119_999), &[]);
    let by_helpers = BookmarkRules { agent_burst: 3, ..NEVER };
    check(
        by_helpers,
        &|world| (0..3).for_each(|_| world.apply(1, EventKind::SubagentStopped)),
        &["3 helpers came back"],
    );
    check(by_helpers, &|world| (0..2).for_each(|_| world.apply(1, EventKind::SubagentStopped)), &[]);
}

#[test]
fn tav_23_thresholds_are_looked_at_in_order_of_tokens_tools_time_and_helpers() {
    let mut world = World::with(BookmarkRules { cooldown_seconds: 0, ..BookmarkRules::USUAL });
    world.ask();
    world.tools(15, 2_000);
    world.apply(130_000, tool(0));
    world.apply(1, STOP);
    assert_eq!(world.reasons(), ["about 7501 tokens"]);
}

#[test]
fn tav_8_time_counts_from_the_first_to_the_last_thing_done_and_not_by_the_clock() {
    let mut world = World::with(BookmarkRules { min_seconds: 120, ..NEVER });
    world.ask();
    world.apply(600_000, tool(0));
    world.apply(50_000, tool(0));
    world.apply(600_000, STOP);
    assert_eq!(world.reasons(), [""; 0]);
    assert_eq!(world.session.unwrap().since_bookmark.seconds(), 50);
}

#[test]
fn tav_29_a_helper_that_comes_back_is_evaluated_by_all_thresholds() {
    let mut world = World::with(BookmarkRules { min_tool_calls: 5, ..NEVER });
    world.ask();
    world.tools(5, 0);
    assert!(world.set.is_empty(), "a tool's end is no point to come back to");
    world.apply(1, EventKind::SubagentStopped);
    assert_eq!(world.reasons(), ["5 tool calls"]);
}

#[test]
fn reported_context_growth_takes_precedence_over_the_estimate() {
    let mut world = World::with(BookmarkRules { min_tokens: 6_000, ..NEVER });
    let answered = |context_tokens| EventKind::ModelAnswered { context_tokens };
    world.ask();
    world.apply(1, answered(20_000));
    world.tools(1, 900_000);
    world.apply(1, answered(24_000));
    world.apply(1, STOP);
    assert!(world.set.is_empty(), "what was there before anything was done does not count");
    world.ask();
    world.apply(1, EventKind::CompactionEnded { trigger: CompactionTrigger::Auto });
    world.apply(1, answered(5_000));
    world.apply(1, answered(7_000));
    world.apply(1, STOP);
    assert_eq!(world.reasons(), ["6000 tokens"], "a compaction takes nothing back of what was counted");
}

#[test]
fn the_cooldown_alone_holds_the_next_one_back() {
    let mut world = World::with(BookmarkRules { cooldown_seconds: 25, ..ALWAYS });
    world.ask();
    world.apply(1, STOP);
    world.ask();
    world.apply(24_998, STOP);
    assert_eq!(world.set.len(), 1);
    world.apply(1, STOP);
    assert_eq!(world.set.len(), 2);
}

#[test]
fn the_counters_alone_hold_the_next_one_back() {
    let mut world = World::with(BookmarkRules { min_tool_calls: 3, cooldown_seconds: 0, ..NEVER });
    world.ask();
    world.tools(3, 0);
    world.apply(1, STOP);
    world.ask();
    world.tools(2, 0);
    world.apply(60_000, STOP);
    assert_eq!(world.set.len(), 1, "they began anew with the first");
}

#[test]
fn no_activity_since_the_last_bookmark_alone_holds_the_next_one_back() {
    let mut world = World::with(ALWAYS);
    world.ask();
    world.apply(1, STOP);
    world.apply(60_000, STOP);
    assert_eq!(world.set.len(), 1);
    world.apply(60_000, prompted("·", PromptOrigin::Bookmark));
    world.apply(1, EventKind::ModelAnswered { context_tokens: 50_000 });
    world.apply(60_000, STOP);
    assert_eq!(world.set.len(), 2, "the answer to a marker is worth no bookmark");
}

#[test]
fn tav_24_a_turn_that_failed_sets_no_bookmark() {
    for failure in [TurnFailure::Other, TurnFailure::UsageLimit] {
        let mut world = World::with(ALWAYS);
        world.ask();
        world.tools(20, 9_000);
        world.apply(1, EventKind::TurnFailed { failure, until: None });
        world.apply(1, STOP);
        assert!(world.set.is_empty(), "{failure:?}");
    }
}

#[test]
fn tav_25_a_turn_that_a_person_stopped_sets_no_bookmark() {
    let seen = |what| EventKind::Observed { what, as_of: Timestamp(i64::MAX), until: None };
    for stopped in [EventKind::Interrupted, seen(ObservedChange::Interrupted), seen(ObservedChange::Failed)] {
        let mut world = World::with(ALWAYS);
        world.ask();
        world.tools(20, 9_000);
        world.apply(1, stopped);
        world.apply(1, STOP);
        assert!(world.set.is_empty());
        world.ask();
        world.apply(1, STOP);
        assert_eq!(world.set.len(), 1, "what was done until then still counts");
    }
}

#[test]
fn a_headless_session_gets_no_bookmark() {
    let mut world = World::with(ALWAYS);
    world.presence = SessionPresence::Headless;
    world.ask();
    world.tools(20, 9_000);
    world.apply(1, STOP);
    assert!(world.set.is_empty());
}

#[test]
fn tav_19_nothing_is_set_while_bookmarks_are_off() {
    let mut world = World::with(BookmarkRules { mode: BookmarkMode::Off, ..ALWAYS });
    world.ask();
    world.tools(20, 9_000);
    world.apply(1, STOP);
    assert!(world.set.is_empty());
}

#[test]
fn a_point_that_is_applied_much_later_sets_no_bookmark() {
    let mut world = World::with(NEVER);
    world.ask();
    world.tools(1, 0);
    let session = world.session.unwrap();
    let (key, since) = (session.key, session.since_bookmark);
    let at = Timestamp(10);
    let point =
        BookmarkPoint { session: key, seat: None, turn: None, after_turn: 1, at, since, is_midturn: false };
    assert!(matches!(due(&point, &ALWAYS, Timestamp(60_010)), DueBookmark::Set(_)));
    assert_eq!(due(&point, &ALWAYS, Timestamp(60_011)), DueBookmark::Nothing);
}

#[test]
fn tav_26_a_marker_that_is_wanted_is_not_wanted_again_before_the_cooldown() {
    let mut world = World::with(BookmarkRules { mode: BookmarkMode::Typed, cooldown_seconds: 25, ..ALWAYS });
    let wanted = |world: &World| {
        world.journal.iter().filter(|event| matches!(event.happening, EventKind::MarkerWanted { .. })).count()
    };
    world.ask();
    if let Some(session) = &mut world.session {
        session.seat = Some("tmux:%1".into());
    }
    world.tools(1, 40);
    world.apply(1, STOP);
    world.apply(1, EventKind::SubagentStopped);
    assert_eq!((wanted(&world), world.set.len()), (1, 0), "what is wanted is not there yet");
    world.apply(100, prompted("·", PromptOrigin::Bookmark));
    assert_eq!(world.set[0].set.how, BookmarkOrigin::Typed);
    assert_eq!(world.reasons(), ["about 11 tokens"], "the marker stands for what was due");
    world.apply(100, STOP);
    assert_eq!(wanted(&world), 1);
}

#[test]
fn a_marker_wanted_during_a_turn_waits_for_its_end() {
    let mut world = World::with(BookmarkRules { mode: BookmarkMode::Typed, agent_burst: 3, ..NEVER });
    let wanted = |world: &World| {
        world.journal.iter().filter(|event| matches!(event.happening, EventKind::MarkerWanted { .. })).count()
    };
    world.ask();
    if let Some(session) = &mut world.session {
        session.seat = Some("tmux:%1".into());
    }
    for _ in 0..5 {
        world.apply(1, EventKind::SubagentStarted);
        world.apply(30_000, EventKind::SubagentStopped);
    }
    assert_eq!((wanted(&world), world.set.len()), (0, 0), "nothing can be typed into a turn that runs");
    world.apply(1, STOP);
    assert_eq!((wanted(&world), world.set.len()), (1, 0));
    world.apply(1, prompted("·", PromptOrigin::Bookmark));
    assert_eq!(world.reasons(), ["5 helpers came back"]);
}

#[test]
fn a_session_without_a_seat_gets_a_silent_bookmark() {
    let mut world = World::with(BookmarkRules { mode: BookmarkMode::Typed, ..ALWAYS });
    world.ask();
    world.tools(1, 0);
    world.apply(1, STOP);
    assert_eq!(world.set[0].set.how, BookmarkOrigin::Silent);
}

#[test]
fn tav_31_a_typed_marker_sets_a_bookmark_and_asks_for_nothing() {
    let mut world = World::with(NEVER);
    world.ask();
    world.tools(3, 0);
    world.apply(1, prompted("·", PromptOrigin::Bookmark));
    let session = world.session.clone().unwrap();
    assert_eq!(
        (world.set.len(), world.set[0].set.how, world.set[0].set.after_turn),
        (1, BookmarkOrigin::Typed, 2)
    );
    assert_eq!(session.prompt.unwrap().as_str(), "do it");
    assert_eq!(session.since_bookmark.tool_calls, 0);
}

#[test]
fn tav_13_the_default_rules_are_the_documented_ones() {
    let usual = BookmarkRules::USUAL;
    assert_eq!((usual.min_tokens, usual.min_tool_calls, usual.min_seconds), (6_000, 15, 120));
    assert_eq!((usual.agent_burst, usual.cooldown_seconds, MARKER), (3, 25, "·"));
}

#[test]
fn counters_and_names_survive_a_round_trip() {
    let mut world = World::with(NEVER);
    world.ask();
    world.tools(2, 100);
    let since = world.session.unwrap().since_bookmark;
    let text = serde_json::to_string(&since).unwrap();
    assert_eq!(serde_json::from_str::<BookmarkCounters>(&text).unwrap(), since);
    for threshold in Threshold::ALL {
        assert_eq!(Threshold::named(threshold.name()), Some(threshold));
    }
    assert_eq!(
        (BookmarkOrigin::named("typed"), BookmarkMode::named("off"), BookmarkMode::named("on")),
        (Some(BookmarkOrigin::Typed), Some(BookmarkMode::Off), None)
    );
}

fn any_happening() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        8 => (0..9_000u64).prop_map(tool),
        3 => Just(prompted("do it", PromptOrigin::Human)),
        1 => Just(prompted("·", PromptOrigin::Bookmark)),
        1 => Just(prompted("<done>", PromptOrigin::Notification)),
        4 => Just(STOP),
        2 => Just(EventKind::SubagentStopped),
        1 => Just(EventKind::Interrupted),
        1 => Just(EventKind::TurnFailed { failure: TurnFailure::Other, until: None }),
        2 => (0..200_000u64).prop_map(|context_tokens| EventKind::ModelAnswered { context_tokens }),
        1 => Just(EventKind::CompactionEnded { trigger: CompactionTrigger::Auto }),
    ]
}

proptest! {
    #[test]
    fn in_any_order_of_events_bookmarks_keep_their_distance_and_have_a_reason(
        events in prop::collection::vec((0..40_000i64, any_happening()), 0..120),
    ) {
        let mut world = World::with(BookmarkRules::USUAL);
        for (after_ms, happening) in events {
            world.apply(after_ms, happening);
        }
        let mut last: Option<&Bookmark> = None;
        for bookmark in &world.set {
            if bookmark.set.how == BookmarkOrigin::Silent {
                prop_assert!(bookmark.set.reason.is_some(), "none without a threshold");
                let far = last.is_none_or(|last| bookmark.at.since_ms(last.at) >= 25_000);
                prop_assert!(far, "none within the cooldown");
            }
            last = Some(bookmark);
        }
        let mut replayed = (None, vec![]);
        for event in &world.journal {
            let after = step(StepInput { session: replayed.0.take(), ..StepInput::default() }, event);
            replayed.0 = after.session;
            replayed.1.extend(after.bookmark);
        }
        prop_assert_eq!(replayed, (world.session, world.set));
    }
}
