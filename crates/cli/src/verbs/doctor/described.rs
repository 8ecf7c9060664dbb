//! `tow doctor --agent NAME`: compares a description with what is found of the agent on this machine.
//!
//! Reads the description, the agent's folder, its processes and the screens of their panes. Runs nothing of the agent's.

use super::check::Check;
use crate::scope::Scope;
use std::io;
use std::path::Path;
use towline_agents::Agent;
use towline_agents::described::{Capabilities, Description};
use towline_core::id::SessionId;
use towline_core::shown::SeatView;
use towline_engine::capture::{Listed, Preview, bad_document, preview, transcripts_of};
use towline_engine::ingest::live::{self, Glance};
use towline_engine::runtime::descriptions::{Described, Descriptions, folder, refused};
use towline_engine::runtime::env::find_in_path;
use towline_engine::runtime::text::plain_text;
use towline_engine::runtime::{Failure, variable};
use towline_engine::status::probe::written_at;

/// The checks of one agent by description.
pub fn of(scope: &Scope, name: &str) -> Result<Vec<Check>, Failure> {
    let descriptions = Descriptions::load(&scope.env);
    if let Some(unusable) = descriptions.unusable.iter().find(|unusable| unusable.name == name) {
        return Err(refused(unusable));
    }
    let described = descriptions.named(name).ok_or_else(|| unknown(scope, &descriptions, name))?;
    let mut checks = vec![source(described)];
    checks.extend(program(&described.description));
    checks.push(own_folder(described));
    checks.extend(running(scope, &described.description)?);
    checks.extend(transcripts(described));
    checks.extend(missing(described.description.capabilities()));
    Ok(checks)
}

/// All descriptions that cannot be used, for the usual checks.
pub fn unusable(scope: &Scope) -> Vec<Check> {
    let descriptions = Descriptions::load(&scope.env);
    let bad = descriptions.unusable.iter().map(|unusable| {
        let file = unusable.file.display();
        let mend = format!("mend {file}, then run `tow doctor --agent {}`", unusable.name);
        Check::bad(format!("{} description", unusable.name), unusable.why.clone(), mend)
    });
    bad.collect()
}

fn unknown(scope: &Scope, descriptions: &Descriptions, name: &str) -> Failure {
    if Agent::from_name(name).is_some() {
        return Failure::input(format!("`{name}` needs no description")).hint("Run `tow doctor`.");
    }
    let known: Vec<&str> = descriptions.names().collect();
    let file = folder(&scope.env).join(format!("{}.toml", plain_text(name)));
    Failure::input(format!("there is no description of `{}`", plain_text(name))).hint(format!(
        "Write {}, or give one of: {}.",
        file.display(),
        known.join(", ")
    ))
}

fn source(described: &Described) -> Check {
    let title = described.description.title();
    let proven =
        described.description.proven().map_or("of no stated version".to_owned(), |it| format!("of {it}"));
    let from =
        described.file.as_ref().map_or("shipped with tow".to_owned(), |file| file.display().to_string());
    Check::good("description", format!("{title} {proven}, {from}"))
}

/// The program that resuming runs, if it is on the PATH. It is not run.
fn program(description: &Description) -> Option<Check> {
    let id = SessionId::parse("ID").ok()?;
    let command = description.resume_command(&id)?;
    let words = command.join(" ");
    Some(match find_in_path(&command[0]) {
        Some(program) => Check::good("resume", format!("`{words}` runs {}", program.display())),
        None => Check::warning(
            "resume",
            format!("`{words}` names a program that is not on the PATH of this shell"),
            "install it, or mend `resume.command`",
        ),
    })
}

fn own_folder(described: &Described) -> Check {
    let place = described.description.folder(&variable);
    let shown = place.as_ref().map_or("?".to_owned(), |folder| folder.display().to_string());
    match described.folder() {
        Some(_) => Check::good("folder", shown),
        None => Check::warning(
            "folder",
            format!("{shown} does not exist: the agent was not used here, so it is not looked for"),
            "run the agent once, or mend `folder`",
        ),
    }
}

/// The agent's processes, with what their screens show.
fn running(scope: &Scope, description: &Description) -> Result<Vec<Check>, Failure> {
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    let own: Vec<_> = seats.iter().filter(|seat| seat.agent == description.name()).collect();
    if own.is_empty() {
        let next = "start it in a pane of tmux, then run this again";
        return Ok(vec![Check::good("process", "none runs in a terminal").with_next(next)]);
    }
    let reads = description.capabilities().screen || description.capabilities().title;
    let check = |seat: &&SeatView| {
        let place = seat.pane.as_deref().unwrap_or(&seat.seat);
        match (seat.by_screen, reads) {
            (true, _) => Check::good("process", format!("{place} is {}", seat.state_name())),
            (false, false) => Check::good("process", format!("{place} runs; its screen is not described")),
            (false, true) => Check::warning(
                "process",
                format!("{place} runs, but no pattern matches its screen or title"),
                format!("compare `screen` and `pane_title` with `tmux capture-pane -p -t {place}`"),
            ),
        }
    };
    Ok(own.iter().map(check).collect())
}

/// What the newest transcript gives.
fn transcripts(described: &Described) -> Vec<Check> {
    let (true, Some(writer)) = (described.description.capabilities().transcript, described.writer()) else {
        return vec![];
    };
    let Listed { files, left_out, unreadable: databases } = transcripts_of(&writer, &variable);
    if let Some((database, why)) = databases.first() {
        let detail = format!("{}: {why}", database.display());
        return vec![Check::bad("transcripts", detail, "mend `transcript.rows` or `transcript.order`")];
    }
    // Sessions in a database have no time of their own; the newest is the last of them.
    let Some(newest) = files.iter().max_by_key(|file| written_at(&file.path)) else {
        return vec![Check::warning(
            "transcripts",
            "no file matches `transcript.files`",
            "give the agent a prompt, or mend `transcript.files`",
        )];
    };
    let (found, path) = (files.len(), newest.path.display());
    let count = match left_out {
        0 => Check::good("transcripts", format!("{found} found, the newest is {path}")),
        _ => Check::warning(
            "transcripts",
            format!("the newest {found} are read, {left_out} older ones are left out; the newest is {path}"),
            "let `transcript.files` match fewer",
        ),
    };
    match preview(newest) {
        Err(error) => vec![count, unreadable(&newest.path, &error)],
        Ok(preview) => vec![count, mapping(&preview)],
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Check {
    let path = path.display();
    let cure = match (bad_document(error), error.kind()) {
        (Some(bad), _) => bad.cure().to_owned(),
        // No file, or behind a link.
        (None, io::ErrorKind::InvalidInput) => "mend `transcript.files`".to_owned(),
        (None, _) => format!("make {path} readable"),
    };
    Check::bad("mapping", format!("{path} cannot be read: {error}"), cure)
}

fn mapping(found: &Preview) -> Check {
    let Preview { lines, unreadable, prompts, answers, calls, results, failed, usage, others, .. } = found;
    let detail = format!(
        "{lines} entries give {prompts} prompts, {answers} answers, {calls} tool calls, {results} results ({failed} failed), \
         {usage} usages, {others} thoughts, notes, stops and summaries"
    );
    let times = found.first_at.filter(|at| at.0 > 0).is_some();
    if *lines == 0 {
        return Check::warning(
            "mapping",
            "it has no entries yet",
            "give the agent a prompt, then run this again",
        );
    }
    if *unreadable > 0 {
        return Check::warning(
            "mapping",
            format!("{detail}; {unreadable} lines are no JSON"),
            "mend `transcript.format`",
        );
    }
    match (prompts, answers, times) {
        (0, _, _) => Check::bad("mapping", detail, "mend the `[[transcript.pieces]]` that is a `prompt`"),
        (_, 0, _) => {
            Check::warning("mapping", detail, "mend the `[[transcript.pieces]]` that is an `answer`")
        }
        (_, _, false) => Check::bad("mapping", format!("{detail}, without times"), "mend `transcript.time`"),
        _ if *calls > 0 && *results == 0 => {
            Check::warning("mapping", detail, "mend the `[[transcript.pieces]]` that is a `tool_result`")
        }
        (_, _, true) if found.folder.is_none() => Check::warning(
            "mapping",
            format!(
                "{detail}; the session's folder is not told, so it belongs to no project, and is not captured while \
                 `privacy.exclude_projects` names one"
            ),
            "mend `transcript.folder`, or `transcript.about`",
        ),
        (_, _, true) => Check::good("mapping", detail),
    }
}

/// What the description does not say. Nothing takes its place.
fn missing(capabilities: Capabilities) -> Option<Check> {
    let Capabilities { screen, title, transcript, tools, resume } = capabilities;
    let lacks = [
        (!screen && !title, "its state (no `screen`, no `pane_title`)"),
        (!transcript, "capture, search and import (no `transcript`)"),
        (!tools, "files and commands of tool calls (no `tools`)"),
        (!resume, "`tow session resume` (no `resume`)"),
    ];
    let lacks: Vec<&str> =
        lacks.into_iter().filter(|(is_missing, _)| *is_missing).map(|(_, what)| what).collect();
    (!lacks.is_empty()).then(|| Check::good("not described", lacks.join("; ")))
}
