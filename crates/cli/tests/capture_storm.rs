//! Hooks that end a turn one after the other: one capture waits for all of them, and what they told of is kept.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::json;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use towline_core::id::SessionKey;
use towline_store::{Archive, DataFolder};
use towline_testkit::TestEnv;
use towline_testkit::wait::{PATIENCE, until};

const SESSION: &str = "0c9f6b2e-4d7a-4b1c-9e57-3f0a1a2b3c4d";
const TURNS: usize = 25;

struct Storm {
    env: TestEnv,
    transcript: PathBuf,
    /// The captures that were seen to run.
    captures: BTreeSet<u32>,
}

impl Storm {
    fn new() -> Storm {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        let transcript = env.home().join("transcript.jsonl");
        Storm { env, transcript, captures: BTreeSet::new() }
    }

    fn append(&self, entry: &serde_json::Value) {
        let mut file = File::options().append(true).create(true).open(&self.transcript).unwrap();
        writeln!(file, "{entry}").unwrap();
    }

    fn prompt(&self, turn: usize) {
        self.append(&json!({
            "type": "user", "uuid": format!("p{turn}"), "sessionId": SESSION, "cwd": "/work",
            "timestamp": format!("2026-11-14T10:{turn:02}:00.000Z"), "isSidechain": false,
            "message": {"role": "user", "content": format!("look into part {turn}")},
        }));
    }

    fn answer(&self, turn: usize) {
        self.append(&json!({
            "type": "assistant", "uuid": format!("a{turn}"), "parentUuid": format!("p{turn}"), "sessionId": SESSION,
            "cwd": "/work", "timestamp": format!("2026-11-14T10:{turn:02}:09.000Z"), "isSidechain": false,
            "message": {"id": format!("msg_{turn}"), "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": format!("Part {turn} is done.")}]},
        }));
    }

    fn stop(&mut self) {
        let payload = json!({
            "session_id": SESSION, "transcript_path": self.transcript, "cwd": "/work", "hook_event_name": "Stop",
            "stop_hook_active": false,
        });
        self.env.hook("claude", payload.to_string()).ok();
        let running = self.running();
        self.captures.extend(running);
    }

    fn running(&self) -> Vec<u32> {
        let processes = self.env.processes().into_iter();
        processes.filter(|process| process.command.contains(" capture ")).map(|process| process.pid).collect()
    }

    /// What was kept once nobody captures any more, turn by turn.
    fn kept(&self) -> Vec<Vec<String>> {
        self.env.wait_no_process();
        let home = DataFolder::at(self.env.data_dir());
        let archive = Archive::read(&home, Duration::from_secs(5)).unwrap().unwrap();
        let session = SessionKey::parse(&format!("claude:{SESSION}")).unwrap();
        let conversation = archive.conversation(&session).unwrap().unwrap();
        let turns = archive.turns(&conversation, 0, u32::MAX).unwrap();
        let words = |turn| archive.bodies(turn).unwrap().into_iter().map(|body| body.text).collect();
        turns.iter().map(words).collect()
    }

    fn doors(&self) -> usize {
        fs::read_dir(self.env.data_dir().join("doors")).map_or(0, Iterator::count)
    }
}

fn both(turn: usize) -> Vec<String> {
    vec![format!("look into part {turn}"), format!("Part {turn} is done.")]
}

#[test]
fn turns_that_end_one_after_the_other_start_few_captures_and_all_of_them_are_kept() {
    let mut storm = Storm::new();
    for turn in 0..TURNS {
        storm.prompt(turn);
        storm.answer(turn);
        storm.stop();
    }
    assert_eq!(storm.kept(), (0..TURNS).map(both).collect::<Vec<_>>());
    let started = storm.captures.len();
    assert!((1..=TURNS / 3).contains(&started), "{started} captures for {TURNS} turns");
    assert_eq!(storm.doors(), 0, "nothing is left behind");
}

#[test]
fn an_answer_that_is_written_after_a_later_hook_found_a_capture_waiting_is_kept() {
    let mut storm = Storm::new();
    for turn in 0..3 {
        storm.prompt(turn);
        storm.stop();
        storm.answer(turn);
    }
    assert_eq!(storm.kept(), (0..3).map(both).collect::<Vec<_>>());
}

#[test]
fn a_capture_that_was_killed_while_it_waited_keeps_nobody_else_from_capturing() {
    let mut storm = Storm::new();
    for turn in 0..3 {
        storm.prompt(turn);
        storm.answer(turn);
        storm.stop();
        until("a capture to wait", PATIENCE, || (storm.doors() > 0).then_some(()));
        if turn < 2 {
            let killed: String = storm.running().iter().map(|pid| format!("kill -9 {pid};")).collect();
            storm.env.command("/bin/sh").args(["-c", &killed]).status().unwrap();
            storm.env.wait_no_process();
        }
    }
    assert_eq!(storm.kept(), (0..3).map(both).collect::<Vec<_>>());
    assert_eq!(storm.doors(), 0);
}

#[test]
fn a_helper_that_was_captured_before_its_session_finds_its_turn() {
    let storm = Storm::new();
    storm.prompt(1);
    storm.answer(1);
    let helper = storm.env.home().join("helper.jsonl");
    let said = json!({
        "type": "assistant", "uuid": "h1", "sessionId": SESSION, "cwd": "/work", "agentId": "abc", "isSidechain": true,
        "timestamp": "2026-11-14T10:01:05.000Z",
        "message": {"id": "msg_h", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "I looked."}]},
    });
    fs::write(&helper, format!("{said}\n")).unwrap();
    for file in [&helper, &storm.transcript] {
        storm.env.tow(&["capture", "--at-once", "claude", file.to_str().unwrap()]).ok();
    }
    let archive = Archive::read(&DataFolder::at(storm.env.data_dir()), PATIENCE).unwrap().unwrap();
    let conversation = archive.latest_conversations(None, 1).unwrap().remove(0);
    let turn = archive.turns(&conversation, 1, 1).unwrap().remove(0);
    let details = archive.details(&turn).unwrap();
    assert!(details.iter().any(|detail| detail.subagent.is_some()), "{details:?}");
}
