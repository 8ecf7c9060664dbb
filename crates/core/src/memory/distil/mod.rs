//! Distilling without a model: what is worth knowing later of one turn, and what a session came to.
//!
//! Pure, and the same for the same turn. Invents nothing: every word of a memory was said by somebody in the turn or
//! printed by a tool, and the memory is trusted no more than the least trusted of them. A turn in which nothing was done,
//! decided or found out gives none. The phrases that are looked for are English first; other languages give fewer
//! memories, never wrong ones.

mod cues;
mod errors;
mod learnt;
mod passage;
mod runs;
mod statement;
mod summary;
mod work;

pub use summary::{Known, Session, Summed, summary};

use super::suspicion::{self, Suspicion};
use super::{Confidence, Draft, Trust};
use crate::capture::{Speaker, Touch};
use crate::deed::{Commit, Deed};
use crate::event::{Origin, ToolOutcome};
use crate::line::words::{Room, gist};
use crate::piece::Stop;
use std::borrow::Cow;

/// A turn that is to be distilled.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    pub origin: Origin,
    pub stopped: Option<Stop>,
    /// What was said and done, in order.
    pub steps: Vec<Step<'a>>,
    pub files: Vec<(Cow<'a, str>, Touch)>,
    pub commits: Vec<Commit>,
    /// Where it worked: paths are told from there.
    pub folder: Option<&'a str>,
}

#[derive(Clone, Debug)]
pub enum Step<'a> {
    Said { speaker: Speaker, text: Cow<'a, str> },
    Did(Call<'a>),
}

/// A tool call of the agent's own, with what came of it.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub tool: Cow<'a, str>,
    pub deed: Deed<'a>,
    /// Empty where `wants_output` is false.
    pub output: Cow<'a, str>,
    /// None while no result has come.
    pub outcome: Option<ToolOutcome>,
}

/// Whether the output of such a call is looked at.
pub fn wants_output(deed: &Deed<'_>) -> bool {
    match deed {
        Deed::Ran { .. } | Deed::Waited | Deed::Delegated { .. } => true,
        Deed::Read { .. }
        | Deed::Changed { .. }
        | Deed::Searched { .. }
        | Deed::Fetched { .. }
        | Deed::Asked { .. }
        | Deed::Planned
        | Deed::Other => false,
    }
}

/// Something worth remembering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub draft: Draft,
    pub trust: Trust,
    pub confidence: Confidence,
    /// Why it should be kept from every model until a person has seen it.
    pub suspicion: Option<Suspicion>,
}

/// More of one turn is not worth anybody's time.
const MOST: usize = 8;

/// What is worth knowing later of a turn. `before` is the turn before it: what failed there may be mended here.
pub fn turn(turn: &Turn<'_>, before: Option<&Turn<'_>>) -> Vec<Found> {
    if turn.origin == Origin::Bookmark {
        return vec![];
    }
    let trials = runs::trials(turn, before);
    let mut statements = statement::all(turn);
    let mut found: Vec<Found> = vec![];
    match work::done(turn, before, (&trials, &mut statements)) {
        Some(work) => found.push(work),
        None => found.extend(learnt::answered(turn, &trials, &mut statements)),
    }
    found.extend(learnt::detours(turn, &trials));
    found.extend(statements.into_iter().filter_map(|statement| statement.into_found(turn)));
    let mut kept: Vec<Found> = vec![];
    for one in found {
        if kept.len() < MOST && !kept.iter().any(|known| known.draft.title == one.draft.title) {
            kept.push(one.examined(turn));
        }
    }
    kept
}

impl Found {
    /// What a person said is theirs; everything else is looked at before it is given to a model.
    fn examined(mut self, turn: &Turn<'_>) -> Found {
        if self.trust < Trust::Person {
            let hidden = || turn.said_by(Speaker::Agent).find_map(suspicion::hidden);
            self.suspicion = self.suspicion.or_else(|| suspicion::of_draft(&self.draft)).or_else(hidden);
        }
        self
    }
}

impl<'a> Turn<'a> {
    fn said_by(&self, speaker: Speaker) -> impl DoubleEndedIterator<Item = &str> {
        let said =
            move |step: &'_ Step<'a>| matches!(step, Step::Said { speaker: who, .. } if *who == speaker);
        self.steps.iter().filter(move |step| said(step)).filter_map(|step| match step {
            Step::Said { text, .. } => Some(&**text),
            Step::Did(_) => None,
        })
    }

    fn calls(&self) -> impl DoubleEndedIterator<Item = &Call<'a>> {
        self.steps.iter().filter_map(|step| match step {
            Step::Did(call) => Some(call),
            Step::Said { .. } => None,
        })
    }

    /// What a person typed by themselves.
    fn persons_words(&self) -> impl Iterator<Item = &str> {
        let is_persons = match self.origin {
            Origin::Human => true,
            Origin::Command | Origin::Notification | Origin::Bookmark | Origin::Continuation => false,
        };
        self.said_by(Speaker::Person).filter(move |_| is_persons)
    }

    /// What was asked, in a few words; empty where nobody asked.
    fn asked(&self) -> String {
        let first = self.persons_words().find(|words| !words.trim().is_empty());
        first.map_or(String::new(), |words| gist(words, ASKED))
    }

    /// The agent's last words: all that it said after its last call, or the last that it said at all.
    fn answer(&self) -> String {
        let after_calls =
            self.steps.iter().rposition(|step| matches!(step, Step::Did(_))).map_or(0, |at| at + 1);
        let of_agent = |step: &Step<'_>| match step {
            Step::Said { speaker: Speaker::Agent, text } => Some(text.to_string()),
            Step::Said { speaker: Speaker::Person, .. } | Step::Did(_) => None,
        };
        let last: Vec<String> = self.steps[after_calls..].iter().filter_map(of_agent).collect();
        if last.is_empty() {
            return self.said_by(Speaker::Agent).next_back().unwrap_or("").to_owned();
        }
        last.join("\n\n")
    }

    /// Whether it was stopped before it had anything to say of its work.
    fn is_unfinished(&self) -> bool {
        self.stopped.is_some()
    }

    /// The class of what the agent says: a page that it has read may speak through it.
    fn agents_trust(&self) -> Trust {
        if self.calls().any(Call::is_from_outside) { Trust::Web } else { Trust::Agent }
    }

    /// Files that were changed, each once.
    fn changed(&self) -> Vec<&str> {
        let mut changed: Vec<&str> = vec![];
        for (path, how) in &self.files {
            if *how == Touch::Changed && self.is_of_use(path) && !changed.contains(&&**path) {
                changed.push(path);
            }
        }
        changed
    }

    /// Files that were only read.
    fn read(&self) -> impl Iterator<Item = &str> {
        let changed = self.changed();
        let read = self.files.iter().filter(|(path, how)| *how == Touch::Read && self.is_of_use(path));
        read.map(|(path, _)| &**path).filter(move |path| !changed.contains(path))
    }

    fn is_of_use(&self, path: &str) -> bool {
        self.is_lasting(path) && !self.is_only_failed(path)
    }

    /// Whether every call that was about this file failed.
    fn is_only_failed(&self, path: &str) -> bool {
        let mut about = self.calls().filter(|call| call.deed.paths().any(|other| other == path)).peekable();
        about.peek().is_some() && about.all(|call| call.outcome == Some(ToolOutcome::Failed))
    }

    /// What lies in a folder for what does not last is nobody's concern later, unless that is where the work is.
    fn is_lasting(&self, path: &str) -> bool {
        let is_passing =
            ["/tmp/", "/var/tmp/", "/dev/", "/private/tmp/"].iter().any(|folder| path.starts_with(folder));
        !is_passing || self.folder.is_some_and(|folder| path.starts_with(folder))
    }

    /// A path as it is told: from the folder that was worked in.
    fn shown<'p>(&self, path: &'p str) -> &'p str {
        let below = self.folder.and_then(|folder| path.strip_prefix(folder.trim_end_matches('/')));
        below.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
    }

    /// A few paths, and how many more there are.
    fn shown_few(&self, paths: &[&str], most: usize) -> String {
        let all: Vec<&str> = paths.iter().map(|path| self.shown(path)).collect();
        let more = all.len().saturating_sub(most);
        let named = all[..all.len() - more].join(", ");
        if more > 0 { format!("{named} and {more} more") } else { named }
    }
}

impl Call<'_> {
    /// Whether what it gave comes from somewhere else than this machine.
    pub(super) fn is_from_outside(&self) -> bool {
        const NAMES: [&str; 5] = ["web", "fetch", "browse", "http", "url"];
        const PROGRAMS: [&str; 3] = ["curl", "wget", "lynx"];
        let is_local = |command: &str| command.contains("localhost") || command.contains("127.0.0.1");
        match &self.deed {
            Deed::Fetched { .. } => true,
            Deed::Ran { command } => {
                !is_local(command)
                    && command.split(|c: char| !c.is_alphanumeric()).any(|word| PROGRAMS.contains(&word))
            }
            Deed::Searched { .. } | Deed::Other => {
                let name = self.tool.to_lowercase();
                NAMES.iter().any(|part| name.contains(part))
            }
            Deed::Read { .. }
            | Deed::Changed { .. }
            | Deed::Waited
            | Deed::Delegated { .. }
            | Deed::Asked { .. }
            | Deed::Planned => false,
        }
    }
}

const ASKED: Room = Room { characters: 200, bytes: 500 };

/// With a capital, without what only ends a sentence.
fn as_title(sentence: &str) -> String {
    let bare = sentence.trim().trim_end_matches(['.', '。', ':', '：', ';', ',']).trim();
    let mut chars = bare.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}", chars.as_str())
}

#[cfg(test)]
mod tests;
