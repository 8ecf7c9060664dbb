//! `tow data export`: writes the captured history as JSON lines or Markdown.
//!
//! Only reads the archive. The output file appears whole or not at all, and only its owner can read it.

use crate::output::complain;
use crate::progress::{self, ProgressBar};
use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::{Args, ValueEnum};
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use towline_core::time::Timestamp;
use towline_core::when::TimeExpression;
use towline_engine::query::{Past, call, parse_time, unreadable_data};
use towline_engine::runtime::text::{plain_text, size};
use towline_engine::runtime::{Env, Failure};
use towline_engine::sync::export::{ExportError, jsonl, markdown};
use towline_store::archive::{Conversation, MemorySelector};

const EXAMPLES: &str = "\
Examples:
  tow data export --output app.jsonl                 all sessions of the project of this folder
  tow data export --all-projects --output all.jsonl  everything, to be taken in elsewhere by `tow data import all.jsonl`
  tow data export --session 1a2b3c4d --format markdown
  tow data export --since yesterday --format markdown --output day.md

The format is described in docs/import.md.";

/// Export what was captured: as JSON lines for `tow data import`, or as Markdown.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Only this session, by the end or the beginning of its id.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Only sessions in which something happened since this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    format: ExportFormat,
    /// Write to this file instead of the standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExportFormat {
    /// Everything, for programs.
    Jsonl,
    /// For people.
    Markdown,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let since = arguments.since.as_deref().map(|text| parse_time(text, scope.env.now)).transpose()?;
    let Some(past) = Past::open(&scope.env, &arguments.whose.scope())? else {
        return Err(
            Failure::input("nothing was captured yet").hint("Run `tow data import`, or `tow install`.")
        );
    };
    let since = since.unwrap_or(Timestamp(0));
    let chosen = chosen(&past, arguments, since)?;
    let memories = match (&arguments.session, chosen.first()) {
        (Some(_), Some(of)) => MemorySelector::OfSession(&of.session),
        (_, _) => MemorySelector::Since { project: past.project.row(), since },
    };
    let write = |out: &mut dyn Write| {
        let out = &mut Counted { out, env: &scope.env, bytes: 0, progress: ProgressBar::default() };
        match arguments.format {
            ExportFormat::Jsonl => jsonl(&past.archive, &chosen, memories, out),
            ExportFormat::Markdown => markdown(&past.archive, &chosen, memories, out),
        }
    };
    match &arguments.output {
        None => to_stdout(write).map_err(|error| failed("could not export", &error))?,
        Some(path) => {
            let shown = plain_text(&path.to_string_lossy());
            to_file(path, write).map_err(|error| failed(&format!("could not write {shown}"), &error))?;
            complain(&format!("{} sessions written to {shown}\n", chosen.len()));
        }
    }
    Ok(())
}

fn failed(what: &str, error: &ExportError) -> Failure {
    Failure::about(what, error).hint("Run `tow doctor`, or give another --output.")
}

fn chosen(past: &Past, arguments: &Arguments, since: Timestamp) -> Result<Vec<Conversation>, Failure> {
    if let Some(name) = &arguments.session {
        let none = || {
            Failure::input(format!("no session has an id that begins or ends with `{}`", plain_text(name)))
                .hint("Run `tow session list --all-projects` to see what was captured.")
        };
        let Ok(TimeExpression::Session(hint)) = TimeExpression::parse(name) else { return Err(none()) };
        return Ok(vec![call(past, &hint)?.ok_or_else(none)?]);
    }
    if past.project.is_empty() {
        return Err(Failure::input(format!("there is nothing to export of {}", past.project.description()))
            .hint("Give --all-projects, or --project with a name of `tow session list --all-projects`."));
    }
    past.archive.conversations_since(since, past.project.row()).map_err(unreadable_data)
}

/// Shows how much is written.
struct Counted<'a> {
    out: &'a mut dyn Write,
    env: &'a Env,
    bytes: u64,
    progress: ProgressBar,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        let all = self.bytes;
        self.progress.draw(self.env.elapsed(), || format!("exporting, {} written", size(all)));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A closed pipe is not an error.
fn to_stdout(write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>) -> Result<(), ExportError> {
    let _held = io::stdout().is_terminal().then(progress::hold);
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    match written {
        Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(ExportError::Words(error)) if error.io_error_kind() == Some(ErrorKind::BrokenPipe) => Ok(()),
        other => other,
    }
}

/// Writes a file that only its owner can read; it appears whole or not at all.
pub fn to_file<T, E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|done| {
        out.flush()?;
        fs::rename(&part, path)?;
        Ok(done)
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}
