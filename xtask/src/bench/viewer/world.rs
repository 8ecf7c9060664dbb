//! A home with a long history, and a server for it.
//!
//! Sessions are imported as a user's are: from transcripts, by `tow import`.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use towline_testkit::TestEnv;

use crate::bench::seed;
use crate::outcome::{Failure, stdout_of};

const PROJECTS: usize = 20;

pub struct World {
    pub env: TestEnv,
}

impl World {
    pub fn new(tow: PathBuf, sessions: usize, memories: usize) -> Result<World, Failure> {
        let world = World { env: TestEnv::new(tow) };
        (0..PROJECTS).try_for_each(|number| {
            let folder = world.project(number);
            fs::create_dir_all(&folder).map_err(Failure::write(&folder))
        })?;
        (0..sessions).try_for_each(|number| world.write_session(number))?;
        world.tow(&["import"])?;
        // The archive holds everything imported: the transcripts can be removed.
        let transcripts = world.env.home().join(".claude");
        fs::remove_dir_all(&transcripts).map_err(Failure::write(&transcripts))?;
        seed::memories(&world.env.data_dir(), memories as u64)?;
        world.tow(&["reindex"])?;
        Ok(world)
    }

    /// Starts the server, which ends when the returned value is dropped.
    pub fn serve(&self) -> Result<Server, Failure> {
        let mut command = self.env.command("tow");
        command.args(["serve", "--json", "--port", "0", "--rate", "1000000"]).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(Failure::start("tow serve"))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let told: Value = serde_json::from_str(&line)
            .map_err(|error| Failure::malformed("what `tow serve` printed", error))?;
        Ok(Server { child, told })
    }

    fn project(&self, number: usize) -> PathBuf {
        self.env.root().join(format!("harbour-{}", number % PROJECTS))
    }

    /// A transcript of two turns, an hour after the previous one.
    fn write_session(&self, number: usize) -> Result<(), Failure> {
        let id =
            format!("{:08x}-0000-4000-8000-{number:012x}", number.wrapping_mul(2_654_435_761) & 0xffff_ffff);
        let mut text = String::new();
        for turn in 0..2 {
            for (part, message) in ["user", "assistant"].iter().zip(messages(number, turn)) {
                let second = number * 3600 + turn * 60;
                let entry = json!({
                    "type": part, "uuid": format!("{part}-{turn}-{id}"), "sessionId": id, "isSidechain": false,
                    "cwd": self.project(number), "timestamp": stamp(second), "message": message,
                });
                let _ = writeln!(text, "{entry}");
            }
        }
        let path = self.env.home().join(format!(".claude/projects/-p{}/{id}.jsonl", number % PROJECTS));
        let folder = path.parent().map(PathBuf::from).unwrap_or_default();
        fs::create_dir_all(&folder).map_err(Failure::write(&folder))?;
        fs::write(&path, text).map_err(Failure::write(&path))
    }

    fn tow(&self, arguments: &[&str]) -> Result<(), Failure> {
        let output =
            self.env.command("tow").env("TOWLINE_HOME", self.env.data_dir()).args(arguments).output();
        stdout_of(&format!("tow {}", arguments.join(" ")), output.map_err(Failure::start("tow"))?).map(drop)
    }
}

/// The prompt and the answer of a turn.
fn messages(number: usize, turn: usize) -> [Value; 2] {
    let thing = format!("berth {number} of pier {}", number % 97);
    let usage = json!({"input_tokens": 50, "output_tokens": 70, "cache_read_input_tokens": 9000});
    let answer =
        json!([{"type": "text", "text": format!("The allocator now keeps {thing} free at low tide.")}]);
    [
        json!({"role": "user", "content": format!("Mend the allocator for {thing}, step {turn}")}),
        json!({"role": "assistant", "id": format!("m{number}-{turn}"), "model": "model", "stop_reason": "end_turn", "content": answer, "usage": usage}),
    ]
}

/// Seconds since the start of 2025, with days of 24 hours and months of 28 days: every time is unique.
fn stamp(seconds: usize) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = (2025 + days / 336, days / 28 % 12 + 1, days % 28 + 1);
    format!("{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}.000Z", rest / 3600, rest / 60 % 60, rest % 60)
}

pub struct Server {
    child: Child,
    told: Value,
}

impl Server {
    /// The address that contains the token.
    pub fn url(&self) -> &str {
        self.told["url"].as_str().unwrap_or_default()
    }

    pub fn base(&self) -> &str {
        self.url().split("/?").next().unwrap_or_default()
    }

    pub fn token(&self) -> &str {
        self.told["token"].as_str().unwrap_or_default()
    }

    /// The server's resident memory.
    pub fn resident_mb(&self) -> Result<f64, Failure> {
        let path = PathBuf::from(format!("/proc/{}/status", self.child.id()));
        let status = fs::read_to_string(&path).map_err(Failure::read(&path))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
        kilobytes.map(|kilobytes| kilobytes / 1000.0).ok_or_else(|| Failure::malformed("VmRSS", status))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
