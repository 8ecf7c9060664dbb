//! Stores a memory in the user's own words, or in those of an agent.
//!
//! Never truncates: too long a text is refused. An agent's text is trusted less, and less still if text from outside has
//! reached its session; it is held back if it gives orders. An agent's pin is a proposal.

use super::Actor;
use crate::capture::{Wishes, catch_up};
use crate::handoff::bookmarks::code_in;
use crate::memory::outside;
use crate::memory::remember::{Kept, keep, no_memory, open, type_named};
use crate::query::{Chosen, is_path, project_called, unreadable_data};
use crate::runtime::env::current_folder;
use crate::runtime::{Env, Failure};
use crate::status::proposals;
use std::path::PathBuf;
use towline_core::capture::FileAccess;
use towline_core::id::SessionKey;
use towline_core::memory::suspicion::{Suspicion, quarantine_reason};
use towline_core::memory::{
    ConfidencePercent, LONGEST, Memory, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, RejectedText,
    draft_memory,
};
use towline_core::text::CleanText;
use towline_core::time::Timestamp;
use towline_store::archive::NewMemory;
use towline_store::{Archive, StoreError};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RememberRequest {
    pub text: String,
    pub title: Option<String>,
    /// Guessed from the text if not given.
    pub kind: Option<String>,
    pub files: Vec<String>,
    pub concepts: Vec<String>,
    /// A name or a folder; the project of the current folder if not given.
    pub project: Option<String>,
    /// A proposal unless the user asks: a pin is the user's.
    pub is_pinned: bool,
}

pub struct Remembered {
    pub outcome: Kept,
    pub memory: Memory,
    /// Memories that the new one replaced.
    pub replaced: Vec<Memory>,
    /// The outcome of an agent's wish to pin it.
    pub proposal: Option<Proposal>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// The user decides.
    Open,
    /// It was not proposed, and why.
    Refused(&'static str),
}

/// Sessions of a project that may have written a text of unknown origin, and how long ago.
const MOST_RECENT: usize = 20;
const RECENT_MS: i64 = 3_600_000;

/// Open proposals of a project; more would bury the important ones.
const MOST_PROPOSALS: u32 = 50;

pub fn remember(env: &Env, actor: &Actor, request: &RememberRequest) -> Result<Remembered, Failure> {
    actor.may_keep_text(env)?;
    let content = content(request)?;
    let session = match actor {
        Actor::Person => None,
        Actor::Agent { session, .. } => session.clone(),
    };
    if !actor.is_person() {
        // Text that the agent read in this turn counts, too.
        catch_up(env, &Wishes::load(env)?, None).map_err(failed)?;
    }
    let writing = open(env)?;
    let archive = &writing.archive;
    let project = Some(project(env, archive, request)?);
    let trust = match actor {
        Actor::Person => MemoryTrust::Person,
        Actor::Agent { .. } => agents_trust(archive, session.as_ref(), env.now).map_err(failed)?,
    };
    let new = NewMemory { session, project, ..new_memory(env, content, trust) };
    let stored = archive.in_transaction(|| {
        let outcome = keep(archive, &new, env.now)?;
        let pinned = outcome.number().filter(|_| request.is_pinned);
        let proposal = match pinned {
            Some(number) if actor.is_person() => {
                archive.pin_memory(number, Some(env.now), env.now)?;
                None
            }
            Some(number) => Some(propose(archive, number, project, env.now)?),
            None => None,
        };
        Ok((outcome, proposal))
    });
    let (outcome, proposal) = stored.map_err(failed)?;
    proposals::note(env, archive);
    archive.tidy().map_err(failed)?;
    let number = outcome.number().unwrap_or_default();
    let memory = archive.memory(number).map_err(failed)?.ok_or_else(|| no_memory(number))?;
    let mut replaced = vec![];
    if let Kept::Replaced { old, .. } = &outcome {
        for one in old {
            replaced.extend(archive.memory(one.number).map_err(failed)?);
        }
    }
    Ok(Remembered { outcome, memory, replaced, proposal })
}

/// An agent may only repeat what came from outside into its session, or into any recent one if its own is not known.
fn agents_trust(
    archive: &Archive,
    session: Option<&SessionKey>,
    now: Timestamp,
) -> Result<MemoryTrust, StoreError> {
    let sources = match session {
        Some(session) => archive.conversation(session)?.into_iter().collect(),
        None => archive.latest_conversations(None, MOST_RECENT)?,
    };
    let mut trust = MemoryTrust::Agent;
    for of in sources.iter().filter(|of| session.is_some() || now.since_ms(of.last_at) < RECENT_MS) {
        trust = trust.and(outside::reached(archive, of)?.unwrap_or(trust));
    }
    Ok(trust)
}

fn propose(
    archive: &Archive,
    number: i64,
    project: Option<i64>,
    now: Timestamp,
) -> Result<Proposal, StoreError> {
    let memory = archive.memory(number)?;
    let is_open = memory.as_ref().is_some_and(|memory| memory.proposed_at.is_some());
    if archive.is_proposal_rejected(number)? {
        return Ok(Proposal::Refused("the user rejected this proposal before"));
    }
    if !is_open && archive.count_proposals(project)? >= MOST_PROPOSALS {
        return Ok(Proposal::Refused("too many proposals of this project are open"));
    }
    match is_open || archive.propose_memory(number, now)? {
        true => Ok(Proposal::Open),
        false => Ok(Proposal::Refused("it is pinned already, or a newer memory holds instead")),
    }
}

fn content(request: &RememberRequest) -> Result<MemoryContent, Failure> {
    let kind = request.kind.as_deref().map(type_named).transpose()?;
    let text = CleanText::redacted(&request.text);
    let mut draft = draft_memory(&text, kind).map_err(untellable)?;
    if let Some(title) = &request.title {
        draft = MemoryDraft { title: title.clone(), narrative: text.as_str().trim().to_owned(), ..draft };
    }
    draft.concepts.clone_from(&request.concepts);
    draft.files = request.files.iter().map(|path| (path.clone(), FileAccess::Changed)).collect();
    MemoryContent::of(draft).ok_or_else(|| untellable(RejectedText::Empty))
}

fn untellable(why: RejectedText) -> Failure {
    match why {
        RejectedText::Empty => Failure::input("there is nothing to remember: the text is empty")
            .hint("Write `tow remember \"…\"`, or `tow remember -` and give it on standard input."),
        RejectedText::TooLong(bytes) => {
            Failure::input(format!("the text has {bytes} bytes, and a memory holds {LONGEST}"))
                .hint("Say the gist of it, or make several memories of it; a file can be named by `--file`.")
        }
    }
}

fn new_memory(env: &Env, content: MemoryContent, trust: MemoryTrust) -> NewMemory {
    let quarantine = quarantine_reason(&content, trust);
    let (maker, confidence) = match trust {
        MemoryTrust::Person => (MemoryAuthor::Person, ConfidencePercent::SURE),
        MemoryTrust::Web | MemoryTrust::Tool | MemoryTrust::Team | MemoryTrust::Agent => {
            (MemoryAuthor::Model("agent".to_owned()), ConfidencePercent::percent(80))
        }
    };
    let folder = current_folder().and_then(|folder| folder.to_str().map(str::to_owned));
    let code = code_in(folder.as_deref());
    NewMemory {
        uid: env.uid(),
        content,
        project: None,
        session: None,
        turn: None,
        branch: code.as_ref().and_then(|code| Some(code.branch.as_ref()?.as_str().to_owned())),
        commit: code.map(|code| code.commit.as_str().to_owned()),
        maker,
        trust,
        confidence,
        cost: 0,
        at: env.now,
        valid_from: env.now,
        quarantine: quarantine.map(Suspicion::why).map(str::to_owned),
    }
}

/// The row of the project that the memory belongs to.
fn project(env: &Env, archive: &Archive, request: &RememberRequest) -> Result<i64, Failure> {
    let wishes = Wishes::load(env)?;
    let folder = match &request.project {
        Some(name) if !is_path(name) => {
            return match project_called(archive.project_rows().map_err(unreadable_data)?, name)? {
                Chosen::Known { row, .. } => Ok(row),
                Chosen::All | Chosen::Strange { .. } => Err(no_folder()),
            };
        }
        Some(path) => Some(PathBuf::from(path)),
        None => current_folder(),
    };
    let folder = folder.and_then(|folder| std::fs::canonicalize(folder).ok()).ok_or_else(no_folder)?;
    if wishes.excludes(&folder.to_string_lossy()) {
        return Err(Failure::input("this folder is excluded: nothing of it is kept")
            .hint("Name another project by `--project`, or see `tow config get privacy.exclude_projects`."));
    }
    archive.project_made(&wishes.traces(&folder)).map_err(failed)
}

fn no_folder() -> Failure {
    Failure::input("there is no such folder").hint("Give a project's name, or a folder that exists.")
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not remember it", &error).hint("Run `tow doctor`.")
}
