//! The Messages API: parses requests and renders answers in the format of the API.
//!
//! Does not choose the answer: the script does.

use serde_json::{Value, json};

use super::http::Received;
use super::request::{Kind, Turn};
use super::script::{Call, Step, Usage};
use super::server::{Reply, fresh_id};

/// Phrases of the client's request for a summary, in all tested versions.
const COMPACT_MARKS: [&str; 2] =
    ["create a detailed summary of the conversation", "CRITICAL: Respond with TEXT ONLY"];

/// Tags of context that the client puts into a user message, in place of a prompt or beside it.
const NOISE_TAGS: [&str; 4] =
    ["system-reminder", "local-command-stdout", "local-command-stderr", "local-command-caveat"];

/// The user message that the client sends after the model has searched for tools.
const TOOLS_FOUND: &str = "Tool loaded.";

/// Text is streamed in chunks of this many characters.
const CHUNK_CHARS: usize = 12;

/// The newest user text that is a prompt, and the number of answers after it.
pub(super) fn newest_turn(body: &Value) -> Turn {
    let mut step = 0;
    for message in items(&body["messages"]).iter().rev() {
        if message["role"] == "assistant" {
            step += 1;
        }
        let mut real = texts(&message["content"]).into_iter().filter(|text| !is_noise(text));
        // Text beside tool results is newer than the results, and the last text is the newest.
        match real.next_back() {
            Some(prompt) if message["role"] == "user" => return Turn { prompt, step },
            Some(_) | None => {}
        }
    }
    Turn { prompt: String::new(), step }
}

/// The purpose of the request, recognised by marks that the client leaves.
pub(super) fn kind(received: &Received, body: &Value, prompt: &str) -> Kind {
    let system = texts(&body["system"]).join("\n").to_lowercase();
    let start: String = system.chars().take(3000).collect();
    let has_tool = |name: &str| items(&body["tools"]).iter().any(|tool| tool["name"] == name);
    if received.path().ends_with("/count_tokens") {
        Kind::CountTokens
    } else if COMPACT_MARKS.iter().any(|mark| prompt.contains(mark)) {
        Kind::Compact
    } else if has_tool("StructuredOutput") {
        Kind::HookAgent
    } else if start.contains("hook") && start.contains("evaluat") {
        Kind::HookPrompt
    } else if body["output_config"]["format"].is_object() {
        Kind::Title
    } else if received.headers.contains_key("x-claude-code-agent-id") {
        Kind::Subagent
    } else if items(&body["tools"]).is_empty() {
        Kind::Side
    } else {
        Kind::Main
    }
}

/// The answer, whole and as a stream.
pub(super) fn reply(body: &Value, step: &Step) -> Reply {
    let whole = message(body, step);
    let events = events(&whole);
    Reply { whole, events }
}

/// An estimate is enough: about four bytes per token.
pub(super) fn token_count(body: &Value) -> Value {
    json!({"input_tokens": body.to_string().len() / 4})
}

fn message(body: &Value, step: &Step) -> Value {
    let usual_reason = if step.calls.is_empty() { "end_turn" } else { "tool_use" };
    json!({
        "id": fresh_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": blocks(step),
        "stop_reason": step.stop_reason.as_deref().unwrap_or(usual_reason),
        "stop_sequence": null,
        "usage": usage(step.usage),
    })
}

fn blocks(step: &Step) -> Vec<Value> {
    let thinking = step
        .thinking
        .iter()
        .map(|thinking| json!({"type": "thinking", "thinking": thinking, "signature": "c2NyaXB0"}));
    let text = step.text.iter().map(|text| json!({"type": "text", "text": text}));
    let calls = step.calls.iter().filter_map(tool_use);
    thinking.chain(text).chain(calls).collect()
}

fn tool_use(call: &Call) -> Option<Value> {
    match call {
        Call::Function { name, input, .. } => {
            Some(json!({"type": "tool_use", "id": fresh_id("toolu"), "name": name, "input": input}))
        }
        Call::Custom { .. } | Call::Raw(_) => None,
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
    })
}

fn events(message: &Value) -> Vec<(&'static str, Value)> {
    let mut events = vec![typed("message_start", json!({"message": empty(message)}))];
    for (index, block) in items(&message["content"]).iter().enumerate() {
        let (opened, deltas) = streamed(block);
        events.push(typed("content_block_start", json!({"index": index, "content_block": opened})));
        let delta = |delta| typed("content_block_delta", json!({"index": index, "delta": delta}));
        events.extend(deltas.into_iter().map(delta));
        events.push(typed("content_block_stop", json!({"index": index})));
    }
    let stop = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    events.push(typed("message_delta", json!({"delta": stop, "usage": message["usage"]})));
    events.push(typed("message_stop", json!({})));
    events
}

fn typed(name: &'static str, mut data: Value) -> (&'static str, Value) {
    data["type"] = json!(name);
    (name, data)
}

/// The message as it starts, without content.
fn empty(message: &Value) -> Value {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    start
}

/// The block's opening event, and the deltas that fill it.
fn streamed(block: &Value) -> (Value, Vec<Value>) {
    let mut opened = block.clone();
    match block["type"].as_str() {
        Some("text") => {
            opened["text"] = json!("");
            let text = block["text"].as_str().unwrap_or_default();
            let delta = |part| json!({"type": "text_delta", "text": part});
            (opened, chunks(text).into_iter().map(delta).collect())
        }
        Some("thinking") => {
            opened["thinking"] = json!("");
            opened["signature"] = json!("");
            let thinking = json!({"type": "thinking_delta", "thinking": block["thinking"]});
            (opened, vec![thinking, json!({"type": "signature_delta", "signature": block["signature"]})])
        }
        _ => {
            opened["input"] = json!({});
            let input = block["input"].to_string();
            (opened, vec![json!({"type": "input_json_delta", "partial_json": input})])
        }
    }
}

fn chunks(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(CHUNK_CHARS).map(|part| part.iter().collect()).collect()
}

/// All texts of a content, which is a string or a list of blocks.
fn texts(content: &Value) -> Vec<String> {
    if let Some(text) = content.as_str() {
        return vec![text.to_owned()];
    }
    let texts = items(content).iter().filter(|block| block["type"] == "text");
    texts.filter_map(|block| block["text"].as_str().map(str::to_owned)).collect()
}

/// Whether the text is only client context, or a command that the client ran itself, such as `/clear`.
pub(super) fn is_noise(text: &str) -> bool {
    let rest = NOISE_TAGS.iter().fold(text.to_owned(), |rest, tag| without_tag(&rest, tag));
    let rest = rest.trim();
    rest.is_empty() || rest == TOOLS_FOUND || rest.starts_with("<command-name>")
}

fn without_tag(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = text.to_owned();
    while let Some(start) = rest.find(&open) {
        let Some(length) = rest[start..].find(&close) else {
            break;
        };
        rest.replace_range(start..start + length + close.len(), "");
    }
    rest
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(messages: Value, prompt: &str, step: usize) {
        let turn = newest_turn(&json!({"messages": messages}));
        assert_eq!((turn.prompt.as_str(), turn.step), (prompt, step));
    }

    #[test]
    fn tool_rounds_after_the_prompt_are_counted() {
        check(
            json!([
                {"role": "user", "content": "older"},
                {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
                {"role": "user", "content": [{"type": "text", "text": "newer"}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1"}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "out"}]},
            ]),
            "newer",
            1,
        );
    }

    #[test]
    fn context_of_the_client_is_no_prompt() {
        let two_tags = "<system-reminder>b</system-reminder> <system-reminder>c</system-reminder>";
        check(
            json!([
                {"role": "user", "content": [
                    {"type": "text", "text": "<system-reminder>a</system-reminder>"},
                    {"type": "text", "text": "<command-name>/clear</command-name>"},
                    {"type": "text", "text": "real"},
                    {"type": "text", "text": two_tags},
                ]},
                {"role": "system", "content": "hook additional context"},
            ]),
            "real",
            0,
        );
    }

    #[test]
    fn tools_that_were_found_are_no_prompt() {
        check(
            json!([
                {"role": "user", "content": "first"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1"}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "1"},
                    {"type": "text", "text": "Tool loaded."},
                ]},
            ]),
            "first",
            1,
        );
    }

    #[test]
    fn text_beside_a_tool_result_is_the_newer_prompt() {
        check(
            json!([
                {"role": "user", "content": "first"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1"}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "1"},
                    {"type": "text", "text": "steer"},
                ]},
            ]),
            "steer",
            0,
        );
    }
}
