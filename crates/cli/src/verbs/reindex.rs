//! `tow data reindex`: rebuilds the search index from the archive.
//!
//! Loses nothing: the archive is authoritative, and the old index stays until the new one is begun.

use crate::output::complain;
use crate::progress::ProgressBar;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use std::ops::ControlFlow;
use std::time::Duration;
use towline_engine::index::embeddings::{Extent, Standing};
use towline_engine::index::{self, FindError, embeddings, forget_index};
use towline_engine::query::{search_failed, unreadable_data};
use towline_engine::runtime::progress::Progress as _;
use towline_engine::runtime::{Failure, settings};
use towline_store::Archive;

const EXAMPLES: &str = "\
Examples:
  tow data reindex          make the search index anew
  tow data reindex --json   the same for scripts";

/// Rebuild the search index from the archive.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const PATIENCE: Duration = Duration::from_secs(5);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let home = &scope.env.home;
    scope.env.say_waits_by(complain);
    let (documents, vectors) = match Archive::read(home, PATIENCE).map_err(unreadable_data)? {
        Some(archive) => {
            let ready = |patience| index::is_writable(home, patience).map(|ready| ready.then_some(()));
            scope.env.take_turn("the search index", PATIENCE, ready).map_err(failed)?;
            forget_index(home).map_err(unreadable_data)?;
            let sizes = archive.sizes().map_err(unreadable_data)?;
            let mut progress = ProgressBar::default();
            let mut seen = |rows| {
                progress.show_count(rows, sizes.bodies + sizes.details, "texts indexed", scope.env.elapsed());
                ControlFlow::Continue(())
            };
            // A worker that came first builds the same index: what it leaves is indexed after it.
            let updated = |patience| index::update_within(home, &archive, patience, &mut seen);
            let documents = scope.env.take_turn("the search index", PATIENCE, updated).map_err(failed)?;
            progress.finish();
            (documents.unwrap_or_default(), vectors(scope, &archive)?)
        }
        None => (0, None),
    };
    let made = vectors.map_or(String::new(), |vectors| format!(", made {vectors} vectors"));
    let line = format!("indexed {documents} documents{made}");
    scope.out.say(arguments.json, &json!({"documents": documents, "vectors": vectors}), &line);
    Ok(())
}

/// Computes all missing vectors, if the user configured the model and it is installed.
fn vectors(scope: &Scope, archive: &Archive) -> Result<Option<u64>, Failure> {
    let home = &scope.env.home;
    let Standing::Ready(model) = embeddings::standing(home, &settings(&scope.env).search) else {
        return Ok(None);
    };
    let sizes = archive.sizes().map_err(unreadable_data)?;
    let mut progress = ProgressBar::default();
    let mut seen = |made| {
        progress.show_count(made, sizes.bodies + sizes.memories, "vectors made", scope.env.elapsed());
        true
    };
    let embedded = embeddings::embed(home, archive, &model, Extent::All, &mut seen).map_err(failed)?;
    progress.finish();
    if embedded.busy {
        complain("another process is making vectors; `tow data model` shows how many there are\n");
        return Ok(None);
    }
    embeddings::remove_deleted(home, archive).map_err(failed)?;
    Ok(Some(embedded.documents))
}

fn failed(error: FindError) -> Failure {
    match error {
        FindError::Index(error) => Failure::new(&error).hint("Run `tow doctor` to see who may write there."),
        FindError::Store(_) | FindError::Model(_) => search_failed(error),
    }
}
