//! Applying on real files: exactly once, in order, despite interruptions.

use super::*;
use crate::upkeep::{self, ClockTrust, Retention};
use std::fs;
use tempfile::TempDir;
use towline_core::event::{
    EndedBy, EventKind, EventScene, PromptOrigin, SessionPresence, StartedBy, ToolOutcome,
};
use towline_core::inherit::InheritSettings;
use towline_core::meter::{ContextUsage, NoticeAudience, NotifiedThresholds};
use towline_core::project::ProjectIdentity;
use towline_core::session::TurnOutcome;
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};

mod bookmark;
mod continuing;
mod inherit;
mod typing;

const ALWAYS: fn() -> bool = || true;

struct Bench {
    _folder: TempDir,
    home: DataFolder,
    clock: i64,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        Bench { _folder: folder, home, clock: 1_000 }
    }

    fn event(&mut self, session: &str, happening: EventKind) -> Event {
        self.clock += 1;
        let at = Timestamp(self.clock);
        let session = SessionKey::parse(session).unwrap();
        Event { uid: Uid::v7(at, [3; 10]), at, session, subagent: None, turn: None, happening, scene: None }
    }

    fn accept(&mut self, session: &str, happening: EventKind) {
        let event = self.event(session, happening);
        self.append(&[event]);
    }

    fn append(&self, events: &[Event]) {
        let records: Vec<JournalRecord> = events.iter().cloned().map(JournalRecord::Event).collect();
        journal::append(&self.home, &records).unwrap();
    }

    fn apply_all(&self) -> (Store, Projected) {
        let lock = ProjectionLock::try_take(&self.home).unwrap().unwrap();
        Store::open_and_apply(&self.home, &lock, &limits(&ALWAYS)).unwrap()
    }
}

fn limits(has_time: &dyn Fn() -> bool) -> ProjectionLimits<'_> {
    ProjectionLimits {
        has_time,
        now: Timestamp(5_000),
        new_machine: Uid([1; 16]),
        patience: Duration::from_millis(20),
    }
}

fn prompt(text: &str) -> EventKind {
    let keeping = TextPolicy { longest_bytes: 200, secrets: SecretPolicy::Redacted };
    EventKind::PromptSubmitted {
        prompt: SafeText::new(text, keeping),
        origin: PromptOrigin::Human,
        own: None,
    }
}

fn tool() -> EventKind {
    let keeping = TextPolicy { longest_bytes: 200, secrets: SecretPolicy::Redacted };
    EventKind::ToolFinished { tool: SafeText::new("Bash", keeping), outcome: ToolOutcome::Done, bytes: 0 }
}

const STOP: EventKind = EventKind::TurnEnded { background: Some(0), answer: None };

fn key(text: &str) -> SessionKey {
    SessionKey::parse(text).unwrap()
}

#[test]
fn a_session_that_goes_back_to_what_it_was_is_saved_though_it_was_saved_in_between() {
    let mut bench = Bench::new();
    bench.accept("a:1", prompt("one"));
    bench.accept("a:1", STOP);
    let (store, _) = bench.apply_all();
    let state = || store.session(&key("a:1")).unwrap().unwrap().state;
    assert_eq!(state(), SessionState::Completed);
    let mut batch = ProjectionBatch::new(&store);
    batch.apply(&bench.event("a:1", prompt("two"))).unwrap();
    batch.save_sessions().unwrap();
    assert_eq!(state(), SessionState::Working);
    batch.apply(&bench.event("a:1", STOP)).unwrap();
    batch.save().unwrap();
    assert_eq!(state(), SessionState::Completed);
}

#[test]
fn a_session_is_the_same_after_being_applied_in_any_number_of_steps() {
    let happenings = || {
        let start = EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() };
        [
            start,
            prompt("one"),
            tool(),
            STOP,
            prompt("two"),
            tool(),
            EventKind::SessionEnded { by: EndedBy::Exit },
        ]
    };
    let mut at_once = Bench::new();
    let mut one_by_one = Bench::new();
    for happening in happenings() {
        at_once.accept("a:1", happening.clone());
        one_by_one.accept("a:1", happening);
        one_by_one.apply_all();
        one_by_one.apply_all();
    }
    let (left, right) = (at_once.apply_all().0, one_by_one.apply_all().0);
    assert_eq!(left.session(&key("a:1")).unwrap(), right.session(&key("a:1")).unwrap());
    assert_eq!(left.hook_turns(&key("a:1")).unwrap(), right.hook_turns(&key("a:1")).unwrap());
    assert_eq!(left.events(&key("a:1")).unwrap().len(), 7);
    let outcomes: Vec<_> = left.hook_turns(&key("a:1")).unwrap().iter().map(|t| t.ended.unwrap().1).collect();
    assert_eq!(outcomes, [TurnOutcome::Completed, TurnOutcome::Abandoned]);
}

#[test]
fn an_event_that_is_read_twice_counts_once() {
    let mut bench = Bench::new();
    let event = bench.event("a:1", prompt("once"));
    bench.append(&[event.clone(), event.clone()]);
    bench.append(&[event]);
    let (store, _) = bench.apply_all();
    assert_eq!(store.count_events().unwrap(), 1);
    assert_eq!(store.session(&key("a:1")).unwrap().unwrap().turns, 1);
}

#[test]
fn context_usage_and_announcements_survive_a_rebuild_but_not_a_compaction() {
    let mut bench = Bench::new();
    bench.accept("a:1", prompt("work"));
    bench.accept(
        "a:1",
        EventKind::ContextMeasured { fill: ContextUsage::from_display(130_000, 200_000).unwrap() },
    );
    bench.accept("a:1", EventKind::ContextAnnounced { percent: 60, to: NoticeAudience::Model });
    let key = SessionKey::parse("a:1").unwrap();
    let meter = |bench: &Bench| bench.apply_all().0.session(&key).unwrap().unwrap().meter;
    let before = meter(&bench);
    assert_eq!(before.fill(), ContextUsage::from_display(130_000, 200_000));
    assert_eq!(before.told, NotifiedThresholds { model: 60, person: 0 });
    let lock = ProjectionLock::try_take(&bench.home).unwrap().unwrap();
    rebuild(&bench.home, &lock, Timestamp(9), "a test").unwrap();
    drop(lock);
    assert_eq!(meter(&bench), before);
    bench.accept(
        "a:1",
        EventKind::CompactionEnded { trigger: towline_core::event::CompactionTrigger::Manual },
    );
    let after = meter(&bench);
    assert_eq!(
        (after.last, after.told, after.compacted_percent),
        (None, NotifiedThresholds::default(), Some(65))
    );
}

#[test]
fn a_lost_database_is_rebuilt_from_the_journal_with_the_same_ids() {
    let mut bench = Bench::new();
    bench.accept("a:1", prompt("hello"));
    bench.accept("a:1", STOP);
    let before = bench.apply_all().0.session(&key("a:1")).unwrap();
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(bench.home.folder().join(format!("towline.db{suffix}")));
    }
    assert_eq!(bench.apply_all().0.session(&key("a:1")).unwrap(), before);
}

#[test]
fn a_damaged_database_is_kept_aside_rebuilt_and_reported() {
    let mut bench = Bench::new();
    bench.accept("a:1", prompt("hello"));
    drop(bench.apply_all());
    fs::write(bench.home.database(), vec![b'?'; 9000]).unwrap();
    let _ = fs::remove_file(bench.home.write_ahead_log());
    let (store, _) = bench.apply_all();
    assert_eq!(store.session(&key("a:1")).unwrap().unwrap().turns, 1);
    assert_eq!(store.faults().unwrap()[0].kind, FaultKind::Rebuilt);
    let kept = fs::read_dir(bench.home.folder()).unwrap().filter_map(Result::ok);
    assert!(kept.into_iter().any(|entry| entry.file_name().to_string_lossy().contains("damaged")));
}

#[test]
fn the_mark_is_there_exactly_while_the_session_works() {
    let mut bench = Bench::new();
    let is_marked = |bench: &Bench| marks::is_working(&bench.home, &key("a:1"));
    bench.accept("a:1", prompt("go"));
    assert!(!is_marked(&bench), "nobody applied yet");
    bench.apply_all();
    assert!(is_marked(&bench));
    for _ in 0..2 {
        bench.accept("a:1", STOP);
        bench.apply_all();
        assert!(!is_marked(&bench) && !marks::is_any(&bench.home));
        bench.accept("a:1", prompt("more"));
        bench.apply_all();
        assert!(is_marked(&bench) && marks::is_any(&bench.home));
    }
}

#[test]
fn an_apply_that_runs_out_of_time_goes_on_later_and_loses_nothing() {
    let mut bench = Bench::new();
    for _ in 0..3_000 {
        bench.accept("a:1", tool());
    }
    let lock = ProjectionLock::try_take(&bench.home).unwrap().unwrap();
    let (store, applied) = Store::open_and_apply(&bench.home, &lock, &limits(&|| false)).unwrap();
    assert!(!applied.caught_up && applied.events < 3_000 && store.backlog_bytes().unwrap() > 0);
    let rest = store.apply_journal(&limits(&ALWAYS)).unwrap();
    assert!(rest.caught_up);
    assert_eq!(store.count_events().unwrap(), 3_000);
    assert_eq!(store.backlog_bytes().unwrap(), 0);
}

#[test]
fn worktrees_and_moved_clones_are_one_project_and_namesakes_are_two() {
    let mut bench = Bench::new();
    let mut visit = |session: &str, root: &str, remote: Option<&str>| {
        let mut event = bench.event(
            session,
            EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() },
        );
        let traces =
            ProjectIdentity { root: root.into(), remote: remote.map(Into::into), name: None, branch: None };
        event.scene = Some(EventScene {
            presence: SessionPresence::Terminal,
            folder: None,
            transcript: None,
            model: None,
            place: None,
            project: Some(traces),
        });
        bench.append(&[event]);
    };
    visit("a:1", "/src/app/.git", None);
    visit("a:2", "/src/app/.git", Some("host/me/app"));
    visit("a:3", "/moved/app/.git", Some("host/me/app"));
    visit("a:4", "/other/app/.git", None);
    let (store, _) = bench.apply_all();
    let roots: Vec<_> = store.projects().unwrap().into_iter().map(|(name, root, _)| (name, root)).collect();
    assert_eq!(roots, [("app".into(), "/moved/app/.git".into()), ("app".into(), "/other/app/.git".into())]);
}

#[test]
fn upkeep_bounds_the_log_the_journal_and_the_events() {
    let mut bench = Bench::new();
    for _ in 0..200 {
        bench.accept("a:1", prompt("again and again"));
        bench.apply_all();
    }
    let (store, _) = bench.apply_all();
    assert!(upkeep::is_due(&store, Timestamp(0)).unwrap());
    upkeep::checkpoint(&store).unwrap();
    // Its header and a frame, which SQLite syncs to the disk: the hook that wrote them first waited for it.
    assert_eq!(fs::metadata(bench.home.write_ahead_log()).unwrap().len(), 32 + 24 + 4096);
    let far = Timestamp(bench.clock + 40 * 86_400_000);
    upkeep::plan_expiry(&store, Timestamp(0)).unwrap();
    let retention = Retention { events_days: 30, journal_bytes: 0 };
    let run = |at, clock| upkeep::run_jobs(&store, retention, at, clock).unwrap();
    let held = run(far, ClockTrust::Watched);
    assert_eq!((held.expired_events, held.was_time_to_expire, held.jumped_days), (0, false, 40));
    assert_eq!(held.held_until, Some(far.plus_ms(7 * 86_400_000)));
    assert!(!store.has_due_job(far).unwrap());
    assert_eq!(run(far, ClockTrust::Confirmed).expired_events, 200);
    assert_eq!(store.count_events().unwrap(), 0);
}

#[test]
fn jobs_are_leased_returned_and_finished() {
    let bench = Bench::new();
    let (store, _) = bench.apply_all();
    store.queue(crate::UpkeepKind::Expire, "x", Timestamp(10)).unwrap();
    store.queue(crate::UpkeepKind::Expire, "x", Timestamp(5)).unwrap();
    assert!(store.lease(Timestamp(4), Timestamp(9)).unwrap().is_none(), "not due");
    let job = store.lease(Timestamp(6), Timestamp(9)).unwrap().unwrap();
    assert!(store.lease(Timestamp(7), Timestamp(9)).unwrap().is_none(), "leased");
    assert_eq!(store.lease(Timestamp(9), Timestamp(20)).unwrap().unwrap().attempts, 2, "the lease ended");
    store.retry(&job, Timestamp(30), "why").unwrap();
    assert!(store.lease(Timestamp(29), Timestamp(31)).unwrap().is_none());
    store.finish(&job).unwrap();
    assert!(!store.has_due_job(Timestamp(99)).unwrap());
}

#[test]
fn faults_are_counted_and_reported_once() {
    let bench = Bench::new();
    let fault = |at| FaultRecord { at: Timestamp(at), kind: FaultKind::Store, detail: "busy".into() };
    journal::append(&bench.home, &[JournalRecord::Fault(fault(1)), JournalRecord::Fault(fault(2))]).unwrap();
    let (store, _) = bench.apply_all();
    let told = store.tell_faults(Timestamp(3)).unwrap();
    assert_eq!((told.len(), told[0].count), (1, 2));
    assert!(store.tell_faults(Timestamp(4)).unwrap().is_empty());
    store.add_fault(&fault(5 + 86_400_000)).unwrap();
    assert_eq!(store.tell_faults(Timestamp(6 + 86_400_000)).unwrap().len(), 1, "it came back");
}

#[test]
fn hot_statements_use_their_indexes() {
    let (store, _) = Bench::new().apply_all();
    for query in [
        "select id from sessions where agent = 'a' and session = 'b'",
        "select id from seats where key = 'k'",
        "select uid from heard_turns where session = 1 and ordinal = 2",
        "select id from projects where remote = 'r'",
        "select inheriting from sessions where agent = 'a' and session = 'b'",
        "select uid from inheritances where heir = 1 order by decided_at desc",
        "select uid from batons where taken_at is null and dropped_at is null and passed_at > 1 and seat = 's'",
        "select id from sessions where project = 1 and active_hour between 1 and 2",
    ] {
        let plan: String =
            store.db.query_row(&format!("explain query plan {query}"), [], |row| row.get(3)).unwrap();
        assert!(plan.starts_with("SEARCH"), "{query}: {plan}");
    }
}

/// Columns without a type lose an index where they are compared with a row id: the events of one session were found by
/// reading those of all.
#[test]
fn joins_by_a_row_id_read_whole_tables() {
    const ID: &str = "(select id from sessions where agent = 'a' and session = 'b')";
    let (store, _) = Bench::new().apply_all();
    let lines = |query: &str| {
        let mut plan = store.db.prepare(&format!("explain query plan {query}")).unwrap();
        let lines = plan.query_map([], |row| row.get::<_, String>(3)).unwrap();
        lines.map(Result::unwrap).collect::<Vec<_>>()
    };
    let of_session = |table: &str, column: &str| {
        [
            format!(
                "select 1 from {table} t join sessions s on s.id = t.{column} where s.agent = 'a' and s.session = 'b'"
            ),
            format!("select 1 from {table} t where t.{column} = {ID}"),
        ]
    };
    let tables = [
        ("events", "session"),
        ("heard_turns", "session"),
        ("bookmarks", "session"),
        ("hops", "session"),
        ("inheritances", "heir"),
        ("inheritances", "from_session"),
    ];
    for query in tables.iter().flat_map(|(table, column)| of_session(table, column)) {
        let plan = lines(&query);
        assert!(plan.iter().all(|line| !line.starts_with("SCAN")), "{query}: {plan:?}");
    }
}

#[test]
fn a_journal_that_was_replaced_by_a_longer_one_loses_nothing() {
    let mut bench = Bench::new();
    bench.accept("a:1", prompt("before"));
    drop(bench.apply_all());
    fs::remove_dir_all(bench.home.journal()).unwrap();
    for _ in 0..5 {
        bench.accept("a:2", tool());
    }
    let (store, _) = bench.apply_all();
    assert_eq!(store.events(&key("a:2")).unwrap().len(), 5);
    assert_eq!(store.count_events().unwrap(), 6);
}

#[test]
fn a_journal_that_is_read_again_after_its_events_expired_does_not_stop_applying() {
    let mut bench = Bench::new();
    bench.accept("a:1", prompt("one"));
    bench.accept("a:1", STOP);
    let (store, _) = bench.apply_all();
    store.expire_events(Timestamp(1_000_000), usize::MAX).unwrap();
    store.set_applied_position(journal::JournalPosition::default(), &store.segments().unwrap()).unwrap();
    bench.accept("a:1", prompt("two"));
    let (store, applied) = bench.apply_all();
    assert!(applied.caught_up);
    assert!(store.hook_turns(&key("a:1")).unwrap().iter().any(|turn| turn.prompt.as_str() == "two"));
}

#[test]
fn a_row_is_saved_once_per_change() {
    let mut bench = Bench::new();
    bench.accept("a:1", prompt("one"));
    let (store, _) = bench.apply_all();
    let revision = |store: &Store| -> i64 {
        store.db.query_row("select revision from sessions", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(revision(&store), 1);
    bench.accept("a:1", STOP);
    let (store, _) = bench.apply_all();
    assert_eq!(revision(&store), 2);
}

#[test]
fn ended_sessions_exclude_headless_ones_and_come_latest_first() {
    let mut bench = Bench::new();
    for (session, presence) in [
        ("a:1", SessionPresence::Terminal),
        ("a:2", SessionPresence::Ide),
        ("a:3", SessionPresence::Headless),
        ("a:4", SessionPresence::Terminal),
    ] {
        let scene =
            EventScene { presence, folder: None, transcript: None, model: None, place: None, project: None };
        let event = bench.event(session, prompt("go"));
        bench.append(&[Event { scene: Some(scene), ..event }]);
    }
    for session in ["a:2", "a:1", "a:3"] {
        bench.accept(session, EventKind::SessionEnded { by: EndedBy::Exit });
    }
    let (store, _) = bench.apply_all();
    let ended = |most| -> Vec<String> {
        store.ended_sessions(most).unwrap().iter().map(|session| session.key.to_string()).collect()
    };
    assert_eq!(ended(9), ["a:1", "a:2"]);
    assert_eq!(ended(1), ["a:1"]);
}

#[test]
fn live_sessions_come_with_their_open_turn() {
    // Without it, an interruption of the previous turn was taken for one of this turn.
    let mut bench = Bench::new();
    let mut event = bench.event("a:1", prompt("go"));
    let place = towline_core::seat::SeatLocation {
        key: "terminal:x".into(),
        kind: towline_core::seat::SeatKind::Terminal,
        pane: None,
        server: None,
        tty: None,
        pid: 1,
        started: 1,
        program: None,
        proof: towline_core::seat::SeatProof::Terminal,
    };
    event.scene = Some(EventScene {
        presence: SessionPresence::Terminal,
        folder: None,
        transcript: None,
        model: None,
        place: Some(place),
        project: None,
    });
    bench.append(&[event]);
    let (store, _) = bench.apply_all();
    let live = store.live_sessions().unwrap();
    assert_eq!(live.len(), 1);
    assert_eq!(live[0].open_turn.as_ref().unwrap().prompt.as_str(), "go");
}
