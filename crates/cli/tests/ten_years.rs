//! Ten years of use, a quarter at a time: the parts of the data folder with a cap stay below it, the others grow slowly.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;
use towline_testkit::TestEnv;

/// 2026-11-01T12:00:00Z.
const BEGIN: i64 = 1_793_534_400_000;
const QUARTER: i64 = 91 * 86_400_000;
const QUARTERS: i64 = 40;

/// Parts that keep something of each session for good, and how many bytes of these large ones: memories and usage, the
/// session's row, and the words of its memories.
const STAYS: [(&str, u64); 3] = [("archive.db", 100_000), ("towline.db", 5_000), ("index", 45_000)];

/// Short retention, so that everything reaches its cap in the first years.
const CONFIG: &str = "\
[keep]
events_days = 60
journal_mb = 8
prompt_bytes = 100000
[archive]
words_days = 180
details_days = 60
thinking_days = 30
most_mb = 64
";

fn utc(ms: i64) -> String {
    towline_core::time::Timestamp(ms).to_utc()
}

/// A session of ten turns in this quarter, each with a tool call and its output.
fn transcript(env: &TestEnv, quarter: i64, at: i64) -> String {
    let session = format!("quarter-{quarter}");
    let mut lines = String::new();
    let mut say = |number: i64, kind: &str, part: &str, content: serde_json::Value| {
        let id = format!("{kind}-{part}-{quarter}-{number}");
        let message = json!({"id": id, "type": "message", "role": kind, "model": "m", "content": content,
            "usage": {"input_tokens": 10, "output_tokens": 20}});
        let entry = json!({"type": kind, "uuid": id, "sessionId": session, "cwd": "/home/dev/project",
            "timestamp": utc(at + number * 60_000), "isSidechain": false, "message": message});
        lines += &format!("{entry}\n");
    };
    for number in 0..10 {
        let words: String = (0..2_000)
            .map(|word| format!("w{} ", (quarter * 7919 + number * 131 + word * 17) % 99_991))
            .collect();
        let call = format!("call-{quarter}-{number}");
        say(number, "user", "ask", json!(format!("look into part {number} of quarter {quarter}")));
        let run = json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "cargo test"}});
        say(number, "assistant", "run", json!([run]));
        let output = json!({"type": "tool_result", "tool_use_id": call, "content": words});
        say(number, "user", "got", json!([output]));
        let cause = format!(
            "The cause was in src/part_{number}.rs: the lease of quarter {quarter} was too short. {words}"
        );
        say(number, "assistant", "end", json!([{"type": "text", "text": cause}]));
    }
    let folder = env.home().join(".claude/projects/-p");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{session}.jsonl"));
    fs::write(&path, lines).unwrap();
    path.display().to_string()
}

fn live_a_quarter(env: &TestEnv, quarter: i64) {
    let now = BEGIN + quarter * QUARTER;
    env.set_now(now);
    let path = transcript(env, quarter, now - 3_600_000);
    for event in ["UserPromptSubmit", "Stop"] {
        let prompt = format!("{quarter} {}", "a long prompt ".repeat(7_000));
        let payload = json!({"session_id": format!("quarter-{quarter}"), "transcript_path": path, "cwd": "/home/dev/project",
            "hook_event_name": event, "prompt": prompt, "source": "startup", "stop_hook_active": false});
        env.hook("claude", payload.to_string()).ok();
    }
    env.wait_no_process();
    // Agents delete old transcripts; a quarter without a look at the clock would hold deletion back.
    fs::remove_file(path).unwrap();
    env.person(&["data", "work", "--expire"]).ok();
    env.wait_no_process();
}

fn bytes_below(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| bytes_below(&entry.path())).sum()
}

/// The bytes of each part of the data folder, and the number of all its files as `files`.
fn parts(env: &TestEnv) -> BTreeMap<String, u64> {
    fn files(path: &Path) -> u64 {
        let each = |entry: fs::DirEntry| if entry.path().is_dir() { files(&entry.path()) } else { 1 };
        fs::read_dir(path).into_iter().flatten().flatten().map(each).sum()
    }
    let entries = fs::read_dir(env.data_dir()).unwrap().flatten();
    let sized =
        entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), bytes_below(&entry.path())));
    let count = ("files".to_owned(), files(&env.data_dir()));
    sized.chain([count]).collect()
}

#[test]
fn ten_years_of_use_stay_below_every_cap() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let config = env.home().join(".config/towline/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, CONFIG).unwrap();
    let mut sizes: Vec<BTreeMap<String, u64>> = vec![];
    for quarter in 0..QUARTERS {
        live_a_quarter(&env, quarter);
        let now = parts(&env);
        let of = |name: &str| now.get(name).copied().unwrap_or(0);
        assert!(of("journal") <= 12 << 20, "quarter {quarter}: {now:#?}");
        assert!(of("archive.db") + of("archive.db-wal") <= 64 << 20, "quarter {quarter}: {now:#?}");
        assert!(of("towline.db-wal") + of("faults.log") <= 8 << 20, "quarter {quarter}: {now:#?}");
        sizes.push(now);
    }
    let (early, last) = (&sizes[7], sizes.last().unwrap());
    for (part, bytes) in last.iter().filter(|(part, _)| *part != "journal") {
        let before = early.get(part).copied().unwrap_or(0);
        let stays = STAYS.iter().find(|(name, _)| name == part).map_or(0, |(_, bytes)| *bytes);
        let spare = if part == "files" { 8 } else { 65_536 };
        let most = before + before / 4 + spare + stays * (QUARTERS as u64 - 8);
        assert!(
            *bytes <= most,
            "{part} grows without end: {before} bytes after two years, {bytes} after ten"
        );
    }
}
