//! What a live session wrote a moment ago is there when somebody looks.

use crate::world::{NOON, claude, empty, small};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use towline_testkit::TestEnv;

const ID: &str = "1a2b3c4d-0000-4000-8000-00001a2b3c4d";

fn hook(env: &TestEnv, event: &str, transcript: &Path) {
    let payload = serde_json::json!({
        "hook_event_name": event, "session_id": ID, "cwd": env.project(), "transcript_path": transcript,
        "source": "startup", "prompt": "go",
    });
    env.hook("claude", payload.to_string()).ok();
    env.wait_no_process();
}

#[test]
fn what_a_live_session_has_written_is_taken_in_before_it_is_looked_for() {
    let env = empty();
    let text = small(&env, (ID, "2026-11-15T11:58:00.000Z"), "the first thing", "done");
    let transcript = claude(&env, ID, &text);
    hook(&env, "SessionStart", &transcript);
    hook(&env, "UserPromptSubmit", &transcript);
    env.tow(&["detail", "11:58"]).ok().prints("the first thing");
    let more = small(&env, (ID, "2026-11-15T11:59:00.000Z"), "the second thing", "done")
        .replace("0000-4000-8000-1a2b", "0000-4000-8001-1a2b");
    File::options().append(true).open(&transcript).unwrap().write_all(more.as_bytes()).unwrap();
    env.tow(&["turns"]).ok().prints("the second thing");
    env.tow(&["sessions", "--json"]).ok().prints("\"turns\":2");
}

#[test]
fn nothing_is_taken_in_while_the_settings_cannot_be_understood_but_what_is_there_is_shown() {
    let env = empty();
    let transcript =
        claude(&env, ID, &small(&env, (ID, "2026-11-15T11:58:00.000Z"), "the first thing", "done"));
    env.tow(&["import"]).ok();
    hook(&env, "SessionStart", &transcript);
    let config = env.home().join(".config/towline");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[privacy\n").unwrap();
    let more = small(&env, (ID, "2026-11-15T11:59:00.000Z"), "the second thing", "done");
    File::options().append(true).open(&transcript).unwrap().write_all(more.as_bytes()).unwrap();
    let shown = env.tow(&["detail", "11:58-11:59"]).ok().prints("the first thing").stdout;
    assert!(
        !shown.contains("the second thing") && shown.contains("not everything is captured yet"),
        "{shown}"
    );
}

#[test]
fn a_session_that_ended_long_ago_is_not_read_again() {
    let env = empty();
    let transcript =
        claude(&env, ID, &small(&env, (ID, "2026-11-15T11:58:00.000Z"), "the first thing", "done"));
    hook(&env, "SessionStart", &transcript);
    hook(&env, "SessionEnd", &transcript);
    let archive = env.data_dir().join("archive.db");
    // Whatever the end of a session captured by itself is taken away: only the look is to be seen here.
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(archive.with_file_name(format!("archive.db{suffix}")));
    }
    env.set_now(NOON + 2 * 3_600_000);
    env.tow(&["turns"]).ok().prints("nothing was captured yet");
    env.set_now(NOON + 600_000);
    env.tow(&["turns"]).ok().prints("the first thing");
}
