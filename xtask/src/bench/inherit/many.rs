//! Two archives: one with very many short sessions, one with a single endless session.
//!
//! Turns are short, so that finding them is measured, not reading them.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::bench::home::Home;
use crate::bench::host::{wait_for_captures, wait_for_work};
use crate::bench::measure::cost_of;
use crate::bench::seed::{self, session_id, stamp};
use crate::bench::setup::Setup;
use crate::files;
use crate::outcome::{Failure, Result};

const TURNS_EACH: usize = 100;
const YEAR: usize = 2026;
const MEMORIES: u64 = 5_000;

pub struct ManySessions {
    pub home: Home,
    sessions: usize,
}

impl ManySessions {
    pub fn import(setup: &Setup) -> Result<ManySessions> {
        let many = ManySessions { home: Home::new(&setup.tow)?, sessions: setup.by_extent(500, 10_000) };
        let mut text = String::new();
        for number in 0..many.sessions {
            text.clear();
            for turn in 0..TURNS_EACH {
                let (session, seconds) = (session_id(number), number * 2_600 + turn * 20);
                prompt(&mut text, &session, turn, seconds);
                answer(&mut text, &session, turn, seconds + 9);
            }
            let name = format!(".claude/projects/-p{}/{}.jsonl", number % 60, session_id(number));
            files::write(&many.home.user().join(name), &text)?;
        }
        // Distilling a million turns takes half an hour and yields nothing: the memories are seeded.
        many.home.without_work()?;
        for words in [["import"], ["work"]] {
            many.home.run(&words)?;
        }
        // The archive holds everything imported: the transcripts can be removed.
        files::remove_folder(&many.home.user().join(".claude"))?;
        seed::memories(&many.home.data(), MEMORIES)?;
        Ok(many)
    }

    /// A session that works and is cleared; returns the payload of the next one's first prompt. No two calls have one number.
    pub fn clear_one(&self, round: usize, first_prompt: &str) -> Result<Vec<u8>> {
        let [before, heir] = ["before", "heir"].map(|name| format!("{name}-{round}"));
        let path = self.home.user().join(format!("{before}.jsonl"));
        let mut text = String::new();
        prompt(&mut text, &before, 0, self.sessions * 2_600 + round * 60);
        answer(&mut text, &before, 0, self.sessions * 2_600 + round * 60 + 9);
        files::write(&path, &text)?;
        let payload = |session: &str, event: Value| {
            let path = self.home.user().join(format!("{session}.jsonl"));
            let own = json!({ "session_id": session, "transcript_path": path, "cwd": "/home/dev/project" });
            merged(own, event).to_string().into_bytes()
        };
        for event in [
            payload(&before, json!({ "hook_event_name": "SessionStart", "source": "startup" })),
            payload(&before, json!({ "hook_event_name": "UserPromptSubmit", "prompt": "paint the mast" })),
            payload(
                &before,
                json!({ "hook_event_name": "Stop", "last_assistant_message": "It is painted." }),
            ),
            payload(&before, json!({ "hook_event_name": "SessionEnd", "reason": "clear" })),
            payload(&heir, json!({ "hook_event_name": "SessionStart", "source": "clear" })),
        ] {
            cost_of(&mut self.home.tow(&["hook", "claude"]), &event)?;
        }
        wait_for_captures(&self.home.data());
        wait_for_work(&self.home.data());
        Ok(payload(&heir, json!({ "hook_event_name": "UserPromptSubmit", "prompt": first_prompt })))
    }

    /// The short name of a session in the middle.
    pub fn short_name(&self) -> String {
        let session = session_id(self.sessions / 2);
        session[session.len() - 8..].to_owned()
    }

    /// A minute with activity.
    pub fn active_minute(&self) -> String {
        let seconds = (self.sessions / 2) * 2_600 + 50 * 20;
        stamp(YEAR, seconds)[..16].to_owned()
    }

    pub fn summary(&self) -> String {
        let bytes = fs::metadata(self.home.data().join("archive.db")).map_or(0, |meta| meta.len());
        let (sessions, turns) = (self.sessions, self.sessions * TURNS_EACH);
        format!("the archive of many: {sessions} sessions, {turns} turns, {} MB", bytes / 1_000_000)
    }
}

/// One imported transcript of 100 MB, which can grow.
pub struct LongSession {
    pub home: Home,
}

pub const LONG: &str = "aaaaaaaa-0000-4000-8000-00000000abcd";

impl LongSession {
    pub fn import(setup: &Setup) -> Result<LongSession> {
        let long = LongSession { home: Home::new(&setup.tow)? };
        let (mut text, mut turn) = (String::new(), 0);
        while text.len() < setup.by_extent(10, 100) * 1_000_000 {
            text += &long.more(turn);
            turn += 1;
        }
        files::write(&long.transcript(), text)?;
        long.home.import()?;
        Ok(long)
    }

    pub fn transcript(&self) -> PathBuf {
        self.home.user().join(format!(".claude/projects/-p/{LONG}.jsonl"))
    }

    /// Appends a turn of 50 kB, and returns its last words.
    pub fn grow(&self, round: usize) -> Result<String> {
        let path = self.transcript();
        let mut file = OpenOptions::new().append(true).open(&path).map_err(Failure::write(&path))?;
        let turn = 1_000_000 + round;
        file.write_all(self.more(turn).as_bytes()).map_err(Failure::write(&path))?;
        Ok(last_words(turn))
    }

    /// One turn with ten tool calls, 50 kB in all.
    fn more(&self, turn: usize) -> String {
        let mut text = String::new();
        prompt(&mut text, LONG, turn, turn * 20);
        for call in 0..10 {
            let output: String =
                (0..40).map(|line| format!("test module_{turn}::case_{line} ... ok, {call} ms\\n")).collect();
            let id = format!("{turn:08x}{call:02}");
            let at = stamp(YEAR, turn * 20 + 2 + call);
            let head = format!(
                r#""sessionId":"{LONG}","cwd":"/home/dev/project","timestamp":"{at}","isSidechain":false"#
            );
            let _ = writeln!(
                text,
                r#"{{"type":"assistant","uuid":"c{id}","parentUuid":"p{turn}",{head},"message":{{"id":"msg_{id}","type":"message","role":"assistant","model":"m","content":[{{"type":"tool_use","id":"toolu_{id}","name":"Bash","input":{{"command":"cargo test -p part_{call}","description":"tests"}}}}],"usage":{{"input_tokens":10,"output_tokens":20}}}}}}"#
            );
            let _ = writeln!(
                text,
                r#"{{"type":"user","uuid":"r{id}","parentUuid":"c{id}",{head},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{id}","content":"{output}"}}]}},"toolUseResult":{{"stdout":"{output}","stderr":"","interrupted":false}}}}"#
            );
        }
        answer(&mut text, LONG, turn, turn * 20 + 15);
        text
    }
}

/// The payload with the fields of an event.
pub fn merged(mut payload: Value, event: Value) -> Value {
    if let (Some(payload), Value::Object(event)) = (payload.as_object_mut(), event) {
        payload.extend(event);
    }
    payload
}

fn prompt(text: &mut String, session: &str, turn: usize, seconds: usize) {
    let at = stamp(YEAR, seconds);
    let _ = writeln!(
        text,
        r#"{{"type":"user","uuid":"p{turn}","parentUuid":"a{}","sessionId":"{session}","cwd":"/home/dev/project","timestamp":"{at}","promptId":"{turn}","isSidechain":false,"message":{{"role":"user","content":"look into part {turn} of the work"}}}}"#,
        turn.wrapping_sub(1)
    );
}

/// The answer that ends a turn.
fn last_words(turn: usize) -> String {
    format!("Part {turn} was looked into; the third case needed a longer wait.")
}

fn answer(text: &mut String, session: &str, turn: usize, seconds: usize) {
    let words = last_words(turn);
    let at = stamp(YEAR, seconds);
    let _ = writeln!(
        text,
        r#"{{"type":"assistant","uuid":"a{turn}","parentUuid":"p{turn}","sessionId":"{session}","cwd":"/home/dev/project","timestamp":"{at}","isSidechain":false,"message":{{"id":"msg_{turn}","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":"{words}"}}],"usage":{{"input_tokens":10,"output_tokens":20}}}}}}"#
    );
}
