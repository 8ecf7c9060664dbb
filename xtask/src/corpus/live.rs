//! A made-up session that runs now: its hook payloads and the lines that its client appends meanwhile.
//!
//! Payloads have the shape of recorded ones. Must not start a process: callers send the payloads.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use towline_agents::Agent;

use crate::bench::payload::Recordings;
use crate::files;
use crate::outcome::{Failure, Result};

use super::chance::Chance;
use super::client::Client;
use super::story::{Session, Storyteller, Turn};

/// The material of all live sessions.
pub struct Cast {
    teller: Storyteller,
    recordings: Recordings,
}

impl Cast {
    pub fn load(crates: &Path) -> Result<Cast> {
        let recordings = Recordings::load(&crates.join("agents/fixtures"));
        Ok(Cast { teller: Storyteller::load(crates, 1)?, recordings })
    }
}

/// A session and its transcript below a home folder.
pub struct LiveSession<'a> {
    cast: &'a Cast,
    client: Client,
    session: Session,
    transcript: PathBuf,
    turns: u64,
}

/// A turn under way: what the hooks say, and the lines that are not in the transcript yet.
pub struct LiveTurn {
    number: u64,
    turn: Turn,
    lines: Vec<String>,
    tools_used: usize,
}

impl LiveTurn {
    pub fn tools(&self) -> usize {
        self.turn.calls.len()
    }
}

impl<'a> LiveSession<'a> {
    /// The sessions of a cast differ by their number; every fourth is of the second client.
    pub fn new(cast: &'a Cast, home: &Path, number: u64, project: u64, now_s: u64) -> LiveSession<'a> {
        let client = if number % 4 == 3 { Client::Codex } else { Client::Claude };
        let id = format!("{number:08x}-11fe-4000-8000-{now_s:012x}");
        let session =
            Session { number, id, project, started_s: now_s, turns: 0, subagents: 0, least_bytes: 0 };
        let transcript = home.join(client.place(&session));
        LiveSession { cast, client, session, transcript, turns: 0 }
    }

    pub fn agent(&self) -> Agent {
        match self.client {
            Client::Claude => Agent::Claude,
            Client::Codex => Agent::Codex,
        }
    }

    pub fn id(&self) -> &str {
        &self.session.id
    }

    /// Creates the transcript, as far as the client writes it before the first prompt, and returns the payload.
    pub fn start(&self, source: &str) -> Result<Vec<u8>> {
        files::write(&self.transcript, self.client.opening(&self.session))?;
        self.payload("SessionStart", &[("source", source)])
    }

    /// Begins a turn and returns the payload of its prompt.
    pub fn prompt(&mut self, chance: &mut Chance, now_s: u64) -> Result<(LiveTurn, Vec<u8>)> {
        let number = self.turns;
        self.turns += 1;
        // Lines are dated by the start of the session and the number of the turn.
        self.session.started_s = now_s.saturating_sub(40 * number);
        let turn = self.cast.teller.turn(chance, &self.session);
        let text = self.client.turn(&self.session, number, &turn);
        let lines = text.lines().rev().map(str::to_owned).collect();
        let turn = LiveTurn { number, turn, lines, tools_used: 0 };
        let payload = self.payload_of(&turn, "UserPromptSubmit", &[("prompt", &turn.turn.prompt)])?;
        Ok((turn, payload))
    }

    /// Appends the prompt, which a client writes once its hook has answered.
    pub fn accept(&self, turn: &mut LiveTurn) -> Result<()> {
        self.append(turn, self.client.prompt_lines())
    }

    /// Appends the next tool call and its result, and returns the payload.
    pub fn use_tool(&self, turn: &mut LiveTurn) -> Result<Vec<u8>> {
        self.append(turn, 2)?;
        let name = format!("toolu_{}-t{}-{}", self.session.id, turn.tools_used, turn.number);
        turn.tools_used += 1;
        self.payload_of(turn, "PostToolUse", &[("tool_use_id", &name)])
    }

    /// Appends the answer and returns the payload of the turn's end.
    pub fn stop(&self, mut turn: LiveTurn) -> Result<Vec<u8>> {
        self.append(&mut turn, usize::MAX)?;
        self.payload_of(&turn, "Stop", &[("last_assistant_message", &turn.turn.answer)])
    }

    pub fn end(&self, reason: &str) -> Result<Vec<u8>> {
        self.payload("SessionEnd", &[("reason", reason)])
    }

    fn append(&self, turn: &mut LiveTurn, lines: usize) -> Result<()> {
        let path = &self.transcript;
        let left = turn.lines.len().saturating_sub(lines);
        let next = turn.lines.split_off(left);
        let text: String = next.iter().rev().map(|line| format!("{line}\n")).collect();
        let file = OpenOptions::new().append(true).open(path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(Failure::write(path))
    }

    fn payload_of(&self, turn: &LiveTurn, event: &str, texts: &[(&str, &str)]) -> Result<Vec<u8>> {
        let id = self.client.turn_id(&self.session, turn.number);
        let ids = [("prompt_id", id.as_str()), ("turn_id", id.as_str())];
        self.payload(event, &[&ids, texts].concat())
    }

    fn payload(&self, event: &str, texts: &[(&str, &str)]) -> Result<Vec<u8>> {
        let transcript = self.transcript.display().to_string();
        let folder = self.session.folder();
        let own = [("session_id", self.id()), ("transcript_path", &transcript), ("cwd", &folder)];
        let mut payload = self.cast.recordings.payload(self.agent(), event)?.clone();
        for (key, value) in own.iter().chain(texts) {
            let quoted = serde_json::Value::from(*value).to_string();
            payload = payload.with(key, &quoted[1..quoted.len() - 1]);
        }
        Ok(payload.bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_turn_is_in_the_transcript_once_and_every_payload_is_json() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        let (cast, home) = (Cast::load(&crates).unwrap(), tempfile::tempdir().unwrap());
        let mut chance = Chance::new(1);
        for number in [0, 3] {
            let mut session = LiveSession::new(&cast, home.path(), number, 2, 1_793_500_000);
            let mut payloads = vec![session.start("startup").unwrap()];
            let (mut turn, prompt) = session.prompt(&mut chance, 1_793_500_040).unwrap();
            let whole = session.client.turn(&session.session, 0, &turn.turn);
            payloads.push(prompt);
            session.accept(&mut turn).unwrap();
            for _ in 0..turn.tools() {
                payloads.push(session.use_tool(&mut turn).unwrap());
            }
            payloads.push(session.stop(turn).unwrap());
            payloads.push(session.end("other").unwrap());
            let written = files::read(&session.transcript).unwrap();
            let opening = session.client.opening(&session.session).lines().count();
            assert!(written.ends_with(&whole));
            assert_eq!(written.lines().count(), opening + whole.lines().count());
            for payload in payloads {
                let value: serde_json::Value = serde_json::from_slice(&payload).unwrap();
                assert_eq!(value["session_id"], session.id());
            }
        }
    }
}
