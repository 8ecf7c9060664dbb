//! A hook command that only records its input: shows which events a client fires.
//!
//! Must not answer, so that the client behaves as without it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::claude::Claude;
use crate::env::TestEnv;
use crate::wait;

/// The lock keeps payloads larger than one write whole, and all files in step. The transcript sizes are read
/// before anything is recorded, because transcripts may grow meanwhile.
const SCRIPT: &str = r#"#!/bin/sh
payload=$(cat)
exec 9>>"$1.lock"; flock 9
sizes=$(find "$HOME/.claude/projects" "$HOME/.codex/sessions" -name '*.jsonl' -printf '%s %p;' 2>/dev/null)
printf '%s %s\n' "$(date +%s%3N)" "$sizes" >>"$1.moments"
printf '%s\n' "$TMUX_PANE" >>"$1.panes"; printf '%s\n' "$payload" >>"$1"
"#;

/// Known to both Claude versions. The two worktree events are left out: a hook on them replaces git.
const CLAUDE_EVENTS: [&str; 17] = [
    "Notification",
    "PermissionRequest",
    "PostCompact",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "UserPromptSubmit",
];

/// All but the two around every model request.
const CODEX_EVENTS: [&str; 12] = [
    "Interrupt",
    "PermissionRequest",
    "PostCompact",
    "PostToolUse",
    "PreCompact",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "UserPromptSubmit",
];

/// One run of a hook, and the size of the transcripts at that time.
#[derive(Debug, Clone)]
pub struct Moment {
    pub at_ms: i64,
    /// The size of each transcript, in bytes.
    pub written: BTreeMap<PathBuf, usize>,
    pub payload: Value,
}

/// The recorder of one environment.
#[derive(Debug)]
pub struct Recorder {
    log: PathBuf,
}

impl Recorder {
    /// Registers the recorder for every event in Claude's settings, which must be seeded.
    #[track_caller]
    pub fn for_claude(env: &TestEnv) -> Self {
        let (recorder, hooks) = Self::prepared(env, &CLAUDE_EVENTS);
        Claude::edit_settings(env, |settings| settings["hooks"] = hooks);
        recorder
    }

    /// Registers the recorder for every event in Codex's `hooks.json`. The test must trust the hooks.
    #[track_caller]
    pub fn for_codex(env: &TestEnv) -> Self {
        let (recorder, hooks) = Self::prepared(env, &CODEX_EVENTS);
        let path = env.home().join(".codex/hooks.json");
        fs::write(path, json!({"hooks": hooks}).to_string()).expect("the home is seeded");
        recorder
    }

    /// All payloads so far, oldest first.
    #[track_caller]
    pub fn payloads(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        // A line without a newline is still being written.
        text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(parse).collect()
    }

    /// The names of the events so far, with `:` and the variant if there is one.
    #[track_caller]
    pub fn names(&self) -> Vec<String> {
        self.payloads().iter().map(name).collect()
    }

    /// The `TMUX_PANE` of each hook, in the order of the payloads: not always the pane of its session.
    pub fn panes(&self) -> Vec<String> {
        let text = fs::read_to_string(self.log.with_extension("jsonl.panes")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The payloads with their times.
    #[track_caller]
    pub fn moments(&self) -> Vec<Moment> {
        let text = fs::read_to_string(self.log.with_extension("jsonl.moments")).unwrap_or_default();
        text.lines().zip(self.payloads()).map(|(line, payload)| moment(line, payload)).collect()
    }

    /// Waits for the `count`th event of this name (as in [`Recorder::names`]) and returns its payload.
    #[track_caller]
    pub fn wait(&self, event: &str, count: usize) -> Value {
        wait::until_evident(&format!("{event} number {count}"), wait::PATIENCE, || {
            let payloads = self.payloads();
            let found = payloads.iter().filter(|payload| name(payload) == event).nth(count - 1);
            found.cloned().ok_or_else(|| self.names().join("\n"))
        })
    }

    fn prepared(env: &TestEnv, events: &[&str]) -> (Self, Value) {
        let script = env.script("record", SCRIPT);
        let log = env.root().join("recorded.jsonl");
        let command = format!("{} {}", script.display(), log.display());
        let entry = json!([{"hooks": [{"type": "command", "command": command, "timeout": 3}]}]);
        let hooks = events.iter().map(|event| ((*event).to_owned(), entry.clone())).collect();
        (Self { log }, Value::Object(hooks))
    }
}

#[track_caller]
fn moment(line: &str, payload: Value) -> Moment {
    let (at, sizes) = line.split_once(' ').expect("a time stands first");
    let written = sizes.split(';').filter_map(|entry| entry.split_once(' '));
    let written = written.map(|(size, path)| (PathBuf::from(path), size.parse().expect("a size")));
    Moment { at_ms: at.parse().expect("milliseconds"), written: written.collect(), payload }
}

fn name(payload: &Value) -> String {
    let event = payload["hook_event_name"].as_str().unwrap_or("?");
    let detail = ["source", "reason", "trigger"].iter().find_map(|field| payload[*field].as_str());
    detail.map_or_else(|| event.to_owned(), |detail| format!("{event}:{detail}"))
}
