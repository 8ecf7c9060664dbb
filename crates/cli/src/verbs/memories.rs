//! `tow memories`: lists memories, newest first, one line each.
//!
//! Only reads. Leaves out replaced and held-back memories unless an option asks for them.

use super::remember::type_named;
use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::id::SessionKey;
use towline_core::memory::{Memory, number};
use towline_core::when::TimeExpression;
use towline_engine::query::{Past, call, parse_time, unreadable};
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::plain;
use towline_render::{memory_json, memory_line};
use towline_store::archive::{MemoryFilter, MemoryQuery};

const EXAMPLES: &str = "\
Examples:
  tow memories                            of the project of this folder
  tow memories --type decision --since 'monday'
  tow memories --file src/paint.rs
  tow memories --concept caching --all-projects
  tow memories --session 1a2b3c4d
  tow memories --pinned
  tow memories --held-back                what no model is given until `tow release`
  tow memories --all --json               those that were replaced, too

Marks: * pinned, ! held back, x replaced.";

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

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Some(past) = Past::open(&scope.env, &arguments.whose.scope())? else {
        return Ok(show(scope, arguments, &[], "nothing was captured yet", false));
    };
    let mut found = if past.project.is_empty() { vec![] } else { found(&past, arguments)? };
    let most = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let is_cut = found.len() > most;
    found.truncate(most);
    Ok(show(scope, arguments, &found, &past.project.words(), is_cut))
}

fn found(past: &Past, arguments: &Arguments) -> Result<Vec<Memory>, Failure> {
    let kind = arguments.kind.as_deref().map(type_named).transpose()?;
    let at = |text: &Option<String>| text.as_deref().map(|text| parse_time(text, past.now)).transpose();
    let session = arguments.session.as_deref().map(|session| named(past, session)).transpose()?;
    let asked = MemoryQuery {
        project: past.project.row().filter(|_| session.is_none()),
        kind: kind.as_ref(),
        concept: arguments.concept.as_deref(),
        file: arguments.file.as_deref(),
        session: session.as_ref(),
        from: at(&arguments.since)?,
        until: at(&arguments.until)?,
        before: arguments.before.as_deref().map(number_of).transpose()?,
        only: only(arguments),
        limit: arguments.limit.saturating_add(1),
        ..MemoryQuery::default()
    };
    past.archive.memories(&asked).map_err(unreadable)
}

fn number_of(id: &str) -> Result<i64, Failure> {
    number(id)
        .ok_or_else(|| Failure::input(format!("`{}` is no memory", plain(id))).hint("Write one like m12."))
}

fn only(arguments: &Arguments) -> MemoryFilter {
    match arguments {
        _ if arguments.pinned => MemoryFilter::Pinned,
        _ if arguments.held_back => MemoryFilter::HeldBack,
        _ if arguments.all => MemoryFilter::All,
        _ => MemoryFilter::Standing,
    }
}

/// A captured session, or the full key of one that was not captured.
fn named(past: &Past, text: &str) -> Result<SessionKey, Failure> {
    if let Ok(TimeExpression::Session(hint)) = TimeExpression::parse(text)
        && let Some(of) = call(past, &hint)?
    {
        return Ok(of.session);
    }
    SessionKey::parse(text).map_err(|_| {
        Failure::input(format!("no session has an id that begins or ends with `{}`", plain(text)))
            .hint("Run `tow sessions --all-projects` to see what was captured.")
    })
}

fn show(scope: &Scope, arguments: &Arguments, found: &[Memory], looked: &str, is_cut: bool) -> ExitCode {
    if arguments.json {
        let memories: Vec<Value> = found.iter().map(memory_json).collect();
        let next = found.last().filter(|_| is_cut).map(Memory::name);
        scope.out.line(&json!({"memories": memories, "more": is_cut, "next": next}).to_string());
        return ExitCode::SUCCESS;
    }
    for memory in found {
        scope.out.line(&memory_line(memory, scope.env.now));
    }
    if is_cut {
        scope.out.line(&format!("there are older ones: --limit {}", arguments.limit.saturating_mul(5)));
    }
    scope.out.line(&match found.first() {
        Some(latest) => {
            let id = latest.name();
            format!("next: `tow show {id}` shows one whole, `tow timeline {id}` what was around it")
        }
        None => format!("no memories found; looked in: {looked}. `tow remember \"…\"` makes one"),
    });
    ExitCode::SUCCESS
}
