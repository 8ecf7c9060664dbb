//! Ends of recorded transcripts, whole and damaged.

use super::*;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn recorded(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tails");
    fs::read(folder.join(format!("gemini-0.61.0-{name}.jsonl"))).unwrap()
}

#[track_caller]
fn check(text: &[u8], expected: Option<(TranscriptEnd, &str)>) {
    let expected =
        expected.map(|(end, at)| TranscriptTail { end, at: Timestamp::parse_utc(at).unwrap(), until: None });
    assert_eq!(tail(text), expected);
}

#[test]
fn an_interruption_is_seen_behind_the_copies_that_follow_it() {
    let interrupted = |name, at| check(&recorded(name), Some((TranscriptEnd::Interrupted, at)));
    interrupted("interrupted-streaming", "2026-11-18T16:16:16.776Z");
    interrupted("interrupted-before-first-byte", "2026-11-18T16:16:23.136Z");
    interrupted("interrupted-tool", "2026-11-18T16:16:35.664Z");
    interrupted("interrupted-dialog", "2026-11-16T18:00:24.966Z");
}

#[test]
fn an_error_is_a_failure_and_a_limit_is_distinguished_from_it() {
    check(&recorded("error"), Some((TranscriptEnd::Failed, "2026-11-18T16:16:26.581Z")));
    let text =
        String::from_utf8(recorded("error")).unwrap().replace("INVALID_ARGUMENT", "RESOURCE_EXHAUSTED");
    check(text.as_bytes(), Some((TranscriptEnd::Limited, "2026-11-18T16:16:26.581Z")));
}

#[test]
fn a_turn_that_goes_on_or_has_ended_is_the_hooks_to_tell() {
    check(&recorded("end"), Some((TranscriptEnd::Other, "2026-11-18T16:16:11.112Z")));
    check(&recorded("mid-tool"), Some((TranscriptEnd::Other, "2026-11-18T16:16:30.968Z")));
    check(b"", None);
}

#[test]
fn a_list_that_is_longer_than_the_part_at_hand_stands_for_an_interruption() {
    let whole = recorded("interrupted-streaming");
    let at = "2026-11-18T16:16:16.778Z";
    let list =
        whole.len() - 1 - whole[..whole.len() - 1].iter().rev().position(|byte| *byte == b'\n').unwrap();
    for cut in [list + 1, list + 40, whole.len() - 60] {
        check(&whole[cut..], Some((TranscriptEnd::Interrupted, at)));
    }
    check(&recorded("end")[400..], Some((TranscriptEnd::Other, "2026-11-18T16:16:11.112Z")));
}

#[test]
fn the_answer_is_that_to_the_last_prompt() {
    assert_eq!(last_answer(&recorded("end")).as_deref(), Some("alpha beta"));
    assert_eq!(last_answer(&recorded("interrupted-streaming")), None);
    assert_eq!(last_answer(&recorded("mid-tool")), None);
    assert!(holds(&recorded("end"), "beta") && !holds(&recorded("end"), "gamma"));
}

proptest! {
    #[test]
    fn no_cut_makes_it_panic(cut in 0_usize..12_000) {
        for name in ["interrupted-dialog", "compacted", "error"] {
            let text = recorded(name);
            let _ = (tail(&text[cut.min(text.len())..]), tail(&text[..cut.min(text.len())]), last_answer(&text[..cut.min(text.len())]));
        }
    }
}
