//! Tests of a session's life, event by event.

use super::*;
use crate::event::CompactionTrigger;
use crate::id::{SessionKey, SubagentId, TurnId, Uid};
use crate::inherit::{BatonFate, RemoteBaton};
use crate::meter::{ContextUsage, NoticeAudience};
use crate::project::ProjectIdentity;
use crate::seat::{SeatKind, SeatProof};
use crate::text::{SecretPolicy, TextPolicy};
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Applies events one by one, as the store does.
#[derive(Default)]
struct World {
    sessions: BTreeMap<SessionKey, Session>,
    seats: BTreeMap<String, Seat>,
    shared: BTreeSet<SessionKey>,
    ended: Vec<SessionTurn>,
    waits: Vec<UserWait>,
    clock: i64,
}

impl World {
    fn feed(&mut self, session: &str, happening: EventKind) -> &Session {
        self.feed_event(event(session, happening))
    }

    fn feed_event(&mut self, mut event: Event) -> &Session {
        self.clock += 1;
        event.at = Timestamp(self.clock);
        event.uid = Uid::v7(event.at, [0; 10]);
        let seat_key = event.scene.as_ref().and_then(|s| s.place.as_ref()).map(|p| p.key.clone());
        let session = self.sessions.get(&event.session).cloned();
        let former = session.as_ref().and_then(|session| session.seat.clone());
        let before = StepInput {
            session,
            seat: seat_key.as_ref().and_then(|key| self.seats.get(key).cloned()),
            former_seat: former.as_ref().and_then(|key| self.seats.get(key).cloned()),
            is_shared: self.shared.contains(&event.session),
        };
        let after = step(before, &event);
        if after.is_shared {
            self.shared.insert(event.session.clone());
        }
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

fn event(session: &str, happening: EventKind) -> Event {
    let session = SessionKey::parse(session).unwrap();
    let uid = Uid([0; 16]);
    Event { uid, at: Timestamp(0), session, subagent: None, turn: None, happening, scene: None }
}

fn far_baton() -> RemoteBaton {
    RemoteBaton {
        baton: Uid([1; 16]),
        machine: Uid([2; 16]),
        called: SafeText::default(),
        project: ProjectIdentity { root: "/boat".into(), remote: None, name: None, branch: None },
        passed_at: Timestamp(0),
        count: 1,
        fate: BatonFate::Waits,
    }
}

fn in_subagent(mut event: Event) -> Event {
    event.subagent = Some(SubagentId::parse("helper").unwrap());
    event
}

fn at_pane(mut event: Event, pane: &str, presence: SessionPresence) -> Event {
    let place = SeatLocation {
        key: format!("tmux:{pane}"),
        kind: SeatKind::Tmux,
        pane: Some(pane.into()),
        server: None,
        tty: None,
        pid: 7,
        started: 1,
        program: None,
        proof: SeatProof::Terminal,
    };
    let scene = EventScene {
        presence,
        folder: None,
        transcript: None,
        model: None,
        place: Some(place),
        project: None,
    };
    event.scene = Some(scene);
    event
}

fn start() -> EventKind {
    EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() }
}

fn prompt(text: &str) -> EventKind {
    let keeping = TextPolicy { longest_bytes: 100, secrets: SecretPolicy::Redacted };
    EventKind::PromptSubmitted {
        prompt: SafeText::new(text, keeping),
        origin: PromptOrigin::Human,
        own: None,
    }
}

fn tool(outcome: ToolOutcome) -> EventKind {
    EventKind::ToolFinished { tool: SafeText::default(), outcome, bytes: 0 }
}

const STOP: EventKind = EventKind::TurnEnded { background: Some(0), answer: None };

#[test]
fn an_ordinary_turn_goes_from_idle_over_working_to_completed() {
    let mut world = World::default();
    assert_eq!(world.feed("a:1", start()).state, SessionState::Idle);
    assert_eq!(world.feed("a:1", prompt("hi")).state, SessionState::Working);
    assert_eq!(world.feed("a:1", tool(ToolOutcome::Failed)).state, SessionState::Working);
    assert_eq!(world.feed("a:1", STOP).state, SessionState::Completed);
    let turn = &world.ended[0];
    assert_eq!((turn.ordinal, turn.tool_calls, turn.tool_failures), (1, 1, 1));
    assert_eq!(turn.ended.unwrap().1, TurnOutcome::Completed);
}

#[test]
fn a_permission_blocks_at_once_and_a_tool_result_ends_the_block() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    let blocked = world.feed(
        "a:1",
        EventKind::PermissionAsked { tool: SafeText::default(), reason: BlockReason::Permission },
    );
    assert_eq!(blocked.state, SessionState::Blocked(BlockReason::Permission));
    assert_eq!(world.feed("a:1", tool(ToolOutcome::Done)).state, SessionState::Working);
}

#[test]
fn a_late_notice_does_not_block_a_session_that_is_done() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", STOP);
    let after = world.feed("a:1", EventKind::AttentionAsked { reason: BlockReason::Permission });
    assert_eq!(after.state, SessionState::Completed);
}

#[test]
fn late_tool_result_does_not_revive_an_ended_session() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", EventKind::SessionEnded { by: EndedBy::Exit });
    assert_eq!(world.feed("a:1", tool(ToolOutcome::Done)).state, SessionState::Ended);
}

#[test]
fn a_lone_end_of_an_unknown_session_leaves_no_trace() {
    let after = step(StepInput::default(), &event("a:1", EventKind::SessionEnded { by: EndedBy::Other }));
    assert_eq!(after, StepOutput::default());
}

#[test]
fn a_session_met_in_the_middle_is_working() {
    let mut world = World::default();
    let met = world.feed("a:1", tool(ToolOutcome::Done));
    assert_eq!((met.state, met.started_by), (SessionState::Working, StartedBy::Unknown));
}

#[test]
fn background_tasks_keep_a_session_working_after_its_turn() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    assert_eq!(
        world.feed("a:1", EventKind::TurnEnded { background: Some(2), answer: None }).state,
        SessionState::Working
    );
    assert_eq!(world.feed("a:1", STOP).state, SessionState::Completed);
}

/// Some agents report a launch and a clear alike.
#[test]
fn a_start_of_unknown_cause_is_a_clear_in_the_process_of_the_session_before() {
    let unknown = || EventKind::SessionStarted { by: StartedBy::Unknown, wishes: InheritSettings::default() };
    let mut world = World::default();
    let begin = |world: &mut World, session: &str, pid: u32| {
        world.feed(session, unknown());
        let mut found = at_pane(event(session, EventKind::SeatFound), "%1", SessionPresence::Terminal);
        found.scene.as_mut().unwrap().place.as_mut().unwrap().pid = pid;
        world.feed_event(found).clone()
    };
    assert_eq!(begin(&mut world, "a:1", 7).started_by, StartedBy::Startup);
    let second = begin(&mut world, "a:2", 7);
    assert_eq!((second.started_by, second.inheriting), (StartedBy::Clear, InheritState::Undecided));
    assert_eq!(begin(&mut world, "a:3", 8).started_by, StartedBy::Startup, "another process");
    assert_eq!(begin(&mut world, "b:4", 8).started_by, StartedBy::Startup, "another agent");
    let seen_late = world.feed("a:5", prompt("on")).clone();
    assert_eq!((seen_late.started_by, seen_late.inheriting), (StartedBy::Unknown, InheritState::Nothing));
}

/// A subagent's own subagent may carry the first one's id in place of the session's.
#[test]
fn a_subagent_of_an_unknown_session_becomes_no_session() {
    for happening in [EventKind::SubagentStarted, tool(ToolOutcome::Done), prompt("child")] {
        let event = in_subagent(event("a:1", happening));
        assert_eq!(step(StepInput::default(), &event), StepOutput::default());
    }
}

#[test]
fn a_subagent_keeps_its_session_working_until_it_stops() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed_event(in_subagent(event("a:1", EventKind::SubagentStarted)));
    assert_eq!(
        world.feed("a:1", EventKind::TurnEnded { background: None, answer: None }).state,
        SessionState::Working
    );
    let after = world.feed_event(in_subagent(event("a:1", EventKind::SubagentStopped)));
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
    let notice = EventKind::PromptSubmitted {
        prompt: SafeText::default(),
        origin: PromptOrigin::Notification,
        own: None,
    };
    let after = world.feed("a:1", notice);
    assert_eq!((after.turns, after.prompt.as_ref().unwrap().as_str()), (2, "asked"));
}

#[test]
fn clearing_starts_a_new_session_in_the_same_seat_and_links_it() {
    let mut world = World::default();
    world.feed_event(at_pane(event("a:1", start()), "%1", SessionPresence::Terminal));
    world.feed("a:1", EventKind::SessionEnded { by: EndedBy::Clear });
    let clear = EventKind::SessionStarted { by: StartedBy::Clear, wishes: InheritSettings::default() };
    let next = world.feed_event(at_pane(event("a:2", clear), "%1", SessionPresence::Terminal));
    assert_eq!(next.previous, Some(SessionKey::parse("a:1").unwrap()));
    assert_eq!(world.seats["tmux:%1"].current, Some(SessionKey::parse("a:2").unwrap()));
}

#[test]
fn resuming_an_older_session_of_a_seat_makes_no_circle() {
    let mut world = World::default();
    world.feed_event(at_pane(event("a:1", start()), "%1", SessionPresence::Terminal));
    world.feed_event(at_pane(event("a:2", start()), "%1", SessionPresence::Terminal));
    let resume = EventKind::SessionStarted { by: StartedBy::Resume, wishes: InheritSettings::default() };
    let first = world.feed_event(at_pane(event("a:1", resume), "%1", SessionPresence::Terminal));
    assert_eq!(first.previous, None);
    assert_eq!(world.seats["tmux:%1"].current, Some(SessionKey::parse("a:1").unwrap()));
}

#[test]
fn a_headless_session_takes_nobodys_seat() {
    let mut world = World::default();
    world.feed_event(at_pane(event("a:1", start()), "%1", SessionPresence::Terminal));
    let script = world.feed_event(at_pane(event("a:2", start()), "%1", SessionPresence::Headless));
    assert_eq!((script.seat.clone(), script.previous.clone()), (None, None));
    assert_eq!(world.seats["tmux:%1"].current, Some(SessionKey::parse("a:1").unwrap()));
}

#[test]
fn compaction_is_counted_and_changes_no_state() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", EventKind::CompactionStarted { trigger: CompactionTrigger::Auto });
    world.feed(
        "a:1",
        EventKind::SessionStarted { by: StartedBy::Compact, wishes: InheritSettings::default() },
    );
    let after = world.feed("a:1", EventKind::CompactionEnded { trigger: CompactionTrigger::Auto });
    assert_eq!((after.state, after.compactions, after.turns), (SessionState::Working, 1, 1));
}

#[test]
fn only_a_change_of_state_is_announced() {
    let first = step(StepInput::default(), &event("a:1", prompt("hi")));
    assert_eq!(first.effects.len(), 1);
    let again = step(
        StepInput { session: first.session, ..StepInput::default() },
        &event("a:1", tool(ToolOutcome::Done)),
    );
    assert!(again.effects.is_empty());
}

#[test]
fn resuming_elsewhere_leaves_the_old_seat_free() {
    let mut world = World::default();
    world.feed_event(at_pane(event("a:1", start()), "%1", SessionPresence::Terminal));
    let resume = EventKind::SessionStarted { by: StartedBy::Resume, wishes: InheritSettings::default() };
    let moved = world.feed_event(at_pane(event("a:1", resume), "%2", SessionPresence::Terminal));
    assert_eq!(moved.seat.as_deref(), Some("tmux:%2"));
    assert_eq!(world.seats["tmux:%1"].current, None);
    assert_eq!(world.seats["tmux:%2"].current, Some(SessionKey::parse("a:1").unwrap()));
}

/// Its first pane was once shown as an agent without hooks, and the end in one pane ended both.
#[test]
fn a_session_that_is_resumed_beside_itself_sits_in_both_panes_until_it_ends_in_each() {
    let mut world = World::default();
    let resume = EventKind::SessionStarted { by: StartedBy::Resume, wishes: InheritSettings::default() };
    let in_pane = |happening, pane: &str| {
        let mut event = at_pane(event("a:1", happening), pane, SessionPresence::Terminal);
        let place = event.scene.as_mut().and_then(|scene| scene.place.as_mut()).unwrap();
        place.pid = pane.trim_start_matches('%').parse().unwrap();
        event
    };
    let ended = || EventKind::SessionEnded { by: EndedBy::Clear };
    let is_in = |world: &World, pane: &str| world.seats[pane].current.is_some();
    world.feed_event(in_pane(start(), "%1"));
    world.feed("a:1", resume);
    world.feed_event(in_pane(EventKind::SeatFound, "%2"));
    assert!(is_in(&world, "tmux:%1") && is_in(&world, "tmux:%2"));
    let found = world.feed_event(in_pane(EventKind::SeatFound, "%1"));
    assert_eq!(found.seat.as_deref(), Some("tmux:%1"));
    assert!(is_in(&world, "tmux:%1") && is_in(&world, "tmux:%2"));
    let left = world.feed_event(in_pane(ended(), "%2"));
    assert_eq!((left.state, left.seat.as_deref()), (SessionState::Idle, Some("tmux:%1")));
    let left = world.feed_event(in_pane(ended(), "%1"));
    assert_eq!(left.state, SessionState::Ended);
}

#[test]
fn a_tool_that_a_person_stopped_ends_the_turn_and_a_late_result_does_not_revive_it() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    assert_eq!(world.feed("a:1", tool(ToolOutcome::Interrupted)).state, SessionState::Interrupted);
    assert_eq!(world.ended[0].ended.unwrap().1, TurnOutcome::Interrupted);
    assert_eq!(world.feed("a:1", tool(ToolOutcome::Done)).state, SessionState::Interrupted);
    let helper = world.feed_event(in_subagent(event("a:1", tool(ToolOutcome::Done))));
    assert_eq!(helper.state, SessionState::Working);
}

#[test]
fn looking_changes_nothing_but_that_it_was_seen() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    assert!(!world.feed("a:1", STOP).seen);
    let (before, after) =
        (world.sessions[&SessionKey::parse("a:1").unwrap()].clone(), world.feed("a:1", EventKind::Seen));
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
    let stale = EventKind::Observed { what: ObservedChange::Interrupted, as_of, until: None };
    let after = world.feed("a:1", stale);
    assert_eq!(after.state, SessionState::Working);
    let as_of = after.last_event_at;
    let after =
        world.feed("a:1", EventKind::Observed { what: ObservedChange::Interrupted, as_of, until: None });
    assert_eq!(after.state, SessionState::Interrupted);
    let as_of = after.last_event_at;
    assert_eq!(
        world.feed("a:1", EventKind::Observed { what: ObservedChange::Gone, as_of, until: None }).state,
        SessionState::Ended
    );
}

#[test]
fn a_prompt_that_a_program_typed_is_activity_but_not_what_the_person_asked() {
    let mut world = World::default();
    world.feed("a:1", prompt("asked"));
    world.feed("a:1", STOP);
    let dot =
        EventKind::PromptSubmitted { prompt: SafeText::default(), origin: PromptOrigin::Bookmark, own: None };
    let after = world.feed("a:1", dot);
    assert_eq!((after.state, after.prompt.as_ref().unwrap().as_str()), (SessionState::Working, "asked"));
}

#[test]
fn another_tools_result_does_not_end_a_block() {
    let named =
        |name: &str| SafeText::new(name, TextPolicy { longest_bytes: 100, secrets: SecretPolicy::Redacted });
    let asks = |name: &str| EventKind::PermissionAsked { tool: named(name), reason: BlockReason::Permission };
    let finished =
        |name: &str| EventKind::ToolFinished { tool: named(name), outcome: ToolOutcome::Done, bytes: 0 };
    let blocked = SessionState::Blocked(BlockReason::Permission);
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", asks("Bash"));
    assert_eq!(world.feed("a:1", finished("Read")).state, blocked, "a tool that ran beside it");
    assert_eq!(world.feed_event(in_subagent(event("a:1", finished("Bash")))).state, blocked, "a helper's");
    assert_eq!(world.feed("a:1", asks("Edit")).state, blocked);
    assert_eq!(world.feed("a:1", finished("Bash")).state, blocked, "the one that was allowed before");
    assert_eq!(world.feed("a:1", finished("Edit")).state, SessionState::Working);
}

#[test]
fn a_refused_tool_ends_its_block_with_its_round_of_tools() {
    let asks = || EventKind::PermissionAsked { tool: SafeText::default(), reason: BlockReason::Permission };
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", asks());
    let helpers = world.feed_event(in_subagent(event("a:1", EventKind::ToolsFinished)));
    assert_eq!(helpers.state, SessionState::Blocked(BlockReason::Permission), "a helper's round");
    assert_eq!(world.feed("a:1", EventKind::ToolsFinished).state, SessionState::Working);
    world.feed("a:1", STOP);
    assert_eq!(world.feed("a:1", EventKind::ToolsFinished).state, SessionState::Completed);
}

#[test]
fn a_wait_whose_end_nobody_saw_counts_only_as_far_as_something_was_heard() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    let asked = EventKind::PermissionAsked { tool: SafeText::default(), reason: BlockReason::Permission };
    let as_of = world.feed("a:1", asked).last_event_at;
    world.clock += 200_000_000;
    world.feed("a:1", EventKind::Observed { what: ObservedChange::Gone, as_of, until: None });
    assert_eq!((world.waits[0].began_at, world.waits[0].ended_at), (as_of, as_of));
}

#[test]
fn a_block_is_remembered_as_a_wait_with_its_reason() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world
        .feed("a:1", EventKind::PermissionAsked { tool: SafeText::default(), reason: BlockReason::Question });
    world.feed("a:1", EventKind::Seen);
    world.feed("a:1", tool(ToolOutcome::Done));
    world.feed("a:1", STOP);
    let waits: Vec<_> = world.waits.iter().map(|wait| (wait.reason, wait.began_at, wait.ended_at)).collect();
    assert_eq!(waits, [(BlockReason::Question, Timestamp(2), Timestamp(4))]);
}

#[test]
fn the_end_of_a_usage_limit_is_known_until_the_session_goes_on() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    let until = Some(Timestamp(500));
    let limited = world.feed("a:1", EventKind::TurnFailed { failure: TurnFailure::UsageLimit, until });
    assert_eq!((limited.state, limited.limited_until), (SessionState::Limited, until));
    let again = world.feed("a:1", EventKind::TurnFailed { failure: TurnFailure::UsageLimit, until: None });
    assert_eq!(again.limited_until, until, "what is known is not forgotten by being told less");
    assert_eq!(world.feed("a:1", prompt("again")).limited_until, None);
}

#[test]
fn completed_tasks_are_counted_until_the_next_prompt_and_change_no_state() {
    let mut world = World::default();
    world.feed("a:1", prompt("hi"));
    world.feed("a:1", EventKind::TaskCompleted);
    let after = world.feed("a:1", EventKind::TaskCompleted);
    assert_eq!((after.state, after.tasks), (SessionState::Working, 2));
    world.feed("a:1", STOP);
    assert_eq!(world.feed("a:1", prompt("again")).tasks, 0);
}

/// One event of every kind, with its name.
fn kinds() -> Vec<(&'static str, EventKind)> {
    let permission =
        EventKind::PermissionAsked { tool: SafeText::default(), reason: BlockReason::Permission };
    let observed = |what| EventKind::Observed { what, as_of: Timestamp(i64::MAX), until: None };
    vec![
        ("session_started", start()),
        (
            "session_started (compact)",
            EventKind::SessionStarted { by: StartedBy::Compact, wishes: InheritSettings::default() },
        ),
        ("session_ended", EventKind::SessionEnded { by: EndedBy::Exit }),
        ("prompt_submitted", prompt("p")),
        ("tool_finished", tool(ToolOutcome::Done)),
        ("tool_finished (interrupted)", tool(ToolOutcome::Interrupted)),
        ("tools_finished", EventKind::ToolsFinished),
        ("permission_asked", permission),
        ("permission_refused", EventKind::PermissionRefused { tool: SafeText::default() }),
        ("attention_asked", EventKind::AttentionAsked { reason: BlockReason::Elicitation }),
        ("attention_given", EventKind::AttentionGiven),
        ("turn_ended", STOP),
        ("turn_ended (background)", EventKind::TurnEnded { background: Some(1), answer: None }),
        ("turn_failed", EventKind::TurnFailed { failure: TurnFailure::Other, until: None }),
        ("turn_failed (limit)", EventKind::TurnFailed { failure: TurnFailure::UsageLimit, until: None }),
        ("interrupted", EventKind::Interrupted),
        ("subagent_started", EventKind::SubagentStarted),
        ("subagent_stopped", EventKind::SubagentStopped),
        ("compaction_started", EventKind::CompactionStarted { trigger: CompactionTrigger::Auto }),
        ("compaction_ended", EventKind::CompactionEnded { trigger: CompactionTrigger::Auto }),
        ("model_answered", EventKind::ModelAnswered { context_tokens: 1 }),
        ("context_measured", EventKind::ContextMeasured { fill: ContextUsage::from_display(1, 2).unwrap() }),
        ("context_announced", EventKind::ContextAnnounced { percent: 40, to: NoticeAudience::Model }),
        ("helper_wanted", EventKind::SubagentWanted { tool: SafeText::default() }),
        ("folder_changed", EventKind::FolderChanged),
        ("task_completed", EventKind::TaskCompleted),
        ("seat_found", EventKind::SeatFound),
        ("seen", EventKind::Seen),
        ("baton_passed", EventKind::BatonPassed),
        ("baton_dropped", EventKind::BatonDropped),
        ("baton_came", EventKind::BatonCame(Box::new(far_baton()))),
        ("fresh_asked", EventKind::FreshAsked),
        ("fresh_taken_back", EventKind::FreshTakenBack),
        ("inheritance_taken", EventKind::InheritanceTaken { from: SessionKey::parse("a:0").unwrap() }),
        ("inheritance_given", EventKind::InheritanceGiven { decision: Uid([0; 16]) }),
        ("observed (gone)", observed(ObservedChange::Gone)),
        ("observed (interrupted)", observed(ObservedChange::Interrupted)),
        ("observed (failed)", observed(ObservedChange::Failed)),
        ("observed (limited)", observed(ObservedChange::Limited)),
        ("observed (answered)", observed(ObservedChange::Answered)),
    ]
}

fn marker() -> EventKind {
    EventKind::PromptSubmitted { prompt: SafeText::default(), origin: PromptOrigin::Bookmark, own: None }
}

#[test]
fn a_marker_and_its_answer_leave_the_session_what_it_was() {
    let answer = |text: &str| {
        let kept = SafeText::new(text, TextPolicy { longest_bytes: 100, secrets: SecretPolicy::Redacted });
        EventKind::TurnEnded { background: Some(0), answer: Some(kept) }
    };
    for (looks_before, looks_meanwhile, seen) in
        [(false, false, false), (true, false, true), (false, true, true)]
    {
        let mut world = World::default();
        world.feed("a:1", prompt("hi"));
        let finished = world.feed("a:1", answer("done")).since;
        if looks_before {
            world.feed("a:1", EventKind::Seen);
        }
        assert_eq!(world.feed("a:1", marker()).state, SessionState::Working);
        if looks_meanwhile {
            world.feed("a:1", EventKind::Seen);
        }
        let after = world.feed("a:1", answer("ok"));
        assert_eq!((after.state, after.since, after.seen), (SessionState::Completed, finished, seen));
        assert_eq!(after.answer.as_ref().map(SafeText::as_str), Some("done"));
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
    assert!(after.state == SessionState::Completed && after.since > finished);
}

/// Every state against every kind of event, as a snapshot for review.
#[test]
fn transition_table() {
    let states = [
        SessionState::Idle,
        SessionState::Working,
        SessionState::Blocked(BlockReason::Permission),
        SessionState::Completed,
        SessionState::Interrupted,
        SessionState::Limited,
        SessionState::Ended,
    ];
    let mut world = World::default();
    let working = world.feed("a:1", prompt("before")).clone();
    let mut table = format!("{:28}{}\n", "", states.map(|state| format!("{:12}", state.name())).concat());
    for (name, happening) in kinds() {
        let cell = |state: SessionState| {
            let open_turn = working
                .open_turn
                .clone()
                .filter(|_| matches!(state, SessionState::Working | SessionState::Blocked(_)));
            let session = Some(Session { state, open_turn, ..working.clone() });
            let event = Event { at: Timestamp(99), ..event("a:1", happening.clone()) };
            let after = step(StepInput { session, ..StepInput::default() }, &event).session.unwrap().state;
            if after == state { format!("{:12}", "·") } else { format!("{:12}", after.name()) }
        };
        table += &format!("{name:28}{}\n", states.map(cell).concat().trim_end());
    }
    insta::assert_snapshot!(table);
}
