//! The scenes of the recorded day: the prompts, and the agents' scripted work.
//!
//! A scene is one terminal from its first prompt on. It must end in the state in which the demo shows it:
//! done, waiting for the user, or working.

use std::fs;

use serde_json::json;
use towline_testkit::{
    Claude, Codex, Daemon, Gate, Model, Moment, Recorder, Rule, Step, TestEnv, Tmux, Usage,
};

/// One terminal of the day.
pub struct Scene {
    pub name: &'static str,
    pub agent: &'static str,
    pub play: fn(&TestEnv) -> Vec<Moment>,
}

pub const ALL: [Scene; 3] = [
    Scene { name: "shop", agent: "claude", play: shop },
    Scene { name: "ledger", agent: "codex", play: ledger },
    Scene { name: "docs", agent: "claude", play: docs },
];

const CLAUDE: Claude = Claude::V2_1_325;
const CODEX: Codex = Codex::V0_166_0;
const SONNET: [&str; 2] = ["--model", "claude-sonnet-4-5"];

const CLIENT: &str = "pub fn token(session: &Session) -> Token {\n    if session.expired() {\n        session.refresh()\n    }\n    session.token()\n}\n";
const TESTS: &str = "#!/bin/sh\nif grep -q 'lock()' src/client.rs\nthen echo 'test checkout::keeps_its_session ... ok'; echo 'test result: ok. 14 passed; 0 failed'\nelse echo 'test checkout::keeps_its_session ... FAILED'; echo 'the token was refreshed twice: 401 from /cart'; echo 'test result: FAILED. 13 passed; 1 failed'; exit 1\nfi\n";

/// A morning's bug hunt, cleared and continued.
fn shop(env: &TestEnv) -> Vec<Moment> {
    lay(env, &[("src/client.rs", CLIENT), ("tests.sh", TESTS)]);
    let file = env.project().join("src/client.rs").display().to_string();
    let edit = |old: &str, new: &str| {
        Step::tool("Edit", json!({"file_path": file, "old_string": old, "new_string": new}))
    };
    let run =
        |command: &str, what: &str| Step::tool("Bash", json!({"command": command, "description": what}));
    let model = Model::start([
        Rule::when("only sometimes")
            .then(run("sh tests.sh", "Run the checkout tests").thinking("First see it fail.").usage(used(21_000)))
            .then(Step::tool("Read", json!({"file_path": file})).usage(used(23_400)))
            .then(edit("    if session.expired() {", "    let _held = session.lock();\n    if session.expired() {").usage(used(26_100)))
            .then(run("sh tests.sh", "Run the checkout tests again").usage(used(27_300)))
            .then(Step::text("The checkout tests failed because two requests refreshed the session's token at the same time; the second refresh made the first token invalid. `token()` now holds the session's lock while it refreshes. All 14 tests pass.").usage(used(28_000))),
        Rule::when("Commit it")
            .then(run("git add -A && git commit -q -m 'Refresh the token under the session lock' && git log --oneline -1", "Commit the fix").usage(used(31_500)))
            .then(Step::text("Committed. From now on I run the checkout tests ten times before I call a flaky test fixed.").usage(used(32_200))),
        Rule::when("backoff")
            .then(edit("        session.refresh()", "        retry(Backoff::exponential(5).with_jitter(), || session.refresh())").usage(used(58_000)))
            .then(Step::text("We decided on exponential backoff with jitter and at most five attempts, because the shop's gateway bans clients that hammer it. `token()` retries so now. Next step: a test that the sixth attempt is never made.").usage(used(61_700))),
        Rule::when("go on")
            .then(run("sh tests.sh", "Run the checkout tests").usage(used(14_200)))
            .then(Step::text("Going on where we were: the test that the sixth attempt is never made. It is written and passes, ten times out of ten.").usage(used(15_900))),
    ]);
    let (recorder, tmux) = (claude_recorder(env), Tmux::start(env));
    let pane = CLAUDE.interactive(&tmux, &model, &SONNET);
    let prompts = [
        "The checkout tests fail on CI since yesterday, but only sometimes. Find out why and fix it.",
        "Commit it. And from now on always run the checkout tests ten times before you say that a flaky test is fixed.",
        "Now retries of the refresh: use exponential backoff with jitter.",
    ];
    for (number, prompt) in prompts.into_iter().enumerate() {
        CLAUDE.wait_idle(&pane);
        pane.say(prompt);
        recorder.wait("Stop", number + 1);
    }
    CLAUDE.wait_idle(&pane);
    pane.say("/clear");
    recorder.wait("SessionStart:clear", 1);
    CLAUDE.wait_idle(&pane);
    pane.say("go on");
    recorder.wait("Stop", 4);
    recorder.moments()
}

/// An agent that waits for permission to run a command.
fn ledger(env: &TestEnv) -> Vec<Moment> {
    lay(env, &[("compose.yaml", "services:\n  ledger:\n    environment:\n      POOL: 10\n")]);
    let command = json!({
        "cmd": "docker compose up -d ledger", "sandbox_permissions": "require_escalated",
        "justification": "Restart the ledger with the larger pool?",
    });
    let read = json!({"cmd": "cat compose.yaml"});
    let model = Model::start([Rule::when("pool")
        .then(Step::tool("exec_command", read).usage(counted(38_300)))
        .then(Step::tool("exec_command", command).usage(counted(41_100)))]);
    CODEX.seed(env, &model, Daemon::Off);
    let recorder = Recorder::for_codex(env);
    CODEX.trust_hooks(env);
    let pane = CODEX.interactive(&Tmux::start(env), &["-a", "on-request", "-s", "read-only"]);
    CODEX.wait_idle(&pane);
    pane.say("Raise the connection pool of the ledger to 40 and restart it.");
    recorder.wait("PermissionRequest", 1);
    recorder.moments()
}

/// An agent in the middle of long work, its context more than half full.
fn docs(env: &TestEnv) -> Vec<Moment> {
    lay(env, &[("docs/install.md", "# Install\n\nRun `make`.\n")]);
    let file = env.project().join("docs/install.md").display().to_string();
    let never = Gate::shut();
    let model = Model::start([Rule::when("handbook")
        .then(Step::tool("Read", json!({"file_path": file})).usage(used(101_000)))
        .then(Step::tool("Edit", json!({"file_path": file, "old_string": "Run `make`.", "new_string": "Run `make install`, then `shop doctor`."})).usage(used(118_500)))
        .then(Step::text("…").behind(&never))]);
    let (recorder, tmux) = (claude_recorder(env), Tmux::start(env));
    let pane = CLAUDE.interactive(&tmux, &model, &SONNET);
    CLAUDE.wait_idle(&pane);
    pane.say("Bring the handbook up to date with the new installer, chapter by chapter.");
    recorder.wait("PostToolUse", 2);
    recorder.wait("PostToolBatch", 2);
    recorder.moments()
}

fn claude_recorder(env: &TestEnv) -> Recorder {
    CLAUDE.seed(env);
    Claude::edit_settings(env, |settings| {
        settings["permissions"]["allow"] = json!(["Bash", "Read", "Write", "Edit"]);
    });
    Recorder::for_claude(env)
}

fn lay(env: &TestEnv, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = env.project().join(name);
        // If writing fails, the first program that needs the file fails.
        let _ = path.parent().map(fs::create_dir_all);
        let _ = fs::write(path, text);
    }
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "Begin"]);
}

/// In a long conversation, most input is read from the cache.
fn used(tokens: u64) -> Usage {
    Usage { input: tokens / 20, cache_read: tokens - tokens / 20, output: 240, ..Usage::default() }
}

/// The same for an API that includes cached tokens in the input.
fn counted(tokens: u64) -> Usage {
    Usage { input: tokens, ..used(tokens) }
}
