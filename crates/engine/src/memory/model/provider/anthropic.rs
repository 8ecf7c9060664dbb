//! The Messages API as a provider: the answer is a call of the only tool it is offered.
//!
//! The key goes only into its own header.

use super::http::{Wire, answer, mend};
use super::{AskError, ModelAnswer, Provider};
use crate::memory::model::request::Request;
use serde_json::{Value, json};
use towline_agents::ask::{prose, short};

const VERSION: &str = "2023-06-01";
const TOOL: &str = "remember";

pub struct Anthropic(pub Wire);

impl Provider for Anthropic {
    fn name(&self) -> &str {
        "anthropic"
    }

    fn model(&self) -> &str {
        &self.0.model
    }

    /// The overhead of tool use beyond the schema.
    fn adds_tokens(&self) -> u64 {
        340
    }

    fn ask(&self, request: &Request) -> ModelAnswer {
        let headers = |key: Option<&str>| {
            let key = key.map(|key| ("x-api-key", key.to_owned()));
            key.into_iter().chain([("anthropic-version", VERSION.to_owned())]).collect()
        };
        match self.0.post("/v1/messages", &headers, &self.body(request)) {
            Err(why) => ModelAnswer::none(why),
            Ok(message) => {
                let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
                answer(said(&message), &message["usage"], [&input, &["output_tokens"]])
            }
        }
    }

    fn mend(&self, cause: &str) -> String {
        mend(cause)
    }
}

impl Anthropic {
    fn body(&self, request: &Request) -> Value {
        json!({
            "model": self.0.model,
            "max_tokens": request.most_output,
            "system": request.system,
            "messages": [{"role": "user", "content": request.digest.text}],
            "tools": [{"name": TOOL, "description": "Keeps the answer.", "input_schema": request.schema}],
            "tool_choice": {"type": "tool", "name": TOOL},
        })
    }
}

fn said(message: &Value) -> Result<String, AskError> {
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    match (message["stop_reason"].as_str(), blocks.iter().find(|block| block["type"] == "tool_use")) {
        (Some("refusal"), _) => Err(AskError::Refused(short(&texts.join(" ")))),
        (Some("max_tokens"), _) => Err(AskError::Invalid("it was cut at its end".to_owned())),
        (_, Some(call)) => Ok(call["input"].to_string()),
        (_, None) => Err(prose(&texts.join(" "))),
    }
}
