//! An environment with a captured session in it, a scripted model, and a configuration that names it.

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use towline_core::memory::Memory;
use towline_core::text::{clip, clip_start};
use towline_store::archive::{MemoryFilter, MemoryQuery};
use towline_store::{Archive, DataFolder};
use towline_testkit::{Model, Rule, Step, TestEnv};

pub const SESSION: &str = "0c9f6b2e-4d7a-4b1c-9e57-3f0a1a2b3c4d";
/// 15 November 2026, 12:00 in universal time.
pub const NOON: i64 = 1_794_744_000_000;
pub const MINUTE: i64 = 60_000;

pub fn env() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("TZ", "UTC");
    env.set_now(NOON);
    env
}

/// What each turn is known by.
pub fn mark(turn: u32) -> String {
    format!("TURN-{turn}.")
}

/// A session of so many turns, taken in.
pub fn captured(env: &TestEnv, turns: u32) {
    let path = transcript(env, turns);
    env.tow(&["capture", "--at-once", "claude", &path.display().to_string()]).ok();
}

pub fn transcript(env: &TestEnv, turns: u32) -> PathBuf {
    let entries = (1..=turns).flat_map(|turn| entries(env, turn));
    let text: String = entries.map(|entry| format!("{entry}\n")).collect();
    let path = env.home().join("transcript.jsonl");
    fs::write(&path, text).unwrap();
    path
}

fn entries(env: &TestEnv, turn: u32) -> [Value; 4] {
    let entry = |role: &str, step: u32, content: Value| {
        let (minute, second) = (turn / 15, turn % 15 * 4 + step);
        json!({
            "type": role, "uuid": format!("{turn}-{step}"), "sessionId": SESSION, "cwd": env.project(),
            "timestamp": format!("2026-11-15T11:{minute:02}:{second:02}.000Z"), "isSidechain": false,
            "message": {"id": format!("msg_{turn}_{step}"), "role": role, "model": "m", "content": content,
                "usage": {"input_tokens": 900, "output_tokens": 100}},
        })
    };
    let call = json!([{"type": "tool_use", "id": format!("call_{turn}"), "name": "Bash",
        "input": {"command": format!("make mast-{turn}")}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": format!("call_{turn}"),
        "content": format!("mast {turn} is 3 degrees off\n{}", "rivet holds\n".repeat(200))}]);
    [
        entry("user", 0, json!(format!("Why does the mast lean? {}", mark(turn)))),
        entry("assistant", 1, call),
        entry("user", 2, result),
        entry(
            "assistant",
            3,
            json!([{"type": "text", "text": format!("Frame {turn} was cut; it stands again.")}]),
        ),
    ]
}

/// Turns of twenty commands each, with as much text in prompts, outputs and answers as this project's documents have.
pub fn long_transcript(env: &TestEnv, turns: u32) -> PathBuf {
    let text =
        [include_str!("../../../../ARCHITECTURE.md"), include_str!("../../../../docs/getting-back.md")]
            .concat();
    let piece = |at: u32, bytes: usize| {
        let from = usize::try_from(at).unwrap() * 611 % (text.len() - bytes - 4);
        clip(clip_start(&text, text.len() - from), bytes).to_owned()
    };
    let mut lines = String::new();
    for turn in 1..=turns {
        let [prompt, call, result, answer] = entries(env, turn);
        let words = |mut entry: Value, content: Value| {
            entry["message"]["content"] = content;
            entry
        };
        lines += &format!("{}\n", words(prompt, json!(format!("{} {}", mark(turn), piece(turn, 3000)))));
        for step in 0..20 {
            let id = format!("call_{turn}_{step}");
            let command = json!({"command": piece(turn + step, 120)});
            let mut asked = words(
                call.clone(),
                json!([{"type": "tool_use", "id": id, "name": "Bash", "input": command}]),
            );
            let mut given = words(
                result.clone(),
                json!([{"type": "tool_result", "tool_use_id": id, "content": piece(step, 6000)}]),
            );
            (asked["uuid"], given["uuid"]) = (json!(format!("{id}-a")), json!(format!("{id}-b")));
            lines += &format!("{asked}\n{given}\n");
        }
        lines += &format!("{}\n", words(answer, json!([{"type": "text", "text": piece(turn * 7, 2500)}])));
    }
    let path = env.home().join("long.jsonl");
    fs::write(&path, lines).unwrap();
    path
}

/// Names the model in the user's configuration.
pub fn configure(env: &TestEnv, lines: &str) {
    let folder = env.home().join(".config/towline");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), format!("[distil]\n{lines}\n")).unwrap();
}

pub fn by_chat(env: &TestEnv, url: &str) {
    let lines = format!(
        "provider = 'openai'\nmodel = 'small'\nbase_url = '{url}/v1'\nkey_env = 'SMALL_KEY'\ndaily_tokens = 100000000"
    );
    configure(env, &lines);
    env.set("SMALL_KEY", "not-a-secret");
}

/// What a model says of a turn.
pub fn words(title: &str) -> Value {
    json!({"memories": [{
        "type": "discovery", "title": title, "subtitle": "", "facts": ["it was cut"], "narrative": "",
        "concepts": [], "files": [],
    }], "summary": {"request": "why it leans", "investigated": "", "learned": title, "completed": "", "next_steps": ""}})
}

/// A model that has something to say of each turn.
pub fn model(turns: u32) -> Model {
    let rule = |turn| Rule::when(mark(turn)).then(Step::text(words(&learnt(turn)).to_string()));
    Model::start((1..=turns).map(rule).collect::<Vec<_>>())
}

pub fn learnt(turn: u32) -> String {
    format!("learnt in {}", mark(turn))
}

pub fn archive(env: &TestEnv) -> Archive {
    Archive::read(&DataFolder::at(env.data_dir()), Duration::from_secs(20))
        .unwrap()
        .expect("something was captured")
}

pub fn memories(env: &TestEnv) -> Vec<Memory> {
    let asked = MemoryQuery { only: MemoryFilter::Standing, limit: 10_000, ..MemoryQuery::default() };
    archive(env).memories(&asked).unwrap()
}

/// The titles of what the model said and stands, in order.
pub fn titles(env: &TestEnv) -> Vec<String> {
    let mut titles: Vec<String> = memories(env)
        .iter()
        .map(|memory| memory.content.title.clone())
        .filter(|title| title.starts_with("learnt"))
        .collect();
    titles.sort();
    titles
}

pub fn all_learnt(turns: u32) -> Vec<String> {
    let mut titles: Vec<String> = (1..=turns).map(learnt).collect();
    titles.sort();
    titles
}

pub fn jobs(env: &TestEnv) -> Value {
    serde_json::from_str(&env.tow(&["jobs", "--json"]).ok().stdout).unwrap()
}

/// What a session that starts in front of a person says.
pub fn said_at_start(env: &TestEnv, session: &str) -> String {
    let payload = json!({
        "hook_event_name": "SessionStart", "session_id": session, "cwd": env.project(), "source": "startup",
    });
    let said = env.hook("claude", payload.to_string()).ok().stdout;
    let said: Value = serde_json::from_str(&said).unwrap_or_default();
    said["systemMessage"].as_str().unwrap_or_default().to_owned()
}
