//! Changes of teammates' memories: the user proposes them to the owner, and decides on those that teammates propose.
//!
//! A proposal changes nothing until its owner accepts it. An accepted text keeps a teammate's trust, and is held back if
//! it is dangerous. Rejecting touches no memory.

use super::Actor;
use super::change::{MemoryChange, Step, may_be_pinned, memory_named, refuse_circle};
use crate::memory::remember::open;
use crate::query::unreadable_data;
use crate::runtime::{Env, Failure};
use crate::status::proposals;
use crate::sync::proposed::{change_words, read_change};
use towline_core::id::Uid;
use towline_core::memory::{Memory, ProposalFate, ProposedChange, proposal_name, proposal_number};
use towline_store::Archive;
use towline_store::archive::{MOST_OPEN_PROPOSALS, NewProposal, TeamProposal};

/// A memory that is to change, and the proposal that the user answers by it.
pub(super) struct Target {
    pub memory: Memory,
    pub proposal: Option<TeamProposal>,
}

/// A proposal that is ready to be stored.
#[derive(Clone, Debug)]
pub(super) struct OwnProposal {
    pub uid: Uid,
    pub memory: Uid,
    pub project: i64,
    pub owner: String,
    pub words: String,
}

impl OwnProposal {
    pub fn as_new(&self) -> NewProposal<'_> {
        let OwnProposal { uid, memory, project, owner, words } = self;
        NewProposal { uid: *uid, memory: *memory, project: *project, owner, change: words }
    }
}

/// The part that a proposal has in a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalPart {
    /// The owner was asked instead; `id` is the proposal's name.
    Asked { id: String, owner: String },
    /// The user answered a teammate's proposal to do this.
    Answered { id: String, person: String, verb: &'static str },
}

/// The named memories; a proposal of a teammate stands for its memory.
pub(super) fn targets(
    archive: &Archive,
    ids: &[String],
    change: &MemoryChange,
) -> Result<Vec<Target>, Failure> {
    let is_answer = matches!(change, MemoryChange::Accept | MemoryChange::Reject);
    let each = |id: &String| match proposal_number(id).filter(|_| is_answer) {
        Some(number) => to_decide(archive, number),
        None => Ok(Target { memory: memory_named(archive, id)?, proposal: None }),
    };
    ids.iter().map(each).collect()
}

fn to_decide(archive: &Archive, number: i64) -> Result<Target, Failure> {
    let proposal = open_proposal(archive, number)?;
    let id = proposal_name(number);
    if proposal.person.is_none() {
        let owner = proposal.owner.as_deref().unwrap_or("its owner");
        return Err(Failure::input(format!("{id} is your own proposal: {owner} decides on it"))
            .hint(format!("Run `tow memory proposals withdraw {id}` to take it back.")));
    }
    let memory = proposal.memory.filter(|_| proposal.owner.is_none());
    let memory = memory.map(|memory| archive.memory(memory)).transpose().map_err(unreadable_data)?;
    let Some(memory) = memory.flatten() else {
        return Err(
            Failure::input(format!("{id} is about no memory of yours")).hint("Run `tow memory proposals`.")
        );
    };
    Ok(Target { memory, proposal: Some(proposal) })
}

fn open_proposal(archive: &Archive, number: i64) -> Result<TeamProposal, Failure> {
    let id = proposal_name(number);
    let proposal = archive.team_proposal(number).map_err(unreadable_data)?;
    let proposal = proposal.ok_or_else(|| {
        Failure::input(format!("there is no proposal {id}"))
            .hint("Run `tow memory proposals --all` to see what is proposed.")
    })?;
    match proposal.fate {
        None => Ok(proposal),
        Some(fate) => Err(Failure::input(format!("{id} was {} already", fate.name()))
            .hint("Run `tow memory proposals --all` to see what is open.")),
    }
}

/// The effect of the user's answer; `None` if no proposal of a teammate was named.
pub(super) fn answer(
    env: &Env,
    archive: &Archive,
    target: &Target,
    change: &MemoryChange,
) -> Result<Option<Step>, Failure> {
    let Some(proposal) = &target.proposal else { return Ok(None) };
    let answered = |fate, then| Step::Answer { proposal: proposal.number, answer: env.uid(), fate, then };
    if *change == MemoryChange::Reject {
        return Ok(Some(answered(ProposalFate::Rejected, vec![])));
    }
    let id = proposal_name(proposal.number);
    let proposed = read_change(&proposal.change).ok_or_else(|| {
        Failure::input(format!("a newer version of Towline made {id}"))
            .hint(format!("Update `tow`, or run `tow memory proposals reject {id}`."))
    })?;
    let person = proposal.person.clone().unwrap_or_default();
    let then = accepted(archive, &target.memory, proposed, person)?;
    Ok(Some(answered(ProposalFate::Accepted, then)))
}

/// The steps of an accepted change.
fn accepted(
    archive: &Archive,
    memory: &Memory,
    change: ProposedChange,
    person: String,
) -> Result<Vec<Step>, Failure> {
    let suspicion = change.suspicion();
    Ok(match change {
        ProposedChange::Edit(content) if *content == memory.content => vec![],
        ProposedChange::Edit(content) => {
            let why = suspicion.filter(|_| memory.quarantine.is_none()).map(|found| found.why().to_owned());
            // First: undoing the edit must not release the text.
            let hold = why.map(|why| Step::Quarantine(Some(why)));
            hold.into_iter().chain([Step::EditByTeammate { content, person }]).collect()
        }
        ProposedChange::Pin => {
            may_be_pinned(memory)?;
            vec![Step::Pin(true)]
        }
        ProposedChange::Unpin => vec![Step::Pin(false)],
        ProposedChange::Supersede { by, why } => {
            let by = by.map(|by| archive.memory_by_uid(by)).transpose().map_err(unreadable_data)?.flatten();
            refuse_circle(archive, memory, by)?;
            let is_given = !why.is_empty() && suspicion.is_none();
            vec![Step::Supersede { by, why: if is_given { why } else { "a teammate said so".to_owned() } }]
        }
        ProposedChange::Forget => vec![Step::Forget],
    })
}

/// The same step, or a proposal to the memory's owner if it is a teammate's in a shared project. What protects this
/// machine (holding back, releasing) is done here.
pub(super) fn asked(env: &Env, archive: &Archive, memory: &Memory, step: Step) -> Result<Step, Failure> {
    let Some((owner, project)) = archive.asks_owner(memory.number).map_err(unreadable_data)? else {
        return Ok(step);
    };
    let Some(change) = proposed(archive, memory, &step)? else { return Ok(step) };
    let words = change_words(&change).map_err(|error| Failure::new(&error))?;
    refuse_flood(archive, memory.uid, &words)?;
    Ok(Step::Propose(OwnProposal { uid: env.uid(), memory: memory.uid, project, owner, words }))
}

fn proposed(archive: &Archive, memory: &Memory, step: &Step) -> Result<Option<ProposedChange>, Failure> {
    Ok(match step {
        Step::Pin(is_pinned) if memory.pinned_at.is_some() == *is_pinned => None,
        Step::Pin(true) => Some(ProposedChange::Pin),
        Step::Pin(false) => Some(ProposedChange::Unpin),
        Step::Edit(content) => content.clone().map(|content| ProposedChange::Edit(Box::new(content))),
        Step::Supersede { by, why } => {
            let by = by.map(|by| archive.memory(by)).transpose().map_err(unreadable_data)?.flatten();
            Some(ProposedChange::Supersede { by: by.map(|by| by.uid), why: why.clone() })
        }
        Step::Accept
        | Step::Reject
        | Step::Quarantine(_)
        | Step::EditByTeammate { .. }
        | Step::Propose(_)
        | Step::Answer { .. }
        | Step::Forget
        | Step::Undone => None,
    })
}

/// The owner's machine would drop what is beyond the limit.
fn refuse_flood(archive: &Archive, memory: Uid, words: &str) -> Result<(), Failure> {
    let is_known = archive.same_proposal(memory, words).map_err(unreadable_data)?.is_some();
    if is_known || archive.own_open_proposals().map_err(unreadable_data)? < MOST_OPEN_PROPOSALS {
        return Ok(());
    }
    Err(Failure::input(format!("{MOST_OPEN_PROPOSALS} of your proposals are open, and no more are taken"))
        .hint("Wait for the answers, or take some back: `tow memory proposals`, `tow memory proposals withdraw p12`."))
}

/// The proposal behind a step that was applied.
pub(super) fn part(archive: &Archive, target: &Target, step: &Step) -> Result<Option<ProposalPart>, Failure> {
    if let Step::Propose(asked) = step {
        let number = archive.same_proposal(asked.memory, &asked.words).map_err(unreadable_data)?;
        let asked = |number| ProposalPart::Asked { id: proposal_name(number), owner: asked.owner.clone() };
        return Ok(number.map(asked));
    }
    Ok(target.proposal.as_ref().map(|proposal| ProposalPart::Answered {
        id: proposal_name(proposal.number),
        person: proposal.person.clone().unwrap_or_default(),
        verb: read_change(&proposal.change).map_or("change", |change| change.verb()),
    }))
}

/// Takes back proposals of the user, and returns their names.
pub fn withdraw_proposals(env: &Env, actor: &Actor, ids: &[String]) -> Result<Vec<String>, Failure> {
    actor.require_person("take proposals back")?;
    let writing = open(env)?;
    let archive = &writing.archive;
    let mut numbers = vec![];
    for id in ids {
        let number = proposal_number(id).ok_or_else(|| {
            Failure::input(format!("`{}` is no proposal of yours", crate::runtime::text::plain_text(id)))
                .hint("Give one such as p12; `tow memory proposals` lists them.")
        })?;
        if let Some(person) = open_proposal(archive, number)?.person {
            return Err(Failure::input(format!("{} is {person}'s proposal", proposal_name(number))).hint(
                format!("Run `tow memory proposals reject {}` to decline it.", proposal_name(number)),
            ));
        }
        numbers.push(number);
    }
    let withdrawn = archive.in_transaction(|| {
        numbers.iter().try_for_each(|number| archive.withdraw_proposal(*number, env.now).map(drop))
    });
    withdrawn.map_err(unreadable_data)?;
    proposals::note(env, archive);
    Ok(numbers.into_iter().map(proposal_name).collect())
}

/// A teammate's memory that the user is about to forget, which erases it only here.
pub struct ForgottenOfOthers(OwnProposal);

/// Which of these memories are teammates', so that their owners can be asked. None for an administrator, whose
/// forgetting reaches everyone.
pub fn of_others(env: &Env, ids: &[String]) -> Result<Vec<ForgottenOfOthers>, Failure> {
    let words = change_words(&ProposedChange::Forget).map_err(|error| Failure::new(&error))?;
    let writing = open(env)?;
    let archive = &writing.archive;
    let mut found = vec![];
    if archive.is_admin().map_err(unreadable_data)? {
        return Ok(found);
    }
    for id in ids {
        let memory = memory_named(archive, id)?;
        if let Some((owner, project)) = archive.asks_owner(memory.number).map_err(unreadable_data)? {
            let (uid, words) = (env.uid(), words.clone());
            // Forgetting is never refused: beyond the limit, the owner is not asked.
            if refuse_flood(archive, memory.uid, &words).is_ok() {
                let asked = OwnProposal { uid, memory: memory.uid, project, owner, words };
                found.push(ForgottenOfOthers(asked));
            }
        }
    }
    Ok(found)
}

/// Proposes to the owners that these memories are forgotten everywhere.
pub fn propose_forgetting(env: &Env, memories: &[ForgottenOfOthers]) -> Result<Vec<ProposalPart>, Failure> {
    let writing = open(env)?;
    let mut asked = vec![];
    for ForgottenOfOthers(proposal) in memories {
        let made = writing.archive.propose_change(&proposal.as_new(), env.now).map_err(unreadable_data)?;
        let owner = proposal.owner.clone();
        asked.extend(made.map(|number| ProposalPart::Asked { id: proposal_name(number), owner }));
    }
    Ok(asked)
}
