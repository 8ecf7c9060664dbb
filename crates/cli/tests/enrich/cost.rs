//! What a memory costs on recorded sessions: our own words, the digest and the answer, counted at the provider's end.

use super::world::{by_chat, env, jobs, long_transcript, words};
use std::fs;
use std::path::{Path, PathBuf};
use towline_core::compose::ContextBudget;
use towline_testkit::{Model, Request, Rule, Step, TestEnv};

/// The longest recorded conversations of both agents.
const RECORDED: [(&str, &str); 3] = [
    ("claude", "claude-2.1.325-words.jsonl"),
    ("claude", "claude-2.1.325-headless.jsonl"),
    ("codex", "codex-0.166.0-words.jsonl"),
];

/// An upper estimate of everything that a request holds.
fn tokens(request: &Request) -> usize {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let messages = request.body["messages"].as_array().unwrap();
    let parts = messages.iter().map(|message| text(&message["content"]));
    let schema = request.body["response_format"].to_string();
    parts.chain([schema]).map(|part| ContextBudget::Tokens(usize::MAX).size_of(&part)).sum()
}

#[test]
fn a_kept_memory_costs_at_most_two_thousand_tokens_on_recorded_sessions() {
    for (agent, name) in RECORDED {
        let place = |env: &TestEnv| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts").join(name);
            let place = env.home().join(name);
            fs::copy(path, &place).unwrap();
            place
        };
        check(agent, name, &place);
    }
}

#[test]
fn a_kept_memory_costs_at_most_two_thousand_tokens_in_a_long_session_of_long_turns() {
    check("claude", "a long session", &|env| long_transcript(env, 24));
}

#[track_caller]
fn check(agent: &str, name: &str, transcript: &dyn Fn(&TestEnv) -> PathBuf) {
    let said = "the mast leans since frame 12 was cut without a stay, and stands again since it has one";
    let answer = words(said).to_string();
    let env = env();
    let model = Model::start([Rule::when("towline-context").then(Step::text(answer.clone()))]);
    by_chat(&env, &model.url());
    env.tow(&["capture", "--at-once", agent, &transcript(&env).display().to_string()]).ok();
    env.wait_no_process();
    env.tow(&["work"]).ok();
    let asked = model.requests();
    let done = jobs(&env)["counts"]["done"].as_u64().unwrap();
    assert_eq!((u64::try_from(asked.len()).unwrap(), done > 0), (done, true), "one call for each turn");
    let output = ContextBudget::Tokens(usize::MAX).size_of(&answer) * asked.len();
    let input: usize = asked.iter().map(tokens).sum();
    let dearest = asked.iter().map(tokens).max().unwrap_or(0);
    let each = (input + output) / asked.len();
    println!("{name}: {done} turns, {each} tokens for each memory (dearest question {dearest})");
    assert!(each <= 2000, "{name}: {each}");
}
