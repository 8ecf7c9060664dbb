//! `tow memory proposals`: what agents propose to pin and teammates to change, and the user's answer.
//!
//! Lists each text whole, those of teammates to the user alone. Only the user can accept, reject or withdraw.

use super::change;
use crate::scope::Scope;
use clap::{Args, Subcommand};
use serde_json::json;
use towline_core::memory::proposal_number;
use towline_engine::curate::{Actor, MemoryChange, withdraw_proposals};
use towline_engine::erase::forget::forget_memory;
use towline_engine::query::{
    MemoriesRequest, MemoryFilter, ProjectScope, TeamProposals, memories, team_proposals,
};
use towline_engine::runtime::Failure;
use towline_render::{proposals_json, proposals_text};

const EXAMPLES: &str = "\
Examples:
  tow memory proposals                       what agents and teammates propose in this project
  tow memory proposals --all                 in every project
  tow memory proposals accept m12 m15        pin what agents propose; their texts count as your own words
  tow memory proposals reject m12            it stays an agent's note
  tow memory proposals reject --forget m12   it is erased as well
  tow memory proposals accept p3             change your memory as a teammate proposes
  tow memory proposals reject p3 p4          your memory stays as it is
  tow memory proposals withdraw p5           take back what you proposed to a teammate

An agent cannot pin: what it asks to pin waits here, as m12. `tow memory undo m12` takes your answer back.

Only its owner changes a memory of a team: `tow memory edit`, `tow memory pin`, `tow memory supersede` and `tow data forget` propose the change to
the owner, by the hub, as p3. The owner accepts it, as an edit of their own whose text keeps the trust of a teammate's, or
rejects it. `tow hub sync` brings proposals and answers at once. At most 20 of one member are open.";

/// List what agents and teammates propose, and accept or reject it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    answer: Option<Answer>,
    /// Of every project.
    #[arg(long)]
    all: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Answer {
    /// Pin what an agent proposed, as your own words; or make the change that a teammate proposed.
    Accept {
        /// Memories that agents propose to pin, such as m12, and proposals of teammates, such as p3.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Leave them agents' notes, without a pin; or your memories as they are.
    Reject {
        /// Memories that agents propose to pin, such as m12, and proposals of teammates, such as p3.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Erase agents' notes as well, for good.
        #[arg(long)]
        forget: bool,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Take back what you proposed to a teammate.
    Withdraw {
        /// Proposals of your own, such as p5.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// More than the projects of one user propose.
const MOST: u32 = 1_000;

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.answer {
        None => list(scope, arguments),
        Some(Answer::Accept { ids, json }) => change::run(scope, ids, &MemoryChange::Accept, *json),
        Some(Answer::Reject { ids, forget, json }) => {
            if let Some(id) = ids.iter().find(|id| *forget && proposal_number(id).is_some()) {
                return Err(Failure::input(format!("{id} is a teammate's proposal for a memory of yours"))
                    .hint(format!("Run `tow memory proposals reject {id}` without `--forget`.")));
            }
            change::run(scope, ids, &MemoryChange::Reject, *json)?;
            ids.iter().filter(|_| *forget).try_for_each(|id| forget_memory(&scope.env, id).map(drop))
        }
        Some(Answer::Withdraw { ids, json }) => {
            let withdrawn = withdraw_proposals(&scope.env, &Actor::of_caller(&scope.env)?, ids)?;
            let text = || withdrawn.iter().map(|id| format!("{id} is withdrawn\n")).collect();
            scope.out.print(*json, || json!({"withdrawn": withdrawn}), text);
            Ok(())
        }
    }
}

fn list(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let project = if arguments.all { ProjectScope::All } else { ProjectScope::Here };
    // An agent must not read a teammate's text before the user has accepted it.
    let team = match Actor::of_caller(&scope.env)? {
        Actor::Person => team_proposals(&scope.env, &project)?,
        Actor::Agent { .. } => TeamProposals::default(),
    };
    let request =
        MemoriesRequest { project, only: MemoryFilter::Proposed, limit: MOST, ..Default::default() };
    let found = memories(&scope.env, &request)?;
    let text = || proposals_text(&found, &team, scope.env.now);
    scope.out.print(arguments.json, || proposals_json(&found, &team), text);
    Ok(())
}
