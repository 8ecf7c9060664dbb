//! `tow proposals`: what agents propose to pin, and the user's answer.
//!
//! Lists each text whole. Only the user can accept or reject.

use super::change;
use crate::scope::Scope;
use clap::{Args, Subcommand};
use towline_engine::curate::MemoryChange;
use towline_engine::erase::forget::forget_memory;
use towline_engine::query::{MemoriesRequest, MemoryFilter, ProjectScope, memories};
use towline_engine::runtime::Failure;
use towline_render::{proposals_json, proposals_text};

const EXAMPLES: &str = "\
Examples:
  tow proposals                       what agents propose to pin in this project
  tow proposals --all                 in every project
  tow proposals accept m12 m15        pin them; their texts count as your own words
  tow proposals reject m12            it stays an agent's note
  tow proposals reject --forget m12   it is erased as well

An agent cannot pin: what it asks to pin waits here. `tow undo m12` takes your answer back.";

/// List what agents propose to pin, and accept or reject it.
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
    /// Pin memories that an agent proposed: their texts count as your own words.
    Accept {
        /// Memory ids, such as m12.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Leave them agents' notes, without a pin.
    Reject {
        /// Memory ids, such as m12.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Erase them as well, for good.
        #[arg(long)]
        forget: bool,
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
            change::run(scope, ids, &MemoryChange::Reject, *json)?;
            ids.iter().filter(|_| *forget).try_for_each(|id| forget_memory(&scope.env, id).map(drop))
        }
    }
}

fn list(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let project = if arguments.all { ProjectScope::All } else { ProjectScope::Here };
    let request =
        MemoriesRequest { project, only: MemoryFilter::Proposed, limit: MOST, ..Default::default() };
    let found = memories(&scope.env, &request)?;
    scope.out.print(arguments.json, || proposals_json(&found), || proposals_text(&found, scope.env.now));
    Ok(())
}
