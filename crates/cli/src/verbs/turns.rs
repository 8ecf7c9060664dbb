//! `tow session turns`: one line per turn, of a session or of a project since a time.
//!
//! Only reads. Leaves out markers, notifications and reverted turns unless `--all` is given.

use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use towline_engine::query::{MessageLimit, TurnsRequest, turns};
use towline_engine::runtime::Failure;
use towline_render::{turns_json, turns_text};

const EXAMPLES: &str = "\
Examples:
  tow session turns                            the last turns of the latest session of this project
  tow session turns 1a2b3c4d                   of this session
  tow session turns --before 1a2b3c4d#40       those before that turn
  tow session turns --since '2h ago'           of all sessions of this project
  tow session turns 1a2b3c4d --last 5 --words  with all that was said
  tow session turns --json

Marks: > a person, / a command, + a continuation, ! a notification, * a bookmark, x taken back.";

/// Default limit of message text with --words, in bytes.
const BYTES: usize = 24_000;

/// List turns, one line each: what was asked, what was done, how it ended.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The session, by the end or the beginning of its id; the latest of the project if not given.
    session: Option<String>,
    /// Only turns before this one, or before this time.
    #[arg(long, value_name = "ID|TIME", allow_hyphen_values = true)]
    before: Option<String>,
    /// The first turns after this one, instead of the last.
    #[arg(long, value_name = "ID", conflicts_with_all = ["before", "since"])]
    after: Option<String>,
    /// Only turns since this time, of all sessions of the project unless one is given.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// List the last N turns.
    #[arg(long, visible_alias = "last", value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Include bookmarks, notifications and turns that were taken back.
    #[arg(long)]
    all: bool,
    /// Print the messages of each turn.
    #[arg(long)]
    words: bool,
    /// With --json: include a heading, without text, for each tool input and output.
    #[arg(long, requires = "json")]
    headings: bool,
    /// Print at most N bytes of messages; 0 for all.
    #[arg(long, value_name = "N", default_value_t = BYTES)]
    bytes: usize,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let request = TurnsRequest {
        scope: arguments.whose.scope(),
        session: arguments.session.as_deref(),
        before: arguments.before.as_deref(),
        after: arguments.after.as_deref(),
        since: arguments.since.as_deref(),
        limit: arguments.limit,
        all: arguments.all,
        messages: match (arguments.words, arguments.json) {
            (false, _) => MessageLimit::None,
            (true, false) => MessageLimit::Clipped,
            (true, true) => MessageLimit::Whole,
        },
        headings: arguments.headings,
        bytes: arguments.bytes,
    };
    let list = turns(&scope.env, &request)?;
    scope.out.print(
        arguments.json,
        || turns_json(list.as_ref()),
        || turns_text(list.as_ref(), scope.env.now),
    );
    Ok(())
}
