//! Nothing is sent while the export is off, and hooks never send: by the system calls of every process.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::json;
use towline_testkit::Run;

use crate::receiver::Receiver;
use crate::world::{World, turn};

/// The calls about sockets of a command and of all processes that it starts.
fn sockets(world: &World, words: &[&str], input: &str) -> String {
    let trace = world.env.root().join("trace");
    let mut strace = world.env.command("/usr/bin/strace");
    strace.args(["-f", "-qq", "-e", "trace=network", "-o"]).arg(&trace).arg("tow").args(words);
    let mut child = strace.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    // The doctor fails if something is wrong, such as an agent without hooks.
    let is_fine = child.wait().unwrap().success() || words == ["doctor"];
    assert!(is_fine, "{words:?}");
    world.env.wait_no_process();
    fs::read_to_string(trace).unwrap()
}

fn payload(event: &str, path: &str) -> String {
    json!({"hook_event_name": event, "session_id": "s-1", "transcript_path": path, "cwd": "/home/dev/project",
        "source": "startup", "prompt": "repair the lighthouse", "reason": "other"})
    .to_string()
}

const EVENTS: [&str; 4] = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"];

#[test]
fn nothing_is_sent_to_any_network_while_the_export_is_off() {
    let world = World::new();
    let path = world.transcript("s-1", "/home/dev/project", &turn("one", 0, "repair the lighthouse", 2));
    for event in EVENTS {
        let trace = sockets(&world, &["hook", "claude"], &payload(event, &path));
        assert!(!trace.contains("AF_INET"), "{event}: {trace}");
    }
    for words in [["import"].as_slice(), &["work"], &["work", "--quiet"], &["doctor"], &["usage"]] {
        let trace = sockets(&world, words, "");
        assert!(!trace.contains("AF_INET"), "{words:?}: {trace}");
    }
    let found = Run::of(world.env.command("tow").args(["sessions", "--all-projects", "--json"]), b"").ok();
    assert!(found.stdout.contains("s-1"), "there was something to send: {}", found.stdout);
}

/// The same trace with the export on: it would have seen a connection.
#[test]
fn only_background_work_connects_to_the_receiver_and_never_a_hook() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "");
    let path = world.transcript("s-1", "/home/dev/project", &turn("one", 0, "repair the lighthouse", 2));
    let port = format!("htons({})", receiver.address.port());
    let mut connected = vec![];
    for event in EVENTS {
        let trace = world.env.root().join("hook");
        let mut strace = world.env.command("/usr/bin/strace");
        strace.args(["-ff", "-qq", "-e", "trace=network,execve", "-o"]).arg(&trace);
        strace.arg("tow").args(["hook", "claude"]);
        let mut child = strace.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload(event, &path).as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        world.env.wait_no_process();
        for file in fs::read_dir(world.env.root()).unwrap().flatten().map(|entry| entry.path()) {
            if file.file_stem().is_some_and(|stem| stem == "hook") {
                let calls = fs::read_to_string(&file).unwrap();
                fs::remove_file(&file).unwrap();
                connected.extend(calls.contains(&port).then_some(calls));
            }
        }
    }
    assert!(!receiver.spans().is_empty());
    // A thread of the worker has its own file, without the start of the program.
    let by_hook = connected.iter().filter(|calls| calls.contains("execve") && calls.contains("\"hook\""));
    assert_eq!(by_hook.count(), 0, "{connected:#?}");
    assert!(!connected.is_empty(), "the trace sees a connection");
}
