//! The real client passes on to its terminal what a hook asks for: a notification, a title.

use serde_json::json;
use std::fs;
use towline_testkit::{Claude, Model, Rule, Step, TestEnv, Tmux, wait};

#[test]
fn the_agents_own_terminal_tells_of_a_block_in_2_1_197() {
    the_terminal_tells(Claude::V2_1_197);
}

#[test]
fn the_agents_own_terminal_tells_of_a_block_in_2_1_325() {
    the_terminal_tells(Claude::V2_1_325);
}

fn the_terminal_tells(claude: Claude) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    env.tow(&["config", "set", "notify.terminal", "osc9"]).ok();
    env.tow(&["config", "set", "notify.title", "true"]).ok();
    let log = env.root().join("transitions");
    env.script("log-transition", &format!("#!/bin/sh\necho \"$*\" >> {}\n", log.display()));
    let command = json!(["log-transition", "{from}>{to}", "{state}"]).to_string();
    env.tow(&["config", "set", "notify.on_transition", &command]).ok();
    let ask = json!({"command": "touch made-by-tool", "description": "make"});
    let model =
        Model::start([Rule::when("ask me").then(Step::tool("Bash", ask)).then(Step::text("it is made"))]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &[]);
    env.tow(&["tmux", "load", "--socket", &tmux.socket().display().to_string()]).ok();
    // The person is at another window while it works.
    tmux.open(&["sh"], &[]);
    let person = Tmux::named(&env, "outer").attach_to(&tmux);
    let raw = env.root().join("raw");
    tmux.run(&["pipe-pane", "-t", &pane.id, &format!("cat > {}", raw.display())]);
    let drawn = |needle: &str| {
        wait::until_evident(needle, wait::PATIENCE, || {
            let bytes = fs::read(&raw).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if text.contains(needle) { Ok(()) } else { Err(format!("{text:?}")) }
        });
    };
    pane.say("ask me");
    drawn("\u{1b}]2;* project\u{7}");
    drawn("\u{1b}]9;towline: claude in project/main: blocked (permission): ask me\u{7}");
    pane.answer("Do you want to proceed?", &["Enter"]);
    drawn("\u{1b}]9;towline: claude in project/main: completed: ask me\u{7}");
    drawn("\u{1b}]2;+ project\u{7}");
    assert!(env.project().join("made-by-tool").exists());

    let changed = |change: &str| {
        wait::until_evident(change, wait::PATIENCE, || {
            let text = fs::read_to_string(&log).unwrap_or_default();
            if text.lines().any(|line| line == change) { Ok(text) } else { Err(text) }
        })
    };
    let so_far = changed("working>completed completed");
    assert!(!so_far.contains("seen"), "nobody has looked: {so_far}");
    person.keys(&["C-b", "p"]);
    person.wait_screen("it is made");
    let all = changed("completed>seen seen");
    assert_eq!(all.matches("seen seen").count(), 1, "{all}");
}
