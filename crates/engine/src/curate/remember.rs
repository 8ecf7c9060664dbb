//! Stores a memory in the user's own words, or in those of an agent.
//!
//! Never truncates: too long a text is refused. A call from within an agent's session counts as the agent's,
//! whatever the request says: it is trusted less, and held back if it gives orders.

use super::Actor;
use crate::capture::{Wishes, catch_up};
use crate::handoff::bookmarks::code_in;
use crate::memory::outside;
use crate::memory::remember::{Kept, keep, no_memory, open, type_named};
use crate::query::{Chosen, is_path, project_called, unreadable_data};
use crate::runtime::env::current_folder;
use crate::runtime::{Env, Failure};
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
    pub is_pinned: bool,
}

pub struct Remembered {
    pub outcome: Kept,
    pub memory: Memory,
    /// Memories that the new one replaced.
    pub replaced: Vec<Memory>,
}

pub fn remember(env: &Env, request: &RememberRequest) -> Result<Remembered, Failure> {
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
        if let (true, Some(number)) = (request.is_pinned, outcome.number()) {
            archive.pin_memory(number, Some(env.now), env.now)?;
        }
        Ok(outcome)
    });
    let outcome = stored.map_err(failed)?;
    archive.tidy().map_err(failed)?;
    let number = outcome.number().unwrap_or_default();
    let memory = archive.memory(number).map_err(failed)?.ok_or_else(|| no_memory(number))?;
    let mut replaced = vec![];
    if let Kept::Replaced { old, .. } = &outcome {
        for one in old {
            replaced.extend(archive.memory(one.number).map_err(failed)?);
        }
    }
    Ok(Remembered { outcome, memory, replaced })
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
