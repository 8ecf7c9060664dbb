//! How much a probe reads.

use super::*;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use towline_core::event::{Event, EventKind, StartedBy};
use towline_core::id::{SessionKey, Uid};
use towline_core::inherit::InheritSettings;
use towline_core::meter::{Exactness, UsageSource};
use towline_core::step::{StepInput, step};

const ANSWER: &str = r#"{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"total_tokens":100000},"model_context_window":200000}}}"#;

/// The agent whose transcripts have this format.
fn agent() -> &'static str {
    let reads = |agent: &Agent| agent.context(ANSWER.as_bytes(), None).is_some();
    Agent::ALL.into_iter().find(reads).unwrap().name()
}

fn session(agent: &str, transcript: &Path) -> Session {
    let at = Timestamp(1);
    let event = Event {
        uid: Uid::v7(at, [0; 10]),
        at,
        session: SessionKey::parse(&format!("{agent}:one")).unwrap(),
        subagent: None,
        turn: None,
        happening: EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() },
        scene: None,
    };
    let mut session = step(StepInput::default(), &event).session.unwrap();
    session.transcript = Some(transcript.display().to_string());
    session
}

/// A sparse transcript of more than 100 megabytes that ends with these lines.
fn huge(lines: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(128 * 1024 * 1024).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(format!("\n{lines}\n").as_bytes()).unwrap();
    file
}

/// Bytes that this thread has read so far, by the kernel's count.
fn bytes_read() -> u64 {
    let counts = fs::read_to_string("/proc/thread-self/io").unwrap();
    counts.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[track_caller]
fn check(transcript: &Path, expected: Option<u64>, most: u64) {
    let session = session(agent(), transcript);
    let before = bytes_read();
    let found = fill(&session);
    let cost = bytes_read() - before;
    assert_eq!(
        found.map(|(fill, _)| (fill.tokens, Some(fill.percent()))),
        expected.map(|tokens| (tokens, Some(50)))
    );
    assert!(cost <= most, "{cost} bytes were read");
}

/// The kernel also counts the reads of its own counter file.
const COUNTING: u64 = 1024;

#[test]
fn a_huge_transcript_costs_no_more_than_its_end() {
    check(huge(ANSWER).path(), Some(100_000), END + COUNTING);
}

#[test]
fn an_answer_before_a_large_output_is_still_found() {
    let output = format!(r#"{{"type":"user","message":{{"content":"{}"}}}}"#, "x".repeat(500_000));
    check(huge(&format!("{ANSWER}\n{output}")).path(), Some(100_000), END + LONG_END + COUNTING);
}

#[test]
fn a_transcript_without_an_answer_is_not_searched_for_ever() {
    check(huge("{}").path(), None, END + LONG_END + COUNTING);
}

#[test]
fn a_session_without_a_transcript_has_no_known_context() {
    check(Path::new("/nonexistent/transcript"), None, COUNTING);
    let mut nowhere = session(agent(), Path::new("/"));
    nowhere.transcript = None;
    assert_eq!(fill(&nowhere), None);
    assert_eq!(fill(&session("unheard-of", huge(ANSWER).path())), None);
}

#[test]
fn a_conversation_that_nobody_counted_is_guessed_by_its_length_unless_it_was_cut() {
    let file = huge("{}");
    let mut session = Session { turns: 1, ..session(agent(), file.path()) };
    let guess = fill(&session).unwrap().0;
    assert_eq!((guess.source, guess.exact), (UsageSource::Length, Exactness::Estimated));
    session.compactions = 1;
    assert_eq!(fill(&session), None);
}

#[test]
fn what_was_said_after_the_transcript_was_written_is_newer() {
    let file = huge(ANSWER);
    let mut session = session(agent(), file.path());
    let known = ContextUsage::from_display(120_000, 200_000).unwrap();
    for (at, tokens) in [(i64::MAX, 120_000), (0, 100_000)] {
        session.meter.last = Some((known, Timestamp(at)));
        assert_eq!(fill(&session).unwrap().0.tokens, tokens);
    }
}

#[test]
fn screens_are_looked_at_now_and_then_whatever_happens_to_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let home = DataFolder::at(folder.path());
    let now = Timestamp(1_000_000);
    assert!(is_time_to_look(&home, now));
    remember_look(&home, now);
    assert!(!is_time_to_look(&home, now));
    assert!(!is_time_to_look(&home, now.plus_ms(LOOK_EVERY_MS - 1)));
    assert!(is_time_to_look(&home, now.plus_ms(LOOK_EVERY_MS)));
    assert!(is_time_to_look(&home, now.plus_ms(-1)), "the clock was set back");
    File::create(home.bars().join(LOOKED)).unwrap();
    assert!(is_time_to_look(&home, now), "the file is damaged");
}
