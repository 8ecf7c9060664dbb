//! One line that says what a turn did: what was asked, what was done, how it ended.
//!
//! No model, no clock, and no growing state: however long the turn, a `Digest` stays below 2 kB as JSON and every call
//! costs the same. The texts given were redacted before; they are data, and none of them is followed.

pub(crate) mod command;
mod compose;
pub(crate) mod runs;
mod said;
pub(crate) mod tally;
pub(crate) mod words;

use crate::deed::{Deed, makes_commits, printed_commits};
use crate::event::{Origin, ToolOutcome};
use crate::piece::Stop;
use command::last_two;
use runs::Runs;
use said::Said;
use serde::{Deserialize, Serialize};
use words::{Room, gist, plain};

/// How long a line is at most, in characters.
pub const LONGEST: usize = 300;

/// Rooms of what is kept: together with all numbers they stay below 2 kB.
const ASKED: Room = Room { characters: 160, bytes: 240 };
const SAID: Room = Room { characters: 130, bytes: 180 };
const PATH: Room = Room { characters: 36, bytes: 42 };
const SUBJECT: Room = Room { characters: 50, bytes: 54 };
const SAMPLE: Room = Room { characters: 36, bytes: 42 };

const MOST_CHANGED: usize = 4;
const MOST_READ: usize = 2;
const MOST_COMMITS: usize = 2;
const MOST_OPEN: usize = 6;

/// What is known of a turn, to be continued when more of it is read.
#[derive(Default, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Digest {
    asked: String,
    #[serde(skip_serializing_if = "Files::is_empty")]
    changed: Files,
    #[serde(skip_serializing_if = "Runs::is_empty")]
    runs: Runs,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commits: Vec<(String, String)>,
    #[serde(skip_serializing_if = "is_zero")]
    more_commits: u32,
    #[serde(skip_serializing_if = "Files::is_empty")]
    read: Files,
    #[serde(skip_serializing_if = "Sampled::is_empty")]
    searched: Sampled,
    #[serde(skip_serializing_if = "Sampled::is_empty")]
    fetched: Sampled,
    #[serde(skip_serializing_if = "Sampled::is_empty")]
    delegated: Sampled,
    #[serde(skip_serializing_if = "Sampled::is_empty")]
    questions: Sampled,
    #[serde(skip_serializing_if = "is_zero")]
    other: u32,
    /// Calls whose results have not come.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<(u32, Awaited)>,
    #[serde(skip_serializing_if = "Said::is_nothing")]
    said: Said,
    #[serde(skip_serializing_if = "Ended::is_open")]
    ended: Ended,
}

/// How a turn stands.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ended {
    /// Nothing was said since the last tool call.
    #[default]
    Open,
    Answered,
    Interrupted,
    Failed,
    Limited,
}

impl Ended {
    fn is_open(&self) -> bool {
        *self == Ended::Open
    }
}

/// What the result of a call will be about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Awaited {
    Run(u32),
    /// One that may print commits.
    Commit(u32),
    Read(u16),
    Change(Vec<u16>),
    Wait,
}

impl Digest {
    pub fn begin(prompt: &str, origin: Origin) -> Digest {
        let asked = match origin {
            Origin::Bookmark => "bookmark".to_owned(),
            Origin::Command => plain(prompt, ASKED),
            Origin::Human | Origin::Notification | Origin::Continuation => gist(prompt, ASKED),
        };
        let asked = if asked.is_empty() { "no words".to_owned() } else { asked };
        Digest { asked, ..Digest::default() }
    }

    /// A tool was called; `call` names the call.
    pub fn did(&mut self, call: u64, deed: &Deed<'_>) {
        self.ended = Ended::Open;
        match deed {
            Deed::Read { path } => {
                let key = self.read.add(path, MOST_READ);
                self.await_result(call, Awaited::Read(key));
            }
            Deed::Changed { paths } => {
                let mut keys: Vec<u16> =
                    paths.iter().map(|path| self.changed.add(path, MOST_CHANGED)).collect();
                keys.truncate(MOST_CHANGED);
                self.await_result(call, Awaited::Change(keys));
            }
            Deed::Ran { command } => {
                let run = self.runs.add(command);
                let of = if makes_commits(command) { Awaited::Commit(run) } else { Awaited::Run(run) };
                self.await_result(call, of);
            }
            Deed::Waited => self.await_result(call, Awaited::Wait),
            Deed::Searched { what } => self.searched.add(&plain(what, SAMPLE)),
            Deed::Fetched { address } => self.fetched.add(&plain(address, SAMPLE)),
            Deed::Delegated { task } => self.delegated.add(&gist(task, SAMPLE)),
            Deed::Asked { question } => self.questions.add(&gist(question, SAMPLE)),
            Deed::Planned => {}
            Deed::Other => self.other = self.other.saturating_add(1),
        }
    }

    /// A call's result. It may come late, out of order, or never.
    pub fn came_of(&mut self, call: u64, outcome: ToolOutcome, output: &str) {
        let call = folded(call);
        let Some(at) = self.open.iter().position(|(open, _)| *open == call) else { return };
        match self.open.remove(at).1 {
            Awaited::Run(run) => self.runs.came_of(run, outcome, output),
            Awaited::Commit(run) => self.committed(run, outcome, output),
            Awaited::Read(_) | Awaited::Change(_) if outcome == ToolOutcome::Done => {}
            Awaited::Read(key) => self.read.take_back(&[key]),
            Awaited::Change(keys) => self.changed.take_back(&keys),
            Awaited::Wait => self.runs.went_on(outcome, output),
        }
    }

    /// What the agent said; the last word counts.
    pub fn answered(&mut self, text: &str) {
        self.ended = Ended::Answered;
        self.said = Said::of(text);
    }

    pub fn stopped(&mut self, how: Stop) {
        self.ended = match how {
            Stop::Interrupted => Ended::Interrupted,
            Stop::Failed => Ended::Failed,
            Stop::Limited => Ended::Limited,
        };
    }

    /// At most `LONGEST` characters, no control characters, no markup; at least what was asked.
    pub fn line(&self) -> String {
        compose::line(self)
    }

    /// What was read and not edited: an edit says enough.
    fn only_read(&self) -> Files {
        let is_changed = |key| self.changed.named.iter().any(|changed| changed.key == key);
        let mut read = self.read.clone();
        read.named.retain(|read| !is_changed(read.key));
        read
    }

    fn await_result(&mut self, call: u64, of: Awaited) {
        if self.open.len() >= MOST_OPEN {
            self.open.remove(0);
        }
        self.open.push((folded(call), of));
    }

    /// What `git` printed says more than that it ran.
    fn committed(&mut self, run: u32, outcome: ToolOutcome, output: &str) {
        let commits = printed_commits(output);
        self.runs.came_of(run, outcome, output);
        if !commits.is_empty() && outcome == ToolOutcome::Done {
            self.runs.take_back(run);
        }
        for commit in commits {
            if self.commits.len() >= MOST_COMMITS {
                self.commits.remove(0);
                self.more_commits = self.more_commits.saturating_add(1);
            }
            let hash = commit.hash.chars().take(10).collect();
            self.commits.push((hash, plain(&commit.subject, SUBJECT)));
        }
    }
}

/// Calls are told apart among a few only.
fn folded(call: u64) -> u32 {
    let [a, b, c, d, e, f, g, h] = call.to_le_bytes();
    u32::from_le_bytes([a, b, c, d]) ^ u32::from_le_bytes([e, f, g, h])
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Files by their last two parts: the first few by name, about how many others.
#[derive(Default, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Files {
    named: Vec<Named>,
    /// One bit for each other file, by its checksum: a file that comes again is not counted twice.
    #[serde(skip_serializing_if = "no_bits")]
    others: [u64; 2],
    #[serde(skip_serializing_if = "is_zero")]
    more: u32,
}

/// A file, the key by which it is known, and how often it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(String, u16, u32)", from = "(String, u16, u32)")]
struct Named {
    path: String,
    key: u16,
    times: u32,
}

impl From<(String, u16, u32)> for Named {
    fn from((path, key, times): (String, u16, u32)) -> Named {
        Named { path, key, times }
    }
}

impl From<Named> for (String, u16, u32) {
    fn from(named: Named) -> (String, u16, u32) {
        (named.path, named.key, named.times)
    }
}

impl Files {
    /// Up to here the number of others is about right.
    const COUNTED: u32 = 40;

    fn is_empty(&self) -> bool {
        self.named.is_empty() && self.more == 0
    }

    /// Gives the key by which it is taken back.
    fn add(&mut self, path: &str, most: usize) -> u16 {
        let key = checksum(path);
        if let Some(known) = self.named.iter_mut().find(|named| named.key == key) {
            known.times = known.times.saturating_add(1);
        } else if self.named.len() < most {
            self.named.push(Named { path: plain(&last_two(path), PATH), key, times: 1 });
        } else {
            let (word, bit) = (usize::from(key / 64 % 2), 1_u64 << (key % 64));
            self.more = self.more.saturating_add(u32::from(self.others[word] & bit == 0));
            self.others[word] |= bit;
        }
        key
    }

    /// What failed was not done. Of a file that is not named nobody knows whether it was also done before.
    fn take_back(&mut self, keys: &[u16]) {
        for named in self.named.iter_mut().filter(|named| keys.contains(&named.key)) {
            named.times = named.times.saturating_sub(1);
        }
        self.named.retain(|named| named.times > 0);
    }
}

fn no_bits(bits: &[u64; 2]) -> bool {
    bits.iter().all(|word| *word == 0)
}

/// FNV-1a, folded: small, and the same everywhere and for ever.
fn checksum(text: &str) -> u16 {
    let sum =
        text.bytes().fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let [a, b, c, d] = sum.to_le_bytes();
    u16::from_le_bytes([a ^ c, b ^ d])
}

/// One of several, and how many there were.
#[derive(Default, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Sampled {
    first: String,
    times: u32,
}

impl Sampled {
    fn is_empty(&self) -> bool {
        self.times == 0
    }

    fn add(&mut self, text: &str) {
        if self.first.is_empty() {
            text.clone_into(&mut self.first);
        }
        self.times = self.times.saturating_add(1);
    }
}

#[cfg(test)]
mod tests;
