//! What the model was asked: one request, as the log keeps it.
//!
//! Never keeps a credential: headers that carry one are dropped before they get here.

use std::collections::BTreeMap;

use serde_json::Value;

/// Which of the APIs was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `POST /v1/messages`.
    Messages,
    /// `POST /v1/responses`.
    Responses,
    /// `POST /v1/chat/completions`.
    Chat,
    /// Anything else, such as a probe with HEAD.
    Other,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A turn of the conversation that a person has.
    Main,
    /// A turn of a subagent.
    Subagent,
    /// The summary that replaces a full context.
    Compact,
    /// A title for the conversation.
    Title,
    /// The judgement of a hook of type `prompt`.
    HookPrompt,
    /// The work of a hook of type `agent`.
    HookAgent,
    /// A question beside the conversation, without tools.
    Side,
    /// Only the tokens are to be counted.
    CountTokens,
    /// Not a question to a model.
    Other,
}

/// One logged request.
#[derive(Debug, Clone)]
pub struct Request {
    /// The API that was called.
    pub api: Api,
    /// What it was for.
    pub kind: Kind,
    /// The newest thing that was really said to the model.
    pub prompt: String,
    /// How many answers the model has given since that prompt.
    pub step: usize,
    /// Method and path, such as `POST /v1/messages?beta=true`.
    pub line: String,
    /// The headers by lower-case name, without credentials.
    pub headers: BTreeMap<String, String>,
    /// The body, null where there was none.
    pub body: Value,
}

/// The newest turn of a conversation, as an API's reader found it.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    pub(super) prompt: String,
    pub(super) step: usize,
}

impl Request {
    /// Whether any string of the body holds `needle`.
    pub fn holds(&self, needle: &str) -> bool {
        any_string(&self.body, &|text| text.contains(needle))
    }

    /// How many messages or items of the body hold `needle`.
    pub fn count(&self, needle: &str) -> usize {
        let list = ["messages", "input"].iter().find_map(|name| self.body[*name].as_array());
        let holds = |item: &&Value| any_string(item, &|text| text.contains(needle));
        list.map_or(0, |items| items.iter().filter(holds).count())
    }
}

/// Whether any string in the value fits. Over strings, not over the JSON text: there, quotes are escaped.
pub(super) fn any_string(value: &Value, fits: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => fits(text),
        Value::Array(items) => items.iter().any(|item| any_string(item, fits)),
        Value::Object(fields) => fields.values().any(|field| any_string(field, fits)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
