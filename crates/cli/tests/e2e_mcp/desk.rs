//! A real client without a person before it, the scripted model behind it, and what the model was told by our tools.
//!
//! Judges nothing: what is right is said by the scenes.

use serde_json::{Value, json};
use towline_testkit::{Claude, Codex, Daemon, Model, Request, Rule, Run, Step, TestEnv};

pub const CODEX: Codex = Codex::V0_166_0;

/// One of the real clients.
#[derive(Clone, Copy, Debug)]
pub enum Client {
    Claude(Claude),
    Codex,
}

/// How the client came to our tools: decides what they are called there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Settings,
    Plugin,
}

pub struct Desk {
    pub env: TestEnv,
    pub model: Model,
}

impl Client {
    pub fn agent(self) -> &'static str {
        match self {
            Client::Claude(_) => "claude",
            Client::Codex => "codex",
        }
    }

    /// A home in which the client shows no dialog and runs our tools unasked, as a person allows it.
    pub fn seed(self, desk: &Desk, way: Way) {
        match self {
            Client::Claude(claude) => {
                claude.seed(&desk.env);
                let server = self.prefix(way).trim_end_matches("__").to_owned();
                Claude::edit_settings(&desk.env, |settings| {
                    settings["permissions"]["allow"].as_array_mut().unwrap().push(server.into());
                });
            }
            Client::Codex => CODEX.seed(&desk.env, &desk.model, Daemon::Off),
        }
    }

    /// Registers everything, and trusts it.
    pub fn install(self, desk: &Desk) {
        self.seed(desk, Way::Settings);
        desk.env.tow(&["install", "--agent", self.agent()]).ok();
        if let Client::Codex = self {
            CODEX.trust_hooks(&desk.env);
        }
    }

    /// The model's wish to use one of our tools.
    pub fn call(self, way: Way, tool: &str, input: Value) -> Step {
        match self {
            Client::Claude(_) => Step::tool(format!("{}{tool}", self.prefix(way)), input),
            Client::Codex => Step::default().and_tool_of("mcp__towline", tool, input),
        }
    }

    /// The model's wish to run a line of shell.
    pub fn shell(self, line: &str) -> Step {
        match self {
            Client::Claude(_) => Step::tool("Bash", json!({"command": line, "description": "look"})),
            Client::Codex => Step::tool("exec_command", json!({"cmd": line, "yield_time_ms": 30_000})),
        }
    }

    /// What the model must do first where the client hides tools behind a search.
    pub fn finding_tools(self, way: Way) -> Vec<Step> {
        match self {
            Client::Claude(Claude::V2_1_197) => vec![],
            Client::Claude(_) => {
                let names = ["search", "timeline", "get", "remember", "forget"];
                let names = names.map(|tool| format!("{}{tool}", self.prefix(way)));
                let query = format!("select:{}", names.join(","));
                vec![Step::tool("ToolSearch", json!({"query": query, "max_results": 9}))]
            }
            Client::Codex => vec![Step::default().and_item(json!({
                "type": "tool_search_call",
                "call_id": "call_finding_tools",
                "status": "completed",
                "execution": "client",
                "arguments": {"query": "search past memories, timeline, get, remember, forget", "limit": 8},
            }))],
        }
    }

    /// Runs a command of the client itself, such as those on plugins.
    #[track_caller]
    pub fn run(self, desk: &Desk, arguments: &[&str]) -> Run {
        let mut command = match self {
            Client::Claude(claude) => claude.command(&desk.env, &desk.model),
            Client::Codex => CODEX.command(&desk.env),
        };
        Run::of(command.args(arguments), b"")
    }

    fn prefix(self, way: Way) -> &'static str {
        match way {
            Way::Settings => "mcp__towline__",
            Way::Plugin => "mcp__plugin_towline_towline__",
        }
    }
}

impl Desk {
    pub fn new() -> Desk {
        Desk { env: TestEnv::new(env!("CARGO_BIN_EXE_tow")), model: Model::echo() }
    }

    /// One turn without a person: the model does these things, then says `done`. Gives the last request.
    #[track_caller]
    pub fn ask(&self, client: Client, prompt: &str, steps: Vec<Step>) -> Request {
        let count = steps.len();
        self.model.add(steps.into_iter().fold(Rule::when(prompt), Rule::then).then(Step::text("all done")));
        match client {
            Client::Claude(claude) => claude.headless(&self.env, &self.model, prompt, &[]).ok(),
            Client::Codex => CODEX.headless(&self.env, prompt, &[]).ok(),
        };
        self.model.wait_request(prompt, |request| request.prompt.contains(prompt) && request.step == count)
    }

    /// Keeps a memory by the command line, and gives its id.
    #[track_caller]
    pub fn remember(&self, text: &str) -> String {
        let kept = self.env.tow(&["remember", "--json", text]).ok().json();
        kept["id"].as_str().unwrap().to_owned()
    }
}

/// What our tools answered, oldest first.
pub fn answers(request: &Request) -> Vec<String> {
    let list = ["messages", "input"].iter().find_map(|name| request.body[*name].as_array());
    let results = list.into_iter().flatten().flat_map(results);
    results.map(|result| text(&result)).filter(|text| text.contains("<towline-context>")).collect()
}

fn results(item: &Value) -> Vec<Value> {
    if item["type"] == "function_call_output" {
        return vec![item["output"].clone()];
    }
    let parts = item["content"].as_array().into_iter().flatten();
    parts.filter(|part| part["type"] == "tool_result").map(|part| part["content"].clone()).collect()
}

/// Plain, in parts, or as JSON in a string.
fn text(result: &Value) -> String {
    match result {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner) if inner.is_object() || inner.is_array() => self::text(&inner),
            Ok(_) | Err(_) => text.clone(),
        },
        Value::Array(parts) => parts.iter().map(text).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            fields.get("text").or_else(|| fields.get("content")).map(text).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
