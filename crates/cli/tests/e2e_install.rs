//! `tow install` and `tow uninstall` on homes as users have them, and the real clients on what was written.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

mod told;

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use told::{told, wait_told};
use towline_testkit::{Claude, Codex, Daemon, Model, TestEnv, Tmux, wait};

const CODEX: Codex = Codex::V0_166_0;

fn settings_file(env: &TestEnv) -> PathBuf {
    env.home().join(".claude/settings.json")
}

/// Other people's hooks, in every shape the client allows.
fn foreign_hooks(env: &TestEnv) -> Value {
    let note = |name: &str| format!("echo {name} >> {}/foreign.log", env.root().display());
    let shell = |name: &str| json!({"type": "command", "command": note(name)});
    json!({
        "UserPromptSubmit": [
            {"hooks": [shell("prompt"), {"type": "command", "command": note("async"), "async": true, "timeout": 3}]},
            {"matcher": "", "hooks": [{"type": "command", "command": "sh", "args": ["-c", note("exec")]}]},
        ],
        "PreToolUse": [
            {"matcher": "Bash|Edit", "hooks": [shell("pre"), {"type": "command", "command": note("if"), "if": "Bash(ls *)"}]},
            {"matcher": "mcp__.*", "hooks": [{"type": "http", "url": "http://127.0.0.1:1/hook", "timeout": 1}]},
        ],
        "PostToolUse": [
            {"matcher": "Write", "hooks": [{"type": "mcp_tool", "server": "x", "tool": "y", "input": {"a": "${tool_name}"}}]},
            {"hooks": [shell("post"), shell("post again")]},
        ],
        "Stop": [{"hooks": [shell("stop"), shell("tow hook me up"), {"type": "command", "command": "true"}]}],
        "SubagentStop": [{"hooks": [{"type": "prompt", "prompt": "Is it good?"}]}, {"hooks": [{"type": "agent", "prompt": "Check."}]}],
        "SessionStart": [{"matcher": "startup", "hooks": [shell("start")]}, {"matcher": "resume|clear", "hooks": [shell("again")]}],
        "SessionEnd": [{"hooks": [shell("end")]}],
        "Notification": [{"matcher": "idle_prompt", "hooks": [shell("idle")]}],
        "PreCompact": [{"hooks": [shell("compact")]}],
        "ConfigChange": [{"matcher": "user_settings", "hooks": [shell("config"), shell("config again")]}],
        "PermissionRequest": [{"matcher": "Bash", "hooks": [shell("permission")]}],
    })
}

fn with_foreign_hooks(claude: Claude) -> (TestEnv, Vec<u8>) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    Claude::edit_settings(&env, |settings| settings["hooks"] = foreign_hooks(&env));
    let before = fs::read(settings_file(&env)).unwrap();
    (env, before)
}

/// All handlers that are not ours, event by event, as they stand.
fn foreign_entries(settings: &Value) -> Vec<(String, Value)> {
    let ours = |handler: &Value| handler["args"] == json!(["hook", "claude"]);
    let events = settings["hooks"].as_object().unwrap();
    let groups =
        events.iter().flat_map(|(event, groups)| groups.as_array().unwrap().iter().map(move |g| (event, g)));
    let handlers = groups.flat_map(|(event, group)| {
        group["hooks"].as_array().unwrap().iter().map(move |handler| (event.clone(), handler.clone()))
    });
    handlers.filter(|(_, handler)| !ours(handler)).collect()
}

#[test]
fn foreign_hooks_stay_a_second_run_changes_nothing_and_uninstall_restores_the_bytes() {
    let (env, before) = with_foreign_hooks(Claude::V2_1_325);
    let parsed_before: Value = serde_json::from_slice(&before).unwrap();
    assert!(foreign_entries(&parsed_before).len() >= 20);

    env.tow(&["install", "--agent", "claude", "--dry-run"]).ok().prints("+");
    assert_eq!(fs::read(settings_file(&env)).unwrap(), before, "a dry run writes nothing");

    env.tow(&["install", "--agent", "claude"]).ok().prints("changed");
    let installed = fs::read(settings_file(&env)).unwrap();
    let parsed: Value = serde_json::from_slice(&installed).unwrap();
    assert_eq!(foreign_entries(&parsed), foreign_entries(&parsed_before));
    let text = String::from_utf8(installed.clone()).unwrap();
    for line in String::from_utf8(before.clone()).unwrap().lines().filter(|line| line.contains("command\"")) {
        assert!(text.contains(line.trim_end_matches(',')), "a foreign line changed: {line}");
    }

    env.tow(&["install", "--agent", "claude"]).ok().prints("registered already");
    assert_eq!(fs::read(settings_file(&env)).unwrap(), installed);
    env.tow(&["uninstall", "--agent", "claude"]).ok().prints("changed");
    assert_eq!(fs::read(settings_file(&env)).unwrap(), before);
}

#[test]
fn the_real_client_loads_what_was_written_and_fires_it_beside_the_others_in_2_1_197() {
    fires_beside_others(Claude::V2_1_197);
}

#[test]
fn the_real_client_loads_what_was_written_and_fires_it_beside_the_others_in_2_1_325() {
    fires_beside_others(Claude::V2_1_325);
}

fn fires_beside_others(claude: Claude) {
    let (env, _) = with_foreign_hooks(claude);
    env.tow(&["install", "--agent", "claude"]).ok();
    claude.headless(&env, &Model::echo(), "hello", &[]).ok();
    let log = fs::read_to_string(env.root().join("foreign.log")).unwrap();
    for name in ["start", "prompt", "exec", "stop", "end"] {
        assert!(log.lines().any(|line| line == name), "{name} did not fire: {log}");
    }
    let text = told(&env, &[]);
    assert!(text.contains("session_started prompt_submitted turn_ended session_ended"), "{text}");

    // The client may have rewritten the file: then exactly our entries go.
    env.tow(&["uninstall", "--agent", "claude"]).ok();
    let after: Value = serde_json::from_slice(&fs::read(settings_file(&env)).unwrap()).unwrap();
    assert!(!after.to_string().contains(r#"["hook","claude"]"#), "{after}");
    assert!(foreign_entries(&after).len() >= 20);
}

#[test]
fn a_running_client_takes_up_hooks_that_are_installed_meanwhile() {
    let claude = Claude::V2_1_325;
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    let model = Model::echo();
    let pane = claude.interactive(&Tmux::start(&env), &model, &[]);
    pane.say("before");
    pane.wait_screen("echo: before");
    claude.wait_idle(&pane);
    env.tow(&["install", "--agent", "claude"]).ok();
    assert!(!env.data_dir().join("towline.db").exists());
    // Met in the middle of a turn it may be, and seated by the next prompt at the latest.
    let mut asked = 0;
    wait::until("the client to reload its hooks", wait::PATIENCE, || {
        asked += 1;
        pane.say(&format!("after {asked}"));
        pane.wait_screen(&format!("echo: after {asked}"));
        claude.wait_idle(&pane);
        let recorded = env.data_dir().join("towline.db").exists();
        (recorded && told(&env, &[]).contains("in a tmux seat")).then_some(())
    });
}

#[test]
fn older_entries_of_ours_are_brought_up_to_date_in_place() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    Claude::V2_1_325.seed(&env);
    let old = json!({"type": "command", "command": "/old/place/tow hook claude", "timeout": 60});
    let theirs = json!({"type": "command", "command": "theirs"});
    Claude::edit_settings(&env, |settings| {
        settings["hooks"] = json!({"Stop": [{"hooks": [old, theirs]}], "FileChanged": [{"hooks": [old]}]});
    });
    env.tow(&["install"]).ok();
    let settings = Claude::settings(&env);
    let stop = settings["hooks"]["Stop"].as_array().unwrap();
    assert_eq!(foreign_entries(&settings), [("Stop".to_owned(), theirs)]);
    assert_eq!(settings["hooks"].get("FileChanged"), None, "we no longer register it");
    assert!(stop.iter().any(|group| group["hooks"][0]["args"] == json!(["hook", "claude"])), "{stop:?}");
}

#[test]
fn what_cannot_be_edited_is_refused_with_the_reason_and_left_alone() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    Claude::V2_1_325.seed(&env);
    let broken = "{\n  \"model\": \"x\",\n  // a comment\n}\n";
    fs::write(settings_file(&env), broken).unwrap();
    let run = env.tow(&["install", "--agent", "claude"]).exits(1);
    run.complains("did not edit").complains("line 3").complains("hint:");
    assert_eq!(fs::read_to_string(settings_file(&env)).unwrap(), broken);
    env.tow(&["doctor"]).exits(1).prints("line 3");

    env.tow(&["install", "--agent", "nobody"])
        .exits(2)
        .complains("there is no agent `nobody`")
        .complains("claude, codex");
}

#[test]
fn one_refused_file_does_not_keep_the_others_from_being_done() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    fs::create_dir_all(env.home().join(".claude")).unwrap();
    fs::write(settings_file(&env), "[]").unwrap();
    let run = env.tow(&["install", "--agent", "claude", "--agent", "codex"]).exits(1);
    run.prints("Claude Code: not changed").prints("Codex: made").complains("did not edit");
    assert!(env.home().join(".codex/hooks.json").exists());
}

#[test]
fn a_home_without_settings_gets_them_and_loses_them_again() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.tow(&["install"]).ok().prints("no agent was found");
    env.tow(&["install", "--agent", "claude", "--agent", "codex"]).ok();
    assert!(settings_file(&env).exists() && env.home().join(".codex/hooks.json").exists());
    let doctor = env.tow(&["doctor", "--json"]).ok().json();
    let status = |name: &str| {
        let checks = doctor["checks"].as_array().unwrap();
        checks
            .iter()
            .find(|check| check["name"] == name)
            .map(|check| check["status"].as_str().unwrap().to_owned())
    };
    assert_eq!(status("claude hooks").as_deref(), Some("good"));
    assert_eq!(status("codex hooks").as_deref(), Some("warning"), "not trusted yet");
    env.tow(&["uninstall"]).ok();
    assert!(!settings_file(&env).exists() && !env.home().join(".codex/hooks.json").exists());
}

#[test]
fn hooks_of_others_that_codex_trusts_stay_trusted() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let model = Model::echo();
    CODEX.seed(&env, &model, Daemon::Off);
    let theirs =
        json!({"type": "command", "command": format!("echo theirs >> {}/foreign.log", env.root().display())});
    let hooks = json!({"hooks": {"Stop": [{"hooks": [theirs]}], "SessionStart": [{"matcher": "startup", "hooks": [theirs]}]}});
    let file = env.home().join(".codex/hooks.json");
    fs::write(&file, serde_json::to_string_pretty(&hooks).unwrap()).unwrap();
    CODEX.trust_hooks(&env);
    env.tow(&["install", "--agent", "codex"]).ok().prints("13 hooks are not trusted yet");
    let trusted = |ours: bool| {
        let listed =
            CODEX.hooks(&env).into_iter().filter(|hook| hook.to_string().contains("hook codex") == ours);
        listed.map(|hook| hook["trustStatus"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(trusted(false), ["trusted", "trusted"]);
    assert!(trusted(true).iter().all(|status| status == "untrusted"), "that stays the user's decision");

    CODEX.trust_hooks(&env);
    CODEX.headless(&env, "hello", &[]).ok();
    assert!(wait_told(&env, &[], |text| text.contains("session_ended")).contains("turn_ended"));
    assert_eq!(fs::read_to_string(env.root().join("foreign.log")).unwrap().lines().count(), 2);
    env.tow(&["doctor"]).ok().prints("13 events registered");
}
