//! `tow data forget`: erases turns, sessions, a project, a time span, memories or a text from every file of ours.
//!
//! Shows what would be erased and asks first. Reports the result, but never prints the text searched for.

use crate::agreement::{confirm, is_interactive};
use crate::output::complain;
use crate::progress;
use crate::scope::Scope;
use clap::Args;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::process::ExitCode;
use towline_engine::curate::{Actor, of_others, propose_forgetting};
use towline_engine::erase::forget::{self, AsideFate, ForgetReport, Request};
use towline_engine::memory::remember::is_memory_id;
use towline_engine::runtime::Failure;
use towline_engine::runtime::text::size;
use towline_render::{asked_line, forget_json, forget_text, part_json};

const EXAMPLES: &str = "\
Examples:
  tow data forget 1a2b3c4d#12              a turn, with all that was said and done in it
  tow data forget 1a2b3c4d#10-12           several turns
  tow data forget 1a2b3c4d                 a session: how its id begins or ends
  tow data forget m12 m15                  memories; what they came from stays. A teammate's goes only here, and its owner is asked
  tow data forget --project app            a project, by its name or a folder in it
  tow data forget yesterday 14:05-14:20    what anybody did then
  tow data forget --since '2h ago' --project .
  tow data forget --match 'Project Zephyr'   everything that holds the text, in upper or lower case
  tow data forget --match - < file         the same without the text in the shell's history
  tow data forget --dry-run 1a2b3c4d       what would go

What was forgotten is not captured again, though the agents' own transcripts still hold it: those are theirs, and stay as
they are. To keep a folder out from the start: `tow config set privacy.exclude_projects`.";

/// Erase a turn, a session, a project, a time, a memory, or a text.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A turn, turns, a session, a time, or memories.
    what: Vec<String>,
    /// Only of this project: its name, or a folder in it.
    #[arg(long, value_name = "NAME|PATH")]
    project: Option<String>,
    /// Only what happened from this time on.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only what happened up to this time.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Everything that holds this text; `-` reads the text from standard input.
    #[arg(long = "match", value_name = "TEXT", conflicts_with_all = ["what", "project", "since", "until"])]
    text: Option<String>,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Show what would be erased, erase nothing.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Keep databases that were set aside, though they may still hold the text.
    #[arg(long)]
    keep_aside: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    scope.env.say_waits_by(complain);
    if !arguments.dry_run {
        Actor::of_caller(&scope.env)?.require_person("forget what was recorded")?;
    }
    if !arguments.dry_run && forget::finish_interrupted(&scope.env)? && !arguments.json {
        scope.out.line("an erasing that was interrupted is finished: free pages and logs are empty");
    }
    let what = (!arguments.what.is_empty()).then(|| arguments.what.join(" "));
    let text = match arguments.text.as_deref() {
        Some("-") => Some(from_stdin()?),
        text => text.map(str::to_owned),
    };
    let request = Request {
        what: what.as_deref(),
        project: arguments.project.as_deref(),
        since: arguments.since.as_deref(),
        until: arguments.until.as_deref(),
        text: text.as_deref(),
    };
    warn_of_size(scope);
    let fate = if arguments.keep_aside { AsideFate::Kept } else { AsideFate::Deleted };
    let mut report = forget::plan(&scope.env, &request, fate)?;
    let mut asked = vec![];
    if !arguments.dry_run && is_agreed(scope, arguments, &report)? {
        let are_memories = !arguments.what.is_empty() && arguments.what.iter().all(|id| is_memory_id(id));
        let others = if are_memories { of_others(&scope.env, &arguments.what)? } else { vec![] };
        let _shown = progress::activity("erasing, and rewriting the files without what is erased");
        report = report.carry_out(&scope.env)?;
        asked = propose_forgetting(&scope.env, &others)?;
    }
    let json = || {
        let mut shown = forget_json(&report);
        if !asked.is_empty() {
            shown["proposals"] = asked.iter().map(part_json).collect();
        }
        shown
    };
    scope.out.print(arguments.json, json, || forget_text(&report, scope.env.now, scope.out.style()));
    for part in asked.iter().filter(|_| !arguments.json) {
        scope.out.line(&asked_line(part));
    }
    let is_left = report.is_done && !report.tally.holding.is_empty();
    Ok(if is_left { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Above this size the search takes long enough to announce it.
const LARGE: u64 = 256 << 20;

/// Announces a long run: databases are searched whole, and rewritten without the erased content.
fn warn_of_size(scope: &Scope) {
    let bytes = fs::metadata(scope.env.home.archive()).map_or(0, |meta| meta.len());
    if bytes > LARGE && io::stderr().is_terminal() {
        complain(&format!("looking through {}; this takes a while\n", size(bytes)));
    }
}

fn from_stdin() -> Result<String, Failure> {
    let _held = progress::hold();
    let mut text = String::new();
    io::stdin()
        .take(1 << 20)
        .read_to_string(&mut text)
        .map_err(|error| Failure::about("could not read the text", &error))?;
    Ok(text)
}

/// Asks the user at a terminal; non-interactive callers must pass `--yes`.
fn is_agreed(scope: &Scope, arguments: &Arguments, plan: &ForgetReport) -> Result<bool, Failure> {
    if arguments.yes {
        return Ok(true);
    }
    if !is_interactive() || arguments.json {
        return Err(Failure::input("nothing was forgotten: it has to be confirmed")
            .hint("Add `--yes`, or `--dry-run` to see what would go."));
    }
    if plan.tally.is_nothing() {
        return Ok(false);
    }
    scope.out.text(&forget_text(plan, scope.env.now, scope.out.style()));
    if confirm("Forget this for good?")? {
        return Ok(true);
    }
    Err(Failure::input("nothing was forgotten").hint("Answer `y` to forget it."))
}
