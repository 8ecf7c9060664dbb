//! One request in the model's log.
//!
//! Never contains a credential: headers that carry one are dropped before they get here.

use std::collections::BTreeMap;

use serde_json::Value;

/// The API that was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `POST /v1/messages`.
    Messages,
    /// `POST /v1/responses`.
    Responses,
    /// `POST /v1/chat/completions`.
    Chat,
    /// `POST /v1beta/models/MODEL:streamGenerateContent` and `:generateContent`.
    Gemini,
    /// Any other request, such as a HEAD probe.
    Other,
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A turn of the user's conversation.
    Main,
    /// A turn of a subagent.
    Subagent,
    /// The summary that replaces a full context.
    Compact,
    /// A title for the conversation.
    Title,
    /// The verdict of a hook of type `prompt`.
    HookPrompt,
    /// A turn of a hook of type `agent`.
    HookAgent,
    /// A question outside the conversation, without tools.
    Side,
    /// A token count only.
    CountTokens,
    /// Not a request to a model.
    Other,
}

/// One logged request.
#[derive(Debug, Clone)]
pub struct Request {
    /// The API that was called.
    pub api: Api,
    /// The purpose of the request.
    pub kind: Kind,
    /// The newest real prompt, without the client's own context.
    pub prompt: String,
    /// The number of answers that the model has given since that prompt.
    pub step: usize,
    /// Method and path, such as `POST /v1/messages?beta=true`.
    pub line: String,
    /// The headers by lower-case name, without credentials.
    pub headers: BTreeMap<String, String>,
    /// The body; null if there was none.
    pub body: Value,
}

/// The newest turn of a conversation, as the API's parser found it.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    pub(super) prompt: String,
    pub(super) step: usize,
}

impl Request {
    /// Whether any string of the body contains `needle`.
    pub fn holds(&self, needle: &str) -> bool {
        any_string(&self.body, &|text| text.contains(needle))
    }

    /// The number of messages or items in the body that contain `needle`.
    pub fn count(&self, needle: &str) -> usize {
        let list = ["messages", "input", "contents"].iter().find_map(|name| self.body[*name].as_array());
        let holds = |item: &&Value| any_string(item, &|text| text.contains(needle));
        list.map_or(0, |items| items.iter().filter(holds).count())
    }
}

/// Whether any string in the value matches. Not a search of the JSON text, in which quotes are escaped.
pub(super) fn any_string(value: &Value, fits: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => fits(text),
        Value::Array(items) => items.iter().any(|item| any_string(item, fits)),
        Value::Object(fields) => fields.values().any(|field| any_string(field, fits)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
