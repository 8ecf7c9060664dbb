//! Starting and ending: `tow open`, one server at a time, a graceful stop, idleness.

use super::client::{connect, read_head};
use super::world::{World, empty, serve};
use serde_json::Value;
use std::io::{BufReader, Read, Write};
use std::time::Duration;
use towline_testkit::{Run, TestEnv, wait};

#[test]
fn open_starts_a_server_once_and_prints_where_it_is() {
    let env = empty();
    let first = env.tow(&["open", "--print"]).ok().stdout;
    let again = env.tow(&["open"]).ok().stdout;
    let address = |printed: &str| printed.split_once("/?code=").unwrap().0.to_owned();
    assert!(first.starts_with("http://127.0.0.1:"), "{first}");
    assert_eq!(address(&first), address(&again), "one server, and no screen to open a browser on");
    assert_ne!(first, again, "every code is new");
    end(noted(&env)["pid"].as_u64().unwrap());
    wait::until("the note to be gone", wait::PATIENCE, || {
        (!env.data_dir().join("serve/address").exists()).then_some(())
    });
}

/// The running server's answer about itself.
fn noted(env: &TestEnv) -> Value {
    let note = std::fs::read_to_string(env.data_dir().join("serve/address")).unwrap();
    serde_json::from_str(&note).unwrap()
}

#[test]
fn open_with_write_left_a_server_that_only_reads_in_its_place() {
    let env = empty();
    env.tow(&["open", "--print"]).ok();
    let before = noted(&env);
    assert_eq!(before["write"], false);
    let opened = env.tow(&["open", "--print", "--write"]).ok();
    opened.complains(&format!("replacing the server at {}", before["address"].as_str().unwrap()));
    let after = noted(&env);
    assert_eq!((&after["write"], after["pid"] == before["pid"]), (&true.into(), false), "{after}");
    let again = env.tow(&["open", "--print"]).ok();
    assert_eq!(
        noted(&env),
        after,
        "who only wants to read is shown the one that may write: {}",
        again.stdout
    );
    end(after["pid"].as_u64().unwrap());
}

#[test]
fn a_server_with_write_ran_beside_the_one_that_only_reads_and_on_another_port() {
    let env = empty();
    let mut reads = serve(&env, &[]);
    let writes = serve(&env, &["--write", "--port", &reads.port.to_string()]);
    assert!(wait::until("the first server's end", wait::PATIENCE, || reads.ended()), "it ends well");
    assert_eq!((writes.port, noted(&env)["write"].clone()), (reads.port, true.into()));
}

#[test]
fn a_server_that_only_reads_took_the_place_of_one_that_may_write() {
    let env = empty();
    let mut writes = serve(&env, &["--write"]);
    let reads = serve(&env, &[]);
    assert_ne!(reads.port, writes.port);
    assert_eq!(noted(&env)["address"], writes.said["address"], "`tow open` still finds the first");
    assert_eq!(writes.ended(), None);
    drop(reads);
    assert_eq!(noted(&env)["address"], writes.said["address"]);
    let told = Run::of(env.command("tow").args(["data", "serve", "--port", &writes.port.to_string()]), b"");
    told.exits(1).complains("a server that may write runs at").complains("could not listen");
}

fn end(pid: u64) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
}

#[test]
fn a_server_that_is_told_to_end_ends_well_and_lets_its_listeners_go() {
    let mut world = World::new(&[]);
    let mut stream = connect(world.server.port);
    let head = format!(
        "GET /v1/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        world.host(),
        world.token()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    assert_eq!(read_head(&mut reader).0, 200);
    end(world.server.pid().into());
    let mut rest = vec![];
    reader.read_to_end(&mut rest).unwrap();
    let is_well = wait::until("the server's end", Duration::from_secs(10), || world.server.ended());
    assert!(is_well);
    assert!(!world.env.data_dir().join("serve/address").exists());
}

#[test]
fn a_server_that_nobody_uses_ends_by_itself() {
    let env = empty();
    let mut server = serve(&env, &["--idle", "0"]);
    assert!(wait::until("the server's end", Duration::from_secs(10), || server.ended()));
}

#[test]
fn tokens_that_are_drawn_anew_close_the_door_to_those_of_before() {
    let env = empty();
    let first = serve(&env, &[]).said["token"].clone();
    assert_eq!(serve(&env, &[]).said["token"], first);
    assert_ne!(serve(&env, &["--new-tokens"]).said["token"], first);
}
