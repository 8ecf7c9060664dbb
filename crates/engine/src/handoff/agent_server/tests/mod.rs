//! The client against the real server: a private one, and the one in the background.

use super::*;
use crate::runtime::Env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use towline_agents::server::{HistoryMode, ThreadStatus};
use towline_agents::{Agent, history};
use towline_testkit::{Codex, Daemon, Model, TestEnv, Tmux};

const CODEX: Codex = Codex::V0_166_0;

/// A wrapper around the agent's program that sets the test's environment.
fn program(env: &TestEnv) -> PathBuf {
    let command = CODEX.command(env);
    let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_string_lossy());
    let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let exports: String = variables
        .map(|(name, value)| format!("export {}={}\n", name.to_string_lossy(), quoted(value)))
        .collect();
    let path = env.root().join("agent");
    let script = format!("#!/bin/sh\n{exports}exec {} \"$@\"\n", quoted(command.get_program()));
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn address(env: &TestEnv) -> ServerAddress {
    Agent::Codex.server(&env.home().join(".codex")).unwrap()
}

/// Forks, reverts and injects in a thread of three turns, and reads each back from the files.
#[track_caller]
fn change(client: &mut Client<'_>, id: &SessionId) {
    let thread = client.thread(id).unwrap();
    assert_eq!((thread.id.clone(), thread.history), (id.clone(), HistoryMode::Paginated));
    let turns = client.turns(id).unwrap();
    assert_eq!((turns.len(), turns.iter().any(|turn| turn.is_running)), (3, false));
    let text = fs::read(thread.path.clone().unwrap()).unwrap();
    let second = &turns[1].id;

    if thread.status == ThreadStatus::NotLoaded {
        assert!(matches!(client.revert_to(id, second), Err(ServerError::Refused { .. })));
        assert_eq!(client.load(id).unwrap().status, ThreadStatus::Idle);
    }
    let forked = client.fork_at(id, Some(second)).unwrap();
    assert_ne!(forked.id, *id);
    assert_eq!(client.turns(&forked.id).unwrap().len(), 1);
    let whole = client.fork_at(id, None).unwrap();
    assert_eq!(client.turns(&whole.id).unwrap().len(), 3);
    assert_eq!(client.turns(id).unwrap(), turns, "the old one is as it was");

    let reverted = client.revert_to(id, second).unwrap();
    client.inject(id, "first line\nsecond \"line\"").unwrap();
    assert_eq!(client.turns(id).unwrap(), turns[..1]);
    assert_ne!(reverted.path, thread.path);
    let after = fs::read(reverted.path.unwrap()).unwrap();
    assert!(history::is_reverted(&after, id, history::beginning_of(&text, second).unwrap()));
    assert!(history::holds_injected(&after, "first line\nsecond \"line\""));
    client.unload(id).unwrap();
}

#[test]
fn a_thread_is_forked_reverted_and_told_something_by_a_server_of_our_own() {
    let model = Model::echo();
    let env = TestEnv::new("/bin/true");
    CODEX.seed(&env, &model, Daemon::Off);
    let first = CODEX.headless(&env, "turn one", &[]).ok().stdout;
    let started: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let id = started["thread_id"].as_str().unwrap();
    for prompt in ["turn two", "turn three"] {
        CODEX.headless(&env, prompt, &["resume", id]).ok();
    }
    let ours = Env::new().unwrap();
    let mut client = Client::connect(&ours, &address(&env), &program(&env)).unwrap();
    assert_eq!(client.kind, Kind::Private);
    change(&mut client, &SessionId::parse(id).unwrap());
    let unknown = SessionId::parse("00000000-0000-7000-8000-000000000000").unwrap();
    assert!(matches!(client.thread(&unknown), Err(ServerError::Refused { .. })));
    drop(client);
    assert!(
        env.processes().iter().all(|process| !process.command.contains("app-server")),
        "it ended with us"
    );
}

#[test]
fn a_thread_is_forked_reverted_and_told_something_by_the_server_in_the_background() {
    let model = Model::echo();
    let env = TestEnv::new("/bin/true");
    CODEX.seed(&env, &model, Daemon::On);
    let tmux = Tmux::start(&env);
    let pane = CODEX.interactive(&tmux, &[]);
    CODEX.wait_daemon(&env);
    for prompt in ["turn one", "turn two", "turn three"] {
        pane.say(prompt);
        pane.wait_screen(&format!("echo: {prompt}"));
        CODEX.wait_idle(&pane);
    }
    let file = Agent::Codex.transcripts(&env.home().join(".codex")).pop().unwrap();
    let meta = fs::read_to_string(file).unwrap();
    let meta: serde_json::Value = serde_json::from_str(meta.lines().next().unwrap()).unwrap();
    let ours = Env::new().unwrap();
    let mut client = Client::connect(&ours, &address(&env), "/nowhere".as_ref()).unwrap();
    assert_eq!(client.kind, Kind::Shared);
    change(&mut client, &SessionId::parse(meta["payload"]["id"].as_str().unwrap()).unwrap());
    CODEX.stop_daemon(&env);
}

#[test]
fn a_server_that_does_not_answer_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("silent.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let ours = Env::new().unwrap();
    let reached = Transport::to_socket(&ours, &socket, ours.elapsed() + Duration::from_millis(50));
    assert_eq!(reached.err().unwrap().kind(), io::ErrorKind::TimedOut);
    let silent = broken("thread/read", io::ErrorKind::TimedOut.into()).to_string();
    assert_eq!(silent, "the server did not answer thread/read within 20 seconds");
}

#[test]
fn a_server_that_goes_away_or_is_not_there_is_an_error_that_names_it() {
    let ours = Env::new().unwrap();
    let address = ServerAddress { socket: "/nowhere/x.sock".into(), arguments: &[] };
    let gone = Client::connect(&ours, &address, "/bin/true".as_ref()).err().unwrap();
    assert!(matches!(gone, ServerError::Broken { method: "initialize", .. }), "{gone:?}");
    let missing = Client::connect(&ours, &address, "/nowhere/agent".as_ref()).err().unwrap();
    assert_eq!(missing.to_string(), "could not reach the server at /nowhere/agent");
}
