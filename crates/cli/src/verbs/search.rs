//! `tow search`: full-text search over memories, summaries, messages, tool actions and bookmarks.
//!
//! Only reads. Brings the index up to date itself, and covers all times unless an option limits them.

use crate::output::{Tone, complain};
use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;
use towline_core::escape::{fit, for_terminal};
use towline_core::memory::whose;
use towline_core::time::Timestamp;
use towline_core::when::TimeExpression;
use towline_engine::index::embeddings::Asked;
use towline_engine::index::{FindError, Found, Library, Question, TeamRow, ask, embeddings};
use towline_engine::query::{Chosen, Past, beginning, unreadable};
use towline_engine::runtime::calendar;
use towline_engine::runtime::config::settings;
use towline_engine::runtime::failure::{Failure, chain};
use towline_engine::sync::{Former, NoLink, TeamQuestion, ask_team};
use towline_hub::Embedding;
use towline_search::{DocumentKind, Filters, QueryContext};

const EXAMPLES: &str = "\
Examples:
  tow search login cookie expires        in the project of this folder
  tow search 'error[E0499]' --all-projects
  tow search cache --type decision --kind memory
  tow search timeout --file src/net.rs --since 'last week'
  tow search mast --json --limit 5
  tow search --team login cookie         and what the team knows of it, where this machine has joined a hub

Each hit: its id, when, what it is, its title, and how many tokens it takes to read it whole. Go on with
`tow show m12`, `tow detail 1a2b3c4d#12` or `tow timeline m12`.";

/// Search memories, messages and tool calls by words.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Search terms: words, an error text, a path, part of a name. Words in quotes weigh more together.
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    /// Only these kinds: memory, summary, body, detail, bookmark. May be given several times.
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

/// Upper bound of `--limit`.
const MOST: usize = 500;

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut filters = filters(arguments, scope.env.now)?;
    let found = match Past::open(&scope.env, &arguments.whose.scope())? {
        Some(past) if arguments.team || !past.project.is_empty() => {
            filters.project = match &past.project {
                Chosen::Known { name, .. } | Chosen::Strange { name } => Some(name.clone()),
                Chosen::All => None,
            };
            let question = Question {
                text: arguments.words.join(" "),
                here: QueryContext { project: filters.project.clone(), ..QueryContext::default() },
                filters,
                limit: arguments.limit.clamp(1, MOST),
                with_replaced: arguments.replaced,
            };
            let sentences = understood(scope, &question.text);
            let team =
                if arguments.team { team(scope, &past, &question, sentences.as_ref())? } else { vec![] };
            hits_with(scope, &past, &question, sentences.as_ref(), &team)?
        }
        Some(_) | None => vec![],
    };
    if arguments.json {
        let results: Vec<Value> = found.iter().map(Found::json).collect();
        scope.out.line(&json!({"results": results}).to_string());
    } else {
        show(scope, arguments, &found);
    }
    Ok(ExitCode::SUCCESS)
}

/// The team's results that are not here. If the hub does not answer in time, prints one line instead.
fn team(
    scope: &Scope,
    past: &Past,
    question: &Question,
    sentences: Option<&Asked>,
) -> Result<Vec<TeamRow>, Failure> {
    let wanted = settings(&scope.env).hub;
    if !wanted.is_joined() {
        return Err(NoLink::NotJoined.into());
    }
    let asked = TeamQuestion {
        text: question.text.clone(),
        project: question.filters.project.clone(),
        meaning: sentences.map(|asked| Embedding { model: asked.model, vector: asked.meaning.clone() }),
        former: if question.with_replaced { Former::Included } else { Former::LeftOut },
        patience: Duration::from_millis(wanted.search_ms),
    };
    Ok(ask_team(&scope.env, &past.archive, &asked).unwrap_or_else(|error| {
        complain(&format!("searched here alone: {}\n", for_terminal(&chain(&error))));
        vec![]
    }))
}

/// The hits, best first.
fn hits_with(
    scope: &Scope,
    past: &Past,
    question: &Question,
    sentences: Option<&Asked>,
    team: &[TeamRow],
) -> Result<Vec<Found>, Failure> {
    let (home, archive, now) = (&scope.env.home, &past.archive, scope.env.now);
    ask(&Library { home, archive, now, sentences, team }, question).map_err(failed)
}

/// The embedding of the query. Without the optional model one line says so, and the built-in table serves.
fn understood(scope: &Scope, text: &str) -> Option<Asked> {
    let wanted = settings(&scope.env).search;
    let (asked, trouble) = embeddings::asked(&scope.env.home, &wanted, text);
    if let Some(why) = trouble {
        complain(&format!("searched without the model of search.tier: {}\n", for_terminal(&why)));
    }
    asked
}

fn failed(error: FindError) -> Failure {
    match error {
        FindError::Store(error) => unreadable(error),
        FindError::Model(error) => Failure::new(&error).hint("Run `tow model get`."),
        FindError::Index(error) => Failure::new(&error).hint("Run `tow reindex`, then search again."),
    }
}

fn filters(arguments: &Arguments, now: Timestamp) -> Result<Filters, Failure> {
    let mut kinds = vec![];
    for word in arguments.kind.iter().flat_map(|words| words.split(',')) {
        kinds.extend(match word {
            // "body" covers prompts as well as answers.
            "body" => vec![DocumentKind::Body, DocumentKind::Prompt, DocumentKind::Line],
            word => vec![DocumentKind::of_word(word).ok_or_else(|| no_kind(word))?],
        });
    }
    if kinds.is_empty() && !(arguments.of_type.is_empty() && arguments.concept.is_empty()) {
        kinds = vec![DocumentKind::Memory];
    }
    Ok(Filters {
        kinds,
        types: arguments.of_type.iter().map(|word| word.to_lowercase()).collect(),
        concepts: arguments.concept.clone(),
        files: arguments.file.clone(),
        project: None,
        agent: arguments.agent.clone(),
        branch: arguments.branch.clone(),
        session: arguments.session.clone(),
        from: time(arguments.since.as_deref(), now)?,
        until: time(arguments.until.as_deref(), now)?,
    })
}

fn no_kind(word: &str) -> Failure {
    Failure::input(format!("there is no kind `{}`", for_terminal(word)))
        .hint("Give memory, summary, body, detail or bookmark.")
}

fn time(raw: Option<&str>, now: Timestamp) -> Result<Option<i64>, Failure> {
    let Some(raw) = raw else { return Ok(None) };
    let wanted = TimeExpression::parse(raw).map_err(|error| Failure::input(error.to_string()))?;
    let at = beginning(&wanted, now).ok_or_else(|| {
        Failure::input(format!("`{}` is no time", for_terminal(raw)))
            .hint("Give one like `14:05`, `yesterday`, `2026-11-14` or `3d ago`.")
    })?;
    Ok(Some(at.0))
}

fn show(scope: &Scope, arguments: &Arguments, found: &[Found]) {
    let columns = scope.out.columns().max(40);
    for hit in found {
        let kind = hit.memory_type.as_deref().unwrap_or(hit.kind);
        let when = calendar::clock(hit.at, scope.env.now);
        let mark = if hit.is_replaced { " (replaced)" } else { "" };
        let whose = whose(hit.person.as_deref(), hit.machine.as_deref());
        let whose = whose.map_or(String::new(), |whose| format!(" of {}", for_terminal(&whose)));
        let head = format!("{:<14} {when}  {kind}{whose}{mark}: {}", hit.id, for_terminal(&hit.title));
        let cost = format!(" ~{} tokens", hit.tokens);
        let line = fit(&head, columns.saturating_sub(cost.len()));
        scope.out.line(&format!("{}{}", line.trim_end(), scope.out.tint(Tone::Faint, &cost)));
        if hit.snippet != hit.title {
            let snippet = fit(&format!("    {}", for_terminal(&hit.snippet)), columns);
            scope.out.line(&scope.out.tint(Tone::Faint, snippet.trim_end()));
        }
        if arguments.why {
            let why = format!("    because: {}; words: {}", hit.reasons.join(", "), hit.words.join(", "));
            scope.out.line(&scope.out.tint(Tone::Faint, fit(&for_terminal(&why), columns).trim_end()));
        }
    }
    if found.is_empty() {
        scope
            .out
            .line("nothing was found; `--all-projects` looks everywhere, `tow turns` lists what was done");
    }
}
