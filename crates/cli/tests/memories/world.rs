//! An environment with one captured session in its project, and a hand in its archive.

use serde_json::{Value, json};
use std::fs;
use std::time::Duration;
use towline_core::id::Uid;
use towline_core::time::Timestamp;
use towline_store::DataFolder;
use towline_store::archive::Archive;
use towline_store::lock::ArchiveLock;
use towline_testkit::{Run, TestEnv};

/// Sunday, 15 November 2026, 12:00 in universal time.
pub const NOON: i64 = 1_794_744_000_000;
pub const MINUTE: i64 = 60_000;
pub const SESSION: &str = "11111111-aaaa-4000-8000-00001a2b3c4d";
pub const SHORT: &str = "1a2b3c4d";

/// Nothing was captured and nothing told.
pub fn empty() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("TZ", "UTC");
    env.set_now(NOON);
    env
}

/// With a session of two turns, an hour and half an hour before noon.
pub fn world() -> TestEnv {
    let env = empty();
    session(&env, SESSION, &[("11:00:00", "Paint the mast."), ("11:30:00", "Now the boom.")]);
    env.tow(&["import"]).ok();
    env
}

pub fn session(env: &TestEnv, id: &str, prompts: &[(&str, &str)]) {
    let entry = |(at, kind, part): (&str, &str, usize), message: Value| {
        json!({
            "type": kind, "uuid": format!("{kind}-{part}-{id}"), "sessionId": id, "cwd": env.project(),
            "timestamp": format!("2026-11-15T{at}.000Z"), "isSidechain": false, "message": message,
        })
    };
    let mut text = String::new();
    for (part, (at, prompt)) in prompts.iter().enumerate() {
        let asked = json!({"role": "user", "content": prompt});
        let answer = json!({
            "role": "assistant", "id": format!("m{part}"), "model": "model", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": format!("Done with: {prompt}")}],
            "usage": {"input_tokens": 5, "output_tokens": 7},
        });
        for line in [entry((at, "user", part), asked), entry((at, "assistant", part), answer)] {
            text += &format!("{line}\n");
        }
    }
    let path = env.home().join(format!(".claude/projects/-project/{id}.jsonl"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Says something to be remembered, and gives what it is called.
#[track_caller]
pub fn remember(env: &TestEnv, arguments: &[&str]) -> String {
    let all: Vec<&str> = ["remember", "--json"].iter().chain(arguments).copied().collect();
    env.tow(&all).ok().json()["id"].as_str().unwrap().to_owned()
}

/// The same with the text on standard input.
#[track_caller]
pub fn with_input(env: &TestEnv, arguments: &[&str], input: &[u8]) -> Run {
    env.person_with_input(arguments, input)
}

#[track_caller]
pub fn memory(env: &TestEnv, id: &str) -> Value {
    env.tow(&["show", id, "--json"]).ok().json()["memory"].clone()
}

#[track_caller]
pub fn listed(env: &TestEnv, more: &[&str]) -> Vec<String> {
    let all: Vec<&str> = ["memories", "--json"].iter().chain(more).copied().collect();
    let found = env.tow(&all).ok().json();
    let ids = found["memories"].as_array().unwrap().iter();
    ids.map(|memory| memory["id"].as_str().unwrap().to_owned()).collect()
}

/// The archive, to do what no verb does.
pub fn with_archive<T>(env: &TestEnv, act: impl FnOnce(&Archive) -> T) -> T {
    let home = DataFolder::at(env.data_dir());
    home.create().unwrap();
    // Somebody whom nobody waits for may be at it still.
    let pauses = std::iter::repeat_n(Duration::from_millis(20), 500);
    let lock = ArchiveLock::take_within(&home, pauses).unwrap().unwrap();
    act(&Archive::open(&home, &lock, Duration::from_secs(2), Uid([7; 16])).unwrap())
}

pub fn hold_back(env: &TestEnv, id: &str, reason: &str) {
    let number = id[1..].parse().unwrap();
    with_archive(env, |archive| archive.quarantine_memory(number, Some(reason), Timestamp(NOON)).unwrap());
}

/// Every byte of the data folder, for who looks for a word.
pub fn holds(env: &TestEnv, word: &str) -> bool {
    let files = fs::read_dir(env.data_dir()).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.is_file())
        .any(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).contains(word))
}
