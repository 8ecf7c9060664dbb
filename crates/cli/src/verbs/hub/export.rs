//! `tow hub export`: writes every row that the hub has for this user, as JSON lines.
//!
//! Only reads, and only rows that the hub lets this login see. The file appears whole or not at all.

use super::common::PATIENCE;
use crate::output::complain;
use crate::scope::Scope;
use crate::verbs::export::to_file;
use clap::Args;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use towline_engine::runtime::Failure;
use towline_engine::runtime::text::plain_text;
use towline_engine::sync::{Link, NoLink, machine, row_json};

const EXAMPLES: &str = "\
Examples:
  tow hub export hub.jsonl
  tow hub export - | jq -r 'select(.kind == \"memory\") | .words.title'

Each line is one row: uid, kind, project, person, machine, session, turn, made_at, and its words; or that it was forgotten,
when and by whom.";

/// Export what the hub has for you.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Write to this file; `-` is the standard output.
    file: PathBuf,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let mut link = Link::open(&scope.env, &machine(&scope.env)?, PATIENCE)?;
    if arguments.file.as_os_str() == "-" {
        let written = write_all(&mut link, &mut io::stdout().lock());
        return match written {
            Err(Stopped::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(failed("could not export", &error)),
            Ok(_) => Ok(()),
        };
    }
    let shown = plain_text(&arguments.file.to_string_lossy());
    let rows = to_file(&arguments.file, |out| write_all(&mut link, out))
        .map_err(|error| failed(&format!("could not write {shown}"), &error))?;
    complain(&format!("{rows} rows written to {shown}\n"));
    Ok(())
}

/// Why the export stopped.
#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error(transparent)]
    Link(#[from] NoLink),
    #[error(transparent)]
    Write(#[from] io::Error),
}

fn failed(what: &str, error: &Stopped) -> Failure {
    let failure = Failure::about(what, error);
    match error {
        Stopped::Link(error) => match error.remedy() {
            Some(mend) => failure.hint(mend),
            None => failure,
        },
        Stopped::Write(_) => failure.hint("Give another file."),
    }
}

/// Streams project by project; only one page of rows is in memory at a time.
fn write_all(link: &mut Link, out: &mut dyn Write) -> Result<u64, Stopped> {
    let mut rows = 0;
    for project in link.hub.projects(&link.membership).map_err(NoLink::from)? {
        let mut after = 0;
        loop {
            let pulled = link.hub.pull(&link.membership, project.id, after, PAGE).map_err(NoLink::from)?;
            for row in &pulled.rows {
                writeln!(out, "{}", row_json(row, &project.key))?;
                rows += 1;
            }
            if pulled.is_all {
                break;
            }
            after = pulled.after;
        }
    }
    out.flush()?;
    Ok(rows)
}

const PAGE: u32 = 500;
