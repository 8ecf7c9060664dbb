//! Hosts without hooks: the five stages over the documented routes, and payloads as `tow hook` takes them.

use super::client::send;
use super::world::World;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use towline_testkit::wait;

#[test]
fn the_five_stages_of_a_host_become_a_session_with_its_turn() {
    let world = World::new(&[]);
    let folder = world.env.project();
    let host = world.host();
    let bearer = format!("Bearer {}", world.events_token());
    let headers = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    let context = send(world.server.port, "GET /api/context/inject?project=project", &headers, b"").is(200);
    assert!(context.body.contains("The mast is painted white"), "{context:?}");
    assert!(context.header("content-type").unwrap().starts_with("text/plain"));

    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let prompt = json!({"project": "project", "userPrompt": format!("Paint the mast with {secret}"), "promptNumber": 1, "cwd": folder});
    let begun = world.tell("/sessions/ide-1/init", &prompt).is(200).json();
    assert_eq!(
        (&begun["sessionDbId"], &begun["skipped"], &begun["promptNumber"]),
        (&json!("ide-1"), &json!(false), &json!(1))
    );
    let tool = json!({
        "claudeSessionId": "ide-1", "tool_name": "FileSave", "tool_input": {"path": "/mast.rs"},
        "tool_response": "File saved successfully", "cwd": folder,
    });
    assert_eq!(world.tell("/api/sessions/observations", &tool).is(202).json(), json!({"status": "queued"}));
    let answer = json!({
        "claudeSessionId": "ide-1", "last_user_message": "Paint the mast", "last_assistant_message": "The mast is blue now.",
        "cwd": folder,
    });
    world.tell("/api/sessions/summarize", &answer).is(202);
    world.tell("/api/processing", &json!({"isProcessing": false})).is(200);
    world
        .tell("/api/sessions/complete", &json!({"claudeSessionId": "ide-1", "reason": "exit", "cwd": folder}))
        .is(200);

    let turn = wait::until("the host's turn", Duration::from_secs(20), || {
        let turns = world.get("/v1/sessions/ide-1/turns");
        (turns.status == 200)
            .then(|| turns.json()["items"][0].clone())
            .filter(|turn| turn["words"].get(1).is_some())
    });
    assert_eq!(turn["words"][1]["text"], "The mast is blue now.");
    assert_eq!(turn["headings"][0]["tool"], "FileSave");
    assert!(!turn.to_string().contains(&secret), "{turn}");
    assert!(!world.env.data_dir().join("serve/hosts/ide-1.jsonl").exists(), "what was written down is gone");
}

#[test]
fn what_cannot_be_captured_when_its_session_ends_stays_until_it_can() {
    let world = World::new(&[]);
    let written = world.env.data_dir().join("serve/hosts/ide-1.jsonl");
    // What may be kept cannot be told from it.
    let config = world.env.home().join(".config/towline/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "[privacy").unwrap();
    world.tell("/sessions/ide-1/init", &json!({"userPrompt": "Paint the mast"})).is(200);
    let end = json!({"claudeSessionId": "ide-1", "reason": "exit"});
    world.tell("/api/sessions/complete", &end).is(200);
    assert!(written.exists(), "nobody else has it");
    std::fs::remove_file(&config).unwrap();
    world.tell("/api/sessions/complete", &end).is(200);
    assert!(!written.exists());
    assert_eq!(
        world.get("/v1/sessions/ide-1/turns").is(200).json()["items"][0]["words"][0]["text"],
        "Paint the mast"
    );
}

#[test]
fn the_example_client_goes_through_the_five_stages() {
    let world = World::new(&[]);
    let client =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/vscode-host/towline.js");
    let script = format!(
        "const {{ Session }} = require({client:?});\n\
         (async () => {{\n\
           const session = new Session('editor-1', process.cwd());\n\
           const known = await session.context();\n\
           await session.asked('Paint the mast');\n\
           await session.used('FileSave', {{ path: 'mast.rs' }}, 'saved');\n\
           await session.answered('Paint the mast', 'It is red now.');\n\
           await session.over();\n\
           console.log(known);\n\
         }})();"
    );
    let mut node = world.env.command(world.env.root().join("bin/node"));
    towline_testkit::Run::of(node.args(["-e", &script]), b"").ok().prints("The mast is painted white");
    let turn = world.get("/v1/sessions/editor-1/turns").is(200).json()["items"][0].clone();
    assert_eq!(
        (&turn["words"][0]["text"], &turn["words"][1]["text"]),
        (&json!("Paint the mast"), &json!("It is red now."))
    );
}

#[test]
fn an_event_is_answered_by_what_the_hook_would_print() {
    let world = World::new(&[]);
    let folder = world.env.project();
    let payload = |session: &str| json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": folder, "prompt": "paint the mast"});
    let by_hook: Value =
        serde_json::from_str(world.env.hook("claude", payload("one").to_string()).ok().stdout.trim())
            .unwrap();
    let by_event = world.tell("/v1/events?agent=claude", &payload("two")).is(200).json();
    let context = |answer: &Value| answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::len);
    assert!(context(&by_hook).is_some());
    assert_eq!(context(&by_event), context(&by_hook));
    world.tell("/v1/events?agent=nobody", &payload("three")).is(400);
    world.tell("/v1/events", &payload("three")).is(400);
}

#[test]
fn events_need_their_own_token_and_it_opens_nothing_else() {
    let world = World::new(&["--write"]);
    world.ask("POST /v1/events?agent=claude", Some(&json!({}))).is(401);
    world.tell("/v1/memories", &json!({"text": "x"})).is(401);
    let bearer = format!("Bearer {}", world.events_token());
    let headers = [("Host", &*world.host()), ("Authorization", &bearer)];
    send(world.server.port, "GET /v1/memories", &headers, b"").is(401);
}

#[test]
fn the_documented_routes_for_finding_answer_in_their_form() {
    let world = World::new(&[]);
    let text = |path: &str| world.get(path).is(200).json()["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text("/api/search?query=mast&limit=5").contains("The mast is painted white"));
    assert!(
        text("/api/timeline?anchor=1&depth_before=1&depth_after=1").contains("The mast is painted white")
    );
    assert!(text("/api/timeline?query=mast&type=memory").contains("memory"));
    let rows = world.tell("/api/observations/batch", &json!({"ids": [2, "m1", 77]})).is(200).json();
    let titles: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Sails are cut in src/sail.rs", "The mast is painted white"]);
}

#[test]
fn a_session_whose_name_could_lead_elsewhere_is_refused() {
    let world = World::new(&[]);
    for name in ["../../etc/passwd", "a/b", "", "a b", "x\u{0}y"] {
        let body = json!({"claudeSessionId": name, "tool_name": "T"});
        assert_eq!(world.tell("/api/sessions/observations", &body).status, 422, "{name:?}");
    }
}

#[test]
fn a_host_is_answered_at_once() {
    let world = World::new(&[]);
    let body = json!({"claudeSessionId": "quick", "tool_name": "T", "tool_response": "x".repeat(1000)});
    let mut took: Vec<Duration> = (0..10)
        .map(|_| {
            let begun = Instant::now();
            world.tell("/api/sessions/observations", &body).is(202);
            begun.elapsed()
        })
        .collect();
    took.sort();
    println!("a tool's use is taken in within {:?}", took[5]);
    assert!(took[5] < Duration::from_millis(500), "{took:?}");
}
