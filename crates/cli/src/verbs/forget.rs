//! `tow forget`: erases turns, sessions, a project, a time span, memories or a text from every file of ours.
//!
//! Shows what would be erased and asks first. Reports the result, but never prints the text searched for.

use crate::agreement::{agrees, can_be_asked};
use crate::output::{Tone, complain};
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::process::ExitCode;
use std::sync::Arc;
use towline_core::escape::for_terminal;
use towline_core::forget::ForgetText;
use towline_engine::erase::forget;
use towline_engine::erase::forget::{AsideFate, Meant, Request, Tally};
use towline_engine::ingest::live;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::size;

const EXAMPLES: &str = "\
Examples:
  tow forget 1a2b3c4d#12              a turn, with all that was said and done in it
  tow forget 1a2b3c4d#10-12           several turns
  tow forget 1a2b3c4d                 a session: how its id begins or ends
  tow forget m12 m15                  memories; what they came from stays
  tow forget --project app            a project, by its name or a folder in it
  tow forget yesterday 14:05-14:20    what anybody did then
  tow forget --since '2h ago' --project .
  tow forget --match 'Project Zephyr' everything that holds the text, in upper or lower case
  tow forget --match - < file         the same without the text in the shell's history
  tow forget --dry-run 1a2b3c4d       what would go

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
    if !arguments.dry_run && forget::finish_interrupted(&scope.env)? && !arguments.json {
        scope.out.line("an erasing that was interrupted is finished: free pages and logs are empty");
    }
    // Apply the journal first: its records are found through their database rows.
    live::store(&scope.env)?;
    let meant = meant(scope, arguments)?;
    warn_of_size(scope);
    let planned = forget::rehearse(&scope.env, &meant)?;
    if arguments.dry_run || !is_agreed(scope, arguments, &meant, &planned)? {
        report(scope, arguments, &meant, &planned, ReportPhase::Planned);
        return Ok(ExitCode::SUCCESS);
    }
    let fate = if arguments.keep_aside { AsideFate::Kept } else { AsideFate::Deleted };
    let done = forget::carry_out(&scope.env, &meant, fate)?;
    report(scope, arguments, &meant, &done, ReportPhase::Done);
    Ok(if done.holding.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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

/// Whether a report describes a plan or a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReportPhase {
    Planned,
    Done,
}

fn meant(scope: &Scope, arguments: &Arguments) -> Result<Meant, Failure> {
    if let Some(text) = &arguments.text {
        let typed = if text == "-" { from_stdin()? } else { text.clone() };
        let short =
            || Failure::input("the text is too short: it would stand everywhere").hint("Give more of it.");
        return ForgetText::new(&typed).map(|needle| Meant::Text(Arc::new(needle))).ok_or_else(short);
    }
    let what = (!arguments.what.is_empty()).then(|| arguments.what.join(" "));
    let request = Request {
        what: what.as_deref(),
        project: arguments.project.as_deref(),
        since: arguments.since.as_deref(),
        until: arguments.until.as_deref(),
    };
    forget::find(&scope.env, &request)
}

fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    io::stdin()
        .take(1 << 20)
        .read_to_string(&mut text)
        .map_err(|error| Failure::about("could not read the text", &error))?;
    Ok(text)
}

/// Asks the user at a terminal; non-interactive callers must pass `--yes`.
fn is_agreed(scope: &Scope, arguments: &Arguments, meant: &Meant, planned: &Tally) -> Result<bool, Failure> {
    if arguments.yes {
        return Ok(true);
    }
    if !can_be_asked() || arguments.json {
        return Err(Failure::input("nothing was forgotten: it has to be confirmed")
            .hint("Add `--yes`, or `--dry-run` to see what would go."));
    }
    if planned.is_nothing() {
        return Ok(false);
    }
    show(scope, meant, planned, ReportPhase::Planned);
    if agrees("Forget this for good?")? {
        return Ok(true);
    }
    Err(Failure::input("nothing was forgotten").hint("Answer `y` to forget it."))
}

fn report(scope: &Scope, arguments: &Arguments, meant: &Meant, tally: &Tally, phase: ReportPhase) {
    if arguments.json {
        scope.out.line(&as_json(arguments, tally, phase).to_string());
    } else if tally.is_nothing() && tally.aside.is_empty() {
        scope.out.line("nothing of it is kept");
    } else {
        show(scope, meant, tally, phase);
    }
    if phase == ReportPhase::Done && arguments.keep_aside && !tally.aside.is_empty() && !arguments.json {
        let line =
            "the databases that were set aside may hold it still; without `--keep-aside` they are deleted";
        scope.out.line(&scope.out.tint(Tone::Warning, line));
    }
}

fn as_json(arguments: &Arguments, tally: &Tally, phase: ReportPhase) -> Value {
    let Tally { archive, hot, aside, holding } = tally;
    let aside: Vec<_> = aside.iter().map(|aside| json!({"path": aside.path, "bytes": aside.bytes})).collect();
    json!({
        "forgotten": phase == ReportPhase::Done,
        "archive": {
            "sessions": archive.conversations, "turns": archive.turns, "bodies": archive.bodies,
            "details": archive.details, "memories": archive.memories, "others": archive.others,
        },
        "database": {
            "sessions": hot.rows.sessions, "turns": hot.rows.heard_turns, "events": hot.rows.events,
            "others": hot.rows.others,
        },
        "journal": {"erased": hot.journal.gone, "changed": hot.journal.changed},
        "aside": {"files": aside, "deleted": phase == ReportPhase::Done && !arguments.keep_aside},
        "holding": holding,
    })
}

fn show(scope: &Scope, meant: &Meant, tally: &Tally, phase: ReportPhase) {
    let Tally { archive, hot, aside, holding } = tally;
    let verb = if phase == ReportPhase::Done { "forgot" } else { "would forget" };
    let what = for_terminal(&meant.describe(scope.env.now));
    scope.out.line(&format!("{verb} {what}:"));
    scope.out.line(&format!(
        "  archive: {} turns, {} bodies, {} details, {} memories and summaries, {} lines, names and notes, {} whole sessions",
        archive.turns, archive.bodies, archive.details, archive.memories, archive.others, archive.conversations
    ));
    scope.out.line(&format!(
        "  database: {} sessions, {} turns, {} events, {} other texts; journal: {} records erased, {} changed",
        hot.rows.sessions,
        hot.rows.heard_turns,
        hot.rows.events,
        hot.rows.others,
        hot.journal.gone,
        hot.journal.changed
    ));
    for one in aside {
        let name = for_terminal(&one.path.to_string_lossy());
        let fate =
            if phase == ReportPhase::Done { "deleted" } else { "to be deleted, since it cannot be cleaned" };
        scope.out.line(&format!("  set aside: {name} ({}), {fate}", size(one.bytes)));
    }
    for path in holding {
        let line = match phase {
            ReportPhase::Planned => format!("  in the bytes of {}", path.display()),
            ReportPhase::Done => format!("  still in the bytes of {}: run it again", path.display()),
        };
        scope
            .out
            .line(&scope.out.tint(if phase == ReportPhase::Done { Tone::Bad } else { Tone::Faint }, &line));
    }
}
