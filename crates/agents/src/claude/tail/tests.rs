//! Ends of recorded conversations, whole and damaged.

use super::*;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn recorded(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tails");
    fs::read(folder.join(format!("claude-{name}.jsonl"))).unwrap()
}

#[track_caller]
fn check(text: &[u8], expected: Option<(TranscriptEnd, &str)>) {
    let found = tail(text);
    let expected =
        expected.map(|(end, at)| TranscriptTail { end, at: Timestamp::parse_utc(at).unwrap(), until: None });
    assert_eq!(found, expected);
}

#[track_caller]
fn check_recorded(name: &str, end: TranscriptEnd, at: &str) {
    check(&recorded(name), Some((end, at)));
}

/// The timestamp in conversations that were recorded without their time.
const TIMELESS: &str = "2026-01-01T00:00:00.000Z";

#[test]
fn an_interruption_while_the_answer_streams_is_seen() {
    check_recorded("2.1.325-interrupted-streaming", TranscriptEnd::Interrupted, TIMELESS);
    check_recorded("2.1.197-interrupted-streaming", TranscriptEnd::Interrupted, TIMELESS);
}

#[test]
fn an_interruption_of_a_tool_is_seen_even_behind_a_local_command() {
    check_recorded("2.1.325-interrupted-tool", TranscriptEnd::Interrupted, "2026-11-15T04:11:06.165Z");
    check_recorded("2.1.197-interrupted-tool", TranscriptEnd::Interrupted, "2026-11-15T04:11:18.199Z");
}

#[test]
fn an_error_of_the_api_is_a_failure() {
    check_recorded("2.1.325-error", TranscriptEnd::Failed, TIMELESS);
    check_recorded("2.1.197-error", TranscriptEnd::Failed, TIMELESS);
}

#[test]
fn a_limit_is_distinguished_from_an_error() {
    check_recorded("2.1.325-limit", TranscriptEnd::Limited, "2026-11-15T04:09:14.920Z");
    check_recorded("2.1.197-limit", TranscriptEnd::Limited, "2026-11-15T04:08:21.759Z");
}

#[test]
fn a_limit_of_an_account_ends_when_the_client_says() {
    let until = |name: &str| tail(&recorded(name)).unwrap().until.map(Timestamp::to_utc);
    let written = Some("2026-11-15T08:06:07Z".to_owned());
    assert_eq!(until("2.1.325-limit-session"), written);
    let said = Some("2026-11-15T08:05:00Z".to_owned());
    assert_eq!(until("2.1.197-limit-session"), said);
    let next_year = Some("2027-02-13T05:46:00Z".to_owned());
    assert_eq!(until("2.1.197-limit-weekly"), next_year);
}

#[test]
fn a_missing_end_or_one_in_another_zone_is_left_open() {
    for name in ["2.1.197-limit", "2.1.325-limit", "2.1.197-limit-zone"] {
        let tail = tail(&recorded(name)).unwrap();
        assert_eq!((tail.end, tail.until), (TranscriptEnd::Limited, None), "{name}");
    }
    let written = String::from_utf8(recorded("2.1.325-limit-session")).unwrap();
    let huge = written.replace("1794729967", "9223372036854775807");
    assert_eq!(
        tail(huge.as_bytes()).unwrap().until.map(Timestamp::to_utc),
        Some("2026-11-15T08:06:00Z".to_owned())
    );
}

#[test]
fn a_limit_is_known_by_its_name_whatever_its_words() {
    let text = String::from_utf8(recorded("2.1.325-limit")).unwrap();
    let reworded = text.replace("This request would exceed your account rate limit", "come back at five");
    assert_ne!(text, reworded);
    check(reworded.as_bytes(), Some((TranscriptEnd::Limited, "2026-11-15T04:09:14.920Z")));
}

#[test]
fn a_limit_is_known_by_its_words_where_the_error_has_no_name() {
    let said = |text: &str| {
        let line = r#"{"type":"assistant","timestamp":"2026-11-15T00:00:00Z","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"TEXT"}]}}"#;
        tail(line.replace("TEXT", text).as_bytes()).unwrap().end
    };
    assert_eq!(said("Usage limit reached, try again later"), TranscriptEnd::Limited);
    assert_eq!(said("You ran out of disk"), TranscriptEnd::Failed);
}

#[test]
fn a_turn_that_ended_by_itself_is_left_to_the_hooks() {
    check_recorded("2.1.325-end", TranscriptEnd::Other, TIMELESS);
    check_recorded("2.1.197-end", TranscriptEnd::Other, TIMELESS);
}

#[test]
fn a_tool_at_work_is_neither_interruption_nor_error() {
    check_recorded("2.1.325-mid-tool", TranscriptEnd::Other, TIMELESS);
    check_recorded("2.1.197-mid-tool", TranscriptEnd::Other, TIMELESS);
}

#[test]
fn a_new_prompt_outdates_an_interruption() {
    let mut text = recorded("2.1.325-interrupted-tool");
    text.extend_from_slice(&recorded("2.1.325-mid-tool"));
    check(&text, Some((TranscriptEnd::Other, TIMELESS)));
}

#[test]
fn a_command_that_the_client_carries_out_itself_does_not_hide_an_interruption() {
    let ended = String::from_utf8(recorded("2.1.197-end")).unwrap();
    let is_local = |line: &&str| line.contains("<local-command-") || line.contains("<command-name>");
    let local: Vec<&str> = ended.lines().filter(is_local).collect();
    assert_eq!(local.len(), 3);
    let mut text = recorded("2.1.325-interrupted-tool");
    text.extend_from_slice(local.join("\n").as_bytes());
    check(&text, Some((TranscriptEnd::Interrupted, "2026-11-15T04:11:06.165Z")));
}

#[test]
fn entries_of_a_subagent_do_not_affect_the_session() {
    let mut text = recorded("2.1.325-mid-tool");
    let interrupted = recorded("2.1.325-interrupted-tool");
    let helpers =
        String::from_utf8(interrupted).unwrap().replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    text.extend_from_slice(helpers.as_bytes());
    check(&text, Some((TranscriptEnd::Other, TIMELESS)));
}

#[test]
fn a_first_line_that_is_cut_off_is_passed_over() {
    let text = recorded("2.1.325-interrupted-tool");
    let first = text.iter().position(|byte| *byte == b'\n').unwrap();
    for from in 0..=first + 1 {
        check(&text[from..], Some((TranscriptEnd::Interrupted, "2026-11-15T04:11:06.165Z")));
    }
}

#[test]
fn a_last_line_that_is_still_being_written_is_passed_over() {
    let next = recorded("2.1.197-mid-tool");
    let first = next.iter().position(|byte| *byte == b'\n').unwrap();
    for written in 0..first {
        let mut text = recorded("2.1.197-interrupted-tool");
        text.extend_from_slice(&next[..written]);
        check(&text, Some((TranscriptEnd::Interrupted, "2026-11-15T04:11:18.199Z")));
    }
}

#[test]
fn a_last_line_without_its_newline_counts_once_it_is_whole() {
    let mut text = recorded("2.1.197-interrupted-tool");
    let next = recorded("2.1.197-mid-tool");
    text.extend_from_slice(next.trim_ascii_end());
    check(&text, Some((TranscriptEnd::Other, TIMELESS)));
}

#[test]
fn an_entry_without_a_time_is_no_reason_to_believe_an_older_one() {
    let mut text = recorded("2.1.197-interrupted-tool");
    text.extend_from_slice(br#"{"type":"user","message":{"role":"user","content":"go on"}}"#);
    check(&text, None);
}

#[test]
fn a_person_who_quotes_an_interruption_does_not_interrupt() {
    let line = r#"{"type":"user","timestamp":"2026-11-15T00:00:00Z","message":{"role":"user","content":"why [Request interrupted by user]?"}}"#;
    check(line.as_bytes(), Some((TranscriptEnd::Other, "2026-11-15T00:00:00Z")));
}

#[test]
fn empty_and_malformed_files_have_no_end() {
    let deep = "[".repeat(60_000);
    for text in ["", "\n\n\n", "garbage", "{}\n[]\nnull\n1\n\"user\"\n", r#"{"type":7,"message":9}"#, &deep] {
        check(text.as_bytes(), None);
    }
    check(b"\xff\xfe\n{\"type\":\"user\xff\"}\n\0\0", None);
}

#[test]
fn bytes_that_are_no_text_do_not_hide_the_lines_around_them() {
    let mut text = b"\xff\xfe\xfd\n".to_vec();
    text.extend_from_slice(&recorded("2.1.325-limit"));
    text.extend_from_slice(b"{\"type\":\"mode\",\"mode\":\"\xff\"}\n\xc3\x28\n");
    check(&text, Some((TranscriptEnd::Limited, "2026-11-15T04:09:14.920Z")));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>, at in 0_usize..4000, byte: u8) {
        let _ = tail(&bytes);
        let mut damaged = recorded("2.1.325-error");
        let length = damaged.len();
        damaged[at % length] = byte;
        let _ = tail(&damaged);
    }
}

#[test]
fn an_answer_is_written_once_its_last_words_are_there() {
    let text = String::from_utf8(recorded("2.1.325-end")).unwrap();
    let said = "may already have happened in them.\nafter compact";
    assert!(holds(text.as_bytes(), said) && !holds(text.as_bytes(), "printed something else."));
    let without: String =
        text.lines().filter(|line| !line.contains("\"assistant\"")).map(|line| format!("{line}\n")).collect();
    assert!(!holds(without.as_bytes(), said));
    assert!(!holds(&recorded("2.1.325-mid-tool"), said));
}
