//! Everything that runs beside the sessions: listeners, searches, the bar, an import, the forgetting of a project.
//!
//! Each command is a user's own. One that fails is kept with its words; the soak goes on.

use std::io::{BufRead, BufReader, ErrorKind};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Scene;
use crate::outcome::{Failure, Result};
use crate::server::Server;

pub const LISTENERS: usize = 5;
const SEARCH_EVERY: Duration = Duration::from_secs(1);
const BAR_EVERY: Duration = Duration::from_secs(2);
const WORDS: [&str; 4] = ["cache", "upper bound", "rotate_thumbnail", "what did we decide about the quota"];
/// A project of the imported transcripts.
const FORGOTTEN: &str = "invoice-1";

#[derive(Default)]
pub struct Errands {
    done: Mutex<Vec<Errand>>,
    heard: Mutex<u64>,
}

#[derive(Clone)]
pub struct Errand {
    pub name: &'static str,
    pub ms: f64,
    pub problem: Option<String>,
}

impl Errands {
    pub fn done(&self) -> Vec<Errand> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Events that listeners received.
    pub fn heard(&self) -> u64 {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the event stream until the time is over.
    pub fn listen(&self, scene: &Scene, server: &Server) -> Result<()> {
        let stream = server.get("/v1/stream")?;
        stream.set_read_timeout(Some(Duration::from_millis(500)))?;
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        while !scene.is_over() {
            line.clear();
            match lines.read_line(&mut line) {
                Ok(0) => {
                    let problem = Some("the server closed the stream".to_owned());
                    self.note(Errand { name: "stream", ms: 0.0, problem });
                    return Ok(());
                }
                Ok(_) if line.starts_with("data:") => {
                    *self.heard.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                }
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(Failure::malformed("event stream", error)),
            }
        }
        Ok(())
    }

    pub fn search(&self, scene: &Scene) -> Result<()> {
        for word in WORDS.iter().cycle() {
            if scene.is_over() {
                break;
            }
            let mut command = scene.env.command("tow");
            self.run("search", command.args(["search", word, "--all-projects"]))?;
            thread::sleep(SEARCH_EVERY);
        }
        Ok(())
    }

    pub fn refresh_bar(&self, scene: &Scene) -> Result<()> {
        while !scene.is_over() {
            self.run("bar", scene.env.command("tow").args(["bar", "--refresh"]))?;
            self.run("bar", scene.env.command("tow").args(["bar", "--plain"]))?;
            thread::sleep(BAR_EVERY);
        }
        Ok(())
    }

    /// Imports at two fifths of the time, and forgets one of the imported projects at three fifths.
    pub fn import_and_forget(&self, scene: &Scene) -> Result<()> {
        scene.wait_until(0.4);
        self.run("data import", scene.env.command("tow").args(["data", "import"]))?;
        scene.wait_until(0.6);
        let arguments = ["data", "forget", "--project", FORGOTTEN, "--yes"];
        self.run("data forget --project", &mut scene.env.person_command(&arguments))
    }

    fn run(&self, name: &'static str, command: &mut Command) -> Result<()> {
        let start = Instant::now();
        let problem = match command.output() {
            Ok(output) if output.status.success() => None,
            Ok(output) => {
                let texts = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
                Some(String::from_utf8_lossy(&texts).trim().to_owned())
            }
            Err(error) => Some(error.to_string()),
        };
        self.note(Errand { name, ms: start.elapsed().as_secs_f64() * 1e3, problem });
        Ok(())
    }

    fn note(&self, errand: Errand) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(errand);
    }
}
