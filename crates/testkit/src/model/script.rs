//! The model's answers as data: rules with steps.
//!
//! Holds no state of a conversation: the step is counted from the request.

use serde_json::{Value, json};

use super::gate::Gate;
use super::request::{Kind, Request};

/// Placeholder in a text for the id of the handoff that the prompt asks for.
pub const HANDOFF_ID: &str = "@HANDOFF_ID@";

/// Rules in order; the first match wins.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub(super) rules: Vec<Rule>,
}

/// A prompt pattern, and its answers in order. After the last one, that answer is repeated.
#[derive(Debug, Clone)]
pub struct Rule {
    needle: String,
    kinds: Vec<Kind>,
    steps: Vec<Step>,
}

/// One answer of the model.
#[derive(Debug, Clone, Default)]
pub struct Step {
    pub(super) thinking: Option<String>,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Usage,
    pub(super) stop_reason: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) fault: Option<Fault>,
    pub(super) body: Option<String>,
    pub(super) before: Option<Gate>,
    pub(super) after_first_chunk: Option<Gate>,
}

/// A tool call of the model.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Function {
        namespace: Option<String>,
        name: String,
        input: Value,
    },
    /// Free text instead of JSON; only in the Responses API.
    Custom {
        name: String,
        input: String,
    },
    /// An item of the Responses API, sent verbatim.
    Raw(Value),
}

/// An HTTP error as the answer.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) message: String,
}

/// Token counts, with the meaning that each API gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Messages: input neither read from nor written to the cache. Responses: all input.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache. Messages API only.
    pub cache_write: u64,
    /// The part of the output that was reasoning. Responses API only.
    pub reasoning: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 1200, output: 25, cache_read: 0, cache_write: 0, reasoning: 0 }
    }
}

impl Script {
    /// The answer to this request: the step of the first matching rule, else the unscripted default.
    pub(super) fn answer(&self, asked: &Request) -> Step {
        let rule = self.rules.iter().find(|rule| rule.fits(asked));
        let steps = rule.map_or_else(|| unscripted(asked), |rule| rule.steps.clone());
        let last = steps.len().saturating_sub(1);
        let mut step = steps.into_iter().nth(asked.step.min(last)).unwrap_or_default();
        step.text = step.text.map(|text| text.replace(HANDOFF_ID, handoff_id(&asked.prompt)));
        step
    }

    pub(super) fn gates(&self) -> impl Iterator<Item = &Gate> {
        let steps = self.rules.iter().flat_map(|rule| &rule.steps);
        steps.flat_map(|step| step.before.iter().chain(&step.after_first_chunk))
    }
}

impl<const N: usize> From<[Rule; N]> for Script {
    fn from(rules: [Rule; N]) -> Self {
        Self { rules: rules.into() }
    }
}

impl From<Vec<Rule>> for Script {
    fn from(rules: Vec<Rule>) -> Self {
        Self { rules }
    }
}

impl Rule {
    /// A rule for prompts that contain `needle`, in a main conversation or a subagent.
    ///
    /// Other requests, such as the one for a title, quote the prompt too and need [`Rule::of`].
    pub fn when(needle: impl Into<String>) -> Self {
        Self { needle: needle.into(), kinds: vec![Kind::Main, Kind::Subagent], steps: Vec::new() }
    }

    /// Restricts the rule to requests of this kind.
    pub fn of(mut self, kind: Kind) -> Self {
        self.kinds = vec![kind];
        self
    }

    /// Adds the next answer.
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    fn fits(&self, asked: &Request) -> bool {
        self.kinds.contains(&asked.kind) && asked.prompt.contains(&self.needle)
    }
}

impl Step {
    /// Answers with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    /// Calls a tool.
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::default().and_tool(name, input)
    }

    /// Calls a tool that takes free text, such as `apply_patch`. Responses API only.
    pub fn custom_tool(name: impl Into<String>, input: impl Into<String>) -> Self {
        Self::default().and_call(Call::Custom { name: name.into(), input: input.into() })
    }

    /// Answers with an HTTP error instead.
    pub fn error(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { fault: Some(Fault { status, kind: kind.into(), message: message.into() }), ..Self::default() }
    }

    /// Answers with status 200 and this body instead of a valid one.
    pub fn garbage(body: impl Into<String>) -> Self {
        Self { body: Some(body.into()), ..Self::default() }
    }

    /// Adds text before any tool call.
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Adds a tool call. `@LAST_AGENT@` in a string becomes the id of the subagent spawned last.
    pub fn and_tool(self, name: impl Into<String>, input: Value) -> Self {
        self.and_call(Call::Function { namespace: None, name: name.into(), input })
    }

    /// Adds a call of a namespaced tool, such as one of an MCP server. Responses API only.
    pub fn and_tool_of(self, namespace: &str, name: &str, input: Value) -> Self {
        self.and_call(Call::Function { namespace: Some(namespace.to_owned()), name: name.to_owned(), input })
    }

    /// Adds an output item verbatim. Responses API only.
    pub fn and_item(self, item: Value) -> Self {
        self.and_call(Call::Raw(item))
    }

    /// Adds thinking before the text.
    pub fn thinking(mut self, thinking: impl Into<String>) -> Self {
        self.thinking = Some(thinking.into());
        self
    }

    /// Reports these token counts.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets the stop reason, such as `max_tokens`. Messages API only.
    pub fn stops_for(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// Adds an HTTP header, such as one for a rate limit.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends nothing until the gate is open.
    pub fn behind(mut self, gate: &Gate) -> Self {
        self.before = Some(gate.clone());
        self
    }

    /// Sends the first chunk, and the rest once the gate is open.
    pub fn pausing_at(mut self, gate: &Gate) -> Self {
        self.after_first_chunk = Some(gate.clone());
        self
    }

    fn and_call(mut self, call: Call) -> Self {
        self.calls.push(call);
        self
    }
}

fn handoff_id(prompt: &str) -> &str {
    let rest = prompt.split("handoff id=").nth(1).unwrap_or_default();
    let is_digit = |c: char| c.is_ascii_hexdigit();
    // In any quoting.
    let mut runs = rest.split(|c| !is_digit(c));
    runs.find(|run| run.len() == 8).unwrap_or_default()
}

/// The default answer to each kind of request, with which the client can continue.
fn unscripted(asked: &Request) -> Vec<Step> {
    match asked.kind {
        Kind::Compact => vec![Step::text("<analysis>scripted</analysis><summary>SCRIPTED-SUMMARY</summary>")],
        Kind::Title => vec![Step::text(r#"{"title": "Scripted title"}"#)],
        Kind::HookPrompt => vec![Step::text(r#"{"ok": true}"#)],
        Kind::HookAgent => vec![Step::tool("StructuredOutput", json!({"ok": true})), Step::text("ok")],
        Kind::Main | Kind::Subagent | Kind::Side | Kind::CountTokens | Kind::Other => {
            vec![echo(&asked.prompt)]
        }
    }
}

/// Echoes the end of the prompt, which is enough to recognise it.
fn echo(prompt: &str) -> Step {
    let prompt = prompt.trim();
    let start = prompt.char_indices().rev().nth(79).map_or(0, |(index, _)| index);
    Step::text(format!("echo: {}", &prompt[start..]))
}
