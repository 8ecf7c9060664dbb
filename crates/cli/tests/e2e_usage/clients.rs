//! The real clients with a model whose numbers are known: what they used and what it cost is what they say themselves.

use super::reference::{Held, by, messages};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use towline_testkit::{Claude, Codex, Daemon, Model, Rule, Run, Step, TestEnv, Usage};

const CODEX: Codex = Codex::V0_166_0;

/// Answers that use the cache, one of them behind a tool.
fn rules(tool: Step) -> [Rule; 3] {
    let cache_write = 3_000;
    let usage =
        |input, cache_read, output| Usage { input, cache_read, cache_write, output, ..Usage::default() };
    [
        Rule::when("work")
            .then(tool.usage(usage(2_100, 0, 41)))
            .then(Step::text("done").usage(usage(5_000, 2_000, 7))),
        Rule::when("more").then(Step::text("more done").usage(usage(9_000, 7_777, 13))),
        Rule::when("again").then(Step::text("done again").usage(usage(12_345, 11_000, 17))),
    ]
}

/// What `tow usage` tells of everything, after all files were taken in.
fn told(env: &TestEnv) -> Value {
    env.tow(&["import"]).ok();
    env.tow(&["usage", "--since", "all", "--json"]).ok().json()["total"].clone()
}

/// All that the agent has written down, below its folder.
fn held(agent: &'static str, folder: &Path) -> Vec<Held> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(held(agent, &path));
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(Held { agent, text: fs::read_to_string(path).unwrap() });
        }
    }
    found
}

#[track_caller]
fn check(env: &TestEnv, (agent, folder): (&'static str, &str), answers: u64) {
    let told = told(env);
    let expected = by(&messages(&held(agent, &env.home().join(folder))), |_| String::new())[""];
    let names = ["input", "cache_read", "cache_write", "cache_write_1h", "output"];
    let tokens = names.map(|name| told["tokens"][name].as_u64().unwrap());
    assert_eq!((told["messages"].as_u64().unwrap(), tokens), expected);
    assert_eq!(expected.0, answers);
}

#[test]
fn what_claude_2_1_197_says_that_it_used_and_cost_is_told() {
    claude(Claude::V2_1_197);
}

#[test]
fn what_claude_2_1_325_says_that_it_used_and_cost_is_told() {
    claude(Claude::V2_1_325);
}

fn claude(claude: Claude) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    let model =
        Model::start(rules(Step::tool("Bash", json!({"command": "echo fine", "description": "say"}))));
    let said = claude.headless(&env, &model, "work", &["--output-format", "json"]).ok().json();
    let (cost, told) = (said["total_cost_usd"].as_f64().unwrap(), told(&env));
    let ours = told["cost_usd"].as_f64().unwrap();
    assert!((ours - cost).abs() < 1e-9 && cost > 0.0, "{ours} is not {cost}");
    let session = said["session_id"].as_str().unwrap();
    claude.headless(&env, &model, "more", &["--resume", session]).ok();
    claude.headless(&env, &model, "again", &["--resume", session, "--fork-session"]).ok();
    check(&env, ("claude", ".claude/projects"), 4);
}

#[test]
fn what_codex_says_that_it_used_is_told() {
    let model = Model::start(rules(Step::tool("exec_command", json!({"cmd": "echo fine"}))));
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    CODEX.seed(&env, &model, Daemon::Off);
    let events = CODEX.headless(&env, "work", &[]).ok().json_lines();
    let thread = events.iter().find_map(|event| event["thread_id"].as_str()).unwrap().to_owned();
    let mut command = CODEX.command(&env);
    command.args(["exec", "--json", "--skip-git-repo-check", "resume", &thread, "more"]);
    let events = Run::of(&mut command, b"").ok().json_lines();
    let said = events.iter().find(|event| event["type"] == "turn.completed").unwrap()["usage"].clone();
    let told = told(&env)["tokens"].clone();
    let sent = told["input"].as_u64().unwrap() + told["cache_read"].as_u64().unwrap();
    assert_eq!(
        (json!(sent), &told["cache_read"]),
        (said["input_tokens"].clone(), &said["cached_input_tokens"])
    );
    assert_eq!(told["output"], said["output_tokens"]);
    check(&env, ("codex", ".codex/sessions"), 3);
}
