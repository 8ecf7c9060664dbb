//! The path of all verbs that change memories: change, then print.
//!
//! The engine refuses and changes; `render` words the result.

use crate::scope::Scope;
use towline_engine::curate::{Actor, MemoryChange, change};
use towline_engine::runtime::Failure;
use towline_render::{change_json, change_text};

pub fn run(scope: &Scope, ids: &[String], wanted: &MemoryChange, is_json: bool) -> Result<(), Failure> {
    let changed = change(&scope.env, &Actor::of_caller(&scope.env)?, ids, wanted)?;
    scope.out.print(is_json, || change_json(wanted, &changed), || change_text(wanted, &changed));
    Ok(())
}
