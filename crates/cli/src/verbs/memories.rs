//! `tow memory list`: lists memories, newest first, one line each.
//!
//! Only reads. Leaves out replaced and held-back memories unless an option asks for them.

use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use towline_engine::query::{MemoriesRequest, MemoryFilter, memories};
use towline_engine::runtime::Failure;
use towline_render::{memories_json, memories_text};

const EXAMPLES: &str = "\
Examples:
  tow memory list                            of the project of this folder
  tow memory list --type decision --since 'monday'
  tow memory list --file src/paint.rs
  tow memory list --concept caching --all-projects
  tow memory list --session 1a2b3c4d
  tow memory list --pinned
  tow memory list --held-back                what no model is given until `tow memory release`
  tow memory list --all --json               those that were replaced, too

Marks: * pinned, ? proposed by an agent (`tow memory proposals`), ! held back, x replaced.";

/// List memories, newest first.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Only of this type.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Only with this concept.
    #[arg(long, value_name = "WORD")]
    concept: Option<String>,
    /// Only about this file: its path, or the end of it.
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Only from this session, by the end or the beginning of its id.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only those made since this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only those made before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,
    /// Only those after this one in the list.
    #[arg(long, value_name = "ID")]
    before: Option<String>,
    /// Only pinned ones.
    #[arg(long, conflicts_with_all = ["held_back", "all"])]
    pinned: bool,
    /// Only those that are held back from every model.
    #[arg(long, conflicts_with = "all")]
    held_back: bool,
    /// Include memories that were replaced or are held back.
    #[arg(long)]
    all: bool,
    /// List at most N memories.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let request = MemoriesRequest {
        kind: arguments.kind.clone(),
        concept: arguments.concept.clone(),
        file: arguments.file.clone(),
        project: arguments.whose.scope(),
        session: arguments.session.clone(),
        since: arguments.since.clone(),
        until: arguments.until.clone(),
        before: arguments.before.clone(),
        only: match arguments {
            _ if arguments.pinned => MemoryFilter::Pinned,
            _ if arguments.held_back => MemoryFilter::HeldBack,
            _ if arguments.all => MemoryFilter::All,
            _ => MemoryFilter::Standing,
        },
        limit: arguments.limit,
    };
    let list = memories(&scope.env, &request)?;
    scope.out.print(arguments.json, || memories_json(&list), || memories_text(&list, scope.env.now));
    Ok(())
}
