//! `tow bookmark list`: lists bookmarks, newest first; shows, deletes and restores one.
//!
//! Deleting only hides a bookmark: `tow data forget` alone removes it for good.

use crate::output::Tone;
use crate::scope::Scope;
use clap::{Args, Subcommand};
use serde_json::json;
use towline_core::escape::escape_for_terminal;
use towline_engine::curate::{BookmarkListing, list_bookmark};
use towline_engine::index::labels::short;
use towline_engine::query::{BookmarksRequest, LabelledBookmark, bookmark, bookmarks};
use towline_engine::runtime::Failure;
use towline_engine::runtime::calendar::clock;
use towline_render::{bookmark_json, bookmark_text, bookmarks_json};

const EXAMPLES: &str = "\
Examples:
  tow bookmark list                        of the project of this folder
  tow bookmark list --session 1a2b3c4d
  tow bookmark list --search mast --all-projects
  tow bookmark list --json
  tow bookmark show 5e6f7a8b
  tow bookmark delete 5e6f7a8b
  tow bookmark delete 5e6f7a8b --restore";

const SHOW_EXAMPLES: &str = "\
Examples:
  tow bookmark show 5e6f7a8b
  tow bookmark show 5e6f7a8b --json";

const DELETE_EXAMPLES: &str = "\
Examples:
  tow bookmark delete 5e6f7a8b
  tow bookmark delete 5e6f7a8b --restore    it is listed again";

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
pub struct Show {
    /// How the bookmark's id ends or begins.
    id: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Take a bookmark out of the list.
#[derive(Debug, Args)]
#[command(after_help = DELETE_EXAMPLES)]
pub struct Delete {
    /// How the bookmark's id ends or begins.
    id: String,
    /// List the bookmark again.
    #[arg(long)]
    restore: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.what {
        None => list(scope, &arguments.list),
        Some(BookmarksAction::Show(show)) => show_one(scope, show),
        Some(BookmarksAction::Delete(delete)) => change(scope, delete),
    }
}

/// `tow bookmark show`.
pub mod show {
    pub use super::Show as Arguments;
    pub use super::show_one as run;
}

/// `tow bookmark delete`.
pub mod delete {
    pub use super::Delete as Arguments;
    pub use super::change as run;
}

fn list(scope: &Scope, arguments: &List) -> Result<(), Failure> {
    let request = BookmarksRequest {
        session: arguments.session.as_deref(),
        project: arguments.project.as_deref(),
        all_projects: arguments.all_projects,
        search: arguments.search.as_deref(),
        with_deleted: arguments.deleted,
        limit: arguments.limit,
    };
    let list = bookmarks(&scope.env, &request)?;
    if arguments.json {
        scope.out.json(&bookmarks_json(&list));
        return Ok(());
    }
    list.bookmarks.iter().for_each(|bookmark| print(scope, bookmark));
    if list.has_more {
        scope.out.line(&format!("there are older ones: --limit {}", arguments.limit.saturating_mul(5)));
    }
    scope.out.line(&match list.bookmarks.first() {
        Some(latest) => {
            let id = short(latest.row.bookmark.uid);
            format!(
                "next: `tow bookmark rewind {id}` says how to get back there, `tow bookmark show {id}` what was done"
            )
        }
        None => format!("no bookmarks found; looked in: {}. `tow bookmark set LABEL` sets one", list.looked),
    });
    Ok(())
}

/// Prints the bookmark in one line, and its details in a faint one below.
fn print(scope: &Scope, bookmark: &LabelledBookmark) {
    let (line, details) = bookmark_text(bookmark, scope.env.now, scope.out.columns().max(40));
    scope.out.line(&line);
    scope.out.line(&scope.out.tint(Tone::Faint, &details));
}

pub fn show_one(scope: &Scope, show: &Show) -> Result<(), Failure> {
    let shown = bookmark(&scope.env, &show.id)?;
    let known = &shown.bookmark.row;
    if show.json {
        let mut row = bookmark_json(&shown.bookmark);
        row["lines"] = json!(shown.lines);
        scope.out.json(&row);
        return Ok(());
    }
    print(scope, &shown.bookmark);
    let at = clock(known.bookmark.at, scope.env.now);
    scope.out.line(&format!("set {at}, after turn {} of {}", known.bookmark.set.after_turn, known.session));
    if !shown.lines.is_empty() {
        scope.out.line("since the bookmark before:");
    }
    shown.lines.iter().for_each(|line| scope.out.line(&format!("  {}", escape_for_terminal(line))));
    let id = short(known.bookmark.uid);
    scope.out.line(&format!("next: `tow bookmark rewind {id}` says how to get back there"));
    Ok(())
}

pub fn change(scope: &Scope, delete: &Delete) -> Result<(), Failure> {
    let listing = if delete.restore { BookmarkListing::Listed } else { BookmarkListing::Hidden };
    let id = list_bookmark(&scope.env, &delete.id, listing)?;
    scope.out.line(&match listing {
        BookmarkListing::Listed => format!("bookmark {id} is listed again"),
        BookmarkListing::Hidden => {
            format!("bookmark {id} is deleted; `tow bookmark delete {id} --restore` takes that back")
        }
    });
    Ok(())
}
