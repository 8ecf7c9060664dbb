//! Lists the proposals of teammates that the user decides on, and the user's own.
//!
//! Shows texts to the user alone: nobody has judged them yet, and no agent may read them.

use super::{Past, ProjectScope, unreadable_data};
use crate::runtime::{Env, Failure};
use crate::sync::proposed::read_change;
use towline_core::memory::{Memory, ProposedChange};
use towline_core::time::Timestamp;
use towline_store::Archive;
pub use towline_store::archive::{MOST_OPEN_PROPOSALS, TeamProposal};

/// How long the answer to a proposal is shown to the one who made it.
const SHOWN_MS: i64 = 7 * 24 * 60 * 60 * 1000;

#[derive(Clone, Debug)]
pub struct ListedProposal {
    pub proposal: TeamProposal,
    /// `None` for one of a newer version, or whose text is gone.
    pub change: Option<ProposedChange>,
    /// The memory as it is now.
    pub memory: Option<Memory>,
    /// The memory that would hold instead.
    pub instead: Option<Memory>,
}

#[derive(Clone, Debug, Default)]
pub struct TeamProposals {
    /// Of teammates, by member.
    pub to_decide: Vec<ListedProposal>,
    /// The user's own that are open or were answered lately.
    pub own: Vec<ListedProposal>,
}

pub fn team_proposals(env: &Env, project: &ProjectScope) -> Result<TeamProposals, Failure> {
    let Some(past) = Past::open(env, project)?.filter(|past| !past.project.is_empty()) else {
        return Ok(TeamProposals::default());
    };
    let (archive, row) = (&past.archive, past.project.row());
    let since = Timestamp(past.now.0.saturating_sub(SHOWN_MS));
    let each = |found: Vec<TeamProposal>| -> Result<Vec<ListedProposal>, Failure> {
        found.into_iter().map(|proposal| listed(archive, proposal)).collect()
    };
    Ok(TeamProposals {
        to_decide: each(archive.proposals_to_decide(row).map_err(unreadable_data)?)?,
        own: each(archive.own_proposals(row, since).map_err(unreadable_data)?)?,
    })
}

fn listed(archive: &Archive, proposal: TeamProposal) -> Result<ListedProposal, Failure> {
    let memory_of = |number: Option<i64>| {
        number.map(|number| archive.memory(number)).transpose().map(Option::flatten).map_err(unreadable_data)
    };
    let change = read_change(&proposal.change);
    let by = match &change {
        Some(ProposedChange::Supersede { by: Some(by), .. }) => {
            archive.memory_by_uid(*by).map_err(unreadable_data)?
        }
        Some(_) | None => None,
    };
    Ok(ListedProposal { memory: memory_of(proposal.memory)?, instead: memory_of(by)?, change, proposal })
}
