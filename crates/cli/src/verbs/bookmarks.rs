//! `tow bookmarks`: lists bookmarks, newest first; shows, deletes and restores one.
//!
//! Deleting only hides a bookmark: `tow forget` alone removes it for good.

use crate::output::Tone;
use crate::scope::Scope;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::bookmark::{BookmarkOrigin, CountPrecision};
use towline_core::escape::{fit, for_terminal, pad};
use towline_core::event::EventKind;
use towline_core::shown::age;
use towline_core::time::Timestamp;
use towline_engine::index::labels::{Labels, named, short};
use towline_engine::ingest::live;
use towline_engine::query::ownership;
use towline_engine::runtime::calendar::clock;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::record;
use towline_store::journal::JournalRecord;
use towline_store::{BookmarkFilter, BookmarkRow, DeletedBookmarks, Store, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow bookmarks                        of the project of this folder
  tow bookmarks --session 1a2b3c4d
  tow bookmarks --search mast --all-projects
  tow bookmarks --json
  tow bookmarks show 5e6f7a8b
  tow bookmarks delete 5e6f7a8b
  tow bookmarks delete 5e6f7a8b --restore";

const SHOW_EXAMPLES: &str = "\
Examples:
  tow bookmarks show 5e6f7a8b
  tow bookmarks show 5e6f7a8b --json";

const DELETE_EXAMPLES: &str = "\
Examples:
  tow bookmarks delete 5e6f7a8b
  tow bookmarks delete 5e6f7a8b --restore    it is listed again";

/// List the points you can go back to.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    what: Option<BookmarksAction>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum BookmarksAction {
    Show(Show),
    Delete(Delete),
}

#[derive(Debug, Args)]
struct List {
    /// Only of this session: how its id begins or ends.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only of this project; without it, of the one that this folder belongs to.
    #[arg(long, conflicts_with = "all_projects")]
    project: Option<String>,
    /// Of all projects.
    #[arg(long)]
    all_projects: bool,
    /// Only those whose label, reason, branch or commit holds this text.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Include deleted bookmarks.
    #[arg(long)]
    deleted: bool,
    /// Show at most this many, newest first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Show one bookmark, with the work done since the one before.
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES)]
struct Show {
    /// How the bookmark's id ends or begins.
    id: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Take a bookmark out of the list.
#[derive(Debug, Args)]
#[command(after_help = DELETE_EXAMPLES)]
struct Delete {
    /// How the bookmark's id ends or begins.
    id: String,
    /// List the bookmark again.
    #[arg(long)]
    restore: bool,
}

/// How many bookmarks `--search` reads: labels are computed on display, so SQL cannot filter by them.
const LOOKED_THROUGH: u32 = 2_000;

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.what {
        None => list(scope, &arguments.list),
        Some(BookmarksAction::Show(show)) => show_one(scope, show),
        Some(BookmarksAction::Delete(delete)) => change(scope, delete),
    }
}

fn list(scope: &Scope, asked: &List) -> Result<ExitCode, Failure> {
    let store = ownership::store(&scope.env)?;
    let (mut found, looked) = found(&store, asked)?;
    let is_cut = found.len() > asked.limit;
    found.truncate(asked.limit);
    if asked.json {
        let rows: Vec<Value> = found.iter().map(|(known, label)| row(known, label)).collect();
        scope.out.line(&json!({"bookmarks": rows, "more": is_cut}).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    for (known, label) in &found {
        line(scope, known, label);
    }
    if is_cut {
        scope.out.line(&format!("there are older ones: --limit {}", asked.limit.saturating_mul(5)));
    }
    scope.out.line(&match found.first() {
        Some((latest, _)) => {
            let id = short(latest.bookmark.uid);
            format!(
                "next: `tow rewind {id}` says how to get back there, `tow bookmarks show {id}` what was done"
            )
        }
        None => format!("no bookmarks found; looked in: {looked}. `tow bookmark LABEL` sets one"),
    });
    Ok(ExitCode::SUCCESS)
}

/// The requested bookmarks with their labels, and a description of the scope that was searched.
fn found(store: &Store, asked: &List) -> Result<(Vec<(BookmarkRow, String)>, String), Failure> {
    let session = asked.session.as_deref().map(|name| ownership::named(store, name)).transpose()?;
    let is_everywhere = asked.all_projects || session.is_some();
    let project = match &asked.project {
        None if !is_everywhere => Some(ownership::project(store)?.ok_or_else(no_project)?),
        given => given.clone(),
    };
    let wanted = BookmarkFilter {
        session: session.as_ref().map(|session| &session.key),
        project: project.as_deref(),
        deleted: if asked.deleted { DeletedBookmarks::Included } else { DeletedBookmarks::LeftOut },
        most: match asked.search {
            Some(_) => LOOKED_THROUGH,
            None => u32::try_from(asked.limit).unwrap_or(u32::MAX).saturating_add(1),
        },
    };
    let labelled = labelled(store, &wanted).map_err(failed)?;
    let holds = |(known, label): &(BookmarkRow, String)| {
        asked.search.as_deref().is_none_or(|text| is_about(known, label, text))
    };
    let looked =
        project.map_or_else(|| "every project".to_owned(), |name| format!("project {}", for_terminal(&name)));
    Ok((labelled.into_iter().filter(holds).collect(), looked))
}

fn labelled(store: &Store, asked: &BookmarkFilter<'_>) -> Result<Vec<(BookmarkRow, String)>, StoreError> {
    let mut labels = Labels::of(store)?;
    let mut found = vec![];
    for known in store.bookmarks(asked)? {
        let label = labels.label(&known)?;
        found.push((known, label));
    }
    Ok(found)
}

fn is_about(known: &BookmarkRow, label: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    let code = known.code.as_ref();
    let branch = code.and_then(|code| code.branch.as_ref()).map(|branch| branch.as_str().to_owned());
    let commit = code.map(|code| code.commit.as_str().to_owned());
    let texts = [Some(label.to_owned()), Some(reason(known)), branch, commit];
    texts.into_iter().flatten().any(|held| held.to_lowercase().contains(&text))
}

fn no_project() -> Failure {
    Failure::input("nothing was recorded of a project in this folder")
        .hint("Run `tow bookmarks --all-projects`, or name one by `--project`.")
}

/// Prints the bookmark in one line, and its details in a faint one below.
fn line(scope: &Scope, known: &BookmarkRow, label: &str) {
    let waited = age(scope.env.now.since_ms(known.bookmark.at));
    let waited = if waited.is_empty() { "now".to_owned() } else { waited };
    let columns = scope.out.columns().max(40);
    let head = format!("{} {}", short(known.bookmark.uid), pad(&waited, 4));
    scope.out.line(fit(&format!("{head} {}", for_terminal(label)), columns).trim_end());
    let about = format!("{} {} {}", known.session.agent, known.session.short(), details(known));
    scope.out.line(&scope.out.tint(Tone::Faint, &format!("              {}", about.trim_end())));
}

fn details(known: &BookmarkRow) -> String {
    let context = known.bookmark.context_tokens.map(|tokens| format!("context {tokens} tokens"));
    let deleted = known.deleted_at.map(|_| "deleted".to_owned());
    let parts = [Some(reason(known)), code(known), context, deleted];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Why the bookmark was set, as text.
pub fn reason(known: &BookmarkRow) -> String {
    let set = &known.bookmark.set;
    match set.reason {
        Some(reason) => reason.words(),
        None => match set.how {
            BookmarkOrigin::Typed => "a typed marker".to_owned(),
            BookmarkOrigin::Manual => "set by hand".to_owned(),
            BookmarkOrigin::Silent => "set by itself".to_owned(),
        },
    }
}

/// The abbreviated commit, its branch, and whether there were uncommitted changes.
pub fn code(known: &BookmarkRow) -> Option<String> {
    let code = known.code.as_ref().filter(|code| !code.commit.is_blank())?;
    let commit: String = code.commit.as_str().chars().take(10).collect();
    let branch =
        code.branch.as_ref().map_or(String::new(), |name| format!(" on {}", for_terminal(name.as_str())));
    let dirty = if code.dirty == Some(true) { ", with changes" } else { "" };
    Some(format!("{}{branch}{dirty}", for_terminal(&commit)))
}

/// The bookmark as JSON.
pub fn row(known: &BookmarkRow, label: &str) -> Value {
    let (bookmark, set) = (&known.bookmark, &known.bookmark.set);
    let time = |at: Option<Timestamp>| at.map(Timestamp::to_utc);
    let code = known.code.as_ref();
    json!({
        "id": short(bookmark.uid), "uid": bookmark.uid, "session": known.session, "project": known.project,
        "at": bookmark.at.to_utc(), "label": label, "named": set.label.is_some(), "how": set.how.name(),
        "reason": reason(known), "threshold": set.reason.map(|reason| reason.threshold.name()),
        "count": set.reason.map(|reason| reason.count),
        "estimated": set.reason.map(|reason| reason.counted == CountPrecision::Estimated),
        "after_turn": set.after_turn, "turn": bookmark.turn.as_ref().map(|turn| turn.as_str().to_owned()),
        "commit": code.map(|code| code.commit.as_str()),
        "branch": code.and_then(|code| code.branch.as_ref()).map(|branch| branch.as_str()),
        "dirty": code.and_then(|code| code.dirty), "context_tokens": bookmark.context_tokens,
        "placed_at": time(known.placed_at), "deleted_at": time(known.deleted_at),
    })
}

fn show_one(scope: &Scope, show: &Show) -> Result<ExitCode, Failure> {
    let store = ownership::store(&scope.env)?;
    let known = named(&store, &show.id)?;
    let mut labels = Labels::of(&store).map_err(failed)?;
    let label = labels.label(&known).map_err(failed)?;
    let lines = labels.lines(&known).map_err(failed)?;
    if show.json {
        let mut row = row(&known, &label);
        row["lines"] = json!(lines);
        scope.out.line(&row.to_string());
        return Ok(ExitCode::SUCCESS);
    }
    line(scope, &known, &label);
    let at = clock(known.bookmark.at, scope.env.now);
    scope.out.line(&format!("set {at}, after turn {} of {}", known.bookmark.set.after_turn, known.session));
    if !lines.is_empty() {
        scope.out.line("since the bookmark before:");
    }
    lines.iter().for_each(|line| scope.out.line(&format!("  {}", for_terminal(line))));
    let id = short(known.bookmark.uid);
    scope.out.line(&format!("next: `tow rewind {id}` says how to get back there"));
    Ok(ExitCode::SUCCESS)
}

fn change(scope: &Scope, delete: &Delete) -> Result<ExitCode, Failure> {
    let store = ownership::store(&scope.env)?;
    let known = named(&store, &delete.id)?;
    drop(store);
    let bookmark = known.bookmark.uid;
    let id = short(bookmark);
    let (happening, done) = if delete.restore {
        (EventKind::BookmarkRestored { bookmark }, format!("bookmark {id} is listed again"))
    } else {
        let undo = format!("bookmark {id} is deleted; `tow bookmarks delete {id} --restore` takes that back");
        (EventKind::BookmarkDeleted { bookmark }, undo)
    };
    record::accept(&scope.env, &[JournalRecord::Event(record::event(&scope.env, known.session, happening))])?;
    live::store(&scope.env)?;
    scope.out.line(&done);
    Ok(ExitCode::SUCCESS)
}

fn failed(error: StoreError) -> Failure {
    Failure::new(&error).hint("Run `tow doctor`.")
}
