//! Codex rollouts that could not be recorded: older clients, and every form of a command's exit status.

use super::*;
use towline_core::event::ToolOutcome;
use towline_core::piece::ForkBase;

fn item(payload: Value) -> Value {
    json!({"timestamp": "2026-11-15T00:00:00Z", "type": "response_item", "payload": payload})
}

fn event(payload: Value) -> Value {
    json!({"timestamp": "2026-11-15T00:00:00Z", "type": "event_msg", "payload": payload})
}

/// A fork holds only the remainder and names its origin; a revert holds only the remainder of its own thread.
#[test]
fn a_file_that_holds_only_the_rest_says_what_it_goes_on_from() {
    let opening = |name: &str| {
        let file = conversation(name);
        pieces(name, &file).into_iter().take(2).map(|piece| format!("{:?}", piece.what)).collect::<Vec<_>>()
    };
    let fork = opening("codex-0.166.0-fork-delta");
    let base = ForkBase { session: "00000000-0000-7000-8000-000000000153".into(), before: 34 };
    assert!(fork[0].contains(&format!("{base:?}")) && !fork[1].starts_with("Reverted"), "{fork:?}");
    let revert = opening("codex-0.166.0-words-reverted");
    assert!(revert[0].ends_with("base: None }") && revert[1] == "Reverted { from: 212 }", "{revert:?}");
}

#[test]
fn an_older_rollout_is_read_by_its_words() {
    let message = |text: &str| {
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
    };
    let injected = [
        "<environment_context>\n</environment_context>",
        "# AGENTS.md instructions for /x",
        "<user_instructions>be kind</user_instructions>",
        "<turn_aborted>\n</turn_aborted>",
    ];
    let mut lines: Vec<Value> = injected.into_iter().map(message).collect();
    lines.push(event(json!({"type": "user_message", "message": "hello", "images": []})));
    lines.push(message("hello"));
    lines.push(event(json!({"type": "agent_message", "message": "hi"})));
    lines.push(item(
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}),
    ));
    assert_eq!(read_one(Agent::Codex, &lines), ["PROMPT Human: hello", "ANSWER hi"]);
}

#[test]
fn older_rollouts_count_what_a_response_cost_and_repeat_the_count() {
    let count = |total: u64| {
        let usage = json!({"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2});
        let info = json!({"total_token_usage": {"total_tokens": total}, "last_token_usage": usage});
        event(json!({"type": "token_count", "info": info}))
    };
    let found = read_one(Agent::Codex, &[count(12), count(12), count(24)]);
    assert_eq!(found, ["usage 1@0 - 6+4r+0w>2", "usage 1@2 - 6+4r+0w>2"]);
}

#[test]
fn an_older_rollback_takes_back_the_last_turns_of_its_file() {
    let started = |turn: &str| event(json!({"type": "task_started", "turn_id": turn}));
    let message = |text: &str| {
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
    };
    let back = |turns: u64| event(json!({"type": "thread_rolled_back", "num_turns": turns}));
    let (one, two, more) = (message("one"), message("two"), message("and more"));
    let found = read_one(Agent::Codex, &[started("t1"), one, started("t2"), two, more, back(1)]);
    assert_eq!(found.last().unwrap(), "REVERTED from 3");
    assert_eq!(read_one(Agent::Codex, &[back(7)]), [""; 0]);
}

#[test]
fn how_a_command_ended_is_known_in_every_format() {
    let outcome = |output: Value| {
        let text =
            item(json!({"type": "function_call_output", "call_id": "c", "output": output})).to_string();
        match &read_all(&mut Agent::Codex.reader(), &[text.as_bytes()])[..] {
            [TranscriptPiece { what: PieceContent::ToolResult { outcome, .. }, .. }] => *outcome,
            other => unreachable!("{other:?}"),
        }
    };
    let done = [
        "Exit code: 0\nOutput:\nExit code: 1",
        "",
        "it failed: badly",
        r#"{"output":"x","metadata":{"exit_code":0}}"#,
    ];
    done.into_iter().for_each(|output| assert_eq!(outcome(json!(output)), ToolOutcome::Done, "{output}"));
    let failed = [
        "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\n",
        "Exit code: 1\nWall time: 0 seconds\nOutput:\n",
        "apply_patch verification failed: no such file",
        "write_stdin failed: Unknown process id 1",
        "unsupported call: x",
        r#"{"output":"x","metadata":{"exit_code":127,"duration_seconds":0.1}}"#,
    ];
    failed.into_iter().for_each(|output| assert_eq!(outcome(json!(output)), ToolOutcome::Failed, "{output}"));
    assert_eq!(outcome(json!("Wall time: 2.7 seconds\naborted by user")), ToolOutcome::Interrupted);
    assert_eq!(outcome(json!([{"type": "input_text", "text": "Exit code: 9"}])), ToolOutcome::Failed);
}

#[test]
fn a_call_that_an_event_says_has_failed_has_failed() {
    let failed = json!({"type": "McpToolCall", "id": "c", "status": "failed"});
    let output = item(json!({"type": "function_call_output", "call_id": "c", "output": "no words of it"}));
    let found = read_one(Agent::Codex, &[event(json!({"type": "item_completed", "item": failed})), output]);
    assert_eq!(found, ["result 1 Failed: no words of it"]);
}

#[test]
fn an_older_shell_call_is_a_call_like_any_other() {
    let action = json!({"type": "exec", "command": ["ls", "-l"]});
    let call =
        item(json!({"type": "local_shell_call", "call_id": "c", "status": "completed", "action": action}));
    assert_eq!(
        read_one(Agent::Codex, &[call]),
        [r#"call 1 local_shell {"command":["ls","-l"],"type":"exec"}"#]
    );
}
