//! The skills that `tow install` writes: files on disk, and what the real clients make of them.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use towline_testkit::{Claude, Codex, Daemon, Model, Recorder, TestEnv, Tmux};

const BATON: &str = "will go on from this one";
const STATUS: &str = "who waits for the person and for what";
const TRIM: &str = "what would be cut of this session, and what would be given instead";
const DETAIL: &str = "answer from what it prints";

fn skill(env: &TestEnv, agent: &str, name: &str) -> PathBuf {
    env.home().join(agent).join("skills").join(name).join("SKILL.md")
}

#[test]
fn install_writes_them_and_uninstall_gives_the_folders_back() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let both = ["install", "--agent", "claude", "--agent", "codex"];
    env.tow(&[&both[..], &["--dry-run"]].concat()).ok().prints("+name: tow-detail");
    assert!(!env.home().join(".claude").exists(), "a dry run writes nothing");
    env.tow(&both).ok().prints("SKILL.md");
    for agent in [".claude", ".codex"] {
        for name in ["tow", "tow-detail", "tow-memory", "tow-status", "tow-trim"] {
            let file = skill(&env, agent, name);
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
        }
        let text = fs::read_to_string(skill(&env, agent, "tow-detail")).unwrap();
        assert!(
            text.contains(&format!("Run `{}/", env.root().display()))
                && text.contains("/tow session detail '"),
            "{text}"
        );
    }
    env.tow(&["doctor"]).prints("5 in ");
    env.tow(&["uninstall", "--agent", "claude", "--agent", "codex"]).ok();
    assert!(!env.home().join(".claude").exists() && !env.home().join(".codex").exists());
}

#[test]
fn a_users_own_file_stays_and_the_rest_is_done() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let own = skill(&env, ".claude", "tow");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "---\nname: tow\n---\nPull the boat.\n").unwrap();
    env.tow(&["install", "--agent", "claude"]).ok().complains("is not ours").prints("tow-detail");
    env.tow(&["doctor"]).prints("is not ours");
    env.tow(&["uninstall", "--agent", "claude"]).ok();
    assert_eq!(fs::read_to_string(&own).unwrap(), "---\nname: tow\n---\nPull the boat.\n");
    assert!(!skill(&env, ".claude", "tow-detail").exists());
}

#[test]
fn a_users_change_stays_and_is_named() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.tow(&["install", "--agent", "codex"]).ok();
    let file = skill(&env, ".codex", "tow");
    let changed = fs::read_to_string(&file).unwrap().replace("Do nothing else.", "Sing.");
    fs::write(&file, &changed).unwrap();
    env.tow(&["install", "--agent", "codex"]).ok().complains("stays as it is");
    env.tow(&["doctor"]).prints("kept as you changed it");
    env.tow(&["uninstall", "--agent", "codex"]).ok().complains("stays as it is");
    assert_eq!(fs::read_to_string(&file).unwrap(), changed);
}

#[test]
fn the_baton_and_the_detail_reach_the_model_in_2_1_197() {
    reach_the_model(Claude::V2_1_197);
}

#[test]
fn the_baton_and_the_detail_reach_the_model_in_2_1_325() {
    reach_the_model(Claude::V2_1_325);
}

fn reach_the_model(claude: Claude) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    let recorder = Recorder::for_claude(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    let model = Model::echo();
    let pane = claude.interactive(&Tmux::start(&env), &model, &[]);
    pane.say("hello");
    pane.wait_screen("echo: hello");
    claude.wait_idle(&pane);
    assert!(!model.saw("Hand this session's work on"), "the model need not know of it");
    assert!(model.saw("Look up what was said and done earlier"));
    assert!(model.saw("Ask what earlier sessions did and learned"), "it should know when to ask");
    pane.say("/tow fresh");
    let request = model.wait_request("the baton's text", |request| request.holds(BATON));
    assert!(
        request.holds("if \\\"fresh\\\" is") || request.holds("if \"fresh\" is"),
        "the argument is put in"
    );
    claude.wait_idle(&pane);
    pane.say("/tow-detail yesterday 14:05");
    let request = model.wait_request("the detail's text", |request| request.holds(DETAIL));
    assert!(request.holds("detail 'yesterday 14:05'"));
    claude.wait_idle(&pane);
    assert!(!model.saw(STATUS) && !model.saw(TRIM));
    for (said, text) in [("/tow-status", STATUS), ("/tow-trim", TRIM)] {
        pane.say(said);
        model.wait_request(said, |request| request.holds(text));
        claude.wait_idle(&pane);
    }
    let prompts: Vec<String> = recorder
        .payloads()
        .into_iter()
        .filter(|payload| payload["hook_event_name"] == "UserPromptSubmit")
        .map(|payload| payload["prompt"].as_str().unwrap().to_owned())
        .collect();
    let said = ["hello", "/tow fresh", "/tow-detail yesterday 14:05", "/tow-status", "/tow-trim"];
    assert_eq!(prompts, said, "as the hook sees them");
}

#[test]
fn the_baton_and_the_detail_reach_the_model_of_codex() {
    let codex = Codex::V0_166_0;
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let model = Model::echo();
    codex.seed(&env, &model, Daemon::Off);
    env.tow(&["install", "--agent", "codex"]).ok();
    codex.headless(&env, "hello", &[]).ok();
    assert!(model.saw("Look up what was said and done earlier") && !model.saw(BATON));
    assert!(model.saw("Ask what earlier sessions did and learned"), "it should know when to ask");
    codex.headless(&env, "$tow fresh", &[]).ok();
    model.wait_request("the baton's text", |request| request.holds(BATON));
    codex.headless(&env, "$tow-detail 14:05", &[]).ok();
    model.wait_request("the detail's text", |request| request.holds(DETAIL));
    for (said, text) in [("$tow-status", STATUS), ("$tow-trim", TRIM)] {
        codex.headless(&env, said, &[]).ok();
        model.wait_request(said, |request| request.holds(text));
    }
}
