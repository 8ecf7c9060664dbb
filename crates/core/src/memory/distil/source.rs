//! The turn that is distilled, and a memory made of it.
//!
//! Answers what a turn contains; which of it becomes a memory is decided beside it.

use super::outside::{CallInput, outside_trust};
use super::pasted::{self, pasted_trust};
use crate::capture::{FileAccess, Speaker};
use crate::deed::{Commit, ToolAction, quiet_commit};
use crate::event::{PromptOrigin, ToolOutcome};
use crate::line::words::{TextLimit, gist};
use crate::memory::suspicion::{self, Suspicion};
use crate::memory::{ConfidencePercent, MemoryDraft, MemoryTrust};
use crate::piece::StopReason;
use crate::text::distinct;
use std::borrow::Cow;

#[derive(Clone, Debug)]
pub struct DistilTurn<'a> {
    pub origin: PromptOrigin,
    pub stopped: Option<StopReason>,
    /// Messages and tool calls, in order.
    pub steps: Vec<TurnStep<'a>>,
    pub files: Vec<(Cow<'a, str>, FileAccess)>,
    pub commits: Vec<Commit>,
    /// The working folder: paths are shown relative to it.
    pub folder: Option<&'a str>,
    /// The least trusted text from outside that had reached the session by the end of this turn, as far as the caller
    /// knows: in an earlier turn, or by a subagent.
    pub outside: Option<MemoryTrust>,
    /// The trust of prompts: less than `Person` if a program sent them.
    pub prompts: MemoryTrust,
}

#[derive(Clone, Debug)]
pub enum TurnStep<'a> {
    Said { speaker: Speaker, text: Cow<'a, str> },
    Did(TurnCall<'a>),
}

/// A tool call of the agent itself, with its result.
#[derive(Clone, Debug)]
pub struct TurnCall<'a> {
    pub tool: Cow<'a, str>,
    pub deed: ToolAction<'a>,
    /// Empty if `wants_output` is false.
    pub output: Cow<'a, str>,
    /// `None` while the result is pending.
    pub outcome: Option<ToolOutcome>,
}

/// Whether the rules read the output of such a call.
pub fn wants_output(deed: &ToolAction<'_>) -> bool {
    matches!(deed, ToolAction::Ran { .. } | ToolAction::Waited | ToolAction::Delegated { .. })
}

/// A memory extracted from a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistilledMemory {
    pub draft: MemoryDraft,
    pub trust: MemoryTrust,
    pub confidence: ConfidencePercent,
    /// The reason to withhold it from models until the user has reviewed it.
    pub suspicion: Option<Suspicion>,
}

impl DistilledMemory {
    /// Checks every memory for suspicious text, whatever its trust: even the user's prompt may repeat a foreign rule.
    pub(super) fn examined(mut self, turn: &DistilTurn<'_>) -> DistilledMemory {
        let speaker = if self.trust < MemoryTrust::Person { Speaker::Agent } else { Speaker::Person };
        let may_speak = |other: &Speaker| *other == speaker || turn.prompts < MemoryTrust::Person;
        let speakers = || [Speaker::Agent, Speaker::Person].into_iter().filter(may_speak);
        let hidden = || speakers().flat_map(|speaker| turn.said_by(speaker)).find_map(suspicion::hidden);
        self.suspicion = self.suspicion.or_else(|| suspicion::of_draft(&self.draft)).or_else(hidden);
        self
    }
}

impl<'a> DistilTurn<'a> {
    pub(super) fn said_by(&self, speaker: Speaker) -> impl DoubleEndedIterator<Item = &str> {
        let said = move |step: &'_ TurnStep<'a>| matches!(step, TurnStep::Said { speaker: own, .. } if *own == speaker);
        self.steps.iter().filter(move |step| said(step)).filter_map(|step| match step {
            TurnStep::Said { text, .. } => Some(&**text),
            TurnStep::Did(_) => None,
        })
    }

    pub(super) fn calls(&self) -> impl DoubleEndedIterator<Item = &TurnCall<'a>> {
        self.steps.iter().filter_map(|step| match step {
            TurnStep::Did(call) => Some(call),
            TurnStep::Said { .. } => None,
        })
    }

    /// Text that the user typed.
    pub(super) fn user_texts(&self) -> impl Iterator<Item = &str> {
        self.said_by(Speaker::Person).filter(|_| self.origin == PromptOrigin::Human)
    }

    /// The gist of the first prompt, of the user's own words if there are any; empty if the user did not type one.
    pub(super) fn asked(&self) -> String {
        let Some(words) = self.user_texts().find(|words| !words.trim().is_empty()) else {
            return String::new();
        };
        let own = gist(&pasted::split(words).own, ASKED);
        if own.is_empty() { gist(words, ASKED) } else { own }
    }

    /// The commits that git printed, and those of a quiet `git commit`, whose subject is in the command.
    pub(super) fn commits(&self) -> Vec<Commit> {
        let done = self.calls().filter(|call| call.outcome == Some(ToolOutcome::Done));
        let quiet = done.filter_map(|call| {
            let ToolAction::Ran { command } = &call.deed else { return None };
            quiet_commit(command, &call.output)
        });
        self.commits.iter().cloned().chain(quiet).collect()
    }

    /// The agent's answer: all text after its last call, else its last text.
    pub(super) fn answer(&self) -> String {
        let after_calls =
            self.steps.iter().rposition(|step| matches!(step, TurnStep::Did(_))).map_or(0, |at| at + 1);
        let of_agent = |step: &TurnStep<'_>| match step {
            TurnStep::Said { speaker: Speaker::Agent, text } => Some(text.to_string()),
            TurnStep::Said { speaker: Speaker::Person, .. } | TurnStep::Did(_) => None,
        };
        let last: Vec<String> = self.steps[after_calls..].iter().filter_map(of_agent).collect();
        if last.is_empty() {
            return self.said_by(Speaker::Agent).next_back().unwrap_or("").to_owned();
        }
        last.join("\n\n")
    }

    pub(super) fn is_unfinished(&self) -> bool {
        self.stopped.is_some()
    }

    /// The trust of the agent's text: at most that of any text from outside, which it may repeat.
    pub(super) fn agents_trust(&self) -> MemoryTrust {
        self.outside.into_iter().chain(self.brought_from_outside()).fold(MemoryTrust::Agent, MemoryTrust::and)
    }

    /// The least trusted text that came from outside in this turn: by the agent's calls, or pasted by the user.
    pub fn brought_from_outside(&self) -> Option<MemoryTrust> {
        let folders: Vec<&str> = self.folder.into_iter().collect();
        let trust = |call: &TurnCall<'_>| {
            let call = CallInput { tool: &call.tool, deed: &call.deed, input: "" };
            outside_trust(call, &folders)
        };
        let pasted = self.user_texts().filter_map(pasted_trust);
        self.calls().filter_map(trust).chain(pasted).min()
    }

    /// Changed files, without duplicates.
    pub(super) fn changed(&self) -> Vec<&str> {
        let changed = self.files.iter().filter(|(_, how)| *how == FileAccess::Changed);
        distinct(changed.map(|(path, _)| &**path).filter(|path| self.is_relevant(path)))
    }

    /// Files that were only read.
    pub(super) fn read(&self) -> impl Iterator<Item = &str> {
        let changed = self.changed();
        let read = self.files.iter().filter(|(path, how)| *how == FileAccess::Read && self.is_relevant(path));
        read.map(|(path, _)| &**path).filter(move |path| !changed.contains(path))
    }

    fn is_relevant(&self, path: &str) -> bool {
        self.is_lasting(path) && !self.is_only_failed(path)
    }

    /// Whether every call on this file failed.
    fn is_only_failed(&self, path: &str) -> bool {
        let mut about = self.calls().filter(|call| call.deed.paths().any(|other| other == path)).peekable();
        about.peek().is_some() && about.all(|call| call.outcome == Some(ToolOutcome::Failed))
    }

    /// False for temporary folders, unless the working folder is one.
    fn is_lasting(&self, path: &str) -> bool {
        let is_temporary =
            ["/tmp/", "/var/tmp/", "/dev/", "/private/tmp/"].iter().any(|folder| path.starts_with(folder));
        !is_temporary || self.folder.is_some_and(|folder| path.starts_with(folder))
    }

    /// A path relative to the working folder.
    pub(super) fn shown<'p>(&self, path: &'p str) -> &'p str {
        let below = self.folder.and_then(|folder| path.strip_prefix(folder.trim_end_matches('/')));
        below.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
    }

    /// At most `most` paths, and the number of the others.
    pub(super) fn shown_few(&self, paths: &[&str], most: usize) -> String {
        let all: Vec<&str> = paths.iter().map(|path| self.shown(path)).collect();
        let more = all.len().saturating_sub(most);
        let named = all[..all.len() - more].join(", ");
        if more > 0 { format!("{named} and {more} more") } else { named }
    }
}

const ASKED: TextLimit = TextLimit { characters: 200, bytes: 500 };

/// Capitalises, and strips trailing punctuation.
pub fn as_title(sentence: &str) -> String {
    let bare = sentence.trim().trim_end_matches(['.', '。', ':', '：', ';', ',']).trim();
    let mut chars = bare.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}", chars.as_str())
}
