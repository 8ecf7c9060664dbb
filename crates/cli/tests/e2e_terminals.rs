//! Typing into the real client where it is not shown by tmux: in real GNU screen, which cannot tell all that should be
//! known, and in real kitty on a display that nobody sees.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::UNIX_EPOCH;
use towline_core::event::{Event, EventKind};
use towline_core::id::{SessionKey, Uid};
use towline_core::time::Timestamp;
use towline_core::typing::{IntentPurpose, IntentRequest};
use towline_store::DataFolder;
use towline_store::journal::{self, JournalRecord};
use towline_testkit::{Claude, Kind, Model, Run, TestEnv, Tmux, wait};

const CLAUDE: Claude = Claude::V2_1_325;

/// Every program gets what the client needs to reach the model.
fn world() -> (TestEnv, Model) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let model = Model::echo();
    CLAUDE.seed(&env);
    for (name, value) in CLAUDE.command(&env, &model).get_envs() {
        env.set(name.to_str().unwrap(), value.unwrap().to_str().unwrap());
    }
    env.tow(&["install", "--agent", "claude"]).ok();
    env.tow(&["config", "set", "typing.enabled", "true"]).ok();
    env.tow(&["config", "set", "typing.quiet_s", "0"]).ok();
    (env, model)
}

/// Makes an intent for the only seat, lets it be typed, and gives its row of the list.
#[track_caller]
fn typed(env: &TestEnv, text: &str) -> Value {
    let seat = env.only_seat();
    let word = |name: &str| seat[name].as_str().unwrap().to_owned();
    let at = Timestamp(i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap());
    let wish = IntentRequest::new(&word("seat"), IntentPurpose::Bookmark, text, at.plus_ms(60_000)).unwrap();
    let event = Event {
        uid: Uid::v7(at, [1; 10]),
        at,
        session: SessionKey::parse(&word("session")).unwrap(),
        subagent: None,
        turn: None,
        happening: EventKind::IntentMade { wish },
        scene: None,
    };
    journal::append(&DataFolder::at(env.data_dir()), &[JournalRecord::Event(event)]).unwrap();
    env.tow(&["type", &word("seat")]).ok();
    env.tow(&["typed", "--json"]).ok().json()["intents"][0].clone()
}

/// Whether the input line holds this and nothing else; the client puts a blank of its own behind the mark.
fn stands_there(screen: &str, text: &str) -> bool {
    screen.lines().any(|line| line.strip_prefix('❯').is_some_and(|held| held.trim() == text))
}

fn prompts(model: &Model) -> Vec<String> {
    let requests = model.requests();
    let main = requests.iter().filter(|request| request.kind == Kind::Main && request.step == 0);
    main.map(|request| request.prompt.clone()).collect()
}

#[test]
fn gnu_screen_is_typed_into_only_by_those_who_accept_what_it_cannot_tell() {
    let (env, model) = world();
    let sockets = env.root().join("screens");
    fs::create_dir(&sockets).unwrap();
    fs::set_permissions(&sockets, fs::Permissions::from_mode(0o700)).unwrap();
    env.set("SCREENDIR", sockets.display().to_string());
    let client = CLAUDE.binary().display().to_string();
    let looker = Tmux::start(&env).open(&["screen", "-U", "-S", "work", &client], &[]);
    looker.wait_screen("? for shortcuts");
    looker.half_type("begin");
    looker.wait_screen_for("the prompt in the line", |screen| stands_there(screen, "begin"));
    looker.keys(&["Enter"]);
    env.wait_states(&["completed"]);
    assert!(env.only_seat()["seat"].as_str().unwrap().starts_with("screen:"), "{}", env.only_seat());

    let refused = typed(&env, "·");
    let why = "this terminal cannot tell what stands in the input line (`typing.without` accepts \"screen\")";
    let mode = "whether the keys would go to the terminal program itself (`typing.without` accepts \"mode\")";
    let said = refused["why"].as_str().unwrap();
    assert!(refused["state"] == "refused" && (said == why || said.contains(mode)), "{refused}");
    env.tow(&["config", "set", "typing.without", r#"["screen"]"#]).ok();
    let refused = typed(&env, "·");
    assert!(refused["state"] == "refused" && refused["why"].as_str().unwrap().contains(mode), "{refused}");
    assert_eq!(prompts(&model), ["begin"]);

    env.tow(&["config", "set", "typing.without", r#"["screen", "mode"]"#]).ok();
    let confirmed = typed(&env, "·");
    assert_eq!(confirmed["state"], "confirmed", "{confirmed}\n{}", looker.screen());
    env.wait_states(&["completed"]);
    assert_eq!(prompts(&model), ["begin", "·"]);
    Run::of(env.command("screen").args(["-S", "work", "-X", "quit"]), b"");
}

/// What a test has started itself, and has to wait for once the environment has ended it.
struct Started([Child; 2]);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|child| drop(child.wait()));
    }
}

/// The server chooses a display that is free and says which.
fn display(env: &TestEnv) -> (Child, String) {
    let mut command = env.command("Xvfb");
    command.args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut number = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
    (server, format!(":{}", number.trim()))
}

#[test]
fn kitty_is_typed_into_unless_something_stands_there() {
    let (env, model) = world();
    let (server, display) = display(&env);
    env.set("DISPLAY", display);
    env.set("LIBGL_ALWAYS_SOFTWARE", "1");
    let socket = format!("unix:{}/kitty.sock", env.root().display());
    let mut kitty = env.command("kitty");
    kitty.args(["--config", "NONE", "-o", "allow_remote_control=socket-only", "--listen-on", &socket]);
    let shown = kitty.arg(CLAUDE.binary()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Whoever is dropped last is waited for: the environment has ended it by then.
    let (started, env) = (Started([server, shown]), env);
    let remote = |words: &[&str]| Run::of(env.command("kitty").args(["@", "--to", &socket]).args(words), b"");
    let wait_screen = |what: &str, fits: &dyn Fn(&str) -> bool| {
        wait::until_evident(what, wait::PATIENCE, || {
            let screen = remote(&["get-text"]).stdout;
            if fits(&screen) { Ok(()) } else { Err(screen) }
        });
    };
    wait_screen("the client", &|screen| screen.contains("? for shortcuts"));
    remote(&["send-text", "begin"]).ok();
    wait_screen("the prompt in the line", &|screen| stands_there(screen, "begin"));
    remote(&["send-text", "\\r"]).ok();
    env.wait_states(&["completed"]);
    assert!(env.only_seat()["seat"].as_str().unwrap().starts_with("kitty:"), "{}", env.only_seat());

    let confirmed = typed(&env, "·");
    assert_eq!(confirmed["state"], "confirmed", "{confirmed}\n{}", remote(&["get-text"]).stdout);
    env.wait_states(&["completed"]);
    remote(&["send-text", "mine alone"]).ok();
    wait_screen("half-typed text", &|screen| stands_there(screen, "mine alone"));
    env.tow(&["config", "set", "typing.limit_s", "1"]).ok();
    let refused = typed(&env, "·");
    let why = refused["why"].as_str().unwrap();
    assert!(refused["state"] == "expired" && why.contains("something stands in the input line"), "{refused}");
    wait_screen("half-typed text", &|screen| stands_there(screen, "mine alone"));
    assert_eq!(prompts(&model), ["begin", "·"]);
    drop(env);
    drop(started);
}
