//! Doctor check of search: which embeddings are used, and whether their files are there.
//!
//! Opens the model's files, but neither runs the model nor downloads it.

use super::check::Check;
use crate::scope::Scope;
use towline_engine::index::embeddings::{self, Standing};
use towline_engine::runtime::{chain, settings};
use towline_search::Encoder;

const GET: &str = "tow data model get";

pub fn check(scope: &Scope) -> Check {
    let home = &scope.env.home;
    match embeddings::standing(home, &settings(&scope.env).search) {
        Standing::NotWanted => Check::good("search", "by words and the table that is compiled in"),
        Standing::Missing(why) => {
            Check::warning("search", format!("the model is wanted and {why}; the table serves"), GET)
        }
        Standing::Ready(model) => match (Encoder::open(&model.folder), vectors(scope)) {
            (Err(error), _) => Check::warning("search", format!("{}; the table serves", chain(&error)), GET),
            (Ok(_), 0) => {
                Check::warning("search", "the model is there, but no vectors yet", "tow data reindex")
            }
            (Ok(_), vectors) => Check::good("search", format!("with a model, {vectors} vectors")),
        },
    }
}

fn vectors(scope: &Scope) -> usize {
    embeddings::vectors_there(&embeddings::vectors_file(&scope.env.home)).0
}
