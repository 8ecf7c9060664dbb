//! Which session's work a session continues, from the journal to the rows, with events in the order of real agents.

use super::*;
use crate::{BatonRow, Inheritance, InheritanceFilter};
use proptest::prelude::*;
use towline_core::event::OwnCommand;
use towline_core::id::SubagentId;
use towline_core::inherit::{BatonFate, InheritRule, OnClear, RemoteBaton};
use towline_core::seat::{SeatKind, SeatLocation, SeatProof};

const MINUTE_MS: i64 = 60_000;

fn start(by: StartedBy) -> EventKind {
    EventKind::SessionStarted { by, wishes: InheritSettings::default() }
}

pub(super) const CLEARED: EventKind = EventKind::SessionEnded { by: EndedBy::Clear };

fn place(seat: &str) -> SeatLocation {
    SeatLocation {
        key: seat.into(),
        kind: SeatKind::Tmux,
        pane: None,
        server: None,
        tty: None,
        pid: 1,
        started: 1,
        program: None,
        proof: SeatProof::Terminal,
    }
}

/// Accepts events of sessions in a terminal, all in one project.
impl Bench {
    pub(super) fn accept_in_project(&mut self, session: &str, happening: EventKind) {
        self.accept_at(session, None, happening);
    }

    pub(super) fn sit(&mut self, session: &str, seat: &str) {
        self.accept_at(session, Some(seat), EventKind::SeatFound);
    }

    pub(super) fn accept_at(&mut self, session: &str, seat: Option<&str>, happening: EventKind) {
        let event = self.event(session, happening);
        let scene = Some(scene(seat, SessionPresence::Terminal));
        self.append(&[Event { scene, ..event }]);
    }

    /// The session starts, gets its seat, and completes a prompt.
    pub(super) fn work(&mut self, session: &str, seat: &str) {
        self.begin(session, seat, StartedBy::Startup);
        self.accept_in_project(session, prompt("work"));
        self.accept_in_project(session, STOP);
    }

    pub(super) fn begin(&mut self, session: &str, seat: &str, by: StartedBy) {
        self.accept_in_project(session, start(by));
        self.sit(session, seat);
    }

    /// The pair of events that an agent sends when its user clears, and the next prompt.
    pub(super) fn clear(&mut self, from: &str, to: &str, seat: &str) {
        self.accept_in_project(from, CLEARED);
        self.begin(to, seat, StartedBy::Clear);
        self.accept_in_project(to, prompt("go on"));
    }

    fn pass(&mut self, minutes: i64) {
        self.clock += minutes * MINUTE_MS;
    }

    fn decisions(&self) -> Vec<Inheritance> {
        let mut all = self
            .apply_all()
            .0
            .inheritances(&InheritanceFilter { limit: 1000, ..InheritanceFilter::default() })
            .unwrap();
        all.reverse();
        all
    }

    /// Every decision as `heir way from`, oldest first.
    fn decision_lines(&self) -> Vec<String> {
        let decision_lines = |decision: &Inheritance| {
            let from = decision.from.as_ref().map_or_else(String::new, |from| format!(" {from}"));
            format!("{} {}{from}", decision.heir, decision.way.name())
        };
        self.decisions().iter().map(decision_lines).collect()
    }
}

fn scene(seat: Option<&str>, presence: SessionPresence) -> EventScene {
    let project = ProjectIdentity { root: "/src/app/.git".into(), remote: None, name: None, branch: None };
    let place = seat.map(place);
    EventScene { presence, folder: None, transcript: None, model: None, place, project: Some(project) }
}

#[test]
fn tl_12_a_cleared_session_hands_its_work_to_the_next_in_its_seat() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.clear("a:1", "a:2", "seat");
    assert_eq!(bench.decision_lines(), ["a:2 clear a:1"]);
    let due = bench.apply_all().0.inheritance_to_give(&key("a:2")).unwrap().unwrap();
    assert_eq!((due.from, due.way, due.given_at), (Some(key("a:1")), InheritRule::Clear, None));
    assert_eq!(due.project.as_deref(), Some("app"));
}

#[test]
fn an_agent_that_tells_of_the_end_late_and_of_the_start_with_the_prompt_inherits_alike() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.begin("a:2", "seat", StartedBy::Clear);
    bench.accept_in_project("a:2", prompt("go on"));
    bench.pass(1);
    bench.accept_in_project("a:1", EventKind::SessionEnded { by: EndedBy::Other });
    assert_eq!(bench.decision_lines(), ["a:2 clear a:1"]);
}

#[test]
fn a_seat_that_is_found_after_the_prompt_was_applied_still_decides() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.accept_in_project("a:2", start(StartedBy::Clear));
    bench.accept_in_project("a:2", prompt("go on"));
    assert_eq!(bench.decision_lines(), Vec::<String>::new(), "nobody knows where it sits");
    bench.sit("a:2", "seat");
    assert_eq!(bench.decision_lines(), ["a:2 clear a:1"]);
}

#[test]
fn a_seat_that_is_looked_for_in_vain_decides_too() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.accept_in_project("a:1", CLEARED);
    bench.accept_in_project("a:2", start(StartedBy::Clear));
    bench.accept_in_project("a:2", prompt("go on"));
    bench.accept_in_project("a:2", EventKind::SeatFound);
    assert_eq!(bench.decision_lines(), ["a:2 fallback a:1"]);
}

#[test]
fn two_seats_of_one_project_cleared_in_turn_each_keep_their_own_work() {
    let mut bench = Bench::new();
    bench.work("a:left", "left");
    bench.work("a:right", "right");
    bench.accept_in_project("a:left", CLEARED);
    bench.begin("a:left-2", "left", StartedBy::Clear);
    bench.accept_in_project("a:right", CLEARED);
    bench.begin("a:right-2", "right", StartedBy::Clear);
    bench.accept_in_project("a:right-2", prompt("go on"));
    bench.accept_in_project("a:left-2", prompt("go on"));
    assert_eq!(bench.decision_lines(), ["a:right-2 clear a:right", "a:left-2 clear a:left"]);
}

#[test]
fn tl_16_a_start_that_is_never_used_takes_nothing_and_leaves_the_baton() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.accept_in_project("a:1", EventKind::BatonPassed);
    bench.begin("a:ghost", "seat", StartedBy::Startup);
    bench.accept_in_project("a:ghost", EventKind::SessionEnded { by: EndedBy::Other });
    assert_eq!(bench.decision_lines(), Vec::<String>::new());
    bench.begin("a:2", "seat", StartedBy::Startup);
    bench.accept_in_project("a:2", prompt("go on"));
    assert_eq!(bench.decision_lines(), ["a:2 baton a:1"]);
}

#[test]
fn two_clears_in_a_row_carry_the_work_over_the_empty_session_between() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.accept_in_project("a:1", CLEARED);
    bench.begin("a:ghost", "seat", StartedBy::Clear);
    bench.clear("a:ghost", "a:2", "seat");
    assert_eq!(bench.decision_lines(), ["a:2 clear a:1"]);
}

#[test]
fn markers_notifications_subagents_and_our_own_commands_decide_nothing() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.accept_in_project("a:1", CLEARED);
    bench.begin("a:2", "seat", StartedBy::Clear);
    let by = |origin, own| EventKind::PromptSubmitted { prompt: SafeText::default(), origin, own };
    bench.accept_in_project("a:2", by(PromptOrigin::Bookmark, None));
    bench.accept_in_project("a:2", by(PromptOrigin::Notification, None));
    bench.accept_in_project("a:2", by(PromptOrigin::Command, Some(OwnCommand::Other)));
    let inside = bench.event("a:2", prompt("a helper's"));
    bench.append(&[Event { subagent: Some(SubagentId::parse("helper").unwrap()), ..inside }]);
    assert_eq!(bench.decision_lines(), Vec::<String>::new());
    bench.accept_in_project("a:2", by(PromptOrigin::Continuation, None));
    assert_eq!(bench.decision_lines(), ["a:2 clear a:1"]);
}

#[test]
fn tl_10_a_baton_is_taken_once_and_by_any_agent_of_the_project() {
    let mut bench = Bench::new();
    bench.work("a:1", "left");
    bench.accept_in_project("a:1", EventKind::BatonPassed);
    bench.pass(59);
    for (heir, seat) in [("b:2", "right"), ("b:3", "middle")] {
        bench.begin(heir, seat, StartedBy::Startup);
        bench.accept_in_project(heir, prompt("go on"));
    }
    assert_eq!(bench.decision_lines(), ["b:2 baton a:1"]);
    let batons = bench.apply_all().0.batons().unwrap();
    assert_eq!(batons[0].heir, Some(key("b:2")));
}

fn came(passed_at: i64, count: u64, fate: BatonFate) -> EventKind {
    let keeping = TextPolicy { longest_bytes: 60, secrets: SecretPolicy::Redacted };
    EventKind::BatonCame(Box::new(RemoteBaton {
        baton: Uid([9; 16]),
        machine: Uid([8; 16]),
        called: SafeText::new("desk", keeping),
        project: ProjectIdentity { root: "/src/app/.git".into(), remote: None, name: None, branch: None },
        passed_at: Timestamp(passed_at),
        count,
        fate,
    }))
}

/// Prompts a new session here; returns the decisions.
fn next_session(bench: &mut Bench, name: &str) -> Vec<String> {
    bench.begin(name, name, StartedBy::Startup);
    bench.accept_in_project(name, prompt("go on"));
    bench.decision_lines()
}

#[test]
fn a_baton_of_another_machine_is_taken_once_and_the_decision_says_where_it_was_passed() {
    let mut bench = Bench::new();
    let passed_at = bench.clock;
    bench.accept("b:far", came(passed_at, 1, BatonFate::Waits));
    bench.accept("b:far", came(passed_at, 1, BatonFate::Waits));
    assert_eq!(next_session(&mut bench, "a:1"), ["a:1 baton b:far"]);
    assert_eq!(next_session(&mut bench, "a:2"), ["a:1 baton b:far"]);
    let (store, _) = bench.apply_all();
    let due = store.inheritance_to_give(&key("a:1")).unwrap().unwrap();
    assert_eq!((due.from, due.machine.as_deref()), (Some(key("b:far")), Some("desk")));
    assert_eq!(store.session(&key("b:far")).unwrap(), None, "it is no session of this machine");
    let batons = store.batons().unwrap();
    assert_eq!((batons.len(), &batons[0].heir), (1, &Some(key("a:1"))));
}

#[test]
fn a_baton_of_another_machine_beside_one_of_this_is_for_a_person_to_choose() {
    let mut bench = Bench::new();
    bench.work("a:1", "left");
    bench.accept_in_project("a:1", EventKind::BatonPassed);
    let passed_at = bench.clock;
    bench.accept("b:far", came(passed_at, 1, BatonFate::Waits));
    assert_eq!(next_session(&mut bench, "a:2"), ["a:2 ambiguous"]);
    bench.accept_in_project("a:2", EventKind::InheritanceTaken { from: key("b:far") });
    assert_eq!(bench.decision_lines(), ["a:2 ambiguous", "a:2 taken b:far"]);
    assert_eq!(next_session(&mut bench, "a:3").last().unwrap(), "a:3 baton a:1");
}

#[test]
fn the_state_of_a_baton_on_another_machine_holds_here_and_is_never_undone() {
    for fate in [BatonFate::Taken { by: Some(key("b:heir")) }, BatonFate::Dropped, BatonFate::Withdrawn] {
        let mut bench = Bench::new();
        let passed_at = bench.clock;
        bench.accept("b:far", came(passed_at, 1, BatonFate::Waits));
        bench.accept("b:far", came(passed_at, 2, fate.clone()));
        bench.accept("b:far", came(passed_at, 1, BatonFate::Waits));
        assert_eq!(next_session(&mut bench, "a:1"), Vec::<String>::new(), "{fate:?}");
        bench.accept("b:far", came(passed_at, 3, BatonFate::Waits));
        let again = next_session(&mut bench, "a:2").len();
        assert_eq!(again, usize::from(!fate.is_over()), "a fresh start may be taken back: {fate:?}");
    }
}

#[test]
fn a_baton_that_was_taken_on_another_machine_is_not_taken_here_too() {
    let mut bench = Bench::new();
    bench.work("a:1", "left");
    bench.accept_in_project("a:1", EventKind::BatonPassed);
    let own = bench.apply_all().0.batons().unwrap().remove(0);
    let EventKind::BatonCame(mut far) =
        came(own.passed_at.0, 1 << 20, BatonFate::Taken { by: Some(key("b:heir")) })
    else {
        panic!()
    };
    far.baton = own.uid;
    bench.accept("a:1", EventKind::BatonCame(far));
    assert_eq!(next_session(&mut bench, "a:2"), Vec::<String>::new());
    let own = bench.apply_all().0.batons().unwrap().remove(0);
    assert_eq!((own.heir.clone(), own.is_over(), own.revision), (Some(key("b:heir")), true, 1 << 20));
}

#[test]
fn a_fresh_start_increments_the_revision_of_the_baton() {
    let mut bench = Bench::new();
    bench.work("a:1", "left");
    bench.accept_in_project("a:1", EventKind::BatonPassed);
    let revision = |bench: &Bench| bench.apply_all().0.batons().unwrap()[0].revision;
    let before = revision(&bench);
    bench.accept_in_project("a:1", EventKind::FreshAsked);
    let withdrawn = revision(&bench);
    bench.accept_in_project("a:1", EventKind::FreshTakenBack);
    assert!(before < withdrawn && withdrawn < revision(&bench));
}

#[test]
fn tl_10_a_baton_is_replaced_by_the_sessions_next_and_can_be_dropped() {
    let mut bench = Bench::new();
    bench.work("a:1", "left");
    bench.accept_in_project("a:1", EventKind::BatonPassed);
    bench.accept_in_project("a:1", EventKind::BatonPassed);
    let now = Timestamp(bench.clock);
    let open = |bench: &Bench| bench.apply_all().0.open_batons(now).unwrap().len();
    assert_eq!(open(&bench), 1);
    assert!(bench.apply_all().0.open_baton_of(&key("a:1")).unwrap().is_some());
    bench.accept_in_project("a:1", EventKind::BatonDropped);
    assert_eq!(open(&bench), 0);
    assert_eq!(bench.apply_all().0.batons().unwrap().len(), 2, "what became of them is remembered");
}

#[test]
fn a_session_that_was_never_used_or_has_nobody_before_it_passes_no_baton() {
    let mut bench = Bench::new();
    bench.begin("a:ghost", "seat", StartedBy::Startup);
    bench.accept_in_project("a:ghost", EventKind::BatonPassed);
    let mut headless = vec![];
    for happening in [start(StartedBy::Startup), prompt("alone"), EventKind::BatonPassed] {
        let event = bench.event("a:script", happening);
        headless.push(Event { scene: Some(scene(None, SessionPresence::Headless)), ..event });
    }
    bench.append(&headless);
    assert_eq!(bench.apply_all().0.batons().unwrap(), []);
}

#[test]
fn a_fresh_start_gives_nothing_and_the_log_says_why() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.accept_in_project("a:1", EventKind::FreshAsked);
    bench.clear("a:1", "a:2", "seat");
    let decisions = bench.decisions();
    assert_eq!((decisions[0].way, &decisions[0].from), (InheritRule::Fresh, &None));
    assert!(decisions[0].reason.contains("a:1"));
    assert_eq!(bench.apply_all().0.inheritance_to_give(&key("a:2")).unwrap(), None);
}

#[test]
fn the_user_chooses_between_several_batons() {
    let mut bench = Bench::new();
    for (session, seat) in [("a:1", "left"), ("b:2", "right")] {
        bench.work(session, seat);
    }
    bench.accept_in_project("a:1", EventKind::BatonPassed);
    bench.accept_in_project("b:2", EventKind::BatonPassed);
    bench.begin("a:3", "middle", StartedBy::Startup);
    bench.accept_in_project("a:3", prompt("go on"));
    assert_eq!(bench.decision_lines(), ["a:3 ambiguous"]);
    assert_eq!(bench.decisions()[0].candidates, [key("a:1"), key("b:2")]);
    bench.accept_in_project("a:3", EventKind::InheritanceTaken { from: key("b:2") });
    assert_eq!(bench.decision_lines(), ["a:3 ambiguous", "a:3 taken b:2"]);
    let (store, _) = bench.apply_all();
    assert_eq!(store.inheritance_to_give(&key("a:3")).unwrap().unwrap().from, Some(key("b:2")));
    let open = store.open_batons(Timestamp(bench.clock)).unwrap();
    assert_eq!(open.iter().map(|baton| &baton.session).collect::<Vec<_>>(), [&key("a:1")]);
}

#[test]
fn a_choice_that_would_make_a_circle_is_not_taken() {
    let mut bench = Bench::new();
    bench.work("a:1", "left");
    bench.work("a:2", "right");
    bench.accept_in_project("a:1", EventKind::InheritanceTaken { from: key("a:2") });
    bench.accept_in_project("a:2", EventKind::InheritanceTaken { from: key("a:2") });
    assert_eq!(bench.decision_lines(), Vec::<String>::new());
}

#[test]
fn the_users_wish_travels_with_the_start() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.accept_in_project("a:1", CLEARED);
    let wishes = InheritSettings { on_clear: OnClear::Ask, ..InheritSettings::default() };
    bench.accept_in_project("a:2", EventKind::SessionStarted { by: StartedBy::Clear, wishes });
    bench.sit("a:2", "seat");
    bench.apply_all();
    bench.accept_in_project("a:2", prompt("go on"));
    assert_eq!(bench.decision_lines(), ["a:2 asked"]);
}

#[test]
fn a_delivered_inheritance_is_not_due_again_even_after_a_rebuild() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.clear("a:1", "a:2", "seat");
    let store = bench.apply_all().0;
    assert_eq!(store.session(&key("a:2")).unwrap().unwrap().inheriting, InheritState::Due);
    let due = store.inheritance_to_give(&key("a:2")).unwrap().unwrap();
    drop(store);
    bench.accept_in_project("a:2", EventKind::InheritanceGiven { decision: due.uid });
    let given_at = bench.decisions()[0].given_at;
    assert!(given_at.is_some());
    bench.accept_in_project("a:2", EventKind::InheritanceGiven { decision: due.uid });
    assert_eq!(bench.decisions()[0].given_at, given_at, "once is enough");
    forget_database(&bench);
    let store = bench.apply_all().0;
    assert_eq!(store.session(&key("a:2")).unwrap().unwrap().inheriting, InheritState::Settled);
    assert_eq!(store.inheritance_to_give(&key("a:2")).unwrap(), None);
}

#[test]
fn a_choice_made_during_an_older_delivery_stays_due() {
    let mut bench = Bench::new();
    for session in ["a:1", "a:2", "a:3"] {
        bench.work(session, session);
    }
    bench.accept_in_project("a:3", EventKind::InheritanceTaken { from: key("a:1") });
    let first = bench.decisions()[0].uid;
    bench.accept_in_project("a:3", EventKind::InheritanceTaken { from: key("a:2") });
    bench.accept_in_project("a:3", EventKind::InheritanceGiven { decision: first });
    let due = bench.apply_all().0.inheritance_to_give(&key("a:3")).unwrap();
    assert_eq!(due.unwrap().from, Some(key("a:2")));
    assert_eq!(bench.apply_all().0.session(&key("a:3")).unwrap().unwrap().inheriting, InheritState::Due);
}

#[test]
fn a_choice_after_an_older_delivery_is_due_also_when_both_are_applied_at_once() {
    let mut bench = Bench::new();
    for session in ["a:1", "a:2", "a:3"] {
        bench.work(session, session);
    }
    bench.accept_in_project("a:3", EventKind::InheritanceTaken { from: key("a:1") });
    let first = bench.decisions()[0].uid;
    bench.accept("a:3", EventKind::InheritanceGiven { decision: first });
    bench.accept("a:3", EventKind::InheritanceTaken { from: key("a:2") });
    let session = bench.apply_all().0.session(&key("a:3")).unwrap().unwrap();
    assert_eq!(session.inheriting, InheritState::Due);
}

#[test]
fn tl_13_a_session_is_cleared_into_one_heir_only_unless_it_went_on() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    bench.clear("a:1", "a:2", "seat");
    bench.accept_in_project("a:1", start(StartedBy::Resume));
    bench.sit("a:1", "seat");
    bench.clear("a:1", "a:3", "seat");
    bench.accept_in_project("a:1", start(StartedBy::Resume));
    bench.sit("a:1", "seat");
    bench.accept_in_project("a:1", prompt("more work"));
    bench.clear("a:1", "a:4", "seat");
    assert_eq!(bench.decision_lines(), ["a:2 clear a:1", "a:3 none", "a:4 clear a:1"]);
}

#[test]
fn a_session_that_moves_from_one_new_seat_to_another_does_not_stop_applying() {
    let mut bench = Bench::new();
    bench.work("a:1", "left");
    bench.sit("a:1", "right");
    bench.sit("a:1", "a third");
    let (store, _) = bench.apply_all();
    bench.sit("a:1", "another");
    let seats = |store: &Store| store.seats().unwrap().iter().filter(|seat| seat.current.is_some()).count();
    assert_eq!((seats(&store), store.seats().unwrap().len()), (1, 3));
    assert_eq!((seats(&bench.apply_all().0), bench.apply_all().0.seats().unwrap().len()), (1, 4));
}

#[test]
fn the_last_answer_is_kept_with_its_session() {
    let mut bench = Bench::new();
    bench.work("a:1", "seat");
    let keeping = TextPolicy { longest_bytes: 200, secrets: SecretPolicy::Redacted };
    let answer = Some(SafeText::new("all done", keeping));
    bench.accept_in_project("a:1", EventKind::TurnEnded { background: Some(0), answer: answer.clone() });
    bench.accept_in_project("a:1", STOP);
    let session = bench.apply_all().0.session(&key("a:1")).unwrap().unwrap();
    assert_eq!(session.answer, answer, "a turn that says nothing takes nothing away");
}

#[test]
fn a_session_is_found_by_both_ends_of_its_id_and_by_no_pattern() {
    let mut bench = Bench::new();
    for session in ["a:1111-2222", "b:1111-3333", "a:1_11-4444"] {
        bench.work(session, session);
    }
    let (store, _) = bench.apply_all();
    let found = |part: &str| store.sessions_named(part).unwrap().len();
    assert_eq!((found("1111"), found("3333"), found("a:1111-2222"), found("1_11")), (2, 1, 1, 1));
    assert_eq!((found("%"), found("2"), found("9")), (0, 1, 0));
}

fn forget_database(bench: &Bench) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(bench.home.folder().join(format!("towline.db{suffix}")));
    }
}

/// A random event of one of a few sessions in one of a few seats.
fn anything() -> impl Strategy<Value = (usize, usize, u8, i64)> {
    (0..5_usize, 0..3_usize, 0..14_u8, 0..25_i64)
}

fn happening(number: u8, other: &str) -> EventKind {
    let by = |origin| EventKind::PromptSubmitted { prompt: SafeText::default(), origin, own: None };
    match number {
        0 => start(StartedBy::Startup),
        1 | 2 => start(StartedBy::Clear),
        3 => start(StartedBy::Resume),
        4 | 5 => prompt("work"),
        6 => by(PromptOrigin::Bookmark),
        7 => STOP,
        8 => CLEARED,
        9 | 10 => EventKind::BatonPassed,
        11 => EventKind::FreshAsked,
        12 => EventKind::InheritanceTaken { from: key(other) },
        _ => EventKind::SeatFound,
    }
}

/// All decisions, and the state of every baton.
fn outcome(bench: &Bench) -> (Vec<Inheritance>, Vec<BatonRow>) {
    (bench.decisions(), bench.apply_all().0.batons().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn no_two_heirs_take_one_baton_and_every_apply_of_a_journal_decides_alike(
        events in proptest::collection::vec(anything(), 0..60)
    ) {
        let sessions = ["a:1", "a:2", "b:3", "a:4", "b:5"];
        let (mut at_once, mut one_by_one) = (Bench::new(), Bench::new());
        for (session, seat, number, minutes) in events {
            for bench in [&mut at_once, &mut one_by_one] {
                let seat = ["left", "right", "middle"][seat];
                let happening = happening(number, sessions[(session + 1) % sessions.len()]);
                let seat = matches!(happening, EventKind::SeatFound).then_some(seat);
                bench.pass(minutes);
                bench.accept_at(sessions[session], seat, happening);
            }
            one_by_one.apply_all();
        }
        let outcome_at_once = outcome(&at_once);
        prop_assert_eq!(&outcome_at_once, &outcome(&one_by_one));
        forget_database(&at_once);
        prop_assert_eq!(&outcome_at_once, &outcome(&at_once));
        let (decisions, batons) = outcome_at_once;
        for decision in decisions.iter().filter(|decision| decision.way == InheritRule::Baton) {
            let taken = batons.iter().filter(|baton| {
                (baton.heir.as_ref(), baton.taken_at) == (Some(&decision.heir), Some(decision.decided_at))
                    && Some(&baton.session) == decision.from.as_ref()
            });
            let ages: Vec<i64> = taken.map(|baton| decision.decided_at.0 - baton.passed_at.0).collect();
            prop_assert_eq!(ages.len(), 1, "one baton for {:?}", decision);
            prop_assert!(ages[0] >= 0 && Some(&decision.heir) != decision.from.as_ref());
        }
        prop_assert!(batons.iter().all(|baton| baton.taken_at.is_none() || baton.dropped_at.is_none()));
    }
}

#[test]
fn a_session_without_a_seat_cost_more_with_each_session_cleared_before_it() {
    let mut bench = Bench::new();
    for number in 0..20 {
        let [before, heir] = ["before", "heir"].map(|name| format!("a:{name}-{number}"));
        bench.accept_in_project(&before, start(StartedBy::Startup));
        bench.accept_in_project(&before, prompt("work"));
        bench.accept_in_project(&before, STOP);
        bench.accept_in_project(&before, CLEARED);
        bench.accept_in_project(&heir, start(StartedBy::Clear));
        bench.accept_in_project(&heir, prompt("go on"));
        // Its seat was looked for and not found.
        bench.accept_in_project(&heir, EventKind::SeatFound);
    }
    let taken = (0..20).map(|number| format!("a:heir-{number} fallback a:before-{number}"));
    assert_eq!(bench.decision_lines(), Vec::from_iter(taken));
    // Twenty are continued and twenty work; those of another agent cannot have been cleared for this one.
    bench.accept_in_project("b:other", start(StartedBy::Startup));
    bench.accept_in_project("b:other", prompt("work"));
    bench.accept_in_project("b:other", STOP);
    bench.accept_in_project("a:last", start(StartedBy::Startup));
    bench.accept_in_project("a:last", prompt("work"));
    bench.accept_in_project("a:last", STOP);
    // It works again after another one took over: it can be cleared again.
    bench.accept_in_project("a:before-7", prompt("more work"));
    bench.accept_in_project("a:before-7", STOP);
    let (store, _) = bench.apply_all();
    let project = store.load_session(&key("a:last")).unwrap().unwrap().project;
    let ever = Timestamp(0)..=Timestamp(bench.clock);
    let found = store.clearable_sessions("a", project, ever).unwrap();
    assert_eq!(found, ["a:last", "a:before-7"].map(key));
}
