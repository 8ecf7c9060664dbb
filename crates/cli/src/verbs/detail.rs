//! `tow detail`: prints messages, tool inputs and outputs of past turns, by time or by id.
//!
//! Only reads. An empty result exits with 0.

use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::when::{BadExpression, TimeExpression};
use towline_engine::capture::Caught;
use towline_engine::query::{
    Found, Page, Past, Room, Thinking, TurnView, detail_json, detail_text, head, seek, turn_json, turn_text,
    view, view_detail,
};
use towline_engine::runtime::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  tow detail 14:05                   what was going on then: today, else on the latest day that has it
  tow detail 14:05-14:20             over some minutes
  tow detail yesterday 14:05
  tow detail 30m ago                 or: tow detail -- -30m
  tow detail 2026-11-14T14:05
  tow detail 1a2b3c4d#12             a turn, by the end of its session's id and its number
  tow detail 1a2b3c4d#10-12          some turns
  tow detail 1a2b3c4d#12.3           one detail, whole
  tow detail 14:05 --all-projects    not only in the project of this folder
  tow detail 1a2b3c4d#12 --json      for programs; see docs/getting-back.md

A time means every turn that was under way then. Times are those of your own clock.";

/// Default limit of `--bytes`.
const BYTES: usize = 24_000;
/// Default limit for a single detail, requested by its id.
const BYTES_OF_ONE: usize = 1_000_000;

/// Print what was said and done at a time or in a turn: messages, tool inputs and outputs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A time, a range of times, a turn, a detail of it, or a session.
    #[arg(required = true, value_name = "EXPR")]
    expressions: Vec<String>,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Print what the agent thought, too.
    #[arg(long)]
    thinking: bool,
    /// Show at most this many turns; the rest is counted.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Show at most this many bytes of text, shared by the turns; 0 for all.
    #[arg(long, value_name = "N")]
    bytes: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let wanted = wanted(&arguments.expressions)?;
    let Some(past) = Past::open(&scope.env, &arguments.whose.scope())? else {
        show_nothing(scope, arguments, "nothing was captured yet");
        return Ok(ExitCode::SUCCESS);
    };
    let mut all: Vec<Found> = vec![];
    for wanted in &wanted {
        all.push(seek(&past, wanted, arguments.limit)?);
    }
    if let [Found { turns, detail: Some(number), .. }] = all.as_mut_slice()
        && let Some((of, turn)) = turns.pop()
    {
        let room = Room::of(arguments.bytes.unwrap_or(BYTES_OF_ONE));
        return Ok(match view_detail(&past, of, turn, *number, room)? {
            Ok(view) => show_detail(scope, arguments, &view),
            Err(number) => {
                show_nothing(scope, arguments, &format!("that turn has {number} details"));
                ExitCode::SUCCESS
            }
        });
    }
    show(scope, arguments, &past, all)
}

/// Parses the arguments as one phrase of several words, else as several expressions.
fn wanted(expressions: &[String]) -> Result<Vec<TimeExpression>, Failure> {
    let phrase = TimeExpression::parse(&expressions.join(" "));
    if let (Ok(wanted), _) | (Err(_), Ok(wanted)) = (phrase.clone().map(|one| vec![one]), each(expressions)) {
        return Ok(wanted);
    }
    let error = each(expressions).err().or(phrase.err());
    Err(Failure::input(error.map_or_else(String::new, |error| error.to_string()))
        .hint("Run `tow detail --help` for examples."))
}

fn each(expressions: &[String]) -> Result<Vec<TimeExpression>, BadExpression> {
    expressions.iter().map(|expression| TimeExpression::parse(expression)).collect()
}

fn show(scope: &Scope, arguments: &Arguments, past: &Past, all: Vec<Found>) -> Result<ExitCode, Failure> {
    let looked = all.iter().map(|found| found.looked.as_str()).collect::<Vec<_>>().join("; ");
    let mut left_out: usize = all.iter().map(|found| found.left_out).sum();
    let mut turns: Vec<_> = all.into_iter().flat_map(|found| found.turns).collect();
    left_out += turns.len().saturating_sub(arguments.limit);
    turns.truncate(arguments.limit);
    if turns.is_empty() {
        show_nothing(scope, arguments, &looked);
        return Ok(ExitCode::SUCCESS);
    }
    let room = Room::of(arguments.bytes.unwrap_or(BYTES)).shared_by(turns.len());
    let thinking = if arguments.thinking { Thinking::Shown } else { Thinking::Hidden };
    let views = turns.into_iter().map(|(of, turn)| view(past, of, turn, room, thinking));
    let views = views.collect::<Result<Vec<_>, _>>()?;
    if arguments.json {
        let turns: Vec<Value> = views.iter().map(turn_json).collect();
        scope.out.line(&json!({"turns": turns, "looked": looked, "left_out_turns": left_out}).to_string());
    } else {
        scope.out.text(&text(past, &views, left_out));
    }
    Ok(ExitCode::SUCCESS)
}

/// Groups the turns under a heading for each session.
fn text(past: &Past, views: &[TurnView], left_out: usize) -> String {
    let mut page = Page::default();
    let mut sessions: Vec<_> = vec![];
    for view in views {
        if !sessions.contains(&&view.of.session) {
            sessions.push(&view.of.session);
        }
    }
    for session in sessions {
        let mut of_session = views.iter().filter(|view| view.of.session == *session).peekable();
        if let Some(first) = of_session.peek() {
            page.gap();
            page.line(&head(&first.of));
        }
        of_session.for_each(|view| turn_text(&mut page, view, past.now));
    }
    page.gap();
    if left_out > 0 {
        page.line(&format!("{left_out} more turns are not shown: --limit {}", views.len() + left_out));
    }
    if past.caught == Caught::Behind {
        page.line("not everything is captured yet: run the same command again");
    }
    let detail = views.iter().rev().find_map(TurnView::worth_a_look);
    let detail = detail.map_or(String::new(), |id| format!("`tow detail {id}` prints one detail whole, "));
    if let Some(last) = views.last() {
        page.line(&format!("next: {detail}`tow turns {}` lists the session's turns", last.of.short));
    }
    page.text
}

fn show_detail(scope: &Scope, arguments: &Arguments, view: &TurnView) -> ExitCode {
    if arguments.json {
        let mut turn = turn_json(view);
        turn["details"] = json!([detail_json(view)]);
        scope.out.line(&json!({"turns": [turn]}).to_string());
        return ExitCode::SUCCESS;
    }
    let mut page = Page::default();
    detail_text(&mut page, view, scope.env.now);
    page.gap();
    page.line(&format!("next: `tow detail {}#{}` prints the whole turn", view.of.short, view.turn.ordinal));
    scope.out.text(&page.text);
    ExitCode::SUCCESS
}

fn show_nothing(scope: &Scope, arguments: &Arguments, looked: &str) {
    if arguments.json {
        return scope.out.line(&json!({"turns": [], "looked": looked, "left_out_turns": 0}).to_string());
    }
    scope.out.line(&format!(
        "nothing found for {}",
        towline_core::escape::for_terminal(&arguments.expressions.join(" "))
    ));
    scope.out.line(&format!("looked in: {looked}"));
    scope.out.line(
        "next: `tow sessions` lists what was captured, --all-projects looks everywhere, `tow import` takes in what the \
         agents wrote before Towline was installed",
    );
}
