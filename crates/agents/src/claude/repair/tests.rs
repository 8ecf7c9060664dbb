//! Repairs of recorded transcripts, and of chains of any shape.

use super::*;
use proptest::prelude::*;
use std::fs;
use towline_core::event::PromptOrigin;
use towline_core::piece::PieceContent;

const WISH: RepairOptions<'static> = RepairOptions { every: 1, marker: "·" };

fn recorded(name: &str) -> Vec<u8> {
    fs::read(format!("{}/transcripts/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

const RECORDED: [&str; 10] = [
    "claude-2.1.197-session",
    "claude-2.1.197-words",
    "claude-2.1.197-headless",
    "claude-2.1.197-forked",
    "claude-2.1.197-cleared-resumed",
    "claude-2.1.325-session",
    "claude-2.1.325-words",
    "claude-2.1.325-headless",
    "claude-2.1.325-forked",
    "claude-2.1.325-cleared-resumed",
];

/// One entry of a generated transcript.
#[derive(Clone, Debug)]
enum Made {
    Prompt,
    Answer(&'static str),
    /// A second part of the answer before it.
    More(&'static str),
    Call,
    Result,
    TurnEnd,
    Pause,
    Compacted,
    TooLong,
    Overloaded,
    Note,
}

use Made::*;

/// A file of these entries, one second apart.
fn made(entries: &[Made]) -> Vec<u8> {
    let (mut text, mut seconds, mut message) = (String::new(), 0, 0);
    let mut last = Value::Null;
    for (number, entry) in entries.iter().enumerate() {
        seconds += if matches!(entry, Pause) { 61 } else { 1 };
        message += u32::from(!matches!(entry, More(_)));
        let Some(mut fields) = fields(entry, message) else {
            text.push_str("{\"type\":\"file-history-snapshot\"}\n");
            continue;
        };
        let uuid = format!("u{number}");
        fields["parentUuid"] = if matches!(entry, Compacted) { Value::Null } else { last };
        fields["uuid"] = json!(uuid);
        fields["timestamp"] = json!(Timestamp(1_794_700_000_000 + seconds * 1000).to_utc());
        fields["sessionId"] = json!("s1");
        fields["cwd"] = json!("/p");
        text.push_str(&format!("{fields}\n"));
        last = json!(uuid);
    }
    text.into_bytes()
}

fn fields(entry: &Made, message: u32) -> Option<Value> {
    let id = format!("m{message}");
    let answer = |content: Value| {
        json!({"type": "assistant", "message": {"id": id, "role": "assistant", "model": "claude-x",
            "content": content, "usage": {"input_tokens": 9}}})
    };
    let synthetic = |text: &str| {
        json!({"type": "assistant", "isApiErrorMessage": true, "message": {"id": id, "role": "assistant",
            "model": "<synthetic>", "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 0}}})
    };
    Some(match entry {
        Prompt => json!({"type": "user", "message": {"role": "user", "content": "do it"}}),
        Answer(text) | More(text) => answer(json!([{"type": "text", "text": text}])),
        Call => answer(json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}])),
        Result => json!({"type": "user", "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}}),
        TurnEnd => json!({"type": "system", "subtype": "turn_duration"}),
        Compacted => json!({"type": "system", "subtype": "compact_boundary"}),
        TooLong => synthetic("Prompt is too long"),
        Overloaded => synthetic("API Error: 529 overloaded"),
        Pause => json!({"type": "attachment", "attachment": {"type": "date"}}),
        Note => return None,
    })
}

/// Checks the entries before which a marker is inserted.
#[track_caller]
fn check(entries: &[Made], every: usize, expected: &[&str]) {
    let repair = repaired(&made(entries), RepairOptions { every, ..WISH }).unwrap();
    let found: Vec<&str> = repair.marks.iter().map(|mark| mark.before.as_str()).collect();
    assert_eq!(found, expected, "{entries:?}");
}

#[test]
fn tav_40_markers_go_between_answers_in_words_and_nowhere_else() {
    check(&[Prompt, Answer("a"), Call, Result, Answer("b"), TooLong], 1, &["u4"]);
    check(&[Prompt, Answer("a"), Prompt, Answer("b"), TooLong], 1, &[]);
    check(&[Prompt, Call, Result, Call, Result, TooLong], 1, &[]);
    check(&[Prompt, Answer("a"), Answer("  "), Answer("b"), TooLong], 1, &["u3"]);
    check(&[Prompt, Answer("a"), More("still a"), Answer("b"), Note, TooLong], 1, &["u3"]);
    check(&[Prompt, Call, More("said with the call"), Result, Answer("b"), TooLong], 1, &["u4"]);
}

#[test]
fn tav_40_so_many_answers_an_end_of_a_turn_or_a_pause_make_a_place() {
    let long = [Prompt, Answer("a"), Answer("b"), Answer("c"), Answer("d"), Answer("e"), TooLong];
    check(&long, 1, &["u2", "u3", "u4", "u5"]);
    check(&long, 2, &["u3", "u5"]);
    check(&long, 9, &[]);
    check(&[Prompt, Answer("a"), TurnEnd, Answer("b"), Answer("c"), TooLong], 9, &["u3"]);
    check(&[Prompt, Answer("a"), Pause, Answer("b"), Answer("c"), TooLong], 9, &["u3"]);
    check(&[Prompt, Pause, Answer("a"), Answer("b"), TooLong], 9, &["u3"]);
}

#[test]
fn tav_40_nothing_is_put_before_the_last_compaction() {
    check(
        &[Prompt, Answer("a"), Answer("b"), Compacted, Prompt, Answer("c"), Answer("d"), TooLong],
        1,
        &["u6"],
    );
    check(&[Prompt, Answer("a"), Answer("b"), Compacted, Answer("c"), Answer("d"), TooLong], 1, &["u5"]);
}

#[track_caller]
fn check_death(entries: &[Made], expected: Option<DeathCause>) {
    let repair = repaired(&made(entries), WISH).unwrap();
    assert_eq!(repair.death.map(|death| death.cause), expected, "{entries:?}");
}

#[test]
fn tav_41_a_session_is_dead_from_the_first_failure_after_its_last_answer() {
    check_death(&[Prompt, Answer("a"), TooLong, Prompt, TooLong], Some(DeathCause::Full));
    check_death(&[Prompt, Answer("a"), Overloaded, Prompt, TooLong], Some(DeathCause::Full));
    check_death(&[Prompt, Answer("a"), Overloaded], Some(DeathCause::Other));
    check_death(&[Prompt, Answer("Prompt is too long"), Answer("b")], None);
    check_death(&[Prompt, TooLong, Prompt, Answer("a")], None);
    check(&[Prompt, Answer("a"), Overloaded, Answer("b"), TooLong, Prompt, TooLong], 1, &["u3"]);
}

#[test]
fn tav_41_an_answer_that_stopped_because_nothing_more_fits_is_the_death() {
    let text = String::from_utf8(made(&[Prompt, Answer("a"), Answer("b")])).unwrap();
    let stopped = |reason: &str| {
        let at = text.rfind(r#""role":"assistant""#).unwrap();
        format!("{}\"stop_reason\":\"{reason}\",{}", &text[..at], &text[at..])
    };
    let cause = |text: String| repaired(text.as_bytes(), WISH).unwrap().death.map(|death| death.cause);
    assert_eq!(cause(stopped("model_context_window_exceeded")), Some(DeathCause::Full));
    assert_eq!(cause(stopped("max_tokens")), None, "a long answer is no full context");
    assert_eq!(cause(stopped("end_turn")), None);
}

#[test]
fn tav_42_a_marker_is_an_entry_of_its_session_between_its_neighbours() {
    let repair = repaired(&made(&[Prompt, Answer("a"), Answer("b"), TooLong]), WISH).unwrap();
    let lines: Vec<Value> = repair
        .text
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let expected = json!({
        "type": "user", "userType": "external", "isSidechain": false, "cwd": "/p", "sessionId": "s1",
        "message": {"role": "user", "content": "·"}, "parentUuid": "u1", "uuid": repair.marks[0].uuid,
        "timestamp": "2026-11-14T23:46:42.500Z", "towline": "repair",
    });
    assert_eq!(lines[2], expected);
    assert_eq!((&lines[3]["uuid"], &lines[3]["parentUuid"]), (&json!("u2"), &lines[2]["uuid"]));
}

#[track_caller]
fn check_refused(text: &[u8], expected: &Unrepairable) {
    assert_eq!(repaired(text, WISH).unwrap_err(), *expected);
}

#[test]
fn tav_39_what_is_no_conversation_is_left_as_it_is() {
    check_refused(b"", &Unrepairable::Empty);
    check_refused(b"\n \n", &Unrepairable::Empty);
    check_refused(&made(&[Answer("a"), Answer("b")]), &Unrepairable::NoPrompt);
    check_refused(br#"{"type":"user","message":{"content":"x"}}"#, &Unrepairable::NoChain);
    let entry = |uuid: &str, parent: &str| {
        format!(r#"{{"type":"user","uuid":"{uuid}","parentUuid":"{parent}","message":{{"content":"x"}}}}"#)
            + "\n"
    };
    let circle = [entry("a", "b"), entry("b", "a")].concat();
    check_refused(circle.as_bytes(), &Unrepairable::Circle { uuid: "b".into() });
    let twice = [entry("a", "z"), entry("b", "a"), entry("a", "z"), entry("c", "b")].concat();
    check_refused(twice.as_bytes(), &Unrepairable::Twice { uuid: "a".into() });
}

#[test]
fn recorded_transcripts_are_repaired_and_given_back_to_the_byte() {
    for name in RECORDED {
        let text = recorded(name);
        let repair = repaired(&text, WISH).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(without_markers(&repair.text), text, "{name}");
        assert_eq!(repaired(&repair.text, WISH).unwrap().text, repair.text, "{name}");
    }
}

#[test]
fn a_marker_is_never_read_as_something_that_a_person_asked_for() {
    for name in RECORDED {
        let text = recorded(name);
        let repair = repaired(&text, WISH).unwrap();
        assert_eq!(asked(&repair.text), asked(&text), "{name}");
    }
}

/// The prompts and rewinds that the transcript reader finds.
fn asked(text: &[u8]) -> Vec<String> {
    let (mut reader, mut found) = (crate::Agent::Claude.reader(), vec![]);
    for line in text.split(|byte| *byte == b'\n') {
        let _ = reader.read(line, &mut found);
    }
    let words = found.iter().filter_map(|piece| {
        if let PieceContent::Prompt { text, origin: PromptOrigin::Human } = &piece.what {
            return Some(text.to_string());
        }
        matches!(piece.what, PieceContent::Reverted { .. }).then(|| "taken back".to_owned())
    });
    words.collect()
}

fn anything() -> impl Strategy<Value = Made> {
    prop_oneof![
        3 => Just(Prompt), 5 => Just(Answer("a")), 2 => Just(More("b")), 2 => Just(Answer("")), 4 => Just(Call),
        4 => Just(Result), 2 => Just(TurnEnd), 1 => Just(Pause), 1 => Just(Compacted), 1 => Just(TooLong),
        1 => Just(Overloaded), 1 => Just(Note),
    ]
}

proptest! {
    #[test]
    fn a_repair_of_any_chain_is_sound_and_done_once_and_can_be_taken_back(
        entries in prop::collection::vec(anything(), 0..60),
        every in 0_usize..6,
    ) {
        let text = made(&[vec![Prompt, Answer("a")], entries].concat());
        let wish = RepairOptions { every, ..WISH };
        let Ok(repair) = repaired(&text, wish) else { return Ok(()) };
        prop_assert_eq!(without_markers(&repair.text), text);
        let again = repaired(&repair.text, wish).unwrap();
        prop_assert_eq!(&again.text, &repair.text);
        prop_assert_eq!((again.marks.len(), again.present), (0, repair.marks.len()));
        prop_assert_eq!(again.death, repair.death);
    }

    #[test]
    fn no_line_of_whatever_file_is_lost(mut text in prop::collection::vec(any::<u8>(), 0..400), cut in 0_usize..2000) {
        let whole = made(&[Prompt, Answer("a"), Answer("b"), Call, Result, Answer("c"), TooLong]);
        text.splice(0..0, whole[..cut.min(whole.len())].iter().copied());
        if let Ok(repair) = repaired(&text, WISH) {
            prop_assert_eq!(without_markers(&repair.text), text);
        }
    }
}
