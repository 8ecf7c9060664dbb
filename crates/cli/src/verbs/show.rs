//! `tow show`: shows the session, turn, detail or memory that an id names.
//!
//! Only reads. An unknown id is an error that suggests the nearest known one.

use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use towline_engine::query::{Reader, ShowRequest, show};
use towline_engine::runtime::Failure;
use towline_render::{show_json, show_text};

const EXAMPLES: &str = "\
Examples:
  tow show 1a2b3c4d        a session: its turns, files, commits and tokens
  tow show 1a2b3c4d#12     a turn: what was said and done, and what it cost
  tow show 1a2b3c4d#12.3   a detail: its text
  tow show m12 m15         memories: whole, with where they came from and what became of them
  tow show 1a2b3c4d --json";

/// Show a session, a turn, a detail or a memory by its id.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Show at most N turns of a session.
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
    /// Print at most N bytes of text; 0 for all.
    #[arg(long, value_name = "N")]
    bytes: Option<usize>,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Hide the content of memories that are held back from models.
    #[arg(long, hide = true)]
    for_model: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let request = ShowRequest {
        ids: &arguments.ids,
        scope: arguments.whose.scope(),
        limit: arguments.limit,
        bytes: arguments.bytes,
        reader: if arguments.for_model { Reader::Model } else { Reader::User },
    };
    let shown = show(&scope.env, &request)?;
    scope.out.print(arguments.json, || show_json(&shown), || show_text(&shown, scope.env.now));
    Ok(())
}
