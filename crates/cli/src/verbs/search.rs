//! `tow search`: full-text search over memories, summaries, messages, tool actions and bookmarks.
//!
//! Only reads: answers from what is indexed, says what is not, and covers all times unless an option limits them.

use crate::output::complain;
use crate::progress::activity;
use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use towline_engine::query::{SearchRequest, search};
use towline_engine::runtime::Failure;
use towline_render::{HitNotes, search_json, search_text};

const EXAMPLES: &str = "\
Examples:
  tow search login cookie expires        in the project of this folder
  tow search 'error[E0499]' --all-projects
  tow search cache --type decision --kind memory
  tow search timeout --file src/net.rs --since 'last week'
  tow search mast --json --limit 5
  tow search --deep 'listening on'       in all tool output, however long
  tow search --team login cookie         and what the team knows of it, where this machine has joined a hub

Words are looked for in memories, summaries, messages and bookmarks, and in the commands, paths, short results and error
lines of tool calls. `--deep` reads all other tool output, too.

Each hit: its id, when, what it is, its title and the passage that matches, one per turn; what was learnt in a turn
comes before it. Go on with `tow show m12`, `tow session detail 1a2b3c4d#12` or `tow memory timeline m12`.";

/// The most text that a deep search reads: some ten seconds.
const DEEP_BYTES: u64 = 8 << 30;

/// Search memories, messages and tool calls by words.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Search terms: words, an error text, a path, part of a name. Words in quotes weigh more together.
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    /// Only these kinds: memory, summary, body (a message), detail (a tool input or output), bookmark. May be given several times.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// Only memories of this type.
    #[arg(long = "type", value_name = "TYPE")]
    of_type: Vec<String>,
    /// Only memories about this concept.
    #[arg(long, value_name = "NAME")]
    concept: Vec<String>,
    /// Only about this file: a path, or the end of one.
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    /// Only of this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only of this branch.
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Only of this session, by its whole id.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only since this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,
    /// Include replaced memories.
    #[arg(long)]
    replaced: bool,
    /// Show at most N hits.
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Search all tool output, which the index leaves out: reads it, newest first. Finds what contains all words.
    #[arg(long, conflicts_with_all = ["team", "replaced", "why"])]
    deep: bool,
    /// Include what the team knows: asks the hub, for at most hub.search_ms.
    #[arg(long)]
    team: bool,
    /// Explain the rank of each hit.
    #[arg(long)]
    why: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let request = SearchRequest {
        words: arguments.words.join(" "),
        kinds: arguments.kind.clone(),
        types: arguments.of_type.clone(),
        concepts: arguments.concept.clone(),
        files: arguments.file.clone(),
        agent: arguments.agent.clone(),
        branch: arguments.branch.clone(),
        session: arguments.session.clone(),
        since: arguments.since.clone(),
        until: arguments.until.clone(),
        with_replaced: arguments.replaced,
        limit: arguments.limit,
        project: arguments.whose.scope(),
        with_team: arguments.team,
        deep: arguments.deep.then_some(DEEP_BYTES),
    };
    let shown = arguments.deep.then(|| activity("reading tool output"));
    let results = search(&scope.env, &request)?;
    drop(shown);
    results.notices.iter().for_each(|notice| complain(&format!("{notice}\n")));
    let notes = if arguments.why { HitNotes::Reasons } else { HitNotes::None };
    let text = || search_text(&results, notes, scope.env.now, scope.out.style());
    scope.out.print(arguments.json, || search_json(&results), text);
    Ok(())
}
