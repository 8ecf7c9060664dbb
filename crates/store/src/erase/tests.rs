//! Erasing from the journal and the database: applying continues afterwards, and a rebuild gives the same rows.

use super::*;
use crate::journal::JournalRecord;
use crate::{HopFilter, IntentFilter, ProjectionLimits, rebuild};
use std::time::Duration;
use tempfile::TempDir;
use towline_core::continuing::{HandoffAuthor, HopRequest};
use towline_core::event::{Event, EventKind, PromptOrigin, StartedBy};
use towline_core::id::Uid;
use towline_core::inherit::InheritSettings;
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_core::typing::{IntentPurpose, IntentRequest};

struct Bench {
    _folder: TempDir,
    home: DataFolder,
    lock: ProjectionLock,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        let lock = ProjectionLock::try_take(&home).unwrap().unwrap();
        Bench { _folder: folder, home, lock }
    }

    fn accept(&self, session: &str, at: i64, happening: EventKind) {
        let (at, session) = (Timestamp(at), SessionKey::parse(session).unwrap());
        let uid = Uid::v7(at, [9; 10]);
        let event = Event { uid, at, session, subagent: None, turn: None, happening, scene: None };
        journal::append(&self.home, &[JournalRecord::Event(event)]).unwrap();
    }

    fn prompt(&self, session: &str, at: i64, text: &str) {
        let prompt = SafeText::new(text, TextPolicy { longest_bytes: 200, secrets: SecretPolicy::Redacted });
        self.accept(
            session,
            at,
            EventKind::PromptSubmitted { prompt, origin: PromptOrigin::Human, own: None },
        );
    }

    fn store(&self) -> Store {
        Store::open_and_apply(&self.home, &self.lock, &limits()).unwrap().0
    }

    fn erase(&self, traces: &EraseSelection) -> EraseReport {
        let store = self.store();
        let rehearsed = store.preview_erase(traces).unwrap();
        store.apply_and_seal(&self.lock, &limits()).unwrap();
        let erased = store.erase(&self.lock, traces).unwrap();
        assert_eq!(erased, rehearsed, "what was shown is what went");
        store.compact().unwrap();
        erased
    }

    /// Every session with its prompts, from the database.
    fn prompts(&self) -> Vec<String> {
        let store = self.store();
        let sessions = store.sessions().unwrap();
        let of = |session: &towline_core::session::Session| {
            let turns = store.hook_turns(&session.key).unwrap();
            let prompts: Vec<_> = turns.iter().map(|turn| turn.prompt.as_str().to_owned()).collect();
            format!("{} {}", session.key, prompts.join(", "))
        };
        sessions.iter().map(of).collect()
    }

    fn prompts_after_a_rebuild(&self) -> Vec<String> {
        rebuild(&self.home, &self.lock, Timestamp(1), "a test").unwrap();
        self.prompts()
    }
}

fn limits() -> ProjectionLimits<'static> {
    ProjectionLimits {
        has_time: &|| true,
        now: Timestamp(90),
        new_machine: Uid([1; 16]),
        patience: Duration::from_secs(1),
    }
}

fn started() -> EventKind {
    EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() }
}

fn two_sessions() -> Bench {
    let bench = Bench::new();
    bench.accept("a:1", 10, started());
    bench.prompt("a:1", 20, "one");
    bench.accept("a:2", 25, started());
    bench.prompt("a:2", 30, "two");
    bench.prompt("a:1", 40, "three");
    bench
}

fn session_traces(session: &str, from: i64, until: i64) -> EraseSelection {
    let sessions = BTreeSet::from([SessionKey::parse(session).unwrap()]);
    EraseSelection::Sessions {
        sessions,
        stretch: TimeRange { from: Timestamp(from), until: Timestamp(until) },
    }
}

#[test]
fn a_whole_session_leaves_no_row_and_no_record() {
    let bench = two_sessions();
    let erased = bench.erase(&session_traces("a:1", 0, 90));
    assert_eq!((erased.rows.sessions, erased.rows.heard_turns, erased.journal.gone), (1, 2, 3));
    assert_eq!(bench.prompts(), ["a:2 two"]);
    assert_eq!(bench.prompts_after_a_rebuild(), ["a:2 two"]);
}

#[test]
fn a_stretch_of_time_erases_its_turns_and_keeps_the_session() {
    let bench = two_sessions();
    bench.erase(&session_traces("a:1", 15, 35));
    assert_eq!(bench.prompts(), ["a:1 three", "a:2 two"]);
    assert_eq!(bench.prompts_after_a_rebuild(), ["a:1 three", "a:2 two"]);
}

#[test]
fn a_matching_prompt_becomes_empty_and_its_turn_stays() {
    let bench = two_sessions();
    let needle = Arc::new(ForgetText::new("THREE").unwrap());
    assert_eq!(bench.erase(&EraseSelection::Text(needle)).journal.changed, 1);
    assert_eq!(bench.prompts(), ["a:1 one, ", "a:2 two"]);
    assert_eq!(bench.prompts_after_a_rebuild(), ["a:1 one, ", "a:2 two"]);
}

#[test]
fn events_after_an_erase_are_applied_once() {
    let bench = two_sessions();
    bench.erase(&session_traces("a:2", 0, 90));
    bench.prompt("a:1", 50, "four");
    assert_eq!(bench.prompts(), ["a:1 one, three, four"]);
    bench.erase(&session_traces("a:1", 15, 25));
    bench.prompt("a:1", 60, "five");
    assert_eq!(bench.prompts(), ["a:1 three, four, five"]);
    assert_eq!(bench.prompts_after_a_rebuild(), ["a:1 three, four, five"]);
}

#[test]
fn a_journal_of_a_newer_version_is_not_rewritten() {
    let bench = two_sessions();
    let store = bench.store();
    let active = bench.home.journal().join("active");
    let mut bytes = std::fs::read(&active).unwrap();
    // The same records with the version byte of a future version.
    let newer: Vec<u8> = bytes.clone();
    bytes.extend(newer);
    let second = bytes.len() / 2;
    bytes[second + 3] = b'9';
    std::fs::write(&active, bytes).unwrap();
    assert!(matches!(store.apply_and_seal(&bench.lock, &limits()), Err(StoreError::NewerJournal)));
}

#[test]
fn only_one_process_erases_and_a_killed_one_leaves_the_file() {
    let bench = Bench::new();
    assert!(!is_unfinished(&bench.home));
    let first = EraseGuard::begin(&bench.home, []).unwrap().unwrap();
    assert!(is_unfinished(&bench.home) && EraseGuard::begin(&bench.home, []).unwrap().is_none());
    drop(first);
    assert!(is_unfinished(&bench.home), "it was not ended");
    EraseGuard::begin(&bench.home, []).unwrap().unwrap().end().unwrap();
    assert!(!is_unfinished(&bench.home));
}

fn bookmark(text: &str) -> EventKind {
    let wish = IntentRequest::new("tmux:1:%1", IntentPurpose::Continue, text, Timestamp(9_000)).unwrap();
    EventKind::IntentMade { wish }
}

/// Every intent with its text, from the database.
fn intents(bench: &Bench) -> Vec<String> {
    let all = bench.store().intents(&IntentFilter { limit: 99, ..IntentFilter::default() }).unwrap();
    all.iter().map(|intent| format!("{} {}", intent.session, intent.wish.text.as_str())).collect()
}

#[test]
fn intents_are_erased_like_prompts() {
    let bench = two_sessions();
    bench.accept("a:1", 22, bookmark("go on with the heron"));
    bench.accept("a:1", 24, bookmark("go on"));
    bench.accept("a:2", 27, bookmark("go on too"));
    assert_eq!(intents(&bench), ["a:2 go on too", "a:1 go on", "a:1 go on with the heron"]);
    bench.erase(&EraseSelection::Text(Arc::new(ForgetText::new("heron").unwrap())));
    assert_eq!(intents(&bench), ["a:2 go on too", "a:1 go on", "a:1 "]);
    let stretch = TimeRange { from: Timestamp(23), until: Timestamp(25) };
    bench.erase(&EraseSelection::Sessions {
        sessions: BTreeSet::from([SessionKey::parse("a:1").unwrap()]),
        stretch,
    });
    assert_eq!(intents(&bench), ["a:2 go on too", "a:1 "]);
    let stretch = TimeRange { from: Timestamp(0), until: Timestamp(1_000) };
    bench.erase(&EraseSelection::Sessions {
        sessions: BTreeSet::from([SessionKey::parse("a:2").unwrap()]),
        stretch,
    });
    let left = intents(&bench);
    assert_eq!(left, ["a:1 "]);
    bench.prompts_after_a_rebuild();
    assert_eq!(intents(&bench), left);
}

/// Every handoff, from the database.
fn handoffs(bench: &Bench) -> Vec<String> {
    let all = bench.store().hops(&HopFilter { limit: 99, ..HopFilter::default() }).unwrap();
    all.iter().map(|hop| format!("{} {}", hop.session, hop.text().unwrap_or("-"))).collect()
}

#[test]
fn handoffs_are_erased_like_prompts() {
    let bench = two_sessions();
    let write = |session: &str, at: i64, text: &str| {
        let asking =
            HopRequest { seat: "tmux:1:%1".into(), author: HandoffAuthor::Agent, ordinal: 1, percent: None };
        bench.accept(session, at, EventKind::HandoffAsked { asking });
        let hop = Uid::v7(Timestamp(at), [9; 10]);
        let text = SafeText::new(text, TextPolicy { longest_bytes: 200, secrets: SecretPolicy::Redacted });
        bench.accept(session, at + 1, EventKind::HandoffWritten { hop, text, by: HandoffAuthor::Agent });
    };
    write("a:1", 22, "paint the heron");
    write("a:1", 25, "paint the mast");
    write("a:2", 28, "paint the hull");
    assert_eq!(handoffs(&bench), ["a:2 paint the hull", "a:1 paint the mast", "a:1 paint the heron"]);
    bench.erase(&EraseSelection::Text(Arc::new(ForgetText::new("heron").unwrap())));
    assert_eq!(handoffs(&bench), ["a:2 paint the hull", "a:1 paint the mast", "a:1 -"]);
    let stretch = TimeRange { from: Timestamp(25), until: Timestamp(26) };
    bench.erase(&EraseSelection::Sessions {
        sessions: BTreeSet::from([SessionKey::parse("a:1").unwrap()]),
        stretch,
    });
    let stretch = TimeRange { from: Timestamp(0), until: Timestamp(1_000) };
    bench.erase(&EraseSelection::Sessions {
        sessions: BTreeSet::from([SessionKey::parse("a:2").unwrap()]),
        stretch,
    });
    let left = handoffs(&bench);
    assert_eq!(left, ["a:1 -"]);
    bench.prompts_after_a_rebuild();
    assert_eq!(handoffs(&bench), left);
}

#[test]
fn an_erase_waits_for_another_that_ends_in_time() {
    let bench = Bench::new();
    let first = EraseGuard::begin(&bench.home, []).unwrap().unwrap();
    let mut holder = Some(first);
    // The other ends during the first pause.
    let pauses =
        std::iter::from_fn(|| holder.take().map(|first| first.end().unwrap()).map(|()| Duration::ZERO));
    assert!(EraseGuard::begin(&bench.home, pauses).unwrap().is_some());
}
