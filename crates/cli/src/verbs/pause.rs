//! `tow typing pause`: stops all automatic typing until `tow typing resume` or for a given time.
//!
//! Also stops typing in progress: the typist checks the pause before every key.

use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_core::shown::span;
use towline_core::typing::TypingPause;
use towline_engine::handoff::typing;
use towline_engine::runtime::Failure;
use towline_engine::runtime::calendar::clock;

const EXAMPLES: &str = "\
Examples:
  tow typing pause              until `tow typing resume`
  tow typing pause --for 1h     for an hour; also 90s, 45m, 2d
  tow typing resume             go on typing";

/// Pause automatic typing for a while.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// How long: 90s, 45m, 1h, 2d. Without it, until `tow typing resume`.
    #[arg(long = "for", value_name = "TIME")]
    span: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let ms = arguments.span.as_deref().map(length).transpose()?;
    let until = ms.map(|ms| scope.env.now.plus_ms(ms));
    typing::pause(&scope.env.home, TypingPause { until }).map_err(|error| {
        Failure::about("could not pause: something may still be typed", &error)
            .hint("Run `tow config set typing.enabled false`.")
    })?;
    let end = until.map_or_else(|| "`tow typing resume`".to_owned(), |until| clock(until, scope.env.now));
    let done = json!({"paused": true, "until": until.map(|until| until.to_utc())});
    scope.out.say(arguments.json, &done, &format!("nothing is typed until {end}"));
    Ok(())
}

fn length(text: &str) -> Result<i64, Failure> {
    span(text).filter(|ms| *ms > 0).ok_or_else(|| {
        Failure::input(format!("`{text}` is no length of time")).hint("Write 90s, 45m, 1h or 2d.")
    })
}
