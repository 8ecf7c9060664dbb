//! Starting and ending: `tow open`, one server at a time, a graceful stop, idleness.

use super::client::{connect, read_head};
use super::world::{World, empty, serve};
use std::io::{BufReader, Read, Write};
use std::time::Duration;
use towline_testkit::wait;

#[test]
fn open_starts_a_server_once_and_prints_where_it_is() {
    let env = empty();
    let first = env.tow(&["open", "--print"]).ok().stdout;
    let again = env.tow(&["open"]).ok().stdout;
    let address = |printed: &str| printed.split_once("/?code=").unwrap().0.to_owned();
    assert!(first.starts_with("http://127.0.0.1:"), "{first}");
    assert_eq!(address(&first), address(&again), "one server, and no screen to open a browser on");
    assert_ne!(first, again, "every code is new");
    env.tow(&["open", "--write"]).exits(2).complains("a server that only reads runs already");
    let note = std::fs::read_to_string(env.data_dir().join("serve/address")).unwrap();
    let note: serde_json::Value = serde_json::from_str(&note).unwrap();
    end(note["pid"].as_u64().unwrap());
    wait::until("the note to be gone", wait::PATIENCE, || {
        (!env.data_dir().join("serve/address").exists()).then_some(())
    });
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
