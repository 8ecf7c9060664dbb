//! The real Grok Build. It runs another agent's hooks: its prompts go through, and nothing is counted as that agent's. It
//! is seen and captured by its description.

use serde_json::json;
use std::fs;
use towline_testkit::{Claude, Client, Gate, Model, Rule, Step, TestEnv, Tmux};

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

#[test]
fn grok_build_is_seen_imported_and_resumed_by_its_description() {
    let gate = Gate::shut();
    let model =
        Model::start([Rule::when("caulk the hull").then(Step::text("the hull is caulked").behind(&gate))]);
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    GROK.seed(&env, &model);
    let pane = GROK.interactive(&Tmux::start(&env), &model, &[]);
    env.wait_states(&["idle"]);
    pane.say("caulk the hull");
    env.wait_states(&["working"]);
    gate.open();
    pane.wait_screen("the hull is caulked");
    env.wait_states(&["idle"]);
    assert_eq!(env.only_seat()["agent"], "grok");

    env.tow(&["data", "import", "grok"]).ok();
    env.tow(&["search", "caulked", "--all-projects"]).ok().prints("the hull is caulked");
    let listed = env.tow(&["sessions", "--all-projects", "--json"]).ok().json();
    let session = listed["sessions"][0]["session"].as_str().unwrap_or_default().to_owned();
    let id = session.rsplit(':').next().unwrap_or_default();
    let resume = env.tow(&["session", "resume", id, "--print"]).ok();
    resume.prints(&format!("grok --resume {id}"));
    env.tow(&["doctor", "--agent", "grok"]).ok().prints("1 prompts, 1 answers");
    pane.keys(&["C-c"]);
    pane.keys(&["C-c"]);
    pane.wait_end();
    env.wait_states(&[]);
}
