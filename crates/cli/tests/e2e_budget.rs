//! The real clients and the size of what a hook gives them: what fits the composer's budget reaches the model whole.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::fs;
use towline_core::compose::{
    ComposeInput, ComposedContext, ContextBudget, PastSession, PastTurn, Speaker, TurnMessage, compose,
};
use towline_core::event::PromptOrigin;
use towline_core::id::SessionKey;
use towline_core::work::WorkState;
use towline_testkit::{Claude, Codex, Daemon, Model, TestEnv};

const CODEX: Codex = Codex::V0_166_0;

/// A session with more to carry over than any budget holds, made of these words.
fn composed(words: &str, budget: ContextBudget) -> String {
    let turn = |number: usize| PastTurn {
        id: format!("1a2b3c4d#{number}"),
        clock: "14:05".into(),
        origin: PromptOrigin::Human,
        line: words.chars().take(80).collect(),
        words: [Speaker::Person, Speaker::Agent]
            .map(|speaker| TurnMessage { speaker, text: words.repeat(4) })
            .into(),
        details: vec![("Bash".into(), 3)],
        stopped: None,
    };
    let past = PastSession {
        session: SessionKey::parse("agent:0c9f6b2e-4d7a-4b1c-9e57-3f0a1a2b3c4d").unwrap(),
        way: "/clear in the same pane".into(),
        project: Some("harbour".into()),
        branch: None,
        model: None,
        last_active: "14:05:10".into(),
        first: None,
        turns_in_all: 500,
        turns: (441..=500).map(turn).collect(),
        older: vec![],
        answer_heard: None,
        handoff: None,
        work: WorkState::default(),
        away: None,
        summary: None,
    };
    let material = ComposeInput { past: Some(past), program: "tow".into(), ..ComposeInput::default() };
    let ComposedContext { text, .. } = compose(&material, budget);
    assert!(
        budget.size_of(&text) * 5 > budget.limit() * 4,
        "the budget is not used: {}",
        budget.size_of(&text)
    );
    text
}

const PROSE: &str =
    "The cause is a boundary that is read twice, and the second time it is wrong. I changed it. ";
const KEYS: &str = "9f86d081884c7d659a2feaa0c55ad015 TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5 ";
const JAPANESE: &str = "引き継ぎの文脈が大きすぎると、クライアントはそれを切り捨てて、先頭しか届かない。";
const EMOJI: &str = "🚀🔥👩\u{200d}💻 e\u{301} ";

/// A hook on every prompt that gives the model what the file `context` holds.
fn hooks(env: &TestEnv) -> Value {
    let file = env.root().join("context");
    let script = env.script("give", &format!("cat > /dev/null\nexec cat {}\n", file.display()));
    json!({"UserPromptSubmit": [{"hooks": [{"type": "command", "command": script, "timeout": 10}]}]})
}

fn give(env: &TestEnv, text: &str) {
    let output = json!({"hookEventName": "UserPromptSubmit", "additionalContext": text});
    let reply = json!({"hookSpecificOutput": output}).to_string();
    fs::write(env.root().join("context"), reply).expect("the environment is writable");
}

fn codex(model: &Model) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    CODEX.seed(&env, model, Daemon::Off);
    let hooks = json!({"hooks": hooks(&env)}).to_string();
    fs::write(env.home().join(".codex/hooks.json"), hooks).expect("the home is seeded");
    CODEX.trust_hooks(&env);
    env
}

#[test]
fn codex_gives_its_model_whole_what_fits_the_budget() {
    let model = Model::echo();
    let env = codex(&model);
    for words in [PROSE, KEYS, JAPANESE, EMOJI] {
        let text = composed(words, ContextBudget::Tokens(2_400));
        give(&env, &text);
        CODEX.headless(&env, "go on", &[]).ok();
        assert!(model.saw(text.trim_end()), "cut: {words}");
    }
}

/// The measure that the budget in tokens rests on: the client divides bytes by four, whatever they are.
#[test]
fn codex_counts_a_token_for_every_four_bytes() {
    let model = Model::echo();
    let env = codex(&model);
    for (text, is_whole) in [
        ("7c".repeat(4_950), true),
        ("a".repeat(9_990), true),
        ("a".repeat(10_010), false),
        ("漢".repeat(3_330), true),
        ("漢".repeat(3_340), false),
    ] {
        give(&env, &text);
        CODEX.headless(&env, "go on", &[]).ok();
        assert_eq!(model.saw(&text), is_whole, "{} bytes of {:?}", text.len(), text.chars().next());
    }
}

#[test]
fn claude_gives_its_model_whole_what_fits_the_budget() {
    for claude in Claude::ALL {
        let model = Model::echo();
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        claude.seed(&env);
        let hooks = hooks(&env);
        Claude::edit_settings(&env, |settings| settings["hooks"] = hooks);
        for words in [PROSE, JAPANESE, EMOJI] {
            let text = composed(words, ContextBudget::Characters(9_500));
            give(&env, &text);
            claude.headless(&env, &model, "go on", &[]).ok();
            assert!(model.saw(text.trim_end()), "cut by {}: {words}", claude.version);
        }
    }
}
