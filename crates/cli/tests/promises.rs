//! What is promised of the whole program and belongs to none of its parts: nothing stays, nothing listens, nothing is left in
//! the user's repository.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use towline_testkit::TestEnv;

/// So many sessions, one after the other, each with a prompt, a tool and an answer.
const SESSIONS: u32 = 20;

/// A repository in which agents work, with everything on that writes.
fn worked() -> (TestEnv, String) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let repository = env.project().display().to_string();
    env.git(&["init", "--quiet", &repository]);
    fs::write(env.project().join("mast.rs"), "fn mast() {}\n").unwrap();
    env.git(&["-C", &repository, "add", "."]);
    let person = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    env.git(&[&["-C", &repository], &person[..], &["commit", "--quiet", "-m", "first"]].concat());
    for number in 0..SESSIONS {
        session(&env, number);
    }
    for arguments in [
        &["remember", "--pin", "the mast is oak"][..],
        &["bookmark", "--session", "00000001", "here"],
        &["work"],
        &["search", "mast"],
        &["context"],
        &["doctor"],
    ] {
        let run = env.tow(arguments);
        assert!(matches!(run.status.code(), Some(0 | 1)), "{run:?}");
    }
    (env, repository)
}

fn session(env: &TestEnv, number: u32) {
    let id = format!("77777777-aaaa-4000-8000-0000{number:08}");
    let transcript = env.home().join(format!(".claude/projects/-project/{id}.jsonl"));
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let entry = |role: &str, content: serde_json::Value| {
        let message =
            json!({"role": role, "id": format!("m-{role}-{number}"), "model": "m", "content": content});
        json!({
            "type": role, "uuid": format!("{role}-{number}"), "sessionId": id, "cwd": env.project(),
            "timestamp": "2026-11-15T11:00:00.000Z", "isSidechain": false, "message": message,
        })
    };
    let answer = "It leans because frame 3 was cut.";
    let said = json!([{"type": "text", "text": answer}]);
    let lines = [entry("user", json!("why does the mast lean?")), entry("assistant", said)];
    fs::write(&transcript, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    for (event, key, value) in [
        ("SessionStart", "source", "startup"),
        ("UserPromptSubmit", "prompt", "why does the mast lean?"),
        ("PostToolUse", "tool_name", "Bash"),
        ("Stop", "last_assistant_message", answer),
        ("SessionEnd", "reason", "other"),
    ] {
        let payload = json!({
            "hook_event_name": event, "session_id": id, "cwd": env.project(), "transcript_path": transcript,
            key: value,
        });
        env.hook("claude", payload.to_string()).ok();
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let each = entries.map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> =
        each.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    all.sort();
    all
}

#[test]
fn after_twenty_sessions_nothing_runs_and_nothing_is_in_the_repository_or_the_agents_list() {
    let (env, repository) = worked();
    env.wait_no_process();
    assert_eq!(env.git(&["-C", &repository, "status", "--porcelain", "--ignored"]), "");
    let listed = files(&env.home().join(".claude"));
    assert_eq!(listed.len(), usize::try_from(SESSIONS).unwrap(), "{listed:?}");
    assert!(!env.home().join(".codex").exists());
}

#[test]
fn a_server_of_tools_listens_nowhere() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let mut command = env.command(env.root().join("bin/tow"));
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    std::io::Write::write_all(&mut stdin, format!("{greeting}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut lines, &mut answer).unwrap();
    assert!(answer.contains("towline"), "{answer}");
    let open = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
    let open: Vec<PathBuf> = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok()).collect();
    let sockets: Vec<_> = open.iter().filter(|path| path.to_string_lossy().starts_with("socket:")).collect();
    assert!(!open.is_empty() && sockets.is_empty(), "{open:?}");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// A repository with a commit, and a remote if one is named.
fn repository(env: &TestEnv, folder: &Path, remote: Option<&str>) {
    fs::create_dir_all(folder).unwrap();
    let path = folder.display().to_string();
    env.git(&["init", "--quiet", &path]);
    let person = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    env.git(&[&["-C", &path], &person[..], &["commit", "--quiet", "--allow-empty", "-m", "first"]].concat());
    if let Some(remote) = remote {
        env.git(&["-C", &path, "remote", "add", "origin", remote]);
    }
}

#[test]
fn a_repository_is_one_project_wherever_it_lies_and_namesakes_are_others() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let (base, root) = (env.project(), env.root().to_owned());
    repository(&env, &base, Some("https://example.org/team/boat.git"));
    fs::create_dir_all(base.join("src/deep")).unwrap();
    let tree = root.join("tree").display().to_string();
    env.git(&["-C", &base.display().to_string(), "worktree", "add", "--quiet", &tree, "-b", "other"]);
    repository(&env, &root.join("clone"), Some("git@example.org:team/boat.git"));
    repository(&env, &root.join("renamed"), Some("ssh://git@example.org/team/boat"));
    repository(&env, &root.join("else/project"), None);
    repository(&env, &root.join("fork"), Some("https://example.org/you/boat.git"));
    repository(&env, &base.join("vendor"), Some("https://example.org/team/vendor.git"));
    fs::create_dir_all(root.join("plain")).unwrap();
    env.tow(&["remember", "the mast is oak"]).ok();
    let knows = |folder: &Path| {
        let asked = ["memories", "--json", "--project", &folder.display().to_string()];
        let found = env.tow(&asked).ok().json();
        found["memories"].as_array().unwrap().len() == 1
    };
    for (folder, expected) in [
        (base.clone(), true),
        (base.join("src/deep"), true),
        (root.join("tree"), true),
        (root.join("clone"), true),
        (root.join("renamed"), true),
        (root.join("else/project"), false),
        (root.join("fork"), false),
        (base.join("vendor"), false),
        (root.join("plain"), false),
    ] {
        assert_eq!(knows(&folder), expected, "{}", folder.display());
    }
    let moved = root.join("moved");
    fs::rename(root.join("clone"), &moved).unwrap();
    assert!(knows(&moved));
}
