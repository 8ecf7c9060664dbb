//! `tow hub model`: shows or changes the model of the team's embeddings.
//!
//! Only an administrator may change it: vectors are dropped, and sent again by machines with the new model.

use super::common::PATIENCE;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use std::time::Duration;
use towline_engine::runtime::Failure;
use towline_engine::sync::{Agreement, Link, agreement, machine, model_here};
use towline_hub::EmbeddingSupport;

const EXAMPLES: &str = "\
Examples:
  tow hub model            which one it is, and whether this machine's is the same
  tow hub model --adopt    from now on this machine's; for administrators of the team

The first machine that has the optional model of search (`tow data model`) decides. Others with another one search by words alone.";

/// Show or change the embedding model of the team.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Use this machine's model: vectors of another are dropped, and made anew.
    #[arg(long)]
    adopt: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The hub drops all vectors in one statement, which takes long for a large team.
const FOR_DROPPING: Duration = Duration::from_secs(600);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let here = model_here(&scope.env);
    let patience = if arguments.adopt { FOR_DROPPING } else { PATIENCE };
    let mut link = Link::open(&scope.env, &machine(&scope.env)?, patience)?;
    let mut team = link.hub.embedding_support(&link.membership).map_err(|error| Failure::new(&error))?;
    if arguments.adopt {
        let Some(model) = &here else {
            return Err(Failure::input("this machine has no model").hint("Run `tow data model get` first."));
        };
        if team == EmbeddingSupport::None {
            return Err(Failure::input("this hub knows no vectors").hint(
                "An administrator of the database may run: create extension vector; then `tow hub init`.",
            ));
        }
        link.hub.adopt_model(&link.membership, model.mark).map_err(|error| Failure::new(&error))?;
        team = EmbeddingSupport::Of(model.mark);
    }
    let agreement = agreement(here.as_ref(), team);
    let shown = |mark: u64| format!("{mark:016x}");
    let of_team = match team {
        EmbeddingSupport::None | EmbeddingSupport::Undecided => None,
        EmbeddingSupport::Of(model) => Some(shown(model)),
    };
    let of_here = here.map(|model| shown(model.mark));
    let all = json!({"team": of_team, "here": of_here, "same": agreement == Agreement::Same});
    scope.out.say(arguments.json, &all, words(agreement, team));
    Ok(())
}

fn words(agreement: Agreement, team: EmbeddingSupport) -> &'static str {
    match (team, agreement) {
        (EmbeddingSupport::None, _) => "this hub knows no vectors: the team is searched by words",
        (_, Agreement::None) => "this machine has no model (`tow data model`): it searches the team by words",
        (EmbeddingSupport::Undecided, _) => "no vectors came yet: this machine's model will be the team's",
        (EmbeddingSupport::Of(_), Agreement::Same) => "the team's vectors are of this machine's model",
        (EmbeddingSupport::Of(_), Agreement::Other) => {
            "the team's vectors are of another model than this machine's"
        }
    }
}
