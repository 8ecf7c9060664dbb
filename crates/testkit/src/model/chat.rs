//! Chat completions: parses requests and renders answers in the format of the API.
//!
//! Does not choose the answer: the script does. Answers whole, never as a stream.

use serde_json::{Value, json};

use super::request::Turn;
use super::script::Step;
use super::server::{Reply, fresh_id};

/// The newest user message, and the number of answers after it.
pub(super) fn newest_turn(body: &Value) -> Turn {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let Some(at) = messages.iter().rposition(|message| message["role"] == "user") else {
        return Turn::default();
    };
    let step = messages[at..].iter().filter(|message| message["role"] == "assistant").count();
    Turn { prompt: messages[at]["content"].as_str().unwrap_or_default().to_owned(), step }
}

pub(super) fn reply(body: &Value, step: &Step) -> Reply {
    let reason = step.stop_reason.as_deref().unwrap_or("stop");
    let message = json!({"role": "assistant", "content": step.text});
    let whole = json!({
        "id": fresh_id("chatcmpl"),
        "object": "chat.completion",
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": step.usage.input,
            "completion_tokens": step.usage.output,
            "total_tokens": step.usage.input + step.usage.output,
        },
    });
    Reply { whole, events: vec![] }
}
