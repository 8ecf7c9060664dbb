//! Chat completions: parses requests and renders answers in the format of the API.
//!
//! Does not choose the answer: the script does.

use serde_json::{Value, json};

use super::messages::is_noise;
use super::request::{Kind, Turn};
use super::script::{Call, Step, Usage};
use super::server::{Reply, fresh_id};

/// Prompts that clients send on their own, beside the conversation.
const OWN_PROMPTS: [&str; 1] = ["[SUGGESTION MODE"];

/// The newest user message, and the number of answers after it.
pub(super) fn newest_turn(body: &Value) -> Turn {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let is_prompt = |message: &Value| message["role"] == "user" && !is_noise(&text(&message["content"]));
    let Some(at) = messages.iter().rposition(is_prompt) else {
        return Turn::default();
    };
    let step = messages[at..].iter().filter(|message| message["role"] == "assistant").count();
    Turn { prompt: text(&messages[at]["content"]), step }
}

/// A streamed request without tools is no turn of a conversation: clients ask so for titles.
pub(super) fn kind(body: &Value, prompt: &str) -> Kind {
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let is_own = OWN_PROMPTS.iter().any(|own| prompt.contains(own));
    if is_own || (body["stream"] == json!(true) && !has_tools) { Kind::Side } else { Kind::Main }
}

/// The answer, whole and as a stream.
pub(super) fn reply(body: &Value, step: &Step) -> Reply {
    let calls: Vec<Value> = step.calls.iter().enumerate().filter_map(tool_call).collect();
    let usual = if calls.is_empty() { "stop" } else { "tool_calls" };
    let reason = step.stop_reason.as_deref().unwrap_or(usual);
    let id = fresh_id("chatcmpl");
    let answer = |object: &str, choice: Value| json!({"id": id, "object": object, "created": 0, "model": body["model"], "choices": [choice]});
    let mut message = json!({"role": "assistant", "content": step.text});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    let mut whole = answer("chat.completion", choice);
    whole["usage"] = usage(step.usage);

    let chunk = |delta: Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        answer("chat.completion.chunk", choice)
    };
    let mut events = vec![("start", chunk(json!({"role": "assistant", "content": ""}), None))];
    let words = step.text.iter().flat_map(|text| text.split_inclusive(char::is_whitespace));
    events.extend(words.map(|word| ("delta", chunk(json!({"content": word}), None))));
    events.extend(calls.iter().map(|call| ("call", chunk(json!({"tool_calls": [call]}), None))));
    events.push(("end", chunk(json!({}), Some(reason))));
    let mut last = answer("chat.completion.chunk", json!(null));
    last["choices"] = json!([]);
    last["usage"] = usage(step.usage);
    events.push(("usage", last));
    Reply { whole, events }
}

fn tool_call((index, call): (usize, &Call)) -> Option<Value> {
    let Call::Function { name, input, .. } = call else { return None };
    let function = json!({"name": name, "arguments": input.to_string()});
    Some(json!({"index": index, "id": fresh_id("call"), "type": "function", "function": function}))
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    })
}

/// The text of a message, whole or in parts.
fn text(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    parts.collect::<Vec<_>>().join("\n")
}
