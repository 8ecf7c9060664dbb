//! `tow session repair`: inserts rewind points into a transcript that died of a full context.
//!
//! Only shows the plan unless `--write` is given. Writes nothing while a client may have the session open,
//! and keeps the original file as a backup.

use crate::output::{Tone, complain};
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_agents::repair::{
    Death, DeathCause, InsertedMarker, MarkerReason, Repair, RepairOptions, Unrepairable,
};
use towline_agents::without_markers;
use towline_core::escape::escape_for_terminal;
use towline_core::id::SessionId;
use towline_engine::erase::repair::{
    Kept, RepairError, Subject, backups, named, put, read, recent, replace, users,
};
use towline_engine::runtime::Failure;
use towline_engine::runtime::calendar::clock;
use towline_engine::runtime::text::plain_text;
use towline_store::Store;

const EXAMPLES: &str = "\
Examples:
  tow session repair --list                 sessions that died of a full context, among the last ten
  tow session repair 1a2b3c4d               what would be put into the transcript of this session, and where
  tow session repair 1a2b3c4d --write       do it; the file as it was stays beside it
  tow session repair 1a2b3c4d --restore     take it back
  tow session repair path/to/x.jsonl --every 5 --write

Then resume the session, and go back to one of the markers by the agent's own list of prompts: what came after it is
left behind, and the session has room again.";

/// Insert rewind points into a transcript that died of a full context.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The session, by its id or a part of it, or the path of its transcript.
    #[arg(value_name = "SESSION|PATH", required_unless_present = "list")]
    subject: Option<String>,
    /// Show what would be done (the default).
    #[arg(long, conflicts_with_all = ["write", "restore", "list"])]
    dry_run: bool,
    /// Write the markers into the transcript.
    #[arg(long, conflicts_with_all = ["restore", "list"])]
    write: bool,
    /// Restore the file from before the last repair.
    #[arg(long, conflicts_with = "list")]
    restore: bool,
    /// Insert a marker after every N answers, besides those at the ends of turns and at pauses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
    /// The text of the inserted prompts.
    #[arg(long, value_name = "TEXT", default_value = "·")]
    marker: String,
    /// Proceed even if the session did not die of a full context, or a client may have it open.
    #[arg(long)]
    force: bool,
    /// List the sessions that died of a full context.
    #[arg(long, conflicts_with = "subject")]
    list: bool,
    /// With --list: check the last N transcripts.
    #[arg(long, value_name = "N", default_value_t = 10)]
    recent: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.marker.trim().is_empty() {
        return Err(Failure::input("the marker is empty").hint("Give --marker a text, such as ·"));
    }
    let Some(name) = &arguments.subject else { return list(scope, arguments) };
    let subject = named(name)?;
    let kept = read(&subject.path).map_err(|error| failed(&error))?;
    if arguments.restore {
        return restore(scope, arguments, &subject, &kept);
    }
    let repair = examined(&subject, &kept.text, arguments).map_err(|error| {
        Failure::about(format!("{} is left as it is", plain_text(&subject.path.to_string_lossy())), &error)
    })?;
    if !arguments.write {
        show(scope, arguments, &subject, &repair, None);
        return Ok(());
    }
    allowed(scope, arguments, &subject, &repair)?;
    let backup = match repair.marks.as_slice() {
        [] => None,
        _ => Some(replace(&kept, &repair.text).map_err(|error| failed(&error))?),
    };
    show(scope, arguments, &subject, &repair, Some(backup.as_deref()));
    Ok(())
}

fn examined(subject: &Subject, text: &[u8], arguments: &Arguments) -> Result<Repair, Unrepairable> {
    let wish = RepairOptions { every: arguments.every, marker: &arguments.marker };
    subject.agent.repair_transcript(text, wish).unwrap_or(Err(Unrepairable::NoChain))
}

fn failed(error: &RepairError) -> Failure {
    let failure = Failure::new(error);
    match error {
        RepairError::Changed { .. } => failure.hint("End the client that writes it, then try again."),
        RepairError::Read { .. } | RepairError::Backup { .. } | RepairError::Write { .. } => {
            failure.hint("Nothing was changed; look at the permissions of the folder.")
        }
    }
}

fn allowed(scope: &Scope, arguments: &Arguments, subject: &Subject, repair: &Repair) -> Result<(), Failure> {
    let is_full = matches!(repair.death, Some(Death { cause: DeathCause::Full, .. }));
    if !is_full && !arguments.force {
        return Err(Failure::input("the session did not die of a full context: nothing was changed")
            .hint("Give --force to put markers into it all the same."));
    }
    unused(scope, arguments, subject, repair.folder.as_deref())
}

const PATIENCE: Duration = Duration::from_millis(300);

fn unused(
    scope: &Scope,
    arguments: &Arguments,
    subject: &Subject,
    folder: Option<&str>,
) -> Result<(), Failure> {
    let store = Store::read(&scope.env.home, PATIENCE).ok().flatten();
    let users = users(subject, folder, store.as_ref());
    if users.is_empty() || arguments.force {
        return Ok(());
    }
    let mut failure = Failure::input("a client may have the session open: nothing was changed");
    failure.causes = users;
    Err(failure.hint("End it and try again, or give --force if it works on something else."))
}

fn restore(scope: &Scope, arguments: &Arguments, subject: &Subject, kept: &Kept) -> Result<(), Failure> {
    let (backup, before) = last_backup(kept)?;
    let is_lossless = without_markers(&kept.text) == before;
    if !is_lossless && !arguments.force {
        return Err(Failure::input("the session went on since it was repaired: nothing was changed")
            .hint("Give --force to lose what came after; the file as it is now is kept as another backup."));
    }
    let folder = examined(subject, &kept.text, arguments).ok().and_then(|repair| repair.folder);
    unused(scope, arguments, subject, folder.as_deref())?;
    let is_changed = kept.text != before;
    let done = match is_lossless {
        _ if !is_changed => Ok(()),
        true => put(kept, &before),
        false => replace(kept, &before).map(|_| ()),
    };
    done.map_err(|error| failed(&error))?;
    let shown = plain_text(&backup.to_string_lossy());
    let line = match is_changed {
        true => format!("restored from {shown}"),
        false => format!("it is what {shown} is already"),
    };
    scope.out.say(arguments.json, &json!({"restored": is_changed, "backup": backup}), &line);
    Ok(())
}

/// The backup that the file was repaired from, or else the latest one.
fn last_backup(kept: &Kept) -> Result<(PathBuf, Vec<u8>), Failure> {
    let paths = backups(&kept.path).into_iter().rev();
    let mut all: Vec<(PathBuf, Vec<u8>)> =
        paths.filter_map(|path| fs::read(&path).ok().map(|text| (path, text))).collect();
    let bare = without_markers(&kept.text);
    let at = all.iter().position(|(_, text)| *text == bare).unwrap_or(0);
    let none =
        || Failure::input(format!("there is no backup of {}", plain_text(&kept.path.to_string_lossy())));
    if all.is_empty() { Err(none()) } else { Ok(all.swap_remove(at)) }
}

/// `written` is `Some` after writing, with the backup if anything changed.
fn show(
    scope: &Scope,
    arguments: &Arguments,
    subject: &Subject,
    repair: &Repair,
    written: Option<Option<&Path>>,
) {
    if arguments.json {
        return scope.out.json(&as_json(subject, repair, written));
    }
    let line = |text: &str| scope.out.line(text);
    line(&format!("session {}: {}", escape_for_terminal(&subject.id()), death(scope, repair)));
    repair.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}\n")));
    if repair.present > 0 {
        line(&format!("there already: {}", markers(repair.present)));
    }
    for mark in &repair.marks {
        line(&marked(scope, mark));
    }
    let count = repair.marks.len();
    match written {
        None if count == 0 => line("there is nothing to put in"),
        None => {
            line(&format!("next: `tow session repair {} --write` puts {} in", subject.id(), markers(count)))
        }
        Some(None) => line("there was nothing to put in: the file is as it was"),
        Some(Some(backup)) => {
            line(&format!(
                "put in: {}; as it was: {}",
                markers(count),
                plain_text(&backup.to_string_lossy())
            ));
            let resume = SessionId::parse(&subject.id()).map(|id| subject.agent.resume_command(&id));
            resume.iter().for_each(|resume| line(&format!("next: `{resume}`, then go back to a marker")));
        }
    }
}

fn markers(count: usize) -> String {
    if count == 1 { "1 marker".to_owned() } else { format!("{count} markers") }
}

fn death(scope: &Scope, repair: &Repair) -> String {
    let at =
        |death: &Death| death.at.map(|at| format!(" at {}", clock(at, scope.env.now))).unwrap_or_default();
    match &repair.death {
        Some(death @ Death { cause: DeathCause::Full, .. }) => format!("died of a full context{}", at(death)),
        Some(death @ Death { cause: DeathCause::Other, .. }) => {
            format!("failed{}, not of a full context", at(death))
        }
        None => "did not die".to_owned(),
    }
}

fn marked(scope: &Scope, mark: &InsertedMarker) -> String {
    let at = mark.at.map(|at| clock(at, scope.env.now)).unwrap_or_default();
    let faint = scope.out.tint(Tone::Faint, &escape_for_terminal(&mark.words));
    format!("  {at:<10} {:<14} before: {faint}", why(mark.why))
}

fn why(why: MarkerReason) -> &'static str {
    match why {
        MarkerReason::Answers => "after answers",
        MarkerReason::TurnEnd => "a turn's end",
        MarkerReason::Pause => "a pause",
    }
}

fn as_json(subject: &Subject, repair: &Repair, written: Option<Option<&Path>>) -> Value {
    let marks: Vec<Value> = repair.marks.iter().map(mark_json).collect();
    json!({
        "session": subject.id(), "path": subject.path, "dead": dead_json(repair), "present": repair.present,
        "markers": marks, "warnings": repair.warnings, "written": written.is_some_and(|backup| backup.is_some()),
        "backup": written.flatten(),
    })
}

fn mark_json(mark: &InsertedMarker) -> Value {
    json!({
        "uuid": mark.uuid, "before": mark.before, "at": mark.at.map(|at| at.to_utc()), "why": why(mark.why),
        "words": mark.words,
    })
}

fn dead_json(repair: &Repair) -> Value {
    let death = repair.death.as_ref();
    death.map_or(
        Value::Null,
        |death| json!({"at": death.at.map(|at| at.to_utc()), "full_context": death.cause == DeathCause::Full}),
    )
}

fn list(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let looked = recent(arguments.recent);
    let number = looked.len();
    let examined = looked.into_iter().filter_map(|subject| {
        let repair = examined(&subject, &fs::read(&subject.path).ok()?, arguments).ok()?;
        Some((subject, repair))
    });
    let is_full =
        |(_, repair): &(Subject, Repair)| matches!(repair.death, Some(Death { cause: DeathCause::Full, .. }));
    let dead: Vec<(Subject, Repair)> = examined.filter(is_full).collect();
    if arguments.json {
        let rows: Vec<Value> = dead.iter().map(|(subject, repair)| as_json(subject, repair, None)).collect();
        scope.out.json(&json!({"sessions": rows, "looked_at": number}));
        return Ok(());
    }
    for (subject, repair) in &dead {
        let folder = escape_for_terminal(repair.folder.as_deref().unwrap_or(""));
        let marks = format!("{} to put in, {} there", markers(repair.marks.len()), repair.present);
        scope.out.line(&format!("{}  {}  {marks}  {folder}", subject.id(), death(scope, repair)));
    }
    if dead.is_empty() {
        scope.out.line(&format!("none of the last {number} sessions died of a full context"));
    }
    Ok(())
}
