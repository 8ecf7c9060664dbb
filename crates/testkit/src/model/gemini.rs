//! Gemini's API: parses requests and renders answers in the format of the API.
//!
//! Does not choose the answer: the script does.

use serde_json::{Value, json};

use super::request::{Kind, Turn, any_string};
use super::script::{Call, Step, Usage};
use super::server::{Reply, fresh_id};

/// Prefixes of context that the client sends as a part of a user message.
const CONTEXT_MARKS: [&str; 3] = ["<session_context>", "<hook_context>", "\n--- "];

/// Events have no names on the wire; a gate opens after the first of the model's words.
const EVENT: &str = "part";
const WORDS: &str = "delta";

/// Whether a path calls this API.
pub(super) fn is_called(path: &str) -> bool {
    path.starts_with("/v1beta/models/") && path.contains(":")
}

/// Whether the answer is to be a stream.
pub(super) fn is_streamed(line: &str) -> bool {
    line.contains(":streamGenerateContent")
}

/// The newest user message that holds a prompt, and the number of answers after it.
pub(super) fn newest_turn(body: &Value) -> Turn {
    let contents = items(&body["contents"]);
    let prompts = contents.iter().map(prompt).collect::<Vec<_>>();
    let Some(index) = prompts.iter().rposition(|prompt| !prompt.is_empty()) else {
        return Turn::default();
    };
    let step = contents[index..].iter().filter(|content| content["role"] == "model").count();
    Turn { prompt: prompts[index].clone(), step }
}

/// Requests for a summary and other questions beside the conversation are not streamed.
pub(super) fn kind(line: &str, body: &Value) -> Kind {
    let is_summary = any_string(&body["systemInstruction"], &|text| text.contains("<state_snapshot>"));
    match (is_summary, is_streamed(line)) {
        (true, _) => Kind::Compact,
        (false, true) => Kind::Main,
        (false, false) => Kind::Side,
    }
}

/// The answer, whole and as a stream.
pub(super) fn reply(step: &Step) -> Reply {
    let thought = step.thinking.iter().map(|text| json!({"text": text, "thought": true}));
    let text = step.text.as_deref().unwrap_or_default();
    let calls: Vec<Value> = step.calls.iter().filter_map(call).collect();
    let said = Some(json!({"text": text})).filter(|_| !text.is_empty() || calls.is_empty());
    let parts: Vec<Value> = thought.clone().chain(said).chain(calls.clone()).collect();
    let mut events: Vec<(&'static str, Value)> = thought.map(|part| (EVENT, chunk(&[part]))).collect();
    let words = text.split_inclusive(char::is_whitespace);
    events.extend(words.map(|word| (WORDS, chunk(&[json!({"text": word})]))));
    let last = if calls.is_empty() { vec![json!({"text": ""})] } else { calls };
    events.push((EVENT, ended(chunk(&last), step.usage)));
    Reply { whole: ended(chunk(&parts), step.usage), events }
}

/// The text of a user message without the client's context; empty if it is no prompt.
fn prompt(content: &Value) -> String {
    let is_context = |text: &&str| CONTEXT_MARKS.iter().any(|mark| text.starts_with(mark));
    let texts = items(&content["parts"]).iter().filter_map(|part| part["text"].as_str());
    let typed: Vec<&str> = texts.filter(|text| !is_context(text)).collect();
    if content["role"] == "user" { typed.join("\n") } else { String::new() }
}

fn call(call: &Call) -> Option<Value> {
    let Call::Function { name, input, .. } = call else { return None };
    Some(json!({"functionCall": {"name": name, "args": input, "id": fresh_id("call")}}))
}

fn chunk(parts: &[Value]) -> Value {
    json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}], "modelVersion": "scripted"})
}

fn ended(mut chunk: Value, usage: Usage) -> Value {
    chunk["candidates"][0]["finishReason"] = json!("STOP");
    chunk["usageMetadata"] = json!({
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output + usage.reasoning,
    });
    chunk
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(contents: Value, prompt: &str, step: usize) {
        let turn = newest_turn(&json!({"contents": contents}));
        assert_eq!((turn.prompt.as_str(), turn.step), (prompt, step));
    }

    #[test]
    fn a_prompt_stands_beside_the_clients_context() {
        let first = json!({"role": "user", "parts": [
            {"text": "<session_context>x"}, {"text": "go"}, {"text": "<hook_context>y</hook_context>"},
        ]});
        check(json!([first]), "go", 0);
        let called = json!({"role": "model", "parts": [{"functionCall": {"name": "n"}}]});
        let result = json!({"role": "user", "parts": [{"functionResponse": {"name": "n"}}]});
        check(json!([first, called, result]), "go", 1);
        let after = json!({"role": "user", "parts": [{"functionResponse": {"name": "n"}}, {"text": "next"}]});
        check(json!([first, called, after]), "next", 0);
    }

    #[test]
    fn a_stream_ends_with_the_calls_and_the_usage() {
        let reply = reply(&Step::tool("read_file", json!({"file_path": "a"})).and_text("one two"));
        let words: Vec<&str> = reply.events.iter().map(|(name, _)| *name).collect();
        assert_eq!(words, [WORDS, WORDS, EVENT]);
        let last = &reply.events[2].1;
        assert_eq!(last["candidates"][0]["content"]["parts"][0]["functionCall"]["name"], "read_file");
        assert_eq!(last["usageMetadata"]["totalTokenCount"], 1225);
        assert_eq!(reply.whole["candidates"][0]["content"]["parts"].as_array().unwrap().len(), 2);
    }
}
