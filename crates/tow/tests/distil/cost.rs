//! What a memory costs on recorded sessions: our own words, the digest and the answer, counted at the provider's end.

use super::world::{by_chat, env, jobs, memories, words};
use std::fs;
use std::path::Path;
use towline_core::compose::Budget;
use towline_testkit::{Model, Request, Rule, Step};

/// The longest recorded conversations of both agents.
const RECORDED: [(&str, &str); 3] = [
    ("claude", "claude-2.1.325-words.jsonl"),
    ("codex", "codex-0.166.0-tui-interrupt-compact.jsonl"),
    ("codex", "codex-0.166.0-words.jsonl"),
];

/// An upper estimate of everything that a request holds.
fn tokens(request: &Request) -> usize {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let messages = request.body["messages"].as_array().unwrap();
    let parts = messages.iter().map(|message| text(&message["content"]));
    let schema = request.body["response_format"].to_string();
    parts.chain([schema]).map(|part| Budget::Tokens(usize::MAX).size_of(&part)).sum()
}

#[test]
fn a_kept_memory_costs_at_most_two_thousand_tokens_on_recorded_sessions() {
    let answer =
        words("the mast leans since frame 12 was cut without a stay, and stands again since it has one")
            .to_string();
    for (agent, name) in RECORDED {
        let env = env();
        let model =
            Model::start([Rule::when("towline-context").then(Step::text(answer.replace("frame 12", name)))]);
        by_chat(&env, &model.url());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts").join(name);
        let place = env.home().join(name);
        fs::copy(path, &place).unwrap();
        env.tow(&["capture", "--at-once", agent, &place.display().to_string()]).ok();
        env.wait_no_process();
        env.tow(&["work"]).ok();
        let asked = model.requests();
        let output = Budget::Tokens(usize::MAX).size_of(&answer) * asked.len();
        let input: usize = asked.iter().map(tokens).sum();
        let dearest = asked.iter().map(tokens).max().unwrap_or(0);
        let turns = jobs(&env)["counts"]["done"].as_u64().unwrap();
        assert_eq!((asked.len() as u64, memories(&env).len()), (turns, 1), "the same words are one memory");
        let each = (input + output) / asked.len().max(1);
        println!(
            "{name}: {turns} turns, {each} tokens each (dearest {dearest} in), {} in all",
            input + output
        );
        assert!(turns > 0 && each <= 2000, "{name}: {each}");
    }
}
