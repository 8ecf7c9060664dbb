//! Ends of recorded transcripts, cut off where something of interest had just been written.

use super::*;
use crate::agent::Agent;
use std::fs;
use std::path::Path;

fn recorded(name: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let text = fs::read_to_string(folder.join(format!("copilot-1.0.102-{name}.jsonl"))).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The file up to and including the given line of this kind, counted from 0.
fn up_to(name: &str, kind: &str, number: usize) -> Vec<u8> {
    let lines = recorded(name);
    let is_it = |line: &&String| line.contains(&format!("\"type\":\"{kind}\""));
    let line = lines.iter().filter(is_it).nth(number).unwrap();
    let end = lines.iter().position(|other| other == line).unwrap();
    lines[..=end].join("\n").into_bytes()
}

#[track_caller]
fn check(text: &[u8], expected: TranscriptEnd) {
    assert_eq!(Agent::Copilot.transcript_end(text).unwrap().end, expected);
}

#[test]
fn an_interruption_and_an_error_end_a_turn() {
    for number in 0..2 {
        check(&up_to("session", "abort", number), TranscriptEnd::Interrupted);
    }
    check(&up_to("session", "session.error", 0), TranscriptEnd::Failed);
    let limited = String::from_utf8(up_to("session", "session.error", 0)).unwrap();
    check(limited.replace("\"statusCode\":400", "\"statusCode\":429").as_bytes(), TranscriptEnd::Limited);
}

/// The client writes the words said so far, and the end of its own step, after the line of the interruption.
#[test]
fn an_interruption_counts_although_the_words_said_so_far_follow_it() {
    let lines = recorded("cleared-resumed");
    let abort = lines.iter().position(|line| line.contains("\"type\":\"abort\"")).unwrap();
    for more in 1..3 {
        check(lines[..=abort + more].join("\n").as_bytes(), TranscriptEnd::Interrupted);
    }
}

#[test]
fn a_prompt_after_an_interruption_goes_on() {
    let text = up_to("session", "user.message", 5);
    check(&text, TranscriptEnd::Other);
    check(&up_to("session", "assistant.turn_start", 0), TranscriptEnd::Other);
    assert_eq!(tail(b""), None);
    assert_eq!(tail(b"half a line"), None);
}

#[test]
fn context_usage_is_that_of_the_newest_response_of_the_session_itself() {
    let context = |text: &[u8]| context(text).map(|found| (found.tokens, found.window));
    assert_eq!(context(&up_to("session", "session.usage_record", 3)), Some((1225, Some(64_000))));
    assert_eq!(context(&up_to("session", "session.compaction_complete", 0)), Some((12_851, None)));
    let subagent = up_to("question-delegated", "subagent.completed", 0);
    assert_eq!(context(&subagent), Some((1225, Some(64_000))));
    assert_eq!(context(b"{}"), None);
}

#[test]
fn the_last_message_is_that_of_the_turn_whose_stop_hook_runs() {
    let lines = recorded("session");
    let is_stop = |line: &&String| line.contains("\"agentStop\"");
    let stops: Vec<&String> = lines.iter().filter(is_stop).collect();
    let upto = |line: &String| {
        let end = lines.iter().position(|other| other == line).unwrap();
        last_message(lines[..=end].join("\n").as_bytes())
    };
    assert_eq!(upto(stops[0]).unwrap(), "one two three four five six seven eight nine ten eleven twelve");
    // The hook has ended: the file does not hold the next turn yet.
    assert_eq!(upto(stops[1]), None);
    assert_eq!(upto(stops[2]).unwrap(), "read it");
    assert!(Agent::Copilot.has_written(lines.join("\n").as_bytes(), "typed ahead"));
}
