//! The Responses API: parses requests and renders answers in the format of the API.
//!
//! Does not choose the answer: the script does.

use serde_json::{Value, json};

use super::messages::is_noise;
use super::request::{Kind, Turn};
use super::script::{Call, Step, Usage};
use super::server::{Reply, fresh_id};

/// Prefixes of context that the client sends as a user message.
const CONTEXT_MARKS: [&str; 6] = [
    "<environment_context",
    "<user_instructions",
    "# AGENTS.md",
    "<skill",
    "<turn_aborted",
    "<subagent_notification",
];

/// Placeholder in a tool's input for the id of the subagent spawned last.
const LAST_AGENT: &str = "@LAST_AGENT@";

/// The newest user message that is a prompt, and the number of answers after it.
pub(super) fn newest_turn(body: &Value) -> Turn {
    if let Some(prompt) = body["input"].as_str() {
        return Turn { prompt: prompt.to_owned(), step: 0 };
    }
    let input = items(&body["input"]);
    let Some(index) = input.iter().rposition(is_prompt) else {
        return Turn::default();
    };
    Turn { prompt: text(&input[index]), step: answers(&input[index..]) }
}

/// The purpose of the request, from the client's metadata.
pub(super) fn kind(body: &Value) -> Kind {
    let said = body["client_metadata"]["x-codex-turn-metadata"].as_str().unwrap_or_default();
    let said: Value = serde_json::from_str(said).unwrap_or_default();
    match (said["request_kind"].as_str(), said["thread_source"].as_str()) {
        (Some("compaction"), _) => Kind::Compact,
        (_, Some("thread_title")) => Kind::Title,
        (_, Some("subagent")) => Kind::Subagent,
        (_, _) => Kind::Main,
    }
}

/// The answer, whole and as a stream.
pub(super) fn reply(body: &Value, step: &Step) -> Reply {
    let id = fresh_id("resp");
    let output = output(step, &last_agent(&body["input"]));
    let response = |status, output: &[Value]| {
        let head = json!({"id": id, "object": "response", "status": status});
        merged(head, json!({"model": body["model"], "output": output}))
    };
    let mut whole = response("completed", &output);
    whole["usage"] = usage(step.usage);
    let mut events = vec![("response.created", json!({"response": response("in_progress", &[])}))];
    for (index, item) in output.iter().enumerate() {
        events.extend(streamed(index, item));
    }
    events.push(("response.completed", json!({"response": whole})));
    Reply { whole, events: numbered(events) }
}

fn is_prompt(item: &Value) -> bool {
    let text = text(item);
    let is_context = CONTEXT_MARKS.iter().any(|mark| text.trim_start().starts_with(mark));
    item["role"] == "user" && !is_context && !is_noise(&text)
}

/// Counts answers: the items of one answer are adjacent, and the client's items separate two answers.
fn answers(items: &[Value]) -> usize {
    let ours: Vec<bool> = items.iter().map(is_models).collect();
    ours.windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

fn is_models(item: &Value) -> bool {
    match item["type"].as_str() {
        Some("message") | None => item["role"] == "assistant",
        Some(kind) => !kind.ends_with("_output"),
    }
}

fn text(item: &Value) -> String {
    if let Some(text) = item["content"].as_str() {
        return text.to_owned();
    }
    let parts = items(&item["content"]).iter().filter_map(|part| part["text"].as_str());
    parts.collect::<Vec<_>>().join("\n")
}

fn output(step: &Step, last_agent: &str) -> Vec<Value> {
    let thinking = step.thinking.iter().map(|thinking| {
        let summary = json!([{"type": "summary_text", "text": thinking}]);
        let item = json!({"type": "reasoning", "id": fresh_id("rs"), "summary": summary});
        merged(item, json!({"encrypted_content": "c2NyaXB0"}))
    });
    let text = step.text.iter().map(|text| {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        let item = json!({"type": "message", "id": fresh_id("msg"), "role": "assistant"});
        merged(item, json!({"status": "completed", "content": content}))
    });
    let calls = step.calls.iter().map(|call| call_item(call, last_agent));
    thinking.chain(text).chain(calls).collect()
}

fn call_item(call: &Call, last_agent: &str) -> Value {
    let called = || json!({"call_id": fresh_id("call"), "status": "completed"});
    match call {
        Call::Function { namespace, name, input } => {
            let arguments = input.to_string().replace(LAST_AGENT, last_agent);
            let mut item = json!({"type": "function_call", "id": fresh_id("fc"), "name": name});
            if let Some(namespace) = namespace {
                item["namespace"] = json!(namespace);
            }
            item["arguments"] = json!(arguments);
            merged(item, called())
        }
        Call::Custom { name, input } => {
            let item =
                json!({"type": "custom_tool_call", "id": fresh_id("ctc"), "name": name, "input": input});
            merged(item, called())
        }
        Call::Raw(item) => item.clone(),
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    })
}

/// The item's opening event, the deltas that fill it, and its end.
fn streamed(index: usize, item: &Value) -> Vec<(&'static str, Value)> {
    let mut opened = item.clone();
    let mut deltas = Vec::new();
    let place = |more: Value| merged(json!({"item_id": item["id"], "output_index": index}), more);
    match item["type"].as_str() {
        Some("message") => {
            opened["content"] = json!([]);
            let text = text(item);
            let words = text.split_inclusive(char::is_whitespace);
            deltas.extend(words.map(|word| {
                ("response.output_text.delta", place(json!({"content_index": 0, "delta": word})))
            }));
        }
        Some("reasoning") => {
            opened["summary"] = json!([]);
            deltas.push(("response.reasoning_summary_part.added", place(json!({"summary_index": 0}))));
            let thought = &item["summary"][0]["text"];
            deltas.push((
                "response.reasoning_summary_text.delta",
                place(json!({"summary_index": 0, "delta": thought})),
            ));
        }
        _ => {}
    }
    let mut events = vec![("response.output_item.added", json!({"output_index": index, "item": opened}))];
    events.extend(deltas);
    events.push(("response.output_item.done", json!({"output_index": index, "item": item})));
    events
}

fn merged(mut base: Value, more: Value) -> Value {
    if let (Some(base), Value::Object(more)) = (base.as_object_mut(), more) {
        base.extend(more);
    }
    base
}

fn numbered(events: Vec<(&'static str, Value)>) -> Vec<(&'static str, Value)> {
    let number = |(index, (name, data)): (usize, (&'static str, Value))| {
        (name, merged(data, json!({"type": name, "sequence_number": index})))
    };
    events.into_iter().enumerate().map(number).collect()
}

/// The id in the newest output of a tool that spawned a subagent: JSON within a string within JSON.
fn last_agent(input: &Value) -> String {
    let outputs = items(input).iter().rev().filter_map(|item| item["output"].as_str());
    let spawned = outputs.filter_map(|output| serde_json::from_str::<Value>(output).ok());
    let mut ids = spawned.filter_map(|output| output["agent_id"].as_str().map(str::to_owned));
    ids.next().unwrap_or_else(|| "none".to_owned())
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: Value, prompt: &str, step: usize) {
        let turn = newest_turn(&json!({"input": input}));
        assert_eq!((turn.prompt.as_str(), turn.step), (prompt, step));
    }

    #[test]
    fn two_tools_of_one_answer_are_one_step() {
        check(
            json!([
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
                {"type": "message", "role": "developer", "content": "context of a hook"},
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "call_id": "1"},
                {"type": "custom_tool_call", "call_id": "2"},
                {"type": "function_call_output", "call_id": "1", "output": "a"},
                {"type": "custom_tool_call_output", "call_id": "2", "output": "b"},
            ]),
            "go",
            1,
        );
    }

    #[test]
    fn context_of_the_client_is_no_prompt() {
        check(
            json!([
                {"role": "user", "content": "go"},
                {"role": "user", "content": "<environment_context>here</environment_context>"},
                {"role": "user", "content": "<system-reminder>\nand this\n</system-reminder>\n"},
            ]),
            "go",
            0,
        );
    }

    #[test]
    fn the_subagent_spawned_last_is_known_by_its_id() {
        let input = json!([
            {"type": "function_call_output", "output": "{\"agent_id\":\"first\"}"},
            {"type": "function_call_output", "output": "{\"agent_id\":\"second\"}"},
            {"type": "function_call_output", "output": "plain"},
        ]);
        let step = Step::tool("wait_agent", json!({"targets": [LAST_AGENT]}));
        let reply = reply(&json!({"input": input}), &step);
        assert_eq!(reply.whole["output"][0]["arguments"], r#"{"targets":["second"]}"#);
    }
}
