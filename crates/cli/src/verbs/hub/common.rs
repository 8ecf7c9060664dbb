//! Shared parts of the subcommands of `tow hub`. It opens no connection.

use std::time::Duration;
use towline_engine::runtime::Failure;
use towline_hub::{Extension, HubStatus};
use towline_store::StoreError;

/// The extensions that this hub lacks, and why.
pub(super) fn without(standing: &HubStatus) -> Vec<String> {
    let all =
        [("pg_trgm", standing.trigrams), ("vector", standing.vectors), ("btree_gin", standing.project_index)];
    let missing = |(name, extension): (&str, Extension)| match extension {
        Extension::Used => None,
        Extension::Offered => Some(format!("{name} (an administrator may run: create extension {name})")),
        Extension::Missing => Some(format!("{name} (the server has none)")),
    };
    all.into_iter().filter_map(missing).collect()
}

/// How long a command that the user ran waits for the hub.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);

pub(super) fn not_changed(error: StoreError) -> Failure {
    Failure::about("could not change what is shared", &error).hint("Run `tow doctor`.")
}
