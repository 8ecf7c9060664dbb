//! Whatever an agent sends, its hook ends well, complains of nothing, and answers rightly or not at all.
#![expect(clippy::expect_used, reason = "a test reports by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use towline_agents::{Agent, TextLimits};
use towline_core::event::EventKind;
use towline_core::fault::FaultKind;
use towline_core::id::SessionKey;
use towline_core::reply::{Reply, ReplyVerdict};
use towline_core::text::{SecretPolicy, TextPolicy};
use towline_store::{DataFolder, Store};
use towline_testkit::TestEnv;
use towline_testkit::mutate::{Feeding, Mutant, Mutator, Recording, event_of, flaw_in_answer, recordings};

/// Decides all mutants of this file; `cargo xtask fuzz hooks --seed` tries others.
const SEED: u64 = 2026;

const TOW: &str = env!("CARGO_BIN_EXE_tow");
const DAY_MS: i64 = 86_400_000;

/// A misspelt key, which session starts tell, and no expiry, so that events can be counted over any time.
const CONFIG: &str = "[hook]\npatence_ms = 1\n[keep]\nevents_days = 36500\n";

fn recorded() -> Vec<Recording> {
    recordings(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/fixtures"))
}

/// An environment whose configuration has a mistake: session starts then have something to say.
fn env_with_something_to_say() -> TestEnv {
    let env = TestEnv::new(TOW);
    let folder = env.home().join(".config/towline");
    std::fs::create_dir_all(&folder).expect("the home is writable");
    std::fs::write(folder.join("config.toml"), CONFIG).expect("the home is writable");
    env
}

/// Folds the rest, and insists that the database is sound and that no hook panicked on the way.
fn insist_on_sound_store(env: &TestEnv) -> Store {
    env.wait_no_process();
    env.tow(&["work"]).ok();
    let store = Store::read(&DataFolder::at(env.data_dir()), Duration::from_secs(5))
        .expect("it opens")
        .expect("it is there");
    assert_eq!(store.complaints().expect("it can be checked"), Vec::<String>::new());
    assert_eq!(store.backlog_bytes().expect("the journal can be read"), 0);
    let ours = store
        .faults()
        .expect("they can be read")
        .into_iter()
        .filter(|fault| fault.kind == FaultKind::Internal);
    assert_eq!(ours.collect::<Vec<_>>(), []);
    store
}

#[test]
fn every_recorded_payload_is_taken_and_answered_rightly_or_not_at_all() {
    let env = env_with_something_to_say();
    let mut answers = 0;
    let mut expected = BTreeMap::new();
    // A fault is told again a day later, so every session start has something to say.
    for (day, Recording { agent, name, payload }) in (1..).zip(recorded()) {
        env.set_now(1_800_000_000_000 + 2 * day * DAY_MS);
        let run = env.hook(&agent, &payload).ok();
        assert_eq!(run.stderr, "", "{agent}/{name}");
        assert_eq!(
            flaw_in_answer(&agent, event_of(&payload).as_deref(), run.stdout.as_bytes()),
            None,
            "{agent}/{name}"
        );
        answers += usize::from(!run.stdout.is_empty());
        count_kept(&agent, &payload, &mut expected);
    }
    let store = insist_on_sound_store(&env);
    let events: usize = expected.values().sum();
    assert!(answers >= 8 && events >= 60, "only {answers} answers and {events} events");
    let kept = expected.keys().map(|session| (session.clone(), events_of(&store, session)));
    assert_eq!(kept.collect::<BTreeMap<_, _>>(), expected);
    let faults = store.faults().expect("they can be read");
    // Two days between payloads add up to jumps of the clock between two expiry runs.
    let is_expected = |kind| matches!(kind, FaultKind::Config | FaultKind::Clock);
    assert!(faults.iter().all(|fault| is_expected(fault.kind)), "{faults:?}");
}

/// Counts the event if it is to be found in the store: it is modelled, and is not the end or a subagent of a session that nobody
/// met.
fn count_kept(agent: &str, payload: &[u8], met: &mut BTreeMap<SessionKey, usize>) {
    let agent = Agent::from_name(agent).expect("the agent is known");
    let Some(heard) = agent.parse_hook(payload, KEEPING).expect("a recorded payload is understood") else {
        return;
    };
    let is_late = matches!(heard.happening, EventKind::SessionEnded { .. }) || heard.subagent.is_some();
    if !is_late {
        met.entry(heard.session.clone()).or_default();
    }
    met.entry(heard.session).and_modify(|events| *events += 1);
}

/// How many events agents told of; where a session sits is our own finding, and so are a due bookmark, a number that came with an
/// event and a command in a prompt.
fn events_of(store: &Store, session: &SessionKey) -> usize {
    let events = store.events(session).expect("they can be read").into_iter();
    events
        .filter(|event| {
            ![
                "seat_found",
                "bookmark_set",
                "bookmark_placed",
                "memory_given",
                "context_measured",
                "fresh_asked",
            ]
            .contains(&event.kind.as_str())
        })
        .count()
}

#[test]
fn mutated_payloads_never_break_the_binary() {
    let env = env_with_something_to_say();
    let mutator = Mutator::new(recorded(), SEED);
    let flaws = flaws_among(1500, |number| flaw_of_binary(&env, &mutator.mutant(number)));
    assert_eq!(flaws, Vec::<String>::new());
    insist_on_sound_store(&env);
}

fn flaw_of_binary(env: &TestEnv, mutant: &Mutant) -> Option<String> {
    let output = mutant.feed_to(Path::new(TOW), &|program| env.command(program)).expect("the hook starts");
    mutant.flaw_in(&output)
}

#[test]
fn mutated_payloads_never_break_the_adapters() {
    let mutator = Mutator::new(recorded(), SEED);
    let flaws = flaws_among(100_000, |number| flaw_of_adapter(&mutator.mutant(number)));
    assert_eq!(flaws, Vec::<String>::new());
}

const SOME: TextPolicy = TextPolicy { longest_bytes: 2000, secrets: SecretPolicy::Redacted };
const KEEPING: TextLimits = TextLimits { prompt: SOME, answer: SOME };

/// Hears the payload, and gives every kind of answer to the event that was heard.
fn flaw_of_adapter(mutant: &Mutant) -> Option<String> {
    let agent = Agent::from_name(&mutant.agent).expect("the agent is known");
    let heard = agent.parse_hook(&mutant.payload, KEEPING).ok()??;
    let replies = [
        Reply { notices: vec!["told".into()], ..Reply::default() },
        Reply { context: vec!["known".into(), "more \" text \u{0}".into()], ..Reply::default() },
        Reply { verdict: ReplyVerdict::Block { reason: "not so".into() }, ..Reply::default() },
    ];
    let all = replies.iter().cloned().reduce(Reply::merge).unwrap_or_default();
    let answers = replies.iter().chain([&all]).filter_map(|reply| agent.render_reply(&heard.event, reply));
    answers.into_iter().find_map(|said| flaw_in_answer(&mutant.agent, Some(&heard.event), said.as_bytes()))
}

/// Tries the mutants of the first `count` numbers on a few threads; gives what was wrong, with the number to repeat it.
fn flaws_among(count: u64, flaw_of: impl Fn(u64) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicU64::new(0);
    let numbers = || {
        std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|number| *number < count)
    };
    let work = || {
        numbers()
            .filter_map(|number| Some(format!("mutant {number}: {}", flaw_of(number)?)))
            .collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no worker panics")).collect()
    })
}

#[test]
fn nobody_on_the_other_side_is_no_failure() {
    let env = env_with_something_to_say();
    let start = recorded()
        .into_iter()
        .find(|recording| recording.name.contains("SessionStart"))
        .expect("it was recorded");
    let mutant = |feeding| Mutant {
        agent: start.agent.clone(),
        payload: start.payload.clone(),
        feeding,
        origin: "as recorded".to_owned(),
    };
    // The shell closes what the hook would read, print to or complain to.
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full"] {
        let shell = env.script("closing", &format!("#!/bin/sh\nexec \"$@\" {closed}\n"));
        let command = |program: &std::ffi::OsStr| {
            let mut command = env.command(&shell);
            command.arg(program);
            command
        };
        let output =
            mutant(Feeding::InPieces).feed_to(&PathBuf::from(TOW), &command).expect("the hook starts");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()), "{closed}");
    }
    insist_on_sound_store(&env);
}

#[test]
fn unreadable_payloads_are_listed_by_the_doctor_with_count_agent_and_time_but_no_content() {
    let env = TestEnv::new(TOW);
    env.set_now(1_794_744_000_000);
    let mut large = br#"{"hook_event_name":"Stop","session_id":"zephyr","last_assistant_message":""#.to_vec();
    large.resize((64 << 20) + 7, b'z');
    for payload in [&b"{\"prompt\": \"zephyr"[..], b"zephyr", b"\xff\xfe zephyr"] {
        env.hook("claude", payload).ok();
    }
    env.hook("codex", b"{\"session_id\": \"zephyr\"}").ok();
    env.hook("codex", &large).ok();
    let check = |form: &dyn Fn(usize) -> String| {
        let said = env.tow(&["doctor"]).stdout;
        for (line, count) in [
            ("claude: the payload is not valid JSON", 3),
            ("codex: the payload has no hook_event_name", 1),
            ("codex: the payload is larger than 64 MB", 1),
        ] {
            let expected = form(count);
            let found = said.lines().find(|it| it.contains(line)).unwrap_or_default();
            assert!(
                found.contains("last 2026-11-15T12:00:00Z") && found.contains(&expected),
                "{line}\n{said}"
            );
        }
        assert!(!said.contains("zephyr"), "{said}");
    };
    check(&|count| format!("{count} in the journal"));
    env.tow(&["work"]).ok();
    check(&|count| if count == 1 { ")".to_owned() } else { format!(", {count} times)") });
    let journal = std::fs::read(env.data_dir().join("journal/active")).expect("the journal can be read");
    assert!(!journal.windows(6).any(|window| window == b"zephyr"));
}
