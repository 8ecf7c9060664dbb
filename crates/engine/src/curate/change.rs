//! Changes of existing memories: loads the named ones, refuses, changes all, returns what changed.
//!
//! Deletes nothing: every change leaves a trace, and `Undo` reverts the last one. A forgotten memory is gone.

use super::Actor;
use super::team::{self, OwnProposal, ProposalPart, Target};
use crate::erase::forget::forget_memory;
use crate::memory::remember::{memories_named, open, type_named};
use crate::query::unreadable_data;
use crate::runtime::text::plain_text;
use crate::runtime::{Env, Failure};
use crate::status::proposals;
use towline_core::capture::FileAccess;
use towline_core::id::Uid;
use towline_core::memory::{Memory, MemoryContent, MemoryDraft, MemoryType, ProposalFate, name};
use towline_core::text::{CleanText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;
use towline_store::{Archive, StoreError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryChange {
    /// Every session of the project receives it.
    Pin,
    Unpin,
    /// The user pins what an agent proposed, and vouches for its text; or makes the change that a teammate proposed.
    Accept,
    /// The user declines a proposal; the memory stays.
    Reject,
    /// Withholds it from every model.
    Hold {
        because: Option<String>,
    },
    Release,
    /// It no longer holds; `by` is the id of the memory that holds instead.
    Supersede {
        by: Option<String>,
        because: Option<String>,
    },
    Edit(MemoryEdit),
    /// Reverts the last change, one step.
    Undo,
}

/// New values of a memory's fields; `None` keeps a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryEdit {
    pub kind: Option<String>,
    pub title: Option<String>,
    pub subtitle: Option<String>,
    pub narrative: Option<String>,
    pub facts: Option<Vec<String>>,
    pub concepts: Option<Vec<String>>,
    pub files: Option<Vec<(String, FileAccess)>>,
}

impl From<MemoryDraft> for MemoryEdit {
    fn from(draft: MemoryDraft) -> MemoryEdit {
        MemoryEdit {
            kind: Some(draft.kind.as_str().to_owned()),
            title: Some(draft.title),
            subtitle: Some(draft.subtitle),
            narrative: Some(draft.narrative),
            facts: Some(draft.facts),
            concepts: Some(draft.concepts),
            files: Some(draft.files),
        }
    }
}

#[derive(Clone, Debug)]
pub struct ChangedMemory {
    pub before: Memory,
    pub after: Memory,
    pub is_changed: bool,
    /// The name of the change that was reverted.
    pub undone: Option<String>,
    /// The proposal that was made instead, or that the user answered.
    pub proposal: Option<ProposalPart>,
}

/// Applies a change of the user to all named memories, or to none if one of them refuses it. A change of a teammate's
/// memory becomes a proposal to its owner.
pub fn change(
    env: &Env,
    actor: &Actor,
    ids: &[String],
    change: &MemoryChange,
) -> Result<Vec<ChangedMemory>, Failure> {
    actor.require_person(action(change))?;
    let writing = open(env)?;
    let archive = &writing.archive;
    let targets = team::targets(archive, ids, change)?;
    let before: Vec<Memory> = targets.iter().map(|target| target.memory.clone()).collect();
    let mut undone = vec![None; before.len()];
    if *change == MemoryChange::Undo {
        undone = undo(archive, &before, env.now)?.into_iter().map(Some).collect();
    }
    let steps =
        targets.iter().map(|target| checked(env, archive, target, change)).collect::<Result<Vec<_>, _>>()?;
    let apply = |(memory, step): (&Memory, &Step)| step.apply(archive, memory.number, env.now);
    let applied =
        archive.in_transaction(|| before.iter().zip(&steps).map(apply).collect::<Result<Vec<_>, _>>());
    let are_changed = applied.map_err(|error| failed(change, &error))?;
    proposals::note(env, archive);
    let mut changed = vec![];
    for (((target, step), is_changed), undone) in targets.iter().zip(&steps).zip(are_changed).zip(undone) {
        let after = archive.memory(target.memory.number).map_err(unreadable_data)?;
        let (before, proposal) = (target.memory.clone(), team::part(archive, target, step)?);
        let after = after.unwrap_or_else(|| before.clone());
        changed.push(ChangedMemory { before, after, is_changed, undone, proposal });
    }
    drop(writing);
    for (memory, _) in before.iter().zip(&steps).filter(|(_, step)| step.forgets()) {
        let id = memory.name();
        forget_memory(env, &id).map_err(|failure| {
            failure
                .hint(format!("The proposal counts as accepted: run `tow data forget {id}` to carry it out."))
        })?;
    }
    Ok(changed)
}

/// The step for one memory, or the reason why not.
fn checked(env: &Env, archive: &Archive, target: &Target, change: &MemoryChange) -> Result<Step, Failure> {
    if let Some(answer) = team::answer(env, archive, target, change)? {
        return Ok(answer);
    }
    team::asked(env, archive, &target.memory, step(change, archive, &target.memory)?)
}

/// One memory as it is now. The archive is released, so that others can write while the caller edits it.
pub fn current(env: &Env, id: &str) -> Result<Memory, Failure> {
    let writing = open(env)?;
    memory_named(&writing.archive, id)
}

pub(super) fn memory_named(archive: &Archive, id: &str) -> Result<Memory, Failure> {
    let mut found = memories_named(archive, &[id.to_owned()])?;
    found.pop().ok_or_else(|| Failure::input("no memory was named").hint("Run `tow memory list`."))
}

fn action(change: &MemoryChange) -> &'static str {
    match change {
        MemoryChange::Pin | MemoryChange::Unpin => "pin or unpin memories",
        MemoryChange::Accept | MemoryChange::Reject => "decide on proposals",
        MemoryChange::Hold { .. } => "hold a memory back",
        MemoryChange::Release => "release what is held back",
        MemoryChange::Supersede { .. } => "say that a memory no longer holds",
        MemoryChange::Edit(_) => "edit memories",
        MemoryChange::Undo => "undo changes of memories",
    }
}

/// Reverts one step of each memory, and returns their names.
fn undo(archive: &Archive, memories: &[Memory], now: Timestamp) -> Result<Vec<String>, Failure> {
    let mut undone: Vec<String> = vec![];
    for memory in memories {
        let step = archive.undo_memory(memory.number, now);
        let step = step.map_err(|error| failed(&MemoryChange::Undo, &error))?.ok_or_else(|| {
            let id = memory.name();
            let failure = Failure::input(format!("nothing of {id} can be taken back: it is as it was made"))
                .hint(format!("Run `tow data forget {id}` to be rid of it."));
            memories.iter().zip(&undone).fold(failure, |failure, (memory, step)| {
                failure.hint(format!("{} is no longer \"{step}\".", memory.name()))
            })
        })?;
        undone.push(step);
    }
    Ok(undone)
}

/// A reason is redacted whatever the user's settings say: models and the hub may read it.
const REASON: TextPolicy = TextPolicy { longest_bytes: 2_000, secrets: SecretPolicy::Redacted };

/// A change that was checked against one memory.
pub(super) enum Step {
    Pin(bool),
    Accept,
    Reject,
    Quarantine(Option<String>),
    Supersede {
        by: Option<i64>,
        why: String,
    },
    /// `None` if the content is the same.
    Edit(Option<MemoryContent>),
    EditByTeammate {
        content: Box<MemoryContent>,
        person: String,
    },
    /// The memory is a teammate's: its owner is asked.
    Propose(OwnProposal),
    /// The user's answer to a teammate's proposal, and what it changes.
    Answer {
        proposal: i64,
        answer: Uid,
        fate: ProposalFate,
        then: Vec<Step>,
    },
    /// Erased after all other steps, from every file.
    Forget,
    Undone,
}

impl Step {
    /// Whether the memory is to be erased after all other steps.
    fn forgets(&self) -> bool {
        matches!(self, Step::Answer { then, .. } if then.iter().any(|step| matches!(step, Step::Forget)))
    }

    /// Returns whether the memory changed.
    fn apply(&self, archive: &Archive, number: i64, now: Timestamp) -> Result<bool, StoreError> {
        match self {
            Step::Pin(is_pinned) => archive.pin_memory(number, is_pinned.then_some(now), now),
            Step::Accept => archive.accept_memory(number, now),
            Step::Reject => archive.reject_memory(number, now),
            Step::Quarantine(why) => archive.quarantine_memory(number, why.as_deref(), now),
            Step::Supersede { by, why } => archive.supersede_memory(number, *by, now, why),
            Step::Edit(Some(content)) => archive.edit_memory(number, content, now, "").map(|_| true),
            Step::Edit(None) => Ok(false),
            Step::EditByTeammate { content, person } => {
                archive.edit_by_teammate(number, content, now, person)
            }
            Step::Propose(asked) => archive.propose_change(&asked.as_new(), now).map(|made| made.is_some()),
            Step::Answer { proposal, answer, fate, then } => {
                let is_open = archive.decide_proposal(*proposal, *fate, *answer, now)?;
                then.iter()
                    .filter(|_| is_open)
                    .try_for_each(|step| step.apply(archive, number, now).map(drop))?;
                Ok(is_open)
            }
            Step::Forget | Step::Undone => Ok(true),
        }
    }
}

/// Refuses, or returns what to do with the memory.
pub(super) fn step(change: &MemoryChange, archive: &Archive, memory: &Memory) -> Result<Step, Failure> {
    let id = memory.name();
    match change {
        MemoryChange::Pin => may_be_pinned(memory).map(|()| Step::Pin(true)),
        MemoryChange::Unpin => Ok(Step::Pin(false)),
        MemoryChange::Accept | MemoryChange::Reject if memory.proposed_at.is_none() => {
            Err(Failure::input(format!("no agent proposes to pin {id}"))
                .hint("Run `tow memory proposals --all` to see what is proposed."))
        }
        MemoryChange::Accept => may_be_pinned(memory).map(|()| Step::Accept),
        MemoryChange::Reject => Ok(Step::Reject),
        MemoryChange::Hold { .. } if memory.quarantine.is_some() => {
            Err(Failure::input(format!("{id} is held back already"))
                .hint(format!("Run `tow show {id}` to see why.")))
        }
        MemoryChange::Hold { because } => {
            let because = because.as_deref().map(str::trim).filter(|why| !why.is_empty());
            let because = CleanText::new(because.unwrap_or("a person holds it back").into(), REASON);
            Ok(Step::Quarantine(Some(plain_text(because.as_str()))))
        }
        MemoryChange::Release if memory.quarantine.is_none() => {
            Err(Failure::input(format!("{id} is not held back"))
                .hint("Run `tow memory list --held-back --all-projects` to see what is."))
        }
        MemoryChange::Release => Ok(Step::Quarantine(None)),
        MemoryChange::Supersede { by, because } => {
            let by = by.as_ref().map(|by| memory_named(archive, by)).transpose()?.map(|by| by.number);
            refuse_circle(archive, memory, by)?;
            Ok(Step::Supersede { by, why: reason(because.as_deref().unwrap_or("a person said so")) })
        }
        MemoryChange::Edit(edit) => {
            let content = MemoryContent::of(edited(edit, memory.content.clone().into_draft())?);
            let content = content.ok_or_else(|| {
                Failure::input("a memory needs a title").hint("Give one, then run it again.")
            })?;
            Ok(Step::Edit((content != memory.content).then_some(content)))
        }
        MemoryChange::Undo => Ok(Step::Undone),
    }
}

/// Pins only memories that models may receive.
pub(super) fn may_be_pinned(memory: &Memory) -> Result<(), Failure> {
    let id = memory.name();
    match (&memory.superseded, &memory.quarantine) {
        (Some(superseded), _) => {
            let failure = Failure::input(format!("{id} no longer holds, so no session is given it"));
            Err(match superseded.by {
                Some(by) => failure.hint(format!("Pin {}, or run `tow memory undo {id}` first.", name(by))),
                None => failure.hint(format!("Run `tow memory undo {id}` first.")),
            })
        }
        (None, Some(_)) => Err(Failure::input(format!("{id} is held back from every model"))
            .hint(format!("Look at it by `tow show {id}`, then run `tow memory release {id}`."))),
        (None, None) => Ok(()),
    }
}

/// Longest chain of replacements that is followed; real ones are shorter.
const LONGEST_CHAIN: usize = 1_000;

/// Rejects replacing a memory by itself or by one that it replaced.
pub(super) fn refuse_circle(archive: &Archive, old: &Memory, by: Option<i64>) -> Result<(), Failure> {
    let id = old.name();
    if old.superseded.is_some() {
        return Err(Failure::input(format!("{id} no longer holds already")).hint(format!(
            "Run `tow show {id}` for what took its place, `tow memory undo {id}` to begin again."
        )));
    }
    let mut next = by;
    let mut steps = 0;
    while let Some(number) = next {
        if number == old.number || steps > LONGEST_CHAIN {
            return Err(Failure::input(format!("{id} cannot be replaced by itself or by what it replaced"))
                .hint("Run `tow memory list --all` to see what replaced what."));
        }
        let memory = archive.memory(number).map_err(unreadable_data)?;
        next = memory.and_then(|memory| memory.superseded).and_then(|superseded| superseded.by);
        steps += 1;
    }
    Ok(())
}

/// The reason as stored: redacted and truncated.
fn reason(raw: &str) -> String {
    let kind = MemoryType::parse("change");
    let content = kind.and_then(|kind| MemoryContent::of(MemoryDraft::new(kind, raw)));
    content.map(|content| content.title.clone()).unwrap_or_default()
}

fn edited(edit: &MemoryEdit, draft: MemoryDraft) -> Result<MemoryDraft, Failure> {
    let kind = edit.kind.as_deref().map(type_named).transpose()?;
    Ok(MemoryDraft {
        kind: kind.unwrap_or(draft.kind),
        title: edit.title.clone().unwrap_or(draft.title),
        subtitle: edit.subtitle.clone().unwrap_or(draft.subtitle),
        narrative: edit.narrative.clone().unwrap_or(draft.narrative),
        facts: edit.facts.clone().unwrap_or(draft.facts),
        concepts: edit.concepts.clone().unwrap_or(draft.concepts),
        files: edit.files.clone().unwrap_or(draft.files),
    })
}

fn failed(change: &MemoryChange, error: &StoreError) -> Failure {
    let what = match change {
        MemoryChange::Pin | MemoryChange::Unpin => "could not pin it",
        MemoryChange::Accept | MemoryChange::Reject => "could not decide on it",
        MemoryChange::Hold { .. } => "could not hold it back",
        MemoryChange::Release => "could not release it",
        MemoryChange::Supersede { .. } => "could not say that it no longer holds",
        MemoryChange::Edit(_) => "could not change it",
        MemoryChange::Undo => "could not take it back",
    };
    Failure::about(what, error).hint("Run `tow doctor`.")
}
