//! Providers with OpenAI's chat completions API: OpenAI, OpenRouter, Mistral, Ollama, vLLM and others.
//!
//! An endpoint that rejects the schema is asked once more without it, since the prompt says the same.

use super::http::{Wire, answer, mend};
use super::{AskError, ModelAnswer, Provider};
use crate::memory::model::request::Request;
use serde_json::{Value, json};
use towline_agents::ask::{prose, short};

pub struct OpenAi(pub Wire);

/// Whether the request contains the schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaUse {
    Given,
    InWordsOnly,
}

impl Provider for OpenAi {
    fn name(&self) -> &str {
        "openai"
    }

    fn model(&self) -> &str {
        &self.0.model
    }

    fn adds_tokens(&self) -> u64 {
        60
    }

    fn ask(&self, request: &Request) -> ModelAnswer {
        match self.completed(request, SchemaUse::Given) {
            // A rejected request costs nothing.
            Err(AskError::Invalid(said)) if knows_no_schema(&said) => {
                self.completed(request, SchemaUse::InWordsOnly).unwrap_or_else(ModelAnswer::none)
            }
            other => other.unwrap_or_else(ModelAnswer::none),
        }
    }

    fn mend(&self, cause: &str) -> String {
        mend(cause)
    }
}

impl OpenAi {
    fn completed(&self, request: &Request, schema: SchemaUse) -> Result<ModelAnswer, AskError> {
        let headers = |key: Option<&str>| {
            key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
        };
        let completion = self.0.post("/chat/completions", &headers, &self.body(request, schema))?;
        let choice = &completion["choices"][0];
        Ok(answer(said(choice), &completion["usage"], [&["prompt_tokens"], &["completion_tokens"]]))
    }

    fn body(&self, request: &Request, schema: SchemaUse) -> Value {
        let mut body = json!({
            "model": self.0.model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.digest.text},
            ],
        });
        // OpenAI's own models accept only the new name, most others only the old one.
        let is_vendors = self.0.base_url.contains("api.openai.com");
        let limit = if is_vendors { "max_completion_tokens" } else { "max_tokens" };
        body[limit] = json!(request.most_output);
        if schema == SchemaUse::Given {
            let schema = json!({"name": "memories", "strict": true, "schema": request.schema});
            body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
        }
        body
    }
}

fn knows_no_schema(said: &str) -> bool {
    ["response_format", "json_schema", "schema"].iter().any(|word| said.contains(word))
}

fn said(choice: &Value) -> Result<String, AskError> {
    let message = &choice["message"];
    let content = message["content"].as_str().unwrap_or_default();
    match (message["refusal"].as_str(), choice["finish_reason"].as_str()) {
        (Some(refusal), _) if !refusal.is_empty() => Err(AskError::Refused(short(refusal))),
        (_, Some("content_filter")) => Err(AskError::Refused(short(content))),
        (_, Some("length")) => Err(AskError::Invalid("it was cut at its end".to_owned())),
        _ if content.trim().is_empty() => Err(prose("")),
        _ => Ok(content.to_owned()),
    }
}
