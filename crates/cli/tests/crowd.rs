//! Many hooks at once, some of them killed: what was accepted is in the store exactly once, in order, and nothing grows.
#![expect(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]
#![expect(clippy::print_stdout, reason = "says what the figures were")]
#![expect(clippy::disallowed_methods, reason = "starts, kills and times processes, from many threads")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};
use std::{fs, thread};

use common::{hermetic, key, payload, store_in};
use towline_core::event::{Event, EventKind};
use towline_core::fault::FaultKind;
use towline_core::id::SessionKey;
use towline_core::session::SessionState;
use towline_store::journal::{self, JournalPosition, JournalRecord, Segments, unsealed_bytes};
use towline_store::{DataFolder, Store};
use towline_testkit::TestEnv;
use towline_testkit::mutate::Dice;

/// The clock is the event's number, so that every event can be told from every other by its time.
const BASE_MS: i64 = 1_800_000_000_000;

const WORKERS: u64 = 64;
const SESSIONS: u64 = 16;

/// The fold empties a log above 8 MB; readers may keep it from that for some transactions more.
const LARGEST_LOG: u64 = 20 << 20;

/// A log that was emptied has its header and one frame.
const BEGUN_LOG: u64 = 32 + 24 + 4096;

/// An event of this test takes about 400 bytes.
const LARGEST_EVENT: u64 = 1024;

/// `tow data work` seals the active file above 4 MB.
const LARGEST_ACTIVE: u64 = 4 << 20;

/// How many events each worker sends: `TOWLINE_CROWD` asks for more than a suite has time for.
fn events_each() -> u64 {
    let asked = std::env::var("TOWLINE_CROWD");
    asked.ok().and_then(|events| events.parse().ok()).unwrap_or(50)
}

/// One event of one worker.
#[derive(Clone, Copy)]
struct Step {
    worker: u64,
    number: u64,
}

impl Step {
    fn session(self) -> SessionKey {
        let session = self.worker % SESSIONS;
        key(&format!("{}:crowd-{session}", if session.is_multiple_of(2) { "claude" } else { "codex" }))
    }

    /// Turns of ten events; the tool names the event.
    fn payload(self) -> String {
        let event = match self.number % 10 {
            0 => "UserPromptSubmit",
            4 => "PermissionRequest",
            9 => "Stop",
            _ => "PostToolUse",
        };
        payload(event, &self.session(), &format!("T{:06}", self.at()))
    }

    /// Unique, and growing for each worker.
    fn at(self) -> u64 {
        self.number * WORKERS + self.worker
    }
}

/// How the hooks ended.
#[derive(Default)]
struct Outcome {
    accepted: BTreeSet<u64>,
    killed: BTreeSet<u64>,
}

#[test]
fn a_crowd_of_hooks_loses_nothing_though_a_tenth_is_killed() {
    let env = hermetic();
    let (outcome, largest_log) = run_crowd(&env);
    env.wait_no_process();
    let last_words = end_sessions(&env);
    env.tow(&["work"]).ok();
    let store = store_in(&DataFolder::at(env.data_dir()));
    insist_on_exactly_once(&store, &outcome);
    insist_on_order(&DataFolder::at(env.data_dir()));
    for (session, at) in last_words {
        let known = store.session(&session).expect("it can be read").expect("it is there");
        assert_eq!(
            (known.state, known.since.0),
            (SessionState::Working, at),
            "the last event has the last word"
        );
    }
    insist_on_bounds(&store, largest_log);
}

/// Every session is stopped, then prompted once more. Returns when that was.
fn end_sessions(env: &TestEnv) -> Vec<(SessionKey, i64)> {
    let mut last_words = vec![];
    for worker in 0..SESSIONS {
        for (number, event) in (events_each()..).zip(["Stop", "UserPromptSubmit"]) {
            let step = Step { worker, number };
            env.set_now(now_of(step.at()));
            env.hook(step.session().agent.as_str(), payload(event, &step.session(), "")).ok().is_silent();
            last_words.push((step.session(), now_of(step.at())));
        }
    }
    last_words.into_iter().skip(1).step_by(2).collect()
}

/// Runs all workers at once. Returns how the hooks ended, and the largest write-ahead log that was seen.
fn run_crowd(env: &TestEnv) -> (Outcome, u64) {
    let (start, largest_log) = (Barrier::new(WORKERS as usize), AtomicU64::new(0));
    let outcome = Mutex::new(Outcome::default());
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (start, largest_log, outcome) = (&start, &largest_log, &outcome);
            scope.spawn(move || {
                start.wait();
                let own = run_worker(env, worker, largest_log);
                let mut all = outcome.lock().expect("no worker panicked");
                all.accepted.extend(own.accepted);
                all.killed.extend(own.killed);
            });
        }
    });
    (outcome.into_inner().expect("no worker panicked"), largest_log.into_inner())
}

fn run_worker(env: &TestEnv, worker: u64, largest_log: &AtomicU64) -> Outcome {
    let mut dice = Dice::new(64, worker);
    let mut outcome = Outcome::default();
    let mut last_life = Duration::from_millis(5);
    let log = DataFolder::at(env.data_dir()).write_ahead_log();
    for number in 0..events_each() {
        let step = Step { worker, number };
        let mut child = start_hook(env, step);
        let status = if dice.one_in(3) {
            // As long as the last hook lived, so that any moment of a life can be hit. Many have ended by then: hence
            // more than one in ten.
            let micros = dice.below(last_life.as_micros() as usize);
            kill_after(&mut child, Duration::from_micros(micros as u64))
        } else {
            let begun = Instant::now();
            let status = finish(child);
            last_life = begun.elapsed();
            status
        };
        match status.code() {
            Some(0) => outcome.accepted.insert(step.at()),
            Some(code) => panic!("a hook ended with {code}"),
            None => outcome.killed.insert(step.at()),
        };
        largest_log.fetch_max(size(&log), Ordering::Relaxed);
    }
    outcome
}

fn start_hook(env: &TestEnv, step: Step) -> Child {
    let mut hook = env.command("tow");
    hook.args(["hook", step.session().agent.as_str()]).env("TOWLINE_NOW", now_of(step.at()).to_string());
    hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = hook.spawn().expect("the hook starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(step.payload().as_bytes()).expect("a pipe holds a small payload");
    child
}

fn finish(child: Child) -> ExitStatus {
    let output = child.wait_with_output().expect("the hook ends");
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (b"".as_slice(), b"".as_slice()));
    output.status
}

/// Waits for the end, but no longer than this, then kills.
fn kill_after(child: &mut Child, moment: Duration) -> ExitStatus {
    let mut stdout = child.stdout.take().expect("it is piped");
    let (ended, end) = channel();
    let reader = thread::spawn(move || {
        let _ = stdout.read_to_end(&mut Vec::new());
        // Whoever killed the hook does not listen any more.
        let _ = ended.send(());
    });
    if end.recv_timeout(moment).is_err() {
        child.kill().expect("a child can be killed");
    }
    let status = child.wait().expect("a child can be waited for");
    reader.join().expect("the reader ends with the hook");
    status
}

fn now_of(at: u64) -> i64 {
    BASE_MS + at.cast_signed()
}

/// What follows from what was sent, and is told by whoever folds.
const OURS: [&str; 5] =
    ["bookmark_set", "bookmark_placed", "context_measured", "context_announced", "memory_given"];

/// How many hooks ended by their own deadline, as they said themselves: on a machine that is busy with other things, one may
/// not come to its first line in time, and the agent does not wait for that.
fn ran_out_of_time(home: &DataFolder) -> usize {
    let log = fs::read_to_string(home.fault_log()).unwrap_or_default();
    log.lines().filter(|line| line.contains(" deadline ")).count()
}

/// Every accepted event once, a killed one at most once, and nothing else.
fn insist_on_exactly_once(store: &Store, outcome: &Outcome) {
    let mut times: BTreeMap<u64, usize> = BTreeMap::new();
    for session in store.sessions().expect("they can be read") {
        let told = store.events(&session.key).expect("they can be read").into_iter();
        for event in told.filter(|event| !OURS.contains(&event.kind.as_str())) {
            let at = (event.at.0 - BASE_MS).cast_unsigned();
            let tool = event.tool.unwrap_or_else(|| format!("T{at:06}"));
            assert_eq!(tool, format!("T{at:06}"), "an event has another's tool");
            *times.entry(at).or_default() += 1;
        }
    }
    let twice: Vec<_> = times.iter().filter(|(_, times)| **times != 1).collect();
    assert_eq!(twice, [], "stored more than once");
    let stored: BTreeSet<u64> = times.into_keys().filter(|at| *at < WORKERS * events_each()).collect();
    let lost = outcome.accepted.difference(&stored).count();
    let ran_out = ran_out_of_time(store.home());
    assert!(lost <= ran_out, "{lost} exited with 0 and were lost, but only {ran_out} ran out of time");
    assert!(lost * 100 <= outcome.accepted.len(), "{lost} were lost");
    let survived = outcome.killed.intersection(&stored).count();
    assert_eq!(stored.len(), outcome.accepted.len() - lost + survived, "stored and never sent");
    println!(
        "{} accepted, {lost} of {ran_out} out of time lost, {} killed of which {survived} had been accepted",
        outcome.accepted.len(),
        outcome.killed.len()
    );
    assert!(outcome.killed.len() as u64 >= WORKERS * events_each() / 10, "too few were killed");
    assert!(
        survived > 0 && survived < outcome.killed.len(),
        "no kill came before the acceptance, or none after it"
    );
}

/// The events of each worker were sent one after the other: so they must stand in the journal, from which all is folded.
fn insist_on_order(home: &DataFolder) {
    let mut last: BTreeMap<u64, u64> = BTreeMap::new();
    for event in journalled(home).iter().filter(|event| !OURS.contains(&event.happening.name())) {
        let at = (event.at.0 - BASE_MS).cast_unsigned();
        let before = last.insert(at % WORKERS, at);
        assert!(before.is_none_or(|before| before < at), "{before:?} stands before {at}");
    }
    assert_eq!(last.len(), WORKERS as usize);
}

fn journalled(home: &DataFolder) -> Vec<Event> {
    let segments = Segments::list(home).expect("the journal is there");
    let whole =
        journal::read_from(&segments, JournalPosition::default(), u64::MAX).expect("the journal can be read");
    assert_eq!(whole.unreadable, 0);
    let event = |record| match record {
        JournalRecord::Event(event) if event.happening != EventKind::SeatFound => Some(event),
        JournalRecord::Event(_) => None,
        JournalRecord::Fault(fault) => panic!("{fault:?}"),
    };
    whole.records.into_iter().filter_map(event).collect()
}

fn insist_on_bounds(store: &Store, largest_log: u64) {
    let home = store.home();
    assert_eq!(store.complaints().expect("it can be checked"), Vec::<String>::new());
    assert_eq!(store.backlog_bytes().expect("the journal can be read"), 0);
    // A kill can cut a record in two where it crosses a page of the file: that one was not accepted, and is told of.
    let faults = store.faults().expect("they can be read");
    assert!(
        faults.iter().all(|fault| fault.kind == FaultKind::Journal && fault.detail.contains("torn")),
        "{faults:?}"
    );
    let journal = Segments::list(home).expect("the journal can be listed").total_bytes();
    println!("largest log {largest_log}, journal {journal}, active {}", unsealed_bytes(home));
    assert!(largest_log < LARGEST_LOG, "the write-ahead log grew to {largest_log}");
    assert!(journal < WORKERS * events_each() * LARGEST_EVENT, "the journal grew to {journal}");
    assert!(unsealed_bytes(home) <= LARGEST_ACTIVE);
    assert_eq!(size(&home.write_ahead_log()), BEGUN_LOG, "work left a write-ahead log");
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}

#[test]
fn ten_first_hooks_at_once_are_all_recorded() {
    let env = hermetic();
    for round in 0..5 {
        env.set("TOWLINE_HOME", env.root().join(format!("data-{round}")).display().to_string());
        let start = Barrier::new(10);
        thread::scope(|scope| {
            for number in 0..10 {
                let (env, start) = (&env, &start);
                scope.spawn(move || {
                    start.wait();
                    env.hook("codex", payload("SessionStart", &key(&format!("codex:first-{number}")), ""))
                        .ok()
                        .is_silent();
                });
            }
        });
        env.tow(&["work"]).ok();
        let home = DataFolder::at(env.root().join(format!("data-{round}")));
        let store = store_in(&home);
        assert_eq!(store.sessions().expect("they can be read").len(), 10);
        assert_eq!(store.faults().expect("they can be read"), []);
        assert_eq!(store.complaints().expect("it can be checked"), Vec::<String>::new());
    }
}

#[test]
fn sealing_in_the_middle_of_appends_loses_nothing() {
    const APPENDERS: u64 = 8;
    const PROMPTS: u64 = 60;
    let env = hermetic();
    // A prompt that is kept whole: few of them fill a segment.
    let config = env.home().join(".config/towline/config.toml");
    fs::create_dir_all(config.parent().expect("it has one")).expect("the home is writable");
    fs::write(config, "[keep]\nprompt_bytes = 100000\n").expect("the home is writable");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let sealer = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                env.tow(&["work"]).ok();
            }
        });
        let appenders: Vec<_> = (0..APPENDERS)
            .map(|appender| {
                scope.spawn({
                    let env = &env;
                    move || {
                        (0..PROMPTS)
                            .for_each(|number| send_long_prompt(env, appender, appender + number * APPENDERS))
                    }
                })
            })
            .collect();
        let joined: Vec<_> = appenders.into_iter().map(|appender| appender.join()).collect();
        done.store(true, Ordering::Relaxed);
        sealer.join().expect("work goes on");
        joined.into_iter().for_each(|joined| joined.expect("every prompt is taken"));
    });
    env.wait_no_process();
    env.tow(&["work"]).ok();
    let store = store_in(&DataFolder::at(env.data_dir()));
    assert!(sealed_segments(store.home()) >= 4, "too few sealings to meet an append");
    let sessions: Vec<_> = (0..APPENDERS).map(|appender| key(&format!("claude:sealed-{appender}"))).collect();
    let mut times: Vec<i64> = vec![];
    for session in &sessions {
        let events = store.events(session).expect("they can be read");
        times.extend(
            events.iter().filter(|event| event.kind == "prompt_submitted").map(|event| event.at.0 - BASE_MS),
        );
    }
    times.sort_unstable();
    assert_eq!(times, (0..(APPENDERS * PROMPTS).cast_signed()).collect::<Vec<_>>());
    assert_eq!(store.faults().expect("they can be read"), []);
    assert_eq!(store.complaints().expect("it can be checked"), Vec::<String>::new());
    assert!(unsealed_bytes(store.home()) <= LARGEST_ACTIVE);
}

fn send_long_prompt(env: &TestEnv, appender: u64, number: u64) {
    let session = key(&format!("claude:sealed-{appender}"));
    let payload = payload("UserPromptSubmit", &session, &"word ".repeat(16_000));
    let mut hook = env.command("tow");
    hook.args(["hook", "claude"]).env("TOWLINE_NOW", now_of(number).to_string());
    towline_testkit::Run::of(&mut hook, payload.as_bytes()).ok().is_silent();
}

fn sealed_segments(home: &DataFolder) -> usize {
    let names = fs::read_dir(home.journal()).expect("it can be listed");
    names
        .filter(|entry| {
            entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(".sealed"))
        })
        .count()
}
