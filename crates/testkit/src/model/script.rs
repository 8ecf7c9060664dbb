//! What the model shall answer, as data: rules with steps.
//!
//! Holds no state of a conversation: the step to give is counted from the request.

use serde_json::{Value, json};

use super::gate::Gate;
use super::request::{Kind, Request};

/// In a text it becomes the id of the handoff that the prompt asks for.
pub const HANDOFF_ID: &str = "@HANDOFF_ID@";

/// Rules in order; the first that fits wins.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub(super) rules: Vec<Rule>,
}

/// Which prompt it is for, and the answers in order. Past its end the last answer is repeated.
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

/// A tool that the model wants to use.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Function {
        namespace: Option<String>,
        name: String,
        input: Value,
    },
    /// Free text instead of JSON; the Responses API alone has it.
    Custom {
        name: String,
        input: String,
    },
    /// An item of the Responses API, sent as it is.
    Raw(Value),
}

/// An answer that is an HTTP error.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) message: String,
}

/// Token counts, each as the API itself reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Messages: what was neither read from nor written to the cache. Responses: all of the input.
    pub input: u64,
    /// What the model wrote.
    pub output: u64,
    /// What came from the cache.
    pub cache_read: u64,
    /// What went into the cache. Messages API alone.
    pub cache_write: u64,
    /// How much of the output was reasoning. Responses API alone.
    pub reasoning: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 1200, output: 25, cache_read: 0, cache_write: 0, reasoning: 0 }
    }
}

impl Script {
    /// The answer to this request: the step of the first rule that fits, else what a model would say unscripted.
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
    /// A rule for prompts that hold `needle`, of a main conversation or a subagent.
    ///
    /// Other requests quote the prompt too (a title is asked for with it), hence need [`Rule::of`].
    pub fn when(needle: impl Into<String>) -> Self {
        Self { needle: needle.into(), kinds: vec![Kind::Main, Kind::Subagent], steps: Vec::new() }
    }

    /// Narrows the rule to requests of this kind.
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
    /// Says this.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    /// Wants to use a tool.
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::default().and_tool(name, input)
    }

    /// Wants to use a tool that takes free text, such as `apply_patch`. Responses API alone.
    pub fn custom_tool(name: impl Into<String>, input: impl Into<String>) -> Self {
        Self::default().and_call(Call::Custom { name: name.into(), input: input.into() })
    }

    /// Answers with an HTTP error instead.
    pub fn error(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { fault: Some(Fault { status, kind: kind.into(), message: message.into() }), ..Self::default() }
    }

    /// Answers well, with this body in the place of what the API would say.
    pub fn garbage(body: impl Into<String>) -> Self {
        Self { body: Some(body.into()), ..Self::default() }
    }

    /// Says this before any tool.
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Wants to use one more tool. `@LAST_AGENT@` in a string becomes the id of the subagent spawned last.
    pub fn and_tool(self, name: impl Into<String>, input: Value) -> Self {
        self.and_call(Call::Function { namespace: None, name: name.into(), input })
    }

    /// Wants to use a tool of a namespace, such as one of an MCP server. Responses API alone.
    pub fn and_tool_of(self, namespace: &str, name: &str, input: Value) -> Self {
        self.and_call(Call::Function { namespace: Some(namespace.to_owned()), name: name.to_owned(), input })
    }

    /// Adds an output item as it is. Responses API alone.
    pub fn and_item(self, item: Value) -> Self {
        self.and_call(Call::Raw(item))
    }

    /// Thinks this first.
    pub fn thinking(mut self, thinking: impl Into<String>) -> Self {
        self.thinking = Some(thinking.into());
        self
    }

    /// Reports these token counts.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Stops for this reason, such as `max_tokens`. Messages API alone.
    pub fn stops_for(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// Adds an HTTP header, such as a rate limit.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends nothing before the gate is open.
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
    // However it is quoted.
    let mut runs = rest.split(|c| !is_digit(c));
    runs.find(|run| run.len() == 8).unwrap_or_default()
}

/// What each kind of request needs for the client to go on.
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

/// The end of a long prompt is enough to know it by.
fn echo(prompt: &str) -> Step {
    let prompt = prompt.trim();
    let start = prompt.char_indices().rev().nth(79).map_or(0, |(index, _)| index);
    Step::text(format!("echo: {}", &prompt[start..]))
}
