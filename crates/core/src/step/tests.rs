//! Tests of a session's life, event by event.

use super::*;
use crate::event::Trigger;
use crate::id::{SessionKey, SubagentId, TurnId, Uid};
use crate::inherit::{BatonFate, FarBaton};
use crate::project::ProjectTraces;
use crate::seat::{Proof, SeatKind};
use crate::text::{Keeping, Secrets};
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// Applies events one by one, as the store does.
#[derive(Default)]
struct World {
    sessions: BTreeMap<SessionKey, Session>,
    seats: BTreeMap<String, Seat>,
    ended: Vec<Turn>,
    waits: Vec<Wait>,
    clock: i64,
}

impl World {
    fn feed(&mut self, session: &str, happening: Happening) -> &Session {
        self.feed_event(event(session, happening))
    }

    fn feed_event(&mut self, mut event: Event) -> &Session {
        self.clock += 1;
        event.at = Timestamp(self.clock);
        event.uid = Uid::v7(event.at, [0; 10]);
        let seat_key = event.scene.as_ref().and_then(|s| s.place.as_ref()).map(|p| p.key.clone());
        let session = self.sessions.get(&event.session).cloned();
        let former = session.as_ref().and_then(|session| session.seat.clone());
        let before = Before {
            session,
            seat: seat_key.as_ref().and_then(|key| self.seats.get(key).cloned()),
            former_seat: former.as_ref().and_then(|key| self.seats.get(key).cloned()),
        };
        let after = step(before, &event);
        self.ended.extend(after.ended_turn);
        self.waits.extend(after.ended_wait);
        for seat in after.seat.into_iter().chain(after.left_seat) {
            self.seats.insert(seat.place.key.clone(), seat);
        }
        let session = after.session.expect("every event but a lone end has a session");
        self.sessions.insert(event.session.clone(), session);
        &self.sessions[&event.session]
    }
}

fn event(session: &str, happening: Happening) -> Event {
    let session = SessionKey::parse(session).unwrap();
    let uid = Uid([0; 16]);
    Event { uid, at: Timestamp(0), session, subagent: None, turn: None, happening, scene: None }
}

fn far_baton() -> FarBaton {
    FarBaton {
        baton: Uid([1; 16]),
        machine: Uid([2; 16]),
        called: Kept::default(),
        project: ProjectTraces { root: "/boat".into(), remote: None, name: None, branch: None },
        passed_at: Timestamp(0),
        count: 1,
        fate: BatonFate::Waits,
    }
}

fn in_subagent(mut event: Event) -> Event {
    event.subagent = Some(SubagentId::parse("helper").unwrap());
    event
}

fn at_pane(mut event: Event, pane: &str, presence: Presence) -> Event {
    let place = Place {
        key: format!("tmux:{pane}"),
        kind: SeatKind::Tmux,
        pane: Some(pane.into()),
        server: None,
        tty: None,
        pid: 7,
        started: 1,
        program: None,
        proof: Proof::Terminal,
    };
    let scene =
        Scene { presence, folder: None, transcript: None, model: None, place: Some(place), project: None };
    event.scene = Some(scene);
    event
}

fn start() -> Happening {
    Happening::SessionStarted { by: StartedBy::Startup, wishes: Wishes::default() }
}

fn prompt(text: &str) -> Happening {
    let keeping = Keeping { longest_bytes: 100, secrets: Secrets::Redacted };
    Happening::PromptSubmitted { prompt: Kept::new(text, keeping), origin: Origin::Human, own: None }
}

fn tool(outcome: ToolOutcome) -> Happening {
    Happening::ToolFinished { tool: Kept::default(), outcome, bytes: 0 }
}

const STOP: Happening = Happening::TurnEnded { background: Some(0), answer: None };

#[test]
fn an_ordinary_turn_goes_from_idle_over_working_to_completed() {
    let mut world = World::default();
    assert_eq!(world.feed("a:1", start()).state, State::Idle);
    assert_eq!(world.feed("a:1", prompt("hi")).state, State::Working);
    assert_eq!(world.feed("a:1", tool(ToolOutcome::Failed)).state, State::Working);
    assert_eq!(world.feed("a:1", STOP).state, State::Completed);
    let turn = &world.ended[0];
    assert_eq!((turn.ordinal, turn.tool_calls, turn.tool_failures), (1, 1, 1));
    assert_eq!(turn.ended.unwrap().1, TurnOutcome::Completed);
}

#[test]
fn a_permission_blocks_at_once_and_a_tool_result_ends_the_block() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    let blocked =
        world.feed("a:1", Happening::PermissionAsked { tool: Kept::default(), reason: Reason::Permission });
    assert_eq!(blocked.state, State::Blocked(Reason::Permission));
    assert_eq!(world.feed("a:1", tool(ToolOutcome::Done)).state, State::Working);
}

#[test]
fn a_late_notice_does_not_block_a_session_that_is_done() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", STOP);
    let after = world.feed("a:1", Happening::AttentionAsked { reason: Reason::Permission });
    assert_eq!(after.state, State::Completed);
}

#[test]
fn late_tool_result_does_not_revive_an_ended_session() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", Happening::SessionEnded { by: EndedBy::Exit });
    assert_eq!(world.feed("a:1", tool(ToolOutcome::Done)).state, State::Ended);
}

#[test]
fn a_lone_end_of_an_unknown_session_leaves_no_trace() {
    let after = step(Before::default(), &event("a:1", Happening::SessionEnded { by: EndedBy::Other }));
    assert_eq!(after, After::default());
}

#[test]
fn a_session_met_in_the_middle_is_working() {
    let mut world = World::default();
    let met = world.feed("a:1", tool(ToolOutcome::Done));
    assert_eq!((met.state, met.started_by), (State::Working, StartedBy::Unknown));
}

#[test]
fn background_tasks_keep_a_session_working_after_its_turn() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    assert_eq!(
        world.feed("a:1", Happening::TurnEnded { background: Some(2), answer: None }).state,
        State::Working
    );
    assert_eq!(world.feed("a:1", STOP).state, State::Completed);
}

#[test]
fn a_subagent_keeps_its_session_working_until_it_stops() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed_event(in_subagent(event("a:1", Happening::SubagentStarted)));
    assert_eq!(
        world.feed("a:1", Happening::TurnEnded { background: None, answer: None }).state,
        State::Working
    );
    let after = world.feed_event(in_subagent(event("a:1", Happening::SubagentStopped)));
    assert!(after.subagents.is_empty());
}

#[test]
fn a_prompt_inside_a_subagent_is_no_turn_of_the_session() {
    let mut world = World::default();
    world.feed("a:1", prompt("parent"));
    let after = world.feed_event(in_subagent(event("a:1", prompt("child"))));
    assert_eq!(after.turns, 1);
    assert_eq!(after.prompt.as_ref().unwrap().as_str(), "parent");
}

#[test]
fn a_prompt_with_the_running_turns_id_steers_it() {
    let mut world = World::default();
    let turn = Some(TurnId::parse("t1").unwrap());
    world.feed_event(Event { turn: turn.clone(), ..event("a:1", prompt("one")) });
    let after = world.feed_event(Event { turn, ..event("a:1", prompt("two")) });
    assert_eq!((after.turns, after.open_turn.as_ref().unwrap().steered), (1, 1));
}

#[test]
fn a_new_prompt_abandons_the_turn_that_never_ended() {
    let mut world = World::default();
    world.feed("a:1", prompt("one"));
    assert_eq!(world.feed("a:1", prompt("two")).turns, 2);
    assert_eq!(world.ended[0].ended.unwrap().1, TurnOutcome::Abandoned);
}

#[test]
fn a_notification_is_a_turn_but_not_what_the_person_asked() {
    let mut world = World::default();
    world.feed("a:1", prompt("asked"));
    let notice =
        Happening::PromptSubmitted { prompt: Kept::default(), origin: Origin::Notification, own: None };
    let after = world.feed("a:1", notice);
    assert_eq!((after.turns, after.prompt.as_ref().unwrap().as_str()), (2, "asked"));
}

#[test]
fn clearing_starts_a_new_session_in_the_same_seat_and_links_it() {
    let mut world = World::default();
    world.feed_event(at_pane(event("a:1", start()), "%1", Presence::Terminal));
    world.feed("a:1", Happening::SessionEnded { by: EndedBy::Clear });
    let clear = Happening::SessionStarted { by: StartedBy::Clear, wishes: Wishes::default() };
    let next = world.feed_event(at_pane(event("a:2", clear), "%1", Presence::Terminal));
    assert_eq!(next.previous, Some(SessionKey::parse("a:1").unwrap()));
    assert_eq!(world.seats["tmux:%1"].current, Some(SessionKey::parse("a:2").unwrap()));
}

#[test]
fn resuming_an_older_session_of_a_seat_makes_no_circle() {
    let mut world = World::default();
    world.feed_event(at_pane(event("a:1", start()), "%1", Presence::Terminal));
    world.feed_event(at_pane(event("a:2", start()), "%1", Presence::Terminal));
    let resume = Happening::SessionStarted { by: StartedBy::Resume, wishes: Wishes::default() };
    let first = world.feed_event(at_pane(event("a:1", resume), "%1", Presence::Terminal));
    assert_eq!(first.previous, None);
    assert_eq!(world.seats["tmux:%1"].current, Some(SessionKey::parse("a:1").unwrap()));
}

#[test]
fn a_headless_session_takes_nobodys_seat() {
    let mut world = World::default();
    world.feed_event(at_pane(event("a:1", start()), "%1", Presence::Terminal));
    let script = world.feed_event(at_pane(event("a:2", start()), "%1", Presence::Headless));
    assert_eq!((script.seat.clone(), script.previous.clone()), (None, None));
    assert_eq!(world.seats["tmux:%1"].current, Some(SessionKey::parse("a:1").unwrap()));
}

#[test]
fn compaction_is_counted_and_changes_no_state() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", Happening::CompactionStarted { trigger: Trigger::Auto });
    world.feed("a:1", Happening::SessionStarted { by: StartedBy::Compact, wishes: Wishes::default() });
    let after = world.feed("a:1", Happening::CompactionEnded { trigger: Trigger::Auto });
    assert_eq!((after.state, after.compactions, after.turns), (State::Working, 1, 1));
}

#[test]
fn only_a_change_of_state_is_announced() {
    let first = step(Before::default(), &event("a:1", prompt("hi")));
    assert_eq!(first.effects.len(), 1);
    let again =
        step(Before { session: first.session, ..Before::default() }, &event("a:1", tool(ToolOutcome::Done)));
    assert!(again.effects.is_empty());
}

#[test]
fn resuming_elsewhere_leaves_the_old_seat_free() {
    let mut world = World::default();
    world.feed_event(at_pane(event("a:1", start()), "%1", Presence::Terminal));
    let resume = Happening::SessionStarted { by: StartedBy::Resume, wishes: Wishes::default() };
    let moved = world.feed_event(at_pane(event("a:1", resume), "%2", Presence::Terminal));
    assert_eq!(moved.seat.as_deref(), Some("tmux:%2"));
    assert_eq!(world.seats["tmux:%1"].current, None);
    assert_eq!(world.seats["tmux:%2"].current, Some(SessionKey::parse("a:1").unwrap()));
}

#[test]
fn a_tool_that_a_person_stopped_ends_the_turn_and_a_late_result_does_not_revive_it() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    assert_eq!(world.feed("a:1", tool(ToolOutcome::Interrupted)).state, State::Interrupted);
    assert_eq!(world.ended[0].ended.unwrap().1, TurnOutcome::Interrupted);
    assert_eq!(world.feed("a:1", tool(ToolOutcome::Done)).state, State::Interrupted);
    let helper = world.feed_event(in_subagent(event("a:1", tool(ToolOutcome::Done))));
    assert_eq!(helper.state, State::Working);
}

#[test]
fn looking_changes_nothing_but_that_it_was_seen() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    assert!(!world.feed("a:1", STOP).seen);
    let (before, after) =
        (world.sessions[&SessionKey::parse("a:1").unwrap()].clone(), world.feed("a:1", Happening::Seen));
    assert!(after.seen);
    assert_eq!(
        (before.state, before.since, before.last_event_at),
        (after.state, after.since, after.last_event_at)
    );
    assert!(!world.feed("a:1", prompt("again")).seen);
}

#[test]
fn an_observation_holds_only_if_nothing_has_happened_since() {
    let mut world = World::default();
    let as_of = world.feed("a:1", prompt("hi")).last_event_at;
    world.feed("a:1", tool(ToolOutcome::Done));
    let stale = Happening::Observed { what: Observed::Interrupted, as_of, until: None };
    let after = world.feed("a:1", stale);
    assert_eq!(after.state, State::Working);
    let as_of = after.last_event_at;
    let after = world.feed("a:1", Happening::Observed { what: Observed::Interrupted, as_of, until: None });
    assert_eq!(after.state, State::Interrupted);
    let as_of = after.last_event_at;
    assert_eq!(
        world.feed("a:1", Happening::Observed { what: Observed::Gone, as_of, until: None }).state,
        State::Ended
    );
}

#[test]
fn a_prompt_that_a_program_typed_is_activity_but_not_what_the_person_asked() {
    let mut world = World::default();
    world.feed("a:1", prompt("asked"));
    world.feed("a:1", STOP);
    let dot = Happening::PromptSubmitted { prompt: Kept::default(), origin: Origin::Bookmark, own: None };
    let after = world.feed("a:1", dot);
    assert_eq!((after.state, after.prompt.as_ref().unwrap().as_str()), (State::Working, "asked"));
}

#[test]
fn another_tools_result_does_not_end_a_block() {
    let named = |name: &str| Kept::new(name, Keeping { longest_bytes: 100, secrets: Secrets::Redacted });
    let asks = |name: &str| Happening::PermissionAsked { tool: named(name), reason: Reason::Permission };
    let finished =
        |name: &str| Happening::ToolFinished { tool: named(name), outcome: ToolOutcome::Done, bytes: 0 };
    let blocked = State::Blocked(Reason::Permission);
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", asks("Bash"));
    assert_eq!(world.feed("a:1", finished("Read")).state, blocked, "a tool that ran beside it");
    assert_eq!(world.feed_event(in_subagent(event("a:1", finished("Bash")))).state, blocked, "a helper's");
    assert_eq!(world.feed("a:1", asks("Edit")).state, blocked);
    assert_eq!(world.feed("a:1", finished("Bash")).state, blocked, "the one that was allowed before");
    assert_eq!(world.feed("a:1", finished("Edit")).state, State::Working);
}

#[test]
fn a_refused_tool_ends_its_block_with_its_round_of_tools() {
    let asks = || Happening::PermissionAsked { tool: Kept::default(), reason: Reason::Permission };
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", asks());
    let helpers = world.feed_event(in_subagent(event("a:1", Happening::ToolsFinished)));
    assert_eq!(helpers.state, State::Blocked(Reason::Permission), "a helper's round");
    assert_eq!(world.feed("a:1", Happening::ToolsFinished).state, State::Working);
    world.feed("a:1", STOP);
    assert_eq!(world.feed("a:1", Happening::ToolsFinished).state, State::Completed);
}

#[test]
fn a_wait_whose_end_nobody_saw_counts_only_as_far_as_something_was_heard() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    let asked = Happening::PermissionAsked { tool: Kept::default(), reason: Reason::Permission };
    let as_of = world.feed("a:1", asked).last_event_at;
    world.clock += 200_000_000;
    world.feed("a:1", Happening::Observed { what: Observed::Gone, as_of, until: None });
    assert_eq!((world.waits[0].began_at, world.waits[0].ended_at), (as_of, as_of));
}

#[test]
fn a_block_is_remembered_as_a_wait_with_its_reason() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", Happening::PermissionAsked { tool: Kept::default(), reason: Reason::Question });
    world.feed("a:1", Happening::Seen);
    world.feed("a:1", tool(ToolOutcome::Done));
    world.feed("a:1", STOP);
    let waits: Vec<_> = world.waits.iter().map(|wait| (wait.reason, wait.began_at, wait.ended_at)).collect();
    assert_eq!(waits, [(Reason::Question, Timestamp(2), Timestamp(4))]);
}

#[test]
fn the_end_of_a_usage_limit_is_known_until_the_session_goes_on() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    let until = Some(Timestamp(500));
    let limited = world.feed("a:1", Happening::TurnFailed { failure: Failure::UsageLimit, until });
    assert_eq!((limited.state, limited.limited_until), (State::Limited, until));
    let again = world.feed("a:1", Happening::TurnFailed { failure: Failure::UsageLimit, until: None });
    assert_eq!(again.limited_until, until, "what is known is not forgotten by being told less");
    assert_eq!(world.feed("a:1", prompt("again")).limited_until, None);
}

#[test]
fn completed_tasks_are_counted_until_the_next_prompt_and_change_no_state() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", Happening::TaskCompleted);
    let after = world.feed("a:1", Happening::TaskCompleted);
    assert_eq!((after.state, after.tasks), (State::Working, 2));
    world.feed("a:1", STOP);
    assert_eq!(world.feed("a:1", prompt("again")).tasks, 0);
}

/// One event of every kind, with its name.
fn kinds() -> Vec<(&'static str, Happening)> {
    let permission = Happening::PermissionAsked { tool: Kept::default(), reason: Reason::Permission };
    let observed = |what| Happening::Observed { what, as_of: Timestamp(i64::MAX), until: None };
    vec![
        ("session_started", start()),
        (
            "session_started (compact)",
            Happening::SessionStarted { by: StartedBy::Compact, wishes: Wishes::default() },
        ),
        ("session_ended", Happening::SessionEnded { by: EndedBy::Exit }),
        ("prompt_submitted", prompt("p")),
        ("tool_finished", tool(ToolOutcome::Done)),
        ("tool_finished (interrupted)", tool(ToolOutcome::Interrupted)),
        ("tools_finished", Happening::ToolsFinished),
        ("permission_asked", permission),
        ("permission_refused", Happening::PermissionRefused { tool: Kept::default() }),
        ("attention_asked", Happening::AttentionAsked { reason: Reason::Elicitation }),
        ("attention_given", Happening::AttentionGiven),
        ("turn_ended", STOP),
        ("turn_ended (background)", Happening::TurnEnded { background: Some(1), answer: None }),
        ("turn_failed", Happening::TurnFailed { failure: Failure::Other, until: None }),
        ("turn_failed (limit)", Happening::TurnFailed { failure: Failure::UsageLimit, until: None }),
        ("interrupted", Happening::Interrupted),
        ("subagent_started", Happening::SubagentStarted),
        ("subagent_stopped", Happening::SubagentStopped),
        ("compaction_started", Happening::CompactionStarted { trigger: Trigger::Auto }),
        ("compaction_ended", Happening::CompactionEnded { trigger: Trigger::Auto }),
        ("model_answered", Happening::ModelAnswered { context_tokens: 1 }),
        ("context_measured", Happening::ContextMeasured { fill: Fill::shown(1, 2).unwrap() }),
        ("context_announced", Happening::ContextAnnounced { percent: 40, to: Audience::Model }),
        ("helper_wanted", Happening::HelperWanted { tool: Kept::default() }),
        ("folder_changed", Happening::FolderChanged),
        ("task_completed", Happening::TaskCompleted),
        ("seat_found", Happening::SeatFound),
        ("seen", Happening::Seen),
        ("baton_passed", Happening::BatonPassed),
        ("baton_dropped", Happening::BatonDropped),
        ("baton_came", Happening::BatonCame(Box::new(far_baton()))),
        ("fresh_asked", Happening::FreshAsked),
        ("fresh_taken_back", Happening::FreshTakenBack),
        ("inheritance_taken", Happening::InheritanceTaken { from: SessionKey::parse("a:0").unwrap() }),
        ("inheritance_given", Happening::InheritanceGiven { decision: Uid([0; 16]) }),
        ("observed (gone)", observed(Observed::Gone)),
        ("observed (interrupted)", observed(Observed::Interrupted)),
        ("observed (failed)", observed(Observed::Failed)),
        ("observed (limited)", observed(Observed::Limited)),
        ("observed (answered)", observed(Observed::Answered)),
    ]
}

fn marker() -> Happening {
    Happening::PromptSubmitted { prompt: Kept::default(), origin: Origin::Bookmark, own: None }
}

#[test]
fn a_marker_and_its_answer_leave_the_session_what_it_was() {
    let answer = |text: &str| {
        let kept = Kept::new(text, Keeping { longest_bytes: 100, secrets: Secrets::Redacted });
        Happening::TurnEnded { background: Some(0), answer: Some(kept) }
    };
    for (looks_before, looks_meanwhile, seen) in
        [(false, false, false), (true, false, true), (false, true, true)]
    {
        let mut world = World::default();
        world.feed("a:1", prompt("hi"));
        let finished = world.feed("a:1", answer("done")).since;
        if looks_before {
            world.feed("a:1", Happening::Seen);
        }
        assert_eq!(world.feed("a:1", marker()).state, State::Working);
        if looks_meanwhile {
            world.feed("a:1", Happening::Seen);
        }
        let after = world.feed("a:1", answer("ok"));
        assert_eq!((after.state, after.since, after.seen), (State::Completed, finished, seen));
        assert_eq!(after.answer.as_ref().map(Kept::as_str), Some("done"));
        world.feed("a:1", prompt("more"));
        let after = world.feed("a:1", answer("more is done"));
        assert!(after.since > finished && !after.seen, "what was asked for is news again");
    }
}

#[test]
fn a_marker_that_becomes_work_is_work() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    let finished = world.feed("a:1", STOP).since;
    world.feed("a:1", marker());
    world.feed("a:1", prompt("and now this"));
    let after = world.feed("a:1", STOP);
    assert!(after.state == State::Completed && after.since > finished);
}

/// Every state against every kind of event, as a snapshot for review.
#[test]
fn transition_table() {
    let states = [
        State::Idle,
        State::Working,
        State::Blocked(Reason::Permission),
        State::Completed,
        State::Interrupted,
        State::Limited,
        State::Ended,
    ];
    let mut world = World::default();
    let working = world.feed("a:1", prompt("before")).clone();
    let mut table = format!("{:28}{}\n", "", states.map(|state| format!("{:12}", state.name())).concat());
    for (name, happening) in kinds() {
        let cell = |state: State| {
            let open_turn =
                working.open_turn.clone().filter(|_| matches!(state, State::Working | State::Blocked(_)));
            let session = Some(Session { state, open_turn, ..working.clone() });
            let event = Event { at: Timestamp(99), ..event("a:1", happening.clone()) };
            let after = step(Before { session, ..Before::default() }, &event).session.unwrap().state;
            if after == state { format!("{:12}", "·") } else { format!("{:12}", after.name()) }
        };
        table += &format!("{name:28}{}\n", states.map(cell).concat().trim_end());
    }
    insta::assert_snapshot!(table);
}
