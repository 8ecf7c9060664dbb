//! The one-line summary of a turn: the request, the actions and the outcome.
//!
//! No model, no clock and no growing state: a `Digest` stays below 2 kB as JSON however long the turn, and every call
//! costs the same. Input texts must already be redacted; they are data, never instructions.

pub(crate) mod command;
mod compose;
pub(crate) mod runs;
mod said;
pub(crate) mod tally;
pub(crate) mod words;

use crate::deed::{ToolAction, makes_commits, printed_commits};
use crate::event::{PromptOrigin, ToolOutcome};
use crate::piece::StopReason;
use command::last_two;
use runs::{CommandRun, Runs};
use said::LastAnswer;
use serde::{Deserialize, Serialize};
use words::{TextLimit, gist, plain};

/// Maximum length of a line, in characters.
pub const LONGEST: usize = 300;

/// Limits of the stored texts: together with all numbers they stay below 2 kB.
const ASKED: TextLimit = TextLimit { characters: 160, bytes: 240 };
const SAID: TextLimit = TextLimit { characters: 130, bytes: 180 };
const PATH: TextLimit = TextLimit { characters: 36, bytes: 42 };
const SUBJECT: TextLimit = TextLimit { characters: 50, bytes: 54 };
const SAMPLE: TextLimit = TextLimit { characters: 36, bytes: 42 };

const MOST_CHANGED: usize = 4;
const MOST_READ: usize = 2;
const MOST_COMMITS: usize = 2;
const MOST_OPEN: usize = 6;

/// The resumable state of a turn's summary, updated as more of the turn is read.
#[derive(Default, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnDigest {
    asked: String,
    #[serde(skip_serializing_if = "FileSet::is_empty")]
    changed: FileSet,
    #[serde(skip_serializing_if = "Runs::is_empty")]
    runs: Runs,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commits: Vec<(String, String)>,
    #[serde(skip_serializing_if = "crate::is_default")]
    more_commits: u32,
    #[serde(skip_serializing_if = "FileSet::is_empty")]
    read: FileSet,
    #[serde(skip_serializing_if = "SampledText::is_empty")]
    searched: SampledText,
    #[serde(skip_serializing_if = "SampledText::is_empty")]
    fetched: SampledText,
    #[serde(skip_serializing_if = "SampledText::is_empty")]
    delegated: SampledText,
    #[serde(skip_serializing_if = "SampledText::is_empty")]
    questions: SampledText,
    #[serde(skip_serializing_if = "crate::is_default")]
    other: u32,
    /// Calls whose results are still pending, by the short hash of the call id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<(u32, PendingResult)>,
    #[serde(skip_serializing_if = "LastAnswer::is_empty")]
    said: LastAnswer,
    #[serde(skip_serializing_if = "crate::is_default")]
    ended: TurnEnd,
}

/// The current end of a turn.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TurnEnd {
    /// The agent said nothing since the last tool call.
    #[default]
    Open,
    Answered,
    Interrupted,
    Failed,
    Limited,
}

/// The subject of a pending tool result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PendingResult {
    Run(u32),
    /// A run whose output may list commits.
    Commit(u32),
    Read(u16),
    Change(Vec<u16>),
    Wait,
}

impl TurnDigest {
    pub fn begin(prompt: &str, origin: PromptOrigin) -> TurnDigest {
        let asked = match origin {
            PromptOrigin::Bookmark => "bookmark".to_owned(),
            PromptOrigin::Command => plain(prompt, ASKED),
            PromptOrigin::Human | PromptOrigin::Notification | PromptOrigin::Continuation => {
                gist(prompt, ASKED)
            }
        };
        // A thumb up says nothing, too.
        let asked = if asked.contains(char::is_alphanumeric) { asked } else { "no words".to_owned() };
        TurnDigest { asked, ..TurnDigest::default() }
    }

    /// Records a tool call; `call` identifies it.
    pub fn add_call(&mut self, call: u64, deed: &ToolAction<'_>) {
        self.ended = TurnEnd::Open;
        match deed {
            ToolAction::Read { path } => {
                let key = self.read.add(path, MOST_READ);
                self.await_result(call, PendingResult::Read(key));
            }
            ToolAction::Changed { paths } => {
                let mut keys: Vec<u16> =
                    paths.iter().map(|path| self.changed.add(path, MOST_CHANGED)).collect();
                keys.truncate(MOST_CHANGED);
                self.await_result(call, PendingResult::Change(keys));
            }
            ToolAction::Ran { command } => {
                let run = self.runs.add(command);
                let pending =
                    if makes_commits(command) { PendingResult::Commit(run) } else { PendingResult::Run(run) };
                self.await_result(call, pending);
            }
            ToolAction::Waited => self.await_result(call, PendingResult::Wait),
            ToolAction::Searched { what } => self.searched.add(&plain(what, SAMPLE)),
            ToolAction::Fetched { address } => self.fetched.add(&plain(address, SAMPLE)),
            ToolAction::Delegated { task } => self.delegated.add(&gist(task, SAMPLE)),
            ToolAction::Asked { question } => self.questions.add(&gist(question, SAMPLE)),
            ToolAction::Planned(_) => {}
            ToolAction::Other => self.other = self.other.saturating_add(1),
        }
    }

    /// Records a call's result. Results may come late, out of order, or never.
    pub fn add_result(&mut self, call: u64, outcome: ToolOutcome, output: &str) {
        self.record_result(call, outcome, output);
    }

    /// The same; returns the run if the call was a command.
    pub(crate) fn record_result(
        &mut self,
        call: u64,
        outcome: ToolOutcome,
        output: &str,
    ) -> Option<&CommandRun> {
        let call = short_id(call);
        let index = self.open.iter().position(|(open, _)| *open == call)?;
        match self.open.remove(index).1 {
            PendingResult::Run(run) => return self.runs.record_result(run, outcome, output),
            PendingResult::Commit(run) => self.committed(run, outcome, output),
            PendingResult::Read(_) | PendingResult::Change(_) if outcome == ToolOutcome::Done => {}
            PendingResult::Read(key) => self.read.take_back(&[key]),
            PendingResult::Change(keys) => self.changed.take_back(&keys),
            PendingResult::Wait => return self.runs.record_output(outcome, output),
        }
        None
    }

    /// Records text of the agent; only the last one counts.
    pub fn answered(&mut self, text: &str) {
        self.ended = TurnEnd::Answered;
        self.said = LastAnswer::of(text);
    }

    pub fn stopped(&mut self, how: StopReason) {
        self.ended = match how {
            StopReason::Interrupted => TurnEnd::Interrupted,
            StopReason::Failed => TurnEnd::Failed,
            StopReason::Limited => TurnEnd::Limited,
        };
    }

    /// At most `LONGEST` characters, without control characters or markup; contains at least the request.
    pub fn line(&self) -> String {
        compose::line(self)
    }

    /// Files that were read and not edited: an edit implies a read.
    fn only_read(&self) -> FileSet {
        let is_changed = |key| self.changed.named.iter().any(|changed| changed.key == key);
        let mut read = self.read.clone();
        read.named.retain(|read| !is_changed(read.key));
        read
    }

    fn await_result(&mut self, call: u64, pending: PendingResult) {
        if self.open.len() >= MOST_OPEN {
            self.open.remove(0);
        }
        self.open.push((short_id(call), pending));
    }

    /// Records commits from `git` output; a listed commit replaces the entry of the run that made it.
    fn committed(&mut self, run: u32, outcome: ToolOutcome, output: &str) {
        let commits = printed_commits(output);
        self.runs.record_result(run, outcome, output);
        if !commits.is_empty() && outcome == ToolOutcome::Done {
            self.runs.uncount(run);
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

/// Folds a call id to 32 bits: at most `MOST_OPEN` calls are told apart at a time.
fn short_id(call: u64) -> u32 {
    let [a, b, c, d, e, f, g, h] = call.to_le_bytes();
    u32::from_le_bytes([a, b, c, d]) ^ u32::from_le_bytes([e, f, g, h])
}

/// Files by their last two path components: the first few by name, and an approximate count of the others.
#[derive(Default, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct FileSet {
    named: Vec<FileUse>,
    /// A bitmap of the other files by checksum, so that a repeated file is not counted twice.
    #[serde(skip_serializing_if = "crate::is_default")]
    others: [u64; 2],
    #[serde(skip_serializing_if = "crate::is_default")]
    more: u32,
}

/// A file with the checksum of its path and its number of uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "FileUseTuple", from = "FileUseTuple")]
struct FileUse {
    path: String,
    key: u16,
    times: u32,
}

type FileUseTuple = (String, u16, u32);

impl From<FileUseTuple> for FileUse {
    fn from((path, key, times): FileUseTuple) -> FileUse {
        FileUse { path, key, times }
    }
}

impl From<FileUse> for FileUseTuple {
    fn from(named: FileUse) -> FileUseTuple {
        (named.path, named.key, named.times)
    }
}

impl FileSet {
    /// The highest count of others that is still roughly right.
    const COUNTED: u32 = 40;

    fn is_empty(&self) -> bool {
        self.named.is_empty() && self.more == 0
    }

    /// Counts a file and returns the key for `take_back`.
    fn add(&mut self, path: &str, most: usize) -> u16 {
        let key = checksum(path);
        if let Some(seen) = self.named.iter_mut().find(|named| named.key == key) {
            seen.times = seen.times.saturating_add(1);
        } else if self.named.len() < most {
            self.named.push(FileUse { path: plain(&last_two(path), PATH), key, times: 1 });
        } else {
            let (word, bit) = (usize::from(key / 64 % 2), 1_u64 << (key % 64));
            self.more = self.more.saturating_add(u32::from(self.others[word] & bit == 0));
            self.others[word] |= bit;
        }
        key
    }

    /// Uncounts files of a failed call. Unnamed files stay: an earlier call may have succeeded on them.
    fn take_back(&mut self, keys: &[u16]) {
        for named in self.named.iter_mut().filter(|named| keys.contains(&named.key)) {
            named.times = named.times.saturating_sub(1);
        }
        self.named.retain(|named| named.times > 0);
    }
}

/// FNV-1a, folded to 16 bits: stable across machines and versions.
fn checksum(text: &str) -> u16 {
    let sum =
        text.bytes().fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let [a, b, c, d] = sum.to_le_bytes();
    u16::from_le_bytes([a ^ c, b ^ d])
}

/// The first of several texts, and their number.
#[derive(Default, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct SampledText {
    first: String,
    times: u32,
}

impl SampledText {
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
