//! The doctor's look at search: by what means meaning is judged, and whether they are there.
//!
//! Opens the model's files, asks it nothing, fetches nothing.

use super::Check;
use crate::failure::chain;
use crate::scope::Scope;
use crate::sentences::{self, Standing};
use crate::tell::settings;
use towline_search::Encoder;

const GET: &str = "tow model get";

pub fn check(scope: &Scope) -> Check {
    let home = &scope.edge.home;
    match sentences::standing(home, &settings(&scope.edge).search) {
        Standing::NotWanted => Check::good("search", "by words and the table that is compiled in"),
        Standing::Missing(why) => {
            Check::warning("search", format!("the model is wanted and {why}; the table serves"), GET)
        }
        Standing::Ready(model) => match (Encoder::open(&model.folder), vectors(scope)) {
            (Err(error), _) => Check::warning("search", format!("{}; the table serves", chain(&error)), GET),
            (Ok(_), 0) => Check::warning("search", "the model is there, but no vectors yet", "tow reindex"),
            (Ok(_), vectors) => Check::good("search", format!("with a model, {vectors} vectors")),
        },
    }
}

fn vectors(scope: &Scope) -> usize {
    sentences::vectors_there(&sentences::vectors_file(&scope.edge.home)).0
}
