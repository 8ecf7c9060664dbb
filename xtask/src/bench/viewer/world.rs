//! A home with a long history, and a server for it.
//!
//! Sessions are imported as a user's are: from transcripts, by `tow import`.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use towline_testkit::TestEnv;

use crate::bench::seed::{self, session_id, stamp};
use crate::files;
use crate::outcome::{Result, output_of};
use crate::server::Server;

const PROJECTS: usize = 20;

pub struct World {
    pub env: TestEnv,
}

impl World {
    pub fn new(tow: PathBuf, sessions: usize, memories: usize) -> Result<World> {
        let world = World { env: TestEnv::new(tow) };
        (0..PROJECTS).try_for_each(|number| files::create_folder(&world.project(number)))?;
        (0..sessions).try_for_each(|number| world.write_session(number))?;
        world.tow(&["import"])?;
        // The archive holds everything imported: the transcripts can be removed.
        files::remove_folder(&world.env.home().join(".claude"))?;
        seed::memories(&world.env.data_dir(), memories as u64)?;
        world.tow(&["reindex"])?;
        Ok(world)
    }

    pub fn serve(&self) -> Result<Server> {
        Server::start(&mut self.env.command("tow"), &["--rate", "1000000"])
    }

    fn project(&self, number: usize) -> PathBuf {
        self.env.root().join(format!("harbour-{}", number % PROJECTS))
    }

    /// A transcript of two turns, an hour after the previous one.
    fn write_session(&self, number: usize) -> Result<()> {
        let id = session_id(number);
        let mut text = String::new();
        for turn in 0..2 {
            for (part, message) in ["user", "assistant"].iter().zip(messages(number, turn)) {
                let second = number * 3600 + turn * 60;
                let entry = json!({
                    "type": part, "uuid": format!("{part}-{turn}-{id}"), "sessionId": id, "isSidechain": false,
                    "cwd": self.project(number), "timestamp": stamp(2025, second), "message": message,
                });
                let _ = writeln!(text, "{entry}");
            }
        }
        let path = self.env.home().join(format!(".claude/projects/-p{}/{id}.jsonl", number % PROJECTS));
        files::write(&path, text)
    }

    fn tow(&self, arguments: &[&str]) -> Result<()> {
        let mut command = self.env.command("tow");
        command.env("TOWLINE_HOME", self.env.data_dir()).args(arguments);
        output_of(&format!("tow {}", arguments.join(" ")), &mut command).map(drop)
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
