//! Tool calls are found by their commands, paths and errors; bulk output by reading it (`--deep`).
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::fs;
use towline_testkit::{McpClient, TestEnv};

const SESSION: &str = "0000000d-aaaa-4000-8000-0000aaaaaaaa";

/// Two turns: the first reads a long file and fails to build, the second reads another one.
fn world() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let folder = env.home().join(".claude/projects/-harbour");
    fs::create_dir_all(&folder).unwrap();
    let bulk = |needle: &str| {
        let plain = "the planks of the hull are counted\n".repeat(60);
        format!("{plain}{needle}\n{plain}")
    };
    let failed = format!("{}error[E0382]: use of moved rudder\n{}", bulk("first"), bulk("second"));
    let entries = [
        ("user", json!("Paint the mast")),
        ("assistant", call("t1", "Read", json!({"file_path": "/boat/ballastlist.txt"}))),
        ("user", result("t1", &bulk("Quarterdeck Lantern 4711"), false)),
        ("assistant", call("t2", "Bash", json!({"command": "make caulking"}))),
        ("user", result("t2", &failed, true)),
        ("assistant", json!([{"type": "text", "text": "The mast is blue."}])),
        ("user", json!("And the boom")),
        ("assistant", call("t3", "Read", json!({"file_path": "/boat/boom.txt"}))),
        ("user", result("t3", &bulk("quarterdeck lantern 4712"), false)),
        ("assistant", json!([{"type": "text", "text": "The boom is green."}])),
    ];
    let lines = entries.into_iter().enumerate().map(|(number, (kind, content))| {
        let parent = if number == 0 { Value::Null } else { json!(format!("d-{}", number - 1)) };
        let line = json!({
            "parentUuid": parent, "sessionId": SESSION, "cwd": env.project(), "version": "2.1.325", "type": kind,
            "uuid": format!("d-{number}"), "timestamp": format!("2026-11-15T10:00:{number:02}.000Z"),
            "isSidechain": false, "userType": "external", "message": {"role": kind, "content": content},
        });
        format!("{line}\n")
    });
    fs::write(folder.join(format!("{SESSION}.jsonl")), lines.collect::<String>()).unwrap();
    env.unattended(&["import"]).ok();
    env
}

fn call(id: &str, tool: &str, input: Value) -> Value {
    json!([{"type": "tool_use", "id": id, "name": tool, "input": input}])
}

fn result(id: &str, output: &str, is_error: bool) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error}])
}

fn found(env: &TestEnv, arguments: &[&str]) -> Vec<(String, String)> {
    let found = env.unattended(&[&["search", "--json"], arguments].concat()).ok().json();
    let text = |hit: &Value, name: &str| hit[name].as_str().unwrap_or_default().to_owned();
    let hits = found["results"].as_array().unwrap().iter();
    hits.map(|hit| (text(hit, "id"), text(hit, "snippet"))).collect()
}

#[test]
fn a_hit_on_a_turns_tool_calls_leads_to_the_call() {
    let env = world();
    for (words, number, snippet) in [
        ("ballastlist", ".1", "ballastlist"),
        ("caulking", ".3", "caulking"),
        ("moved rudder", ".4", "E0382"),
    ] {
        let hits = found(&env, &["--kind", "detail", words]);
        let (id, text) = &hits[0];
        assert!(id.ends_with(&format!("#1{number}")) && text.contains(snippet), "{words}: {hits:?}");
    }
}

#[test]
fn bulk_output_is_found_by_reading_it_newest_first() {
    let env = world();
    env.unattended(&["search", "lantern"]).ok().prints("`--deep` reads all tool output");
    let both = found(&env, &["--deep", "LANTERN", "quarterdeck"]);
    assert_eq!(
        both.iter().map(|(id, _)| id.split('#').next_back().unwrap()).collect::<Vec<_>>(),
        ["2.2", "1.2"]
    );
    assert!(both[1].1.contains("Quarterdeck Lantern 4711"), "{both:?}");
    assert_eq!(found(&env, &["--deep", "lantern", "--limit", "1"]).len(), 1);
    assert_eq!(found(&env, &["--deep", "\"lantern 4711\""]).len(), 1);
    assert_eq!(found(&env, &["--deep", "lantern", "--until", "2026-11-15T10:00:05Z"]).len(), 1);
    assert!(found(&env, &["--deep", "lantern", "--since", "2026-11-16"]).is_empty());
    assert!(found(&env, &["--deep", "lantern", "nowhere"]).is_empty());
    env.unattended(&["search", "--deep", "x", "--kind", "memory"])
        .exits(2)
        .complains("tool calls and their output");
    let mut model = McpClient::new(&env);
    let answer = model.call("search", &json!({"query": "lantern 4712", "deep": true}));
    assert!(answer.to_string().contains("#2.2"), "{answer}");
}

#[test]
fn what_is_forgotten_is_not_found_in_tool_calls() {
    let env = world();
    env.tow(&["forget", &format!("{}#1", &SESSION[SESSION.len() - 8..]), "--yes"]).ok();
    assert!(found(&env, &["caulking"]).is_empty() && found(&env, &["--deep", "4711"]).is_empty());
    assert_eq!(found(&env, &["--deep", "4712"]).len(), 1);
}
