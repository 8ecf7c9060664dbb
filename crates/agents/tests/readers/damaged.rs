//! Damaged transcripts: the result does not depend on how a file is split into reads, and no input breaks the reader.

use super::claude::user;
use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use towline_agents::LineError;

#[test]
fn malformed_lines_are_refused_or_skipped() {
    for agent in Agent::ALL {
        let mut reader = agent.reader();
        let mut found = vec![];
        for line in [&b"{"[..], b"{\"uuid\":\"a", b"[1", b"\"text\"", b"7", b"null", b"{} {}"] {
            assert_eq!(reader.read(line, &mut found), Err(LineError::NotJson), "{line:?}");
        }
        assert_eq!(reader.read(b"{\"uuid\":\"\xff\"}", &mut found), Err(LineError::NotText));
        for line in
            [&b""[..], b"  \r", b"{}", b"{\"type\":\"of-tomorrow\",\"payload\":[1]}", b"{\"type\":{}}"]
        {
            assert_eq!(reader.read(line, &mut found), Ok(()), "{line:?}");
        }
        assert_eq!(found, []);
    }
}

#[test]
fn a_line_of_fifty_megabytes_is_one_piece() {
    let bulk = "line\\n\\\"quoted\\\" ".repeat(50 * 1024 * 1024 / 17);
    let claude = format!(
        r#"{{"type":"user","uuid":"a","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"{bulk}"}}]}}}}"#
    );
    let codex = format!(
        r#"{{"type":"response_item","payload":{{"type":"function_call_output","id":"a","call_id":"t","output":"{bulk}"}}}}"#
    );
    let gemini = format!(
        r#"{{"type":"gemini","id":"a","toolCalls":[{{"id":"t","name":"n","result":[{{"text":"{bulk}"}}]}}]}}"#
    );
    let copilot = format!(
        r#"{{"type":"tool.execution_complete","data":{{"toolCallId":"t","success":true,"result":{{"content":"{bulk}"}}}},"id":"a"}}"#
    );
    let lines =
        [(Agent::Claude, claude), (Agent::Codex, codex), (Agent::Gemini, gemini), (Agent::Copilot, copilot)];
    for (agent, line) in lines {
        let mut found = vec![];
        agent.reader().read(line.as_bytes(), &mut found).unwrap();
        assert!(
            matches!(&found[..], [.., TranscriptPiece { what: PieceContent::ToolResult { output, .. }, .. }] if output.len() > 40_000_000)
        );
    }
    let message = br#"{"table":"message","id":"m","data":{"role":"assistant"}}"#;
    let part = format!(
        r#"{{"table":"part","message_id":"m","data":{{"type":"tool","callID":"t","tool":"n","input":{{"a":"{bulk}"}}}}}}"#
    );
    let result = format!(
        r#"{{"table":"result","message_id":"m","data":{{"callID":"t","state":{{"output":"{bulk}"}}}}}}"#
    );
    let (mut reader, mut found) = (Agent::Opencode.reader(), vec![]);
    reader.read(message, &mut found).unwrap();
    reader.read(part.as_bytes(), &mut found).unwrap();
    reader.read(result.as_bytes(), &mut found).unwrap();
    assert_eq!(found.len(), 2);
}

#[test]
fn no_nesting_is_too_deep() {
    let deep = "[".repeat(2_000_000);
    let opened = [
        r#"{"type":"user","message":{"content":"#,
        r#"{"type":"response_item","payload":{"content":"#,
        r#"{"type":"user","message":{"parts":"#,
        r#"{"$set":{"messages":"#,
        r#"{"type":"user.message","data":{"content":"#,
        r#"{"table":"part","data":{"state":"#,
        r#"{"table":"message","data":{"tokens":"#,
    ];
    assert_eq!(opened.len(), Agent::ALL.len(), "each agent has such a line");
    for (agent, open) in Agent::ALL.into_iter().zip(opened) {
        let half = format!("{open}{deep}");
        assert_eq!(agent.reader().read(half.as_bytes(), &mut vec![]), Err(LineError::NotJson));
    }
    let whole = format!(r#"{{"type":"user","uuid":"a","message":{deep}{}}}"#, "]".repeat(deep.len()));
    assert_eq!(Agent::Claude.reader().read(whole.as_bytes(), &mut vec![]), Ok(()));
}

fn kept(reader: &TranscriptReader) -> TranscriptReader {
    serde_json::from_str(&serde_json::to_string(reader).unwrap()).unwrap()
}

#[test]
fn a_reader_stays_small_however_much_it_reads() {
    for agent in Agent::ALL {
        let files: Vec<_> =
            recorded("transcripts").into_iter().filter(|(name, _)| agent_of(name) == agent).collect();
        let mut reader = agent.reader();
        for _ in 0..30 {
            files.iter().for_each(|(_, file)| drop(read_all(&mut reader, &lines(file))));
        }
        for number in 0..1000 {
            let prompt = user(&format!("u{number}"), &format!("p{number}"), "again").to_string();
            let _ = reader.read(prompt.as_bytes(), &mut vec![]);
        }
        assert!(serde_json::to_string(&reader).unwrap().len() < 4096);
    }
}

#[test]
fn a_reader_kept_by_an_older_version_is_still_understood() {
    let kept = [
        (Agent::Claude, r#"{"claude":{}}"#),
        (Agent::Codex, r#"{"codex":{"gone":1}}"#),
        (Agent::Copilot, r#"{"copilot":{}}"#),
        (Agent::Kilo, r#"{"rows":{"agent":"kilo"}}"#),
    ];
    for (agent, text) in kept {
        assert_eq!(serde_json::from_str::<TranscriptReader>(text).unwrap(), agent.reader());
    }
}

/// Values to put in place of expected ones.
const OTHERS: [&str; 9] = ["null", "true", "-7", "1e400", "\"\"", "\"·\"", "[]", "{}", "[[{\"type\":[]}]]"];

/// Replaces one value, counted in the order of the text.
fn spoiled(value: &mut Value, at: &mut usize, other: &Value) {
    if *at == 0 {
        *value = other.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| spoiled(value, at, other)),
        Value::Object(map) => map.values_mut().for_each(|value| spoiled(value, at, other)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn any_file() -> impl Strategy<Value = (String, Vec<u8>)> {
    select(recorded("transcripts").into_iter().collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn captures_at_any_lines_find_what_one_reading_finds(
        (name, file) in any_file(),
        cuts in vec(any::<Index>(), 0..12),
    ) {
        let lines = lines(&file);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(lines.len() + 1)).collect();
        cuts.extend([0, lines.len()]);
        cuts.sort_unstable();
        let mut reader = agent_of(&name).reader();
        let mut found = vec![];
        for capture in cuts.windows(2) {
            reader = kept(&reader);
            found.extend(read_all(&mut reader, &lines[capture[0]..capture[1]]));
        }
        prop_assert_eq!(found, read_all(&mut agent_of(&name).reader(), &lines));
    }

    #[test]
    fn no_line_is_too_damaged_to_be_read(
        (_, file) in any_file(),
        line in any::<Index>(),
        (at, other, end) in (any::<Index>(), select(&OTHERS[..]), any::<Index>()),
    ) {
        let lines = lines(&file);
        let line = lines[line.index(lines.len())];
        let mut value: Value = serde_json::from_slice(line).unwrap();
        let other = serde_json::from_str(other).unwrap_or(Value::Null);
        spoiled(&mut value, &mut at.index(60), &other);
        let text = value.to_string();
        for agent in Agent::ALL {
            let mut reader = agent.reader();
            let mut found = vec![];
            let half = &line[..end.index(line.len())];
            let refused = reader.read(half, &mut found);
            prop_assert!(refused.is_err() || found.is_empty(), "half a line gave {found:?}");
            prop_assert_eq!(reader.read(text.as_bytes(), &mut found).is_ok(), value.is_object() || value.is_array());
            kept(&reader);
        }
    }
}

#[test]
fn token_counts_of_a_damaged_line_were_added_beyond_their_type() {
    let most = u64::MAX;
    let line = format!(
        r#"{{"uuid":"a","parentUuid":null,"sessionId":"s","timestamp":"2026-11-01T10:00:00.000Z","type":"assistant","model":"m","message":{{"role":"model","parts":[{{"text":"hello"}}]}},"usageMetadata":{{"promptTokenCount":{most},"candidatesTokenCount":{most},"thoughtsTokenCount":{most}}}}}"#
    );
    let mut found = vec![];
    Agent::Qwen.reader().read(line.as_bytes(), &mut found).unwrap();
    let output = found.iter().find_map(|piece| {
        let PieceContent::Usage { tokens, .. } = &piece.what else { return None };
        Some(tokens.output)
    });
    assert_eq!(output, Some(most));
}
