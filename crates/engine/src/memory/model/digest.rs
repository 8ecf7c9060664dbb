//! Renders a turn as one bounded text for a model: the prompt, the tool actions, the results.
//!
//! Never exceeds its limit. The text is fenced as data, and no content can close the fence.

use towline_core::capture::FileAccess;
use towline_core::compose::{ContextBudget, fence};
use towline_core::deed::Commit;
use towline_core::memory::MemoryTrust;
use towline_core::redact::redact;
use towline_core::text::{clip, clip_start};

/// The parts of a turn that a model may see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Material {
    pub project: Option<String>,
    pub branch: Option<String>,
    /// The user's messages, in order.
    pub asked: Vec<String>,
    /// The agent's messages, in order.
    pub said: Vec<String>,
    pub calls: Vec<Call>,
    pub files: Vec<(String, FileAccess)>,
    pub commits: Vec<Commit>,
}

/// A tool call with its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// In our own words: `ran cargo test`.
    pub deed: String,
    /// The useful part of the output.
    pub output: String,
    pub failed: bool,
    pub trust: MemoryTrust,
}

/// The rendered turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    pub text: String,
    /// The lowest trust of any included part.
    pub trust: MemoryTrust,
    /// An upper estimate.
    pub tokens: u64,
}

/// Marks omitted text.
const CUT: &str = " […] ";

/// Renders a turn in at most `most_tokens`, including the fence.
pub fn digest(material: &Material, most_tokens: u64) -> Digest {
    let most = usize::try_from(most_tokens).unwrap_or(usize::MAX);
    let mut trust = MemoryTrust::Agent;
    let mut room = DigestWriter { left: most.saturating_sub(size(&fence::around(""))), text: String::new() };
    room.part("project", &place(material), most / 20);
    room.part("asked", &material.asked.join("\n"), most / 4);
    let answer = material.said.last().map_or("", String::as_str);
    // The calls precede the answer, so its space is reserved first.
    let kept_for_answer = size(answer).min(most * 3 / 10) + 8;
    room.left = room.left.saturating_sub(kept_for_answer);
    room.part("commits", &commits(&material.commits), most / 10);
    room.part("files", &files(&material.files), most / 8);
    for (call, most_here) in shares(&material.calls, room.left) {
        if room.part(&call.deed, &call.output, most_here) == PartWritten::Whole {
            trust = trust.and(call.trust);
        }
    }
    room.left += kept_for_answer;
    room.part("answered", answer, room.left);
    let text = fence::around(&redact(&room.text));
    let tokens = u64::try_from(size(&text)).unwrap_or(u64::MAX);
    Digest { text, trust, tokens }
}

/// The text so far, and the space left.
struct DigestWriter {
    left: usize,
    text: String,
}

#[derive(PartialEq, Eq)]
enum PartWritten {
    Whole,
    Nothing,
}

impl DigestWriter {
    /// Appends a named part, truncated if too long; omitted if there is no space for it.
    fn part(&mut self, name: &str, text: &str, most: usize) -> PartWritten {
        let most = most.min(self.left);
        let name = within(&name.split_whitespace().collect::<Vec<_>>().join(" "), most / 2);
        let whole = match text.trim() {
            "" => format!("{name}\n"),
            text => format!("{name}: {}\n", within(text, most.saturating_sub(size(&name) + 2))),
        };
        let cost = size(&whole);
        let is_empty = text.trim().is_empty() && !name.contains(' ');
        if cost > most || is_empty {
            return PartWritten::Nothing;
        }
        self.text.push_str(&whole);
        self.left -= cost;
        PartWritten::Whole
    }
}

fn place(material: &Material) -> String {
    let branch = material.branch.as_ref().map(|branch| format!(" on {branch}"));
    material.project.clone().unwrap_or_default() + &branch.unwrap_or_default()
}

fn commits(commits: &[Commit]) -> String {
    commits.iter().map(|commit| format!("{} {}", commit.hash, commit.subject)).collect::<Vec<_>>().join("; ")
}

/// Changed files first: they are the most informative.
fn files(files: &[(String, FileAccess)]) -> String {
    let of =
        |how: FileAccess| files.iter().filter(move |(_, found)| *found == how).map(|(path, _)| path.as_str());
    let named =
        |name: &str, paths: Vec<&str>| (!paths.is_empty()).then(|| format!("{name} {}", paths.join(" ")));
    let changed: Vec<&str> = of(FileAccess::Changed).collect();
    let read: Vec<&str> = of(FileAccess::Read).filter(|path| !changed.contains(path)).take(8).collect();
    [named("changed", changed), named("read", read)].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The calls to show, with the space for each. Failures and the last calls tell most and get more.
fn shares(calls: &[Call], room: usize) -> Vec<(&Call, usize)> {
    const LEAST: usize = 24;
    let weight = |at: usize, call: &Call| {
        let is_late = at + 3 >= calls.len();
        1 + 2 * usize::from(call.failed) + usize::from(is_late) + usize::from(!call.output.is_empty())
    };
    let mut chosen: Vec<usize> = (0..calls.len()).collect();
    chosen.sort_by_key(|at| (usize::MAX - weight(*at, &calls[*at]), usize::MAX - at));
    chosen.truncate(room / LEAST);
    chosen.sort_unstable();
    let all: usize = chosen.iter().map(|at| weight(*at, &calls[*at])).sum();
    let share = |at: usize| room * weight(at, &calls[at]) / all.max(1);
    chosen.into_iter().map(|at| (&calls[at], share(at))).collect()
}

/// Fits a text into the limit: its head and its tail, with a mark between them.
fn within(text: &str, most: usize) -> String {
    if ContextBudget::Tokens(most).holds(text) {
        return text.to_owned();
    }
    let mut bytes = text.len().min(most.saturating_mul(5));
    while bytes > 16 {
        let cut = format!("{}{CUT}{}", clip(text, bytes / 3 * 2), clip_start(text, bytes / 3));
        if ContextBudget::Tokens(most).holds(&cut) {
            return cut;
        }
        bytes = bytes / 8 * 7;
    }
    String::new()
}

fn size(text: &str) -> usize {
    ContextBudget::Tokens(usize::MAX).size_of(text)
}

#[cfg(test)]
mod tests;
