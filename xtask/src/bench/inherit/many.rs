//! Two archives: one with very many short sessions, one with a single endless session.
//!
//! Turns are short, so that finding them is measured, not reading them.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use crate::bench::setup::Setup;
use crate::outcome::Failure;

use super::person::Person;

const TURNS_EACH: usize = 100;
const DAY_S: usize = 86_400;

/// Thousands of sessions.
pub struct Crowd {
    pub person: Person,
    sessions: usize,
}

impl Crowd {
    pub fn taken_in(setup: &Setup) -> Result<Crowd, Failure> {
        let crowd = Crowd { person: Person::new(&setup.tow)?, sessions: setup.by_extent(500, 10_000) };
        let mut text = String::new();
        for number in 0..crowd.sessions {
            text.clear();
            for turn in 0..TURNS_EACH {
                entries(&mut text, &crowd.session(number), turn, number * 2_600 + turn * 20);
            }
            let path = crowd.person.home().join(format!(
                ".claude/projects/-p{}/{}.jsonl",
                number % 60,
                crowd.session(number)
            ));
            write(&path, text.as_bytes())?;
        }
        crowd.person.import()?;
        // The archive holds everything imported: the transcripts can be removed.
        let transcripts = crowd.person.home().join(".claude");
        fs::remove_dir_all(&transcripts).map_err(Failure::write(&transcripts))?;
        Ok(crowd)
    }

    fn session(&self, number: usize) -> String {
        format!("{:08x}-0000-4000-8000-{number:012x}", number.wrapping_mul(2_654_435_761) & 0xffff_ffff)
    }

    /// The short name of a session in the middle.
    pub fn called(&self) -> String {
        let session = self.session(self.sessions / 2);
        session[session.len() - 8..].to_owned()
    }

    /// A minute with activity.
    pub fn minute(&self) -> String {
        let seconds = (self.sessions / 2) * 2_600 + 50 * 20;
        stamp(seconds)[..16].to_owned()
    }

    pub fn described(&self) -> String {
        let bytes = fs::metadata(self.person.data().join("archive.db")).map_or(0, |meta| meta.len());
        let (sessions, turns) = (self.sessions, self.sessions * TURNS_EACH);
        format!("the archive of many: {sessions} sessions, {turns} turns, {} MB", bytes / 1_000_000)
    }
}

/// One imported transcript of 100 MB, which can grow.
pub struct Long {
    pub person: Person,
}

pub const LONG: &str = "aaaaaaaa-0000-4000-8000-00000000abcd";

impl Long {
    pub fn taken_in(setup: &Setup) -> Result<Long, Failure> {
        let long = Long { person: Person::new(&setup.tow)? };
        let mut file = long.opened()?;
        let (mut written, mut turn) = (0, 0);
        while written < setup.by_extent(10, 100) * 1_000_000 {
            let more = long.more(turn);
            file.write_all(more.as_bytes()).map_err(Failure::write(&long.transcript()))?;
            written += more.len();
            turn += 1;
        }
        file.flush().map_err(Failure::write(&long.transcript()))?;
        long.person.import()?;
        Ok(long)
    }

    pub fn transcript(&self) -> PathBuf {
        self.person.home().join(format!(".claude/projects/-p/{LONG}.jsonl"))
    }

    fn opened(&self) -> Result<BufWriter<fs::File>, Failure> {
        let path = self.transcript();
        let folder = path.parent().unwrap_or(&path);
        fs::create_dir_all(folder).map_err(Failure::write(folder))?;
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(Failure::write(&path))?;
        Ok(BufWriter::new(file))
    }

    /// Appends a turn of 50 kB.
    pub fn grow(&self, round: usize) -> Result<(), Failure> {
        let mut file = self.opened()?;
        file.write_all(self.more(1_000_000 + round).as_bytes()).map_err(Failure::write(&self.transcript()))
    }

    /// One turn with ten tool calls, 50 kB in all.
    fn more(&self, turn: usize) -> String {
        let mut text = String::new();
        prompt(&mut text, LONG, turn, turn * 20);
        for call in 0..10 {
            let output: String =
                (0..40).map(|line| format!("test module_{turn}::case_{line} ... ok, {call} ms\\n")).collect();
            let id = format!("{turn:08x}{call:02}");
            let at = stamp(turn * 20 + 2 + call);
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

fn entries(text: &mut String, session: &str, turn: usize, seconds: usize) {
    prompt(text, session, turn, seconds);
    answer(text, session, turn, seconds + 9);
}

fn prompt(text: &mut String, session: &str, turn: usize, seconds: usize) {
    let at = stamp(seconds);
    let _ = writeln!(
        text,
        r#"{{"type":"user","uuid":"p{turn}","parentUuid":"a{}","sessionId":"{session}","cwd":"/home/dev/project","timestamp":"{at}","promptId":"{turn}","isSidechain":false,"message":{{"role":"user","content":"look into part {turn} of the work"}}}}"#,
        turn.wrapping_sub(1)
    );
}

fn answer(text: &mut String, session: &str, turn: usize, seconds: usize) {
    let at = stamp(seconds);
    let _ = writeln!(
        text,
        r#"{{"type":"assistant","uuid":"a{turn}","parentUuid":"p{turn}","sessionId":"{session}","cwd":"/home/dev/project","timestamp":"{at}","isSidechain":false,"message":{{"id":"msg_{turn}","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":"Part {turn} was looked into; the third case needed a longer wait."}}],"usage":{{"input_tokens":10,"output_tokens":20}}}}}}"#
    );
}

/// This many seconds after the start of 2026.
fn stamp(seconds: usize) -> String {
    let (day, second) = (seconds / DAY_S, seconds % DAY_S);
    let (month, day) = (day / 28 % 12 + 1, day % 28 + 1);
    format!("2026-{month:02}-{day:02}T{:02}:{:02}:{:02}.000Z", second / 3600, second / 60 % 60, second % 60)
}

fn write(path: &PathBuf, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(Failure::write(folder))?;
    fs::write(path, bytes).map_err(Failure::write(path))
}
