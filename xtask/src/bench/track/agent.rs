//! A fake agent in a pane that carries out orders: hooks run below a process with the agent's name, on the
//! pane's own terminal, so that seats are found as with real agents.
//!
//! Orders and answers go through pipes: nothing is typed, and nothing polls while something is timed.

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use towline_testkit::TestEnv;

use crate::bench::host::words;
use crate::bench::payload::Payload;
use crate::files;
use crate::outcome::{Failure, Result};

/// The script in the pane. It takes the time before it starts a process and after that has ended. A forgotten
/// one ends by itself.
pub const SCRIPT: &str = r#"exec 3<>"$1/orders" 4<>"$1/answers"
while read -r -t 3600 work what <&3; do
    begun=$EPOCHREALTIME
    case $work in
    true) /bin/true ;;
    hook) tow hook claude < "$1/$what" > /dev/null ;;
    trace) strace -ff -z -qq -e "trace=$STARTING" -o "$1/$what.trace" tow hook claude < "$1/$what" > /dev/null ;;
    set) tmux set-option -g @towline-status "$what" ;;
    esac
    echo "$begun $EPOCHREALTIME" >&4
done
"#;

/// Timeout for any order.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub enum Order<'a> {
    /// Start `/bin/true`.
    True,
    /// Run a hook with this payload.
    Hook(&'a Payload),
    /// Run a hook under strace, which records what it starts.
    Trace(&'a Payload),
    /// Set the text of the bar with tmux.
    Set(&'a str),
}

/// The start and end times of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub begun: Duration,
    pub ended: Duration,
}

pub struct FakeAgent {
    folder: PathBuf,
    session: String,
    pub transcript: PathBuf,
    project: PathBuf,
    orders: File,
    answers: File,
    turns: Cell<usize>,
}

impl FakeAgent {
    /// Creates its folder and pipes. The caller that opens its window starts the agent.
    pub fn new(env: &TestEnv, number: usize) -> Result<FakeAgent> {
        let folder = env.root().join(format!("agent-{number}"));
        files::create_folder(&folder)?;
        let session = format!("{number:08x}-0000-4000-8000-000000000000");
        Ok(FakeAgent {
            transcript: env.home().join(format!("{session}.jsonl")),
            project: env.project(),
            orders: pipe(&folder.join("orders"))?,
            answers: pipe(&folder.join("answers"))?,
            turns: Cell::new(0),
            folder,
            session,
        })
    }

    pub fn folder(&self) -> String {
        words(&self.folder)
    }

    /// Sends an order and waits until it is done.
    pub fn carry_out(&self, order: &Order<'_>) -> Result<Times> {
        self.tell(order)?;
        self.answer()
    }

    /// Sends an order and returns at once.
    pub fn tell(&self, order: &Order<'_>) -> Result<()> {
        let line = match order {
            Order::True => "true -\n".to_owned(),
            Order::Hook(payload) => format!("hook {}\n", self.written(payload)?),
            Order::Trace(payload) => format!("trace {}\n", self.written(payload)?),
            Order::Set(text) => format!("set {text}\n"),
        };
        (&self.orders).write_all(line.as_bytes()).map_err(Failure::write(&self.folder))
    }

    /// Waits for the answer to an order.
    pub fn answer(&self) -> Result<Times> {
        if !is_readable(&self.answers, PATIENCE).map_err(Failure::read(&self.folder))? {
            return Err(Failure::malformed("an agent in a pane", "it does not answer"));
        }
        let mut line = [0; 128];
        let length = (&self.answers).read(&mut line).map_err(Failure::read(&self.folder))?;
        let text = String::from_utf8_lossy(&line[..length]);
        times(&text).ok_or_else(|| Failure::malformed("the answer of an agent in a pane", text))
    }

    /// The output of strace for the last traced hook.
    pub fn trace(&self) -> PathBuf {
        self.folder.join(format!("{}.json.trace", self.turns.get()))
    }

    /// Touches the transcript: agents write to theirs after the hooks.
    pub fn touch_transcript(&self) -> Result<()> {
        let file = File::options().write(true).open(&self.transcript);
        file.and_then(|file| file.set_modified(SystemTime::now())).map_err(Failure::write(&self.transcript))
    }

    /// Writes the payload with this session's id, and fresh ids for turn and tool call.
    fn written(&self, payload: &Payload) -> Result<String> {
        let number = self.turns.get() + 1;
        self.turns.set(number);
        let placed = payload
            .with("session_id", &self.session)
            .with("transcript_path", &words(&self.transcript))
            .with("cwd", &words(&self.project))
            .with("prompt_id", &format!("{number:08x}-0000-4000-8000-000000000001"))
            .with("tool_use_id", &format!("toolu_{number:024}"));
        let path = self.folder.join(format!("{number}.json"));
        files::write(&path, placed.bytes())?;
        Ok(format!("{number}.json"))
    }
}

/// Opened in both directions, so that opening does not block and the pipe does not reach its end.
fn pipe(path: &Path) -> Result<File> {
    let made = mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0);
    made.map_err(|error| Failure::Write { path: path.to_owned(), source: error.into() })?;
    File::options().read(true).write(true).open(path).map_err(Failure::write(path))
}

/// Whether the file becomes readable within `patience`.
pub fn is_readable(file: &File, patience: Duration) -> std::io::Result<bool> {
    let limit = Timespec::try_from(patience).map_err(std::io::Error::other)?;
    Ok(poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&limit))? > 0)
}

fn times(line: &str) -> Option<Times> {
    let (begun, ended) = line.trim().split_once(' ')?;
    Some(Times { begun: since_epoch(begun)?, ended: since_epoch(ended)? })
}

/// Parses seconds with six decimals.
fn since_epoch(text: &str) -> Option<Duration> {
    let (seconds, micros) = text.split_once('.').filter(|(_, micros)| micros.len() == 6)?;
    Some(Duration::from_secs(seconds.parse().ok()?) + Duration::from_micros(micros.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_microsecond() {
        let read = times("1794708799.000012 1794708800.500000\n").unwrap();
        assert_eq!(read.begun, Duration::from_micros(1_794_708_799_000_012));
        assert_eq!(read.ended - read.begun, Duration::from_micros(1_499_988));
        assert_eq!(times("1794708799.0 1794708800.5"), None);
        assert_eq!(times("nothing"), None);
    }
}
