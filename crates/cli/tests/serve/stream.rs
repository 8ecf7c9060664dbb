//! The stream of changes: told soon, and without a gap over reconnects.

use super::client::{connect, read_head};
use super::world::World;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// One who listens.
struct Listener {
    lines: BufReader<TcpStream>,
    /// The place that it has come to.
    place: String,
}

#[derive(Debug, PartialEq)]
struct Told {
    kind: String,
    data: Value,
}

impl Listener {
    fn at(world: &World, place: Option<&str>) -> Listener {
        let mut stream = connect(world.server.port);
        let from = place.map(|place| format!("Last-Event-ID: {place}\r\n")).unwrap_or_default();
        let (host, token) = (world.host(), world.token());
        let head =
            format!("GET /v1/stream HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{from}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let (status, headers) = read_head(&mut lines);
        assert_eq!(status, 200, "{headers:?}");
        assert!(
            headers.contains(&("content-type".to_owned(), "text/event-stream".to_owned())),
            "{headers:?}"
        );
        let mut listener = Listener { lines, place: String::new() };
        assert!(listener.block().is_none(), "it begins with a place and nothing else");
        listener
    }

    /// The next thing that is told.
    fn next(&mut self) -> Told {
        loop {
            if let Some(told) = self.block() {
                return told;
            }
        }
    }

    /// The next one of this kind.
    fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let told = self.next();
            if told.kind == kind {
                return told.data;
            }
        }
    }

    /// Lines up to an empty one; what the chunks are framed by is passed over.
    fn block(&mut self) -> Option<Told> {
        let (mut kind, mut data) = (None, None);
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the stream ended");
            let line = line.trim_end();
            if let Some(place) = line.strip_prefix("id: ") {
                self.place = place.to_owned();
            } else if let Some(name) = line.strip_prefix("event: ") {
                kind = Some(name.to_owned());
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = serde_json::from_str(text).ok();
                return Some(Told { kind: kind?, data: data? });
            } else if line.is_empty() && !self.place.is_empty() && kind.is_none() && data.is_none() {
                return None;
            }
        }
    }
}

fn prompt(world: &World, session: &str) {
    let folder = world.env.project();
    let payload = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": folder, "prompt": "paint the mast",
    });
    world.env.hook("claude", payload.to_string()).ok();
}

#[test]
fn what_a_hook_tells_is_told_soon_after_it_ended() {
    let world = World::new(&[]);
    let mut listener = Listener::at(&world, None);
    let mut waited = vec![];
    for number in 0..5 {
        let session = format!("session-{number}");
        prompt(&world, &session);
        let ended = Instant::now();
        loop {
            if listener.next_of("seat")["session"] == format!("claude:{session}") {
                break;
            }
        }
        waited.push(ended.elapsed());
    }
    waited.sort();
    println!("told after the hook's exit: {waited:?}");
    assert!(waited[2] < Duration::from_millis(300), "{waited:?}");
}

#[test]
fn memories_and_turns_are_told_by_their_ids() {
    let world = World::new(&[]);
    let mut listener = Listener::at(&world, None);
    world.env.tow(&["remember", "Ropes are dried first"]).ok();
    assert_eq!(listener.next_of("memory"), json!({"id": "m4"}));
}

#[test]
fn nothing_is_missed_over_many_reconnects() {
    let world = World::new(&[]);
    let mut place = Listener::at(&world, None).place;
    let mut heard = BTreeSet::new();
    for number in 0..12 {
        // Written while nobody listens, while one begins to, and while one does.
        prompt(&world, &format!("before-{number}"));
        let mut listener = Listener::at(&world, Some(&place));
        prompt(&world, &format!("during-{number}"));
        let wanted = format!("claude:during-{number}");
        while !heard.contains(&wanted) {
            heard.insert(listener.next_of("seat")["session"].as_str().unwrap().to_owned());
        }
        place = listener.place;
    }
    let all: BTreeSet<String> = (0..12)
        .flat_map(|number| ["before", "during"].map(|when| format!("claude:{when}-{number}")))
        .collect();
    assert_eq!(heard, all);
}

#[test]
fn who_comes_back_to_another_server_misses_nothing_either() {
    let mut world = World::new(&[]);
    let place = Listener::at(&world, None).place;
    prompt(&world, "meanwhile");
    world.env.tow(&["remember", "Ropes are dried first"]).ok();
    world.server = super::world::serve(&world.env, &[]);
    let mut listener = Listener::at(&world, Some(&place));
    let told = [listener.next(), listener.next()];
    let data: Vec<&Value> = told.iter().map(|told| &told.data).collect();
    assert!(data.iter().any(|data| data["session"] == "claude:meanwhile"), "{told:?}");
    assert!(data.contains(&&json!({"id": "m4"})), "{told:?}");
}

#[test]
fn a_place_that_nobody_knows_is_a_reset() {
    let world = World::new(&[]);
    for place in ["999-0-0-0", "nonsense", "1-999999999-0-0"] {
        let mut listener = Listener::at(&world, Some(place));
        assert_eq!(listener.next().kind, "reset", "{place}");
        assert_ne!(listener.place, place);
    }
}
