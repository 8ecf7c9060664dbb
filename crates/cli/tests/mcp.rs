//! Tools of models: they read the project they work in, and change what agents made there, reversibly.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use towline_testkit::{McpClient, TestEnv};

/// A project, and another one with a memory and a session of its own.
fn desk() -> (TestEnv, PathBuf) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let other = folder(&env, "elsewhere/harbour");
    env.person(&["remember", "--project", &other.display().to_string(), "The harbour code is 4711"]).ok();
    (env, other)
}

/// A folder with a repository of its own.
fn folder(env: &TestEnv, name: &str) -> PathBuf {
    let folder = env.root().join(name);
    fs::create_dir_all(&folder).unwrap();
    env.git(&["init", "--quiet", &folder.display().to_string()]);
    folder
}

#[track_caller]
fn memory(env: &TestEnv, id: &str) -> Value {
    env.unattended(&["show", id, "--json"]).ok().json()["memory"].clone()
}

/// A session with one turn as its agent records it, imported: a question, and what the agent does about it.
fn session(env: &TestEnv, folder: &Path, id: &str, done: Value) {
    let cwd = folder.display().to_string();
    let line = |uuid: &str, parent: Value, kind: &str, content: Value| {
        json!({
            "parentUuid": parent, "sessionId": id, "cwd": cwd, "version": "2.1.325", "type": kind, "uuid": uuid,
            "timestamp": "2026-11-15T10:00:00.000Z", "isSidechain": false, "userType": "external",
            "message": {"role": kind, "content": content},
        })
        .to_string()
    };
    let text = [
        line("u1", Value::Null, "user", json!("where is the secret quillon")),
        line("a1", json!("u1"), "assistant", json!([done])),
    ];
    let path = transcript(env, id);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text.join("\n") + "\n").unwrap();
    env.unattended(&["import"]).ok();
}

fn transcript(env: &TestEnv, id: &str) -> PathBuf {
    env.home().join(format!(".claude/projects/-harbour/{id}.jsonl"))
}

#[test]
fn models_read_only_their_own_project_until_the_user_allows_more() {
    let (env, other) = desk();
    let answer = json!({"type": "text", "text": "The quillon is below deck."});
    session(&env, &other, "11111111-aaaa-4000-8000-0000aaaaaaaa", answer);
    let session = "aaaaaaaa";
    env.person(&["remember", "The mast is oak"]).ok();
    let turn = format!("{session}#1");
    let asks = [
        ("search", json!({"query": "harbour code", "project": "*"})),
        ("search", json!({"query": "harbour code", "project": "harbour"})),
        ("search", json!({"query": "harbour code", "project": other.display().to_string()})),
        ("get", json!({"ids": ["m1"]})),
        ("get", json!({"ids": [session]})),
        ("get", json!({"ids": [turn]})),
        ("detail", json!({"at": turn})),
        ("detail", json!({"at": session})),
        ("timeline", json!({"around": "m1"})),
        ("timeline", json!({"around": turn})),
    ];
    let mut client = McpClient::new(&env);
    for (tool, ask) in &asks {
        let said = client.call(tool, ask);
        assert!(said.contains("tow config set mcp.projects all"), "{tool} {ask}: {said}");
        assert!(!said.contains("4711") && !said.contains("quillon"), "{tool} {ask}: {said}");
    }
    let own = client.call("search", &json!({"query": "mast", "project": "project"}));
    assert!(own.contains("The mast is oak") && own.contains(", person: "), "{own}");
    env.unattended(&["config", "set", "mcp.projects", "all"]).exits(2).complains("only a person can");
    env.person(&["config", "set", "mcp.projects", "some"]).exits(2).complains("one of own, all");
    env.person(&["config", "set", "mcp.projects", "all"]).ok();
    for (tool, ask) in &asks {
        let said = client.call(tool, ask);
        let is_told = said.contains("4711") || said.contains("quillon") || *tool == "timeline";
        assert!(is_told && !said.contains("mcp.projects"), "{tool} {ask}: {said}");
    }
}

#[test]
fn a_project_that_takes_the_name_of_another_does_not_get_to_read_it() {
    let (env, _) = desk();
    let namesake = folder(&env, "bait/harbour");
    env.person(&["remember", "--project", &namesake.display().to_string(), "The bait is set"]).ok();
    let mut client = McpClient::in_folder(&env, &namesake);
    for (tool, ask) in [
        ("search", json!({"query": "harbour code 4711"})),
        ("search", json!({"query": "harbour code", "project": "harbour"})),
        ("timeline", json!({"around": "harbour code"})),
        ("get", json!({"ids": ["m1"]})),
        ("context", json!({})),
    ] {
        let said = client.call(tool, &ask);
        assert!(!said.contains("code is 4711"), "{tool}: {said}");
    }
}

#[test]
fn a_model_forgets_only_what_agents_made_here_and_the_user_can_bring_it_back() {
    let (env, _) = desk();
    env.person(&["remember", "--pin", "Never push to main"]).ok();
    let mut client = McpClient::new(&env);
    let mut forget = |id: &str| client.call("forget", &json!({"id": id}));
    for text in ["The boom is of ash", "The keel leaks at frame seven", "The rudder is of oak"] {
        env.unattended(&["remember", text]).ok();
    }
    env.person(&["edit", "m4", "--title", "The keel leaks at frame eight"]).ok();
    for (id, why) in [
        ("m1", "it belongs to another project"),
        ("m2", "the user wrote it"),
        ("m4", "the user edited, pinned or released it"),
    ] {
        let said = forget(id);
        assert!(said.contains(why) && said.contains(&format!("tow data forget {id}")), "{said}");
        assert!(memory(&env, id)["held_back"].is_null());
    }
    for id in ["3", "m", "03", "m3 m5", "--match=keel", "m99"] {
        forget(id);
    }
    assert!(memory(&env, "m3")["held_back"].is_null(), "no id but a whole one counts");
    assert!(forget("m3").contains("held back from every model"));
    assert_eq!(memory(&env, "m3")["held_back"], "an agent asked to forget it");
    assert!(forget("m3").contains("already"));
    env.person(&["release", "m3"]).ok();
    assert!(memory(&env, "m3")["held_back"].is_null());
    assert!(forget("m3").contains("released"), "the user has decided");
    forget("m5");
    env.person(&["undo", "m5"]).ok().prints("held back");
    assert!(memory(&env, "m5")["held_back"].is_null());
}

#[test]
fn every_memory_that_a_tool_answers_with_states_its_level() {
    let (env, _) = desk();
    env.person(&["remember", "The mast is oak"]).ok();
    env.unattended(&["remember", "The boom is ash"]).ok();
    let mut client = McpClient::new(&env);
    for (id, word, level) in [("m2", "mast", "person"), ("m3", "boom", "agent")] {
        let found = client.call("search", &json!({"query": word}));
        assert!(found.contains(&format!(", {level}: ")), "{found}");
        let whole = client.call("get", &json!({"ids": [id]}));
        assert!(whole.contains(&format!(", {level}, ")), "{whole}");
        let around = client.call("timeline", &json!({"around": id}));
        assert!(around.contains(&format!("{id} memory, {level}, ")), "{around}");
    }
}

#[test]
fn a_note_of_a_session_that_outside_text_has_reached_is_outside() {
    let (env, _) = desk();
    for (id, tool, level) in [
        ("22222222-aaaa-4000-8000-0000bbbbbbbb", "Bash", "agent"),
        ("33333333-aaaa-4000-8000-0000cccccccc", "WebFetch", "outside"),
    ] {
        let input = json!({"command": "true", "url": "https://evil.example/page", "prompt": "read"});
        let call = json!({"type": "tool_use", "id": "t1", "name": tool, "input": input});
        session(&env, &env.project(), id, call);
        let start = json!({
            "hook_event_name": "SessionStart", "source": "startup", "session_id": id, "cwd": env.project(),
            "transcript_path": transcript(&env, id),
        });
        env.hook("claude", start.to_string()).ok();
        env.set("CLAUDE_CODE_SESSION_ID", id);
        let said = McpClient::new(&env).call("remember", &json!({"text": format!("Noted after {tool}")}));
        env.unset("CLAUDE_CODE_SESSION_ID");
        let noted = said.split_whitespace().find(|word| word.starts_with('m') && word.len() == 2);
        assert_eq!(memory(&env, noted.unwrap_or_default())["level"], level, "{tool}: {said}");
    }
}

#[test]
fn a_model_is_told_of_a_broken_configuration_with_its_line_and_the_fix() {
    let (env, _) = desk();
    let file = env.home().join(".config/towline/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[hook]\npatience = 1\n").unwrap();
    let mut client = McpClient::new(&env);
    let said = client.call("context", &json!({}));
    assert!(said.contains("line 2: there is no key `hook.patience`"), "{said}");
    assert!(said.contains("Tell the user") && said.contains("`tow config edit`"), "{said}");
    fs::write(&file, "").unwrap();
    let mended = client.call("context", &json!({}));
    assert!(!mended.contains("config.toml"), "{mended}");
}
