//! `tow data model`: downloads, shows and removes the optional embedding model of search.
//!
//! The only verb that downloads anything for search, and only on request. Uses no file with a wrong checksum.

use crate::output::complain;
use crate::progress::ProgressBar;
use crate::scope::Scope;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;
use towline_engine::index::embeddings::{self, Origin, PlaceError};
use towline_engine::runtime::config::{Search, SearchTier};
use towline_engine::runtime::fetch::FetchError;
use towline_engine::runtime::progress::Progress as _;
use towline_engine::runtime::text::{plain_text, size};
use towline_engine::runtime::{Failure, settings, spawn, variable};
use towline_search::{Encoder, MODEL_FILES};

const EXAMPLES: &str = "\
Examples:
  tow data model get                    fetch the model (91 MB); what was cut off is gone on with
  tow data model get --from ~/minilm    take its files from a folder, on a machine without a net
  tow config set search.tier minilm
  tow data model                        whether it is there, and how many vectors
  tow data model remove                 take it away again, with its vectors

Search works without it, by words and a table of meanings that is compiled in. The model finds more of what is said in other
words. It is all-MiniLM-L6-v2 (Apache-2.0); search.model_url and search.model_sha256 say where it comes from.";

/// Fetch, show or remove the optional model for search.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<ModelAction>,
    /// Print one JSON object.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ModelAction {
    /// Fetch the model's files, or take them from a folder.
    Get {
        /// A folder with model.safetensors, vocab.txt and config.json.
        #[arg(long, value_name = "FOLDER")]
        from: Option<PathBuf>,
    },
    /// Show whether the model is there and used.
    Status,
    /// Remove the model and its vectors.
    Remove,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let wanted = settings(&scope.env).search;
    match arguments.action.as_ref().unwrap_or(&ModelAction::Status) {
        ModelAction::Get { from } => get(scope, &wanted, from.as_ref())?,
        ModelAction::Status => {}
        ModelAction::Remove => {
            let freed = embeddings::remove(&scope.env.home).map_err(|error| Failure::new(&error))?;
            if !arguments.json {
                scope.out.line(&format!("freed {}", size(freed)));
            }
        }
    }
    show(scope, &wanted, arguments);
    Ok(())
}

fn get(scope: &Scope, wanted: &Search, from: Option<&PathBuf>) -> Result<(), Failure> {
    let certificates = variable("SSL_CERT_FILE").map(PathBuf::from);
    let origin = match from {
        Some(folder) => Origin::Folder(folder),
        None => Origin::Net { certificates: certificates.as_deref() },
    };
    let mut progress = FetchProgress::new(scope);
    let got = embeddings::ask_for(&scope.env.home, wanted, origin, &mut |name, got, all| {
        progress.tell(name, got, all)
    });
    progress.finish();
    got.map_err(|error| failed(&error, wanted))?;
    let opened = Encoder::open(&embeddings::folder(&scope.env.home));
    opened.map_err(|error| Failure::new(&error).hint("search.model_sha256 names files of another sort."))?;
    if wanted.tier == SearchTier::MiniLm {
        spawn::start_detached(&scope.env);
    }
    Ok(())
}

/// Prints a line per file, and a progress bar on a terminal.
struct FetchProgress<'a> {
    scope: &'a Scope,
    name: String,
    bar: ProgressBar,
}

impl FetchProgress<'_> {
    fn new(scope: &Scope) -> FetchProgress<'_> {
        FetchProgress { scope, name: String::new(), bar: ProgressBar::default() }
    }

    fn tell(&mut self, name: &str, got: u64, all: Option<u64>) {
        if self.name != name {
            self.finish();
            complain(&format!(
                "fetching {name}{}\n",
                all.map_or(String::new(), |all| format!(", {}", size(all)))
            ));
            self.name = name.to_owned();
            self.bar.begin(all.unwrap_or(0), 1);
        }
        self.bar.show(got, 0, self.scope.env.elapsed());
    }

    fn finish(&mut self) {
        self.bar.finish();
    }
}

fn failed(error: &PlaceError, wanted: &Search) -> Failure {
    let by_hand = || {
        format!(
            "Without a net: fetch {} from {} elsewhere, then run `tow data model get --from FOLDER`.",
            MODEL_FILES.join(", "),
            wanted.model_url
        )
    };
    let failure = Failure::new(error);
    match error {
        PlaceError::Fetch(FetchError::CutOff { .. }) => {
            failure.hint("Run `tow data model get` again: it goes on where it was cut off.").hint(by_hand())
        }
        PlaceError::Fetch(FetchError::Unreached { .. } | FetchError::Refused { .. }) => {
            failure.hint(by_hand())
        }
        PlaceError::Fetch(FetchError::Wrong { .. }) => failure
            .hint("Nothing was used. Look at search.model_url and search.model_sha256 with `tow config`."),
        PlaceError::Fetch(FetchError::Read { .. } | FetchError::Write { .. }) | PlaceError::Write { .. } => {
            failure.hint("Look who may read and write there, and how much room there is.")
        }
    }
}

fn show(scope: &Scope, wanted: &Search, arguments: &Arguments) {
    let home = &scope.env.home;
    let folder = embeddings::folder(home);
    let found = embeddings::found(home, wanted);
    let (vectors, vector_bytes) = embeddings::vectors_there(&embeddings::vectors_file(home));
    let is_used = wanted.tier == SearchTier::MiniLm;
    let report = json!({
        "tier": if is_used { "minilm" } else { "static" }, "ready": found.is_ok(), "why": found.as_ref().err(),
        "folder": folder, "bytes": embeddings::size_of(&folder), "vectors": vectors, "vector_bytes": vector_bytes,
    });
    let line = match (&found, is_used) {
        (Err(why), true) => format!("search.tier wants the model, and {why}; run `tow data model get`"),
        (Err(why), false) => format!("no model, and none is wanted: {why}"),
        (Ok(_), false) => "the model is there; `tow config set search.tier minilm` has it used".to_owned(),
        (Ok(_), true) => format!(
            "the model is there and used, {vectors} vectors ({}); `tow data reindex` makes all that are missing at once",
            size(vector_bytes)
        ),
    };
    scope.out.say(arguments.json, &report, &plain_text(&line));
}
