//! `tow memory timeline`: memories, turns, summaries and bookmarks around a time, in order.
//!
//! Only reads, and no more than it shows. Every entry has an id and its size in tokens, to continue from.

use crate::output::complain;
use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use towline_core::escape::escape_for_terminal;
use towline_engine::query::{Reader, TimelineRequest, timeline};
use towline_engine::runtime::Failure;
use towline_render::{timeline_json, timeline_text};

const EXAMPLES: &str = "\
Examples:
  tow memory timeline                      the latest of the project of this folder
  tow memory timeline m12                  around a memory
  tow memory timeline 1a2b3c4d#12          around a turn
  tow memory timeline yesterday 14:05      around a time
  tow memory timeline login cookie         around what `tow search` finds first by these words
  tow memory timeline m12 --before 3 --after 10
  tow memory timeline --all-projects --json

Each line: time, id, what it is, what it says, and how many tokens it takes to read it whole.";

/// Show memories, turns, summaries and bookmarks around a point in time.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A memory, a turn, a session, a time, or words to search for; now if not given.
    #[arg(value_name = "ANCHOR")]
    anchor: Vec<String>,
    /// Show at most N entries before it.
    #[arg(long, value_name = "N", default_value_t = 10)]
    before: u32,
    /// Show at most N entries after it.
    #[arg(long, value_name = "N", default_value_t = 10)]
    after: u32,
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
    let request = TimelineRequest {
        scope: arguments.whose.scope(),
        anchor: &arguments.anchor.join(" "),
        before: arguments.before,
        after: arguments.after,
        reader: if arguments.for_model { Reader::Model } else { Reader::User },
    };
    let timeline = timeline(&scope.env, &request)?;
    if let Some(why) = &timeline.notice {
        complain(&format!("searched without the model of search.tier: {}\n", escape_for_terminal(why)));
    }
    scope.out.print(
        arguments.json,
        || timeline_json(&timeline),
        || timeline_text(&timeline, scope.env.now, scope.out.columns()),
    );
    Ok(())
}
