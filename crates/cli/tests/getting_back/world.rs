//! An environment with the agents' recorded transcripts in it, taken in by `tow data import`.

use std::fs;
use std::path::{Path, PathBuf};
use towline_testkit::TestEnv;

/// Sunday, 15 November 2026, 12:00 in universal time: the recorded sessions are of that morning.
pub const NOON: i64 = 1_794_744_000_000;
pub const DAY: i64 = 86_400_000;

/// The sessions that are there, by what they are called.
pub const HEADLESS: &str = "894a0f50";
pub const WORDS: &str = "3d256398";
pub const CODEX: &str = "000c141a";

const FOLDER_OF_RECORDING: &str = "/home/dev/project";

/// Two sessions of one agent and one of the other, all in the project of the environment.
pub fn world() -> TestEnv {
    let env = empty();
    let headless = "cc06f37d-ba7c-4eae-9315-4088894a0f50";
    claude(&env, headless, &recorded(&env, "claude-2.1.325-headless"));
    let helper = format!("{headless}/subagents/agent-af464e38c8c9a6889");
    claude(&env, &helper, &recorded(&env, "claude-2.1.325-headless-subagent"));
    claude(&env, "9688aa26-d77e-4b60-9250-d3853d256398", &recorded(&env, "claude-2.1.325-words"));
    let rollout = "rollout-2026-11-15T06-36-03-01a1ddeb-8a16-7ea0-8ee2-2bca000c141a";
    codex(&env, rollout, &recorded(&env, "codex-0.166.0-words"));
    env.tow(&["import"]).ok();
    env
}

/// The same without anything captured.
pub fn empty() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("TZ", "UTC");
    env.set_now(NOON);
    env
}

/// A recorded conversation, as if it had been held in the project of the environment.
pub fn recorded(env: &TestEnv, name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts");
    let text = fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap();
    text.replace(FOLDER_OF_RECORDING, &env.project().display().to_string())
}

pub fn claude(env: &TestEnv, name: &str, text: &str) -> PathBuf {
    put(env.home().join(format!(".claude/projects/-project/{name}.jsonl")), text)
}

pub fn codex(env: &TestEnv, name: &str, text: &str) -> PathBuf {
    put(env.home().join(format!(".codex/sessions/2026/11/15/{name}.jsonl")), text)
}

fn put(path: PathBuf, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// A conversation of one prompt and one answer.
pub fn small(env: &TestEnv, (id, at): (&str, &str), person: &str, agent: &str) -> String {
    let folder = env.project();
    let entry = |uuid: &str, kind: &str, message: serde_json::Value| {
        let line = serde_json::json!({
            "type": kind, "uuid": format!("{uuid}-{id}"), "sessionId": id, "timestamp": at, "cwd": folder,
            "isSidechain": false, "message": message,
        });
        format!("{line}\n")
    };
    let answer = serde_json::json!({
        "role": "assistant", "id": "m1", "model": "model", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": agent}],
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 50, "output_tokens": 7},
    });
    let prompt = serde_json::json!({"role": "user", "content": person});
    entry("a0000000-0000-4000-8000", "user", prompt) + &entry("b0000000-0000-4000-8000", "assistant", answer)
}

/// What was printed, without the folder that is another in each run.
pub fn shown(env: &TestEnv, arguments: &[&str]) -> String {
    env.tow(arguments).ok().stdout.replace(&env.root().display().to_string(), "ROOT")
}
