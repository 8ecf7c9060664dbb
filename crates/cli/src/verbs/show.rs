//! `tow show`: shows the session, turn, detail or memory that an id names.
//!
//! Only reads. An unknown id is an error that suggests the nearest known one.

use super::goto::ended_candidate;
use crate::agreement::is_interactive;
use crate::pick::{Choice, pick};
use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use towline_engine::query::{Reader, ShowRequest, ended_sessions, resumable, show};
use towline_engine::runtime::Failure;
use towline_render::{show_json, show_text};

const EXAMPLES: &str = "\
Examples:
  tow show                 choose from the latest sessions of this project
  tow show shop            the session in the project `shop`, if there is only one
  tow show flaky checkout  the session whose prompt has these words
  tow show 1a2b3c4d        a session: its turns, files, commits and tokens
  tow show 1a2b3c4d#12     a turn: what was said and done, and what it cost
  tow show 1a2b3c4d#12.3   a tool input or output: its text
  tow show m12 m15         memories: whole, with where they came from and what became of them
  tow show 1a2b3c4d --json";

/// Show a session, a turn, a tool call or a memory, by id or by words.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Ids; or a project, a branch or words of a session's prompt; without any, choose.
    #[arg(value_name = "ID|WORDS")]
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
    let ids = meant(scope, arguments)?;
    let request = ShowRequest {
        ids: &ids,
        scope: arguments.whose.scope(),
        limit: arguments.limit,
        bytes: arguments.bytes,
        reader: if arguments.for_model { Reader::Model } else { Reader::User },
    };
    let shown = show(&scope.env, &request)?;
    scope.out.print(arguments.json, || show_json(&shown), || show_text(&shown, scope.env.now));
    Ok(())
}

/// The ids as given if any looks like one, else the session that the words mean.
fn meant(scope: &Scope, arguments: &Arguments) -> Result<Vec<String>, Failure> {
    let wanted = arguments.ids.join(" ");
    if arguments.for_model || arguments.ids.iter().any(|word| looks_like_id(word)) {
        return Ok(arguments.ids.clone());
    }
    let (found, why) = match wanted.as_str() {
        "" if !is_interactive() => return Ok(vec![]),
        "" => (
            ended_sessions(&scope.env, arguments.whose.scope())?,
            "the latest sessions of this project".to_owned(),
        ),
        _ => (resumable(&scope.env, &wanted)?, format!("several sessions fit `{wanted}`")),
    };
    if found.is_empty() {
        return Ok(arguments.ids.clone());
    }
    let candidates: Vec<_> = found.iter().map(|session| ended_candidate(session, scope.env.now)).collect();
    let chosen = pick(scope, &Choice { why, command: "tow show" }, &candidates)?;
    Ok(vec![candidates[chosen].name.clone()])
}

/// `m12`, `1a2b3c4d`, `1a2b3c4d#12`, or a whole key; words of a prompt have no digits as a rule.
fn looks_like_id(word: &str) -> bool {
    word.contains(['#', ':']) || word.bytes().any(|byte| byte.is_ascii_digit())
}
