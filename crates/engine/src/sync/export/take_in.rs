//! Imports an export file line by line, a few hundred lines at a time.
//!
//! Idempotent, so it may be stopped at any line. A file that is no export, or of a later format, is rejected
//! before anything is stored; memory use does not grow with the file.

use super::FORMAT;
use super::wire::{BadWord, Line};
use crate::capture::Wishes;
use crate::runtime::text::plain_text;
use crate::runtime::{Env, Failure, archive};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_core::text::CleanText;
use towline_store::archive::{ExportedRow, ImportCounts, ImportState};
use towline_store::{Archive, StoreError};

/// ImportLines and bytes per transaction.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 4 << 20;

/// `tow data export` writes no longer line.
const LONGEST_LINE: usize = 64 << 20;

#[derive(Debug, thiserror::Error)]
enum ImportError {
    #[error("could not read the file")]
    Read(#[from] io::Error),
    #[error("line {0} is longer than any that `tow data export` writes")]
    Long(usize),
    #[error("line {line} cannot be understood")]
    Line { line: usize, source: serde_json::Error },
    #[error("line {line} cannot be understood")]
    Word { line: usize, source: BadWord },
    #[error("it is no export of `tow`: its first line does not say so")]
    NoExport,
    #[error("it is an export of format {0}, and this version of `tow` reads formats up to {FORMAT}")]
    Newer(u32),
    #[error("could not keep what was read")]
    Store(#[from] StoreError),
}

/// Result of an import.
#[derive(Default)]
pub struct Done {
    pub lines: usize,
    /// ImportLines of kinds unknown to this version.
    pub unknown: usize,
    /// Sessions in excluded folders.
    pub excluded: usize,
    pub restored: ImportCounts,
}

/// The export file that the argument names; `None` if it names a program to import from.
pub fn file(name: &str) -> Option<PathBuf> {
    (name.ends_with(".jsonl") || name.contains('/')).then(|| PathBuf::from(name))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    TakeIn,
    /// Only validate the file.
    Try,
}

/// Restores the rows of an export file, or checks that they could be.
pub fn import(env: &Env, file: &Path, errand: Errand) -> Result<Done, Failure> {
    let shown = plain_text(&file.to_string_lossy());
    let failed = |error: ImportError| {
        Failure::about(format!("could not take in {shown}"), &error)
            .hint("What stood before that line is kept; run the same command again once the file is whole.")
    };
    let wishes = Wishes::load(env)?;
    let opened = File::open(file).map_err(|error| failed(error.into()))?;
    let mut reader = ImportLines { reader: BufReader::new(opened), line: vec![], number: 0 };
    reader.check_head().map_err(failed)?;
    let done = match errand {
        Errand::Try => reader.run(&wishes, &mut |_| Ok(())).map_err(failed)?,
        Errand::TakeIn => {
            let writable = archive::open(env, Duration::from_secs(60));
            let Some(writable) = writable.map_err(|error| failed(error.into()))? else {
                return Err(
                    Failure::input("another import is under way").hint("Wait for it, then run this again.")
                );
            };
            restore(&writable.archive, &mut reader, &wishes).map_err(failed)?
        }
    };
    Ok(done)
}

fn restore(archive: &Archive, reader: &mut ImportLines, wishes: &Wishes) -> Result<Done, ImportError> {
    let mut restoring = ImportState::new()?;
    let mut done = reader.run(wishes, &mut |rows| {
        archive.restore(&mut restoring, rows)?;
        Ok(archive.tidy()?)
    })?;
    archive.checkpoint()?;
    done.restored = restoring.done;
    Ok(done)
}

/// Receives a batch of rows.
type TakeRows<'t> = &'t mut dyn FnMut(Vec<ExportedRow<CleanText<'static>>>) -> Result<(), ImportError>;

struct ImportLines {
    reader: BufReader<File>,
    line: Vec<u8>,
    number: usize,
}

impl ImportLines {
    fn check_head(&mut self) -> Result<(), ImportError> {
        if !self.next()? {
            return Err(ImportError::NoExport);
        }
        match serde_json::from_slice(&self.line) {
            Ok(Line::Export { format }) if format <= FORMAT => Ok(()),
            Ok(Line::Export { format }) => Err(ImportError::Newer(format)),
            Ok(_) | Err(_) => Err(ImportError::NoExport),
        }
    }

    /// Reads the next line that is not empty; returns whether there was one.
    fn next(&mut self) -> Result<bool, ImportError> {
        loop {
            self.line.clear();
            self.number += 1;
            let limit = LONGEST_LINE as u64;
            let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.line)?;
            if read >= LONGEST_LINE {
                return Err(ImportError::Long(self.number));
            }
            if read == 0 || !self.line.trim_ascii().is_empty() {
                return Ok(read > 0);
            }
        }
    }

    fn run(&mut self, wishes: &Wishes, take: TakeRows<'_>) -> Result<Done, ImportError> {
        let mut done = Done::default();
        let (mut rows, mut bytes, mut is_excluded) = (vec![], 0, false);
        while self.next()? {
            done.lines += 1;
            let line = self.number;
            let parsed: Line<'_> =
                serde_json::from_slice(&self.line).map_err(|source| ImportError::Line { line, source })?;
            done.unknown += usize::from(matches!(parsed, Line::Unknown));
            if let Line::Session(session) = &parsed {
                is_excluded = session.folder().is_some_and(|folder| wishes.excludes(folder));
                done.excluded += usize::from(is_excluded);
            }
            let is_out = match &parsed {
                // Its session may be missing from the file.
                Line::Memory(memory) => memory.root().is_some_and(|root| wishes.excludes(root)),
                Line::Export { .. }
                | Line::Session(_)
                | Line::Turn(_)
                | Line::Body(_)
                | Line::Detail(_)
                | Line::Usage(_)
                | Line::File { .. }
                | Line::Commit { .. }
                | Line::Revert { .. }
                | Line::Summary(_)
                | Line::Unknown => is_excluded,
            };
            let row = parsed.row(wishes.secrets()).map_err(|source| ImportError::Word { line, source })?;
            rows.extend(row.filter(|_| !is_out).map(owned));
            bytes += self.line.len();
            if rows.len() >= BATCH || bytes >= BATCH_BYTES {
                take(std::mem::take(&mut rows))?;
                bytes = 0;
            }
        }
        take(rows)?;
        Ok(done)
    }
}

/// A row that outlives its line.
fn owned(row: ExportedRow<CleanText<'_>>) -> ExportedRow<CleanText<'static>> {
    row.map_text(CleanText::into_owned)
}
