//! `tow typing resume`: lifts a pause of automatic typing.
//!
//! Does not bring back intents that were refused during the pause.

use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_engine::handoff::typing;
use towline_engine::runtime::{Failure, settings};

const EXAMPLES: &str = "\
Examples:
  tow typing resume     lift `tow typing pause`
  tow typing list      what was refused in the meantime";

/// Resume automatic typing after `tow typing pause`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let was_paused = typing::resume_typing(&scope.env.home).map_err(|error| {
        let file = scope.env.home.typing_pause();
        Failure::about(format!("could not remove {}", file.display()), &error)
            .hint(format!("Remove {} yourself.", file.display()))
    })?;
    let enabled = settings(&scope.env).typing.enabled;
    let line = match (was_paused, enabled) {
        (_, false) => "typing is off; `tow config set typing.enabled true` turns it on",
        (true, true) => "typing goes on",
        (false, true) => "typing was not paused",
    };
    let done = json!({"paused": false, "was_paused": was_paused, "enabled": enabled});
    scope.out.say(arguments.json, &done, line);
    Ok(())
}
