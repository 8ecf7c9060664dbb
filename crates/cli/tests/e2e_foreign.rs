//! Agents that run another agent's hooks: their prompts go through, and nothing is counted as that agent's.

use serde_json::json;
use std::fs;
use towline_testkit::{Claude, Client, Model, Rule, Step, TestEnv};

const GROK: Client = Client::GROK;

fn installed(model: &Model) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    Claude::V2_1_325.seed(&env);
    GROK.seed(&env, model);
    env.tow(&["install", "--agent", "claude"]).ok();
    env
}

#[test]
fn a_prompt_of_grok_build_was_blocked_by_the_hooks_of_claude_code() {
    let model = Model::start([Rule::when("say hello").then(Step::text("hello from afar"))]);
    let env = installed(&model);
    GROK.headless(&env, &model, "say hello", &[]).ok().prints("hello from afar");
    check_nothing_counted(&env);
}

/// A user who wrote the hook as one command line: the agent then passes its own payload to it.
#[test]
fn grok_build_is_not_counted_as_claude_code_if_it_passes_the_arguments_on() {
    let model = Model::start([Rule::when("say hello").then(Step::text("hello from afar"))]);
    let env = installed(&model);
    let ran = env.root().join("ran");
    Claude::edit_settings(&env, |settings| {
        let line = format!("touch '{}'; {} hook claude", ran.display(), env!("CARGO_BIN_EXE_tow"));
        for groups in settings["hooks"].as_object_mut().unwrap().values_mut() {
            *groups = json!([{"hooks": [{"type": "command", "command": line, "timeout": 5}]}]);
        }
    });
    GROK.headless(&env, &model, "say hello", &[]).ok().prints("hello from afar");
    assert!(ran.exists(), "the agent runs these hooks");
    check_nothing_counted(&env);
}

#[track_caller]
fn check_nothing_counted(env: &TestEnv) {
    let journal = fs::read(env.data_dir().join("journal/active")).unwrap_or_default();
    let journal = String::from_utf8_lossy(&journal);
    assert!(!journal.contains("claude"), "{journal}");
    let listed = env.tow(&["sessions", "--all-projects", "--json"]).ok().json();
    assert_eq!(listed["sessions"], json!([]), "{listed:#}");
    let faults = fs::read_to_string(env.data_dir().join("faults.log")).unwrap_or_default();
    assert_eq!(faults, "");
}
