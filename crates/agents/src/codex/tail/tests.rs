//! Ends of recorded rollouts, whole and damaged.

use super::*;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn recorded(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tails");
    fs::read(folder.join(format!("codex-0.166.0-{name}.jsonl"))).unwrap()
}

#[track_caller]
fn check(text: &[u8], expected: Option<(TranscriptEnd, &str)>) {
    let found = tail(text);
    let expected =
        expected.map(|(end, at)| TranscriptTail { end, at: Timestamp::parse_utc(at).unwrap(), until: None });
    assert_eq!(found, expected);
}

const INTERRUPTED: Option<(TranscriptEnd, &str)> =
    Some((TranscriptEnd::Interrupted, "2026-11-15T00:20:27.851Z"));

#[test]
fn an_interruption_is_seen_with_its_own_time() {
    check(&recorded("interrupted"), INTERRUPTED);
}

#[test]
fn a_new_prompt_outdates_an_interruption() {
    check(&recorded("prompted-again"), Some((TranscriptEnd::Other, "2026-11-15T00:20:31.888Z")));
}

#[test]
fn a_turn_that_was_replaced_was_not_interrupted_by_a_person() {
    let text = String::from_utf8(recorded("interrupted")).unwrap();
    let replaced = text.replace(r#""reason":"interrupted""#, r#""reason":"replaced""#);
    check(replaced.as_bytes(), Some((TranscriptEnd::Other, "2026-11-15T00:20:29.762Z")));
}

#[test]
fn an_error_is_a_failure_and_a_limit_is_distinguished_from_it() {
    check(&recorded("error"), Some((TranscriptEnd::Failed, "2026-11-15T04:06:48.189Z")));
    check(&recorded("overloaded"), Some((TranscriptEnd::Failed, "2026-11-15T04:06:48.618Z")));
    check(&recorded("limit"), Some((TranscriptEnd::Limited, "2026-11-15T04:06:48.385Z")));
}

#[test]
fn a_limit_ends_when_the_last_window_that_is_used_up_begins_anew() {
    let text = String::from_utf8(recorded("limit-resets")).unwrap();
    let until = |text: &str| tail(text.as_bytes()).unwrap().until;
    assert_eq!(until(&text), Some(Timestamp(1_794_728_772_000)));
    let both = text.replace(r#""used_percent":40.0"#, r#""used_percent":100.0"#);
    assert_eq!(until(&both), Some(Timestamp(1_794_980_772_000)));
    let neither = text.replace(r#""used_percent":100.0"#, r#""used_percent":99.9"#);
    assert_eq!(until(&neither), None);
    assert_eq!(tail(&recorded("limit")).unwrap().until, None);
}

#[test]
fn the_limits_of_an_older_turn_say_nothing_about_this_one() {
    let limits = String::from_utf8(recorded("limit-resets")).unwrap();
    let now = String::from_utf8(recorded("limit")).unwrap();
    let without_limits: Vec<&str> = now.lines().filter(|line| !line.contains("token_count")).collect();
    let text = format!("{limits}{}\n", without_limits.join("\n"));
    assert_eq!(tail(text.as_bytes()).unwrap().until, None);
}

#[test]
fn a_turn_that_ended_by_itself_is_left_to_the_hooks() {
    check(&recorded("end"), Some((TranscriptEnd::Other, "2026-11-15T00:05:04.053Z")));
    check(&recorded("legacy-end"), Some((TranscriptEnd::Other, "2026-11-15T00:23:05.817Z")));
}

#[test]
fn a_tool_at_work_is_neither_interruption_nor_error() {
    check(&recorded("mid-tool"), Some((TranscriptEnd::Other, "2026-11-15T00:05:03.499Z")));
}

#[test]
fn a_turn_whose_begin_is_out_of_sight_goes_on() {
    let text = recorded("mid-tool");
    let second = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    check(&text[second..], Some((TranscriptEnd::Other, "2026-11-15T00:05:03.499Z")));
}

#[test]
fn a_first_line_that_is_cut_off_is_passed_over() {
    let text = recorded("interrupted");
    let first = text.iter().position(|byte| *byte == b'\n').unwrap();
    for from in 0..=first + 1 {
        check(&text[from..], INTERRUPTED);
    }
}

#[test]
fn a_last_line_that_is_still_being_written_is_passed_over() {
    let next = recorded("mid-tool");
    let first = next.iter().position(|byte| *byte == b'\n').unwrap();
    for written in 0..first {
        let mut text = recorded("interrupted");
        text.extend_from_slice(&next[..written]);
        check(&text, INTERRUPTED);
    }
}

#[test]
fn empty_and_malformed_files_have_no_end() {
    let deep = "[".repeat(60_000);
    for text in
        ["", "\n\n\n", "garbage", "{}\n[]\nnull\n1\n\"event_msg\"\n", r#"{"type":7,"payload":9}"#, &deep]
    {
        check(text.as_bytes(), None);
    }
    check(b"\xff\xfe\n{\"type\":\"event_msg\xff\"}\n\0\0", None);
}

#[test]
fn bytes_that_are_no_text_do_not_hide_the_lines_around_them() {
    let mut text = b"\xff\xfe\xfd\n".to_vec();
    text.extend_from_slice(&recorded("limit"));
    text.extend_from_slice(b"{\"type\":\"event_msg\",\"payload\":\"\xff\"}\n\xc3\x28\n");
    check(&text, Some((TranscriptEnd::Limited, "2026-11-15T04:06:48.385Z")));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>, at in 0_usize..4000, byte: u8) {
        let _ = tail(&bytes);
        let mut damaged = recorded("interrupted");
        let length = damaged.len();
        damaged[at % length] = byte;
        let _ = tail(&damaged);
    }
}
