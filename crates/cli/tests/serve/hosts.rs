//! Hosts without hooks: the five stages over the documented routes, and payloads as `tow hook` takes them.

use super::world::World;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use towline_testkit::{Run, TestEnv, wait};

#[test]
fn the_five_stages_of_a_host_become_a_session_with_its_turn() {
    let world = World::new(&["--write"]);
    let folder = world.env.project();
    let context = world.get("/api/context/inject?project=project").is(200);
    assert!(context.body.contains("The mast is painted white"), "{context:?}");
    assert!(
        !context.body.contains("The person goes on with that work here"),
        "nobody passed it on: {context:?}"
    );
    assert!(context.header("content-type").unwrap().starts_with("text/plain"));

    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let prompt = json!({"project": "project", "userPrompt": format!("Paint the mast with {secret}"), "promptNumber": 1, "cwd": folder});
    let begun = world.tell("/sessions/ide-1/init", &prompt).is(200).json();
    assert_eq!(
        (&begun["sessionDbId"], &begun["skipped"], &begun["promptNumber"]),
        (&json!("ide-1"), &json!(false), &json!(1))
    );
    assert_eq!((&begun["contextInjected"], &begun["context"]), (&json!(false), &Value::Null));
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
    assert!(
        !world.env.data_dir().join("serve/hosts/host-ide-1.jsonl").exists(),
        "what was written down is gone"
    );
}

#[test]
fn every_prompt_of_a_host_that_does_not_count_was_the_first() {
    let world = World::new(&["--write"]);
    let ask = |prompt: &str| {
        let prompt = json!({"userPrompt": prompt, "cwd": world.env.project()});
        world.tell("/sessions/ide-7/init", &prompt).is(200).json()["promptNumber"].as_u64()
    };
    assert_eq!([ask("one"), ask("two")], [Some(1), Some(2)]);
    world.tell("/api/sessions/complete", &json!({"claudeSessionId": "ide-7", "reason": "exit"})).is(200);
    assert_eq!(ask("three"), Some(3), "a session that goes on counts on");
    let counted = json!({"userPrompt": "four", "promptNumber": 9});
    assert_eq!(world.tell("/sessions/ide-7/init", &counted).is(200).json()["promptNumber"], 9);
}

#[test]
fn nothing_of_a_private_turn_of_a_host_is_kept_or_exported() {
    let world = World::new(&["--write"]);
    let folder = world.env.project();
    let turn = |prompt: &str, word: &str| {
        let told = json!({"claudeSessionId": "ide-1", "cwd": folder, "userPrompt": prompt, "tool_name": "FileSave",
            "tool_input": {"path": "/p", "text": format!("{word} input")}, "tool_response": format!("{word} output"),
            "last_assistant_message": format!("{word} answer")});
        world.tell("/sessions/ide-1/init", &told).is(200);
        world.tell("/api/sessions/observations", &told).is(202);
        world.tell("/api/sessions/summarize", &told).is(202);
    };
    turn("Paint the mast", "ochre");
    turn("< private>quicksilver prompt</private>", "quicksilver");
    assert_eq!(holders(&world, "quicksilver"), Vec::<String>::new());
    turn("Paint the keel", "umber");
    world
        .tell("/api/sessions/complete", &json!({"claudeSessionId": "ide-1", "reason": "exit", "cwd": folder}))
        .is(200);
    world.env.tow(&["work"]).ok();
    assert_eq!(holders(&world, "quicksilver"), Vec::<String>::new());
    let exported = world.env.tow(&["export", "--all-projects"]).ok().stdout;
    assert!(!exported.contains("quicksilver"), "{exported}");
    for word in ["ochre input", "ochre answer", "umber output", "umber answer"] {
        assert!(exported.contains(word), "no {word} in {exported}");
    }
    let turns = world.get("/v1/sessions/host-ide-1/turns").is(200).json();
    assert_eq!(turns["items"].as_array().unwrap().len(), 3, "{turns}");
}

/// Without this, each stays in the process table for as long as the server lives.
#[test]
fn a_server_collects_the_processes_that_it_starts() {
    let world = World::new(&["--write"]);
    world.tell("/sessions/ide-1/init", &json!({"userPrompt": "Paint the mast"})).is(200);
    world.tell("/api/sessions/complete", &json!({"claudeSessionId": "ide-1", "reason": "exit"})).is(200);
    let parent = world.server.pid();
    wait::until("every child of the server to be collected", Duration::from_secs(20), || {
        let stats = std::fs::read_dir("/proc").unwrap().flatten();
        let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        let children = stats.filter(|stat| {
            let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
            fields.get(1).is_some_and(|above| *above == parent.to_string())
        });
        (children.count() == 0).then_some(())
    });
}

/// The files of the data folder that hold this text.
fn holders(world: &World, text: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let mut folders = vec![world.env.data_dir()];
    let mut found = vec![];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read(&path).is_ok_and(|bytes| holds(&bytes)) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn what_cannot_be_captured_when_its_session_ends_stays_until_it_can() {
    let world = World::new(&["--write"]);
    let written = world.env.data_dir().join("serve/hosts/host-ide-1.jsonl");
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
        world.get("/v1/sessions/host-ide-1/turns").is(200).json()["items"][0]["words"][0]["text"],
        "Paint the mast"
    );
}

/// Runs statements with a `session` of the example client.
pub fn example_client(env: &TestEnv, statements: &str) -> Run {
    let client =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/vscode-host/towline.js");
    let script = format!(
        "const {{ Session }} = require({client:?});\n\
         (async () => {{\nconst session = new Session('editor-1', process.cwd());\n{statements}\n}})();"
    );
    Run::of(env.command(env.root().join("bin/node")).args(["-e", &script]), b"").ok()
}

#[test]
fn the_example_client_goes_through_the_five_stages() {
    let world = World::new(&["--write"]);
    let stages = "const known = await session.context();\n\
        await session.asked('Paint the mast');\n\
        await session.used('FileSave', { path: 'mast.rs' }, 'saved');\n\
        await session.answered('Paint the mast', 'It is red now.');\n\
        await session.over();\n\
        console.log(known);";
    example_client(&world.env, stages).prints("The mast is painted white");
    let turn = world.get("/v1/sessions/editor-1/turns").is(200).json()["items"][0].clone();
    assert_eq!(
        (&turn["words"][0]["text"], &turn["words"][1]["text"]),
        (&json!("Paint the mast"), &json!("It is red now."))
    );
}

#[test]
fn an_event_is_recorded_and_answered_by_nothing() {
    let world = World::new(&["--write"]);
    let folder = world.env.project();
    let payload = |session: &str| json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": folder, "prompt": "paint the mast"});
    let by_hook = world.env.hook("claude", payload("one").to_string()).ok().stdout;
    assert!(by_hook.contains("The mast is painted white"), "{by_hook}");
    assert_eq!(world.tell("/v1/events?agent=claude", &payload("two")).is(200).json(), json!({}));
    let journal = world.journal();
    assert!(journal.contains("claude:one") && journal.contains("claude:host-two"), "{journal}");
    world.tell("/v1/events?agent=nobody", &payload("three")).is(400);
    world.tell("/v1/events", &payload("three")).is(400);
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
    let ids = json!({"ids": [2, "m1", 77], "of": "another product"});
    let rows = world.ask("POST /api/observations/batch", Some(&ids)).is(200).json();
    let titles: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Sails are cut in src/sail.rs", "The mast is painted white"]);
}

#[test]
fn a_session_whose_name_could_lead_elsewhere_is_refused() {
    let world = World::new(&["--write"]);
    for name in ["../../etc/passwd", "a/b", "", "a b", "x\u{0}y"] {
        let body = json!({"claudeSessionId": name, "tool_name": "T"});
        assert_eq!(world.tell("/api/sessions/observations", &body).status, 422, "{name:?}");
    }
}

#[test]
fn a_host_is_answered_at_once() {
    let world = World::new(&["--write"]);
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
