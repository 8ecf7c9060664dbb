//! The journal: every event is accepted here first, by one append of one framed record.
//!
//! Handles frames, files and order, not the meaning of a record. No record is changed in place: a file is appended to,
//! sealed under a number, replaced whole when a record must be erased, and finally removed.

pub(crate) mod frame;
mod read;
mod rewrite;
mod segments;

pub use read::{ChunkEnd, JournalChunk, JournalPosition, faults_from, read_from};
pub use rewrite::{Decide, JournalEntry, Rewrite, RewriteCounts, preview_rewrite, rewrite};
pub use segments::{Segments, expire, seal, sync, unsealed_bytes};

use crate::home::{DataFolder, append_to, is_file_at, modified_at};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use towline_core::event::Event;
use towline_core::fault::FaultRecord;
use towline_core::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all records are events; boxing them would cost every hook"
)]
pub enum JournalRecord {
    Event(Event),
    Fault(FaultRecord),
}

#[derive(Debug, thiserror::Error)]
#[error("could not append to the journal in {folder}")]
pub struct AppendError {
    folder: String,
    source: io::Error,
}

/// The time of the last append; `None` if it cannot be determined. If there was none since the last sealing, the time
/// of that sealing, or of the folder's creation, which is not earlier.
pub fn last_append_at(home: &DataFolder) -> Option<Timestamp> {
    modified_at(&segments::active(home)).or_else(|| modified_at(&home.journal()))
}

/// Appends records with one write. Once this returns they are accepted: no kill and no damaged database loses them.
pub fn append(home: &DataFolder, records: &[JournalRecord]) -> Result<(), AppendError> {
    let failed = |source| AppendError { folder: home.journal().display().to_string(), source };
    let frames = frame::encode(records).map_err(failed)?;
    append_frames(home, &frames).map_err(failed)
}

/// How many sealings may interrupt one append before something must be wrong.
const TRIES: usize = 16;

fn append_frames(home: &DataFolder, frames: &[u8]) -> io::Result<()> {
    let path = segments::active(home);
    for _ in 0..TRIES {
        let file = open_active(home, &path)?;
        // `seal` waits for all holders of this lock; after a sealing, an appender sees here that the file was renamed.
        file.lock_shared()?;
        if is_file_at(&file, &path)? {
            return write_once(&file, frames);
        }
    }
    Err(io::Error::other("the journal was sealed again and again during one append"))
}

fn open_active(home: &DataFolder, path: &Path) -> io::Result<File> {
    match append_to(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            home.create()?;
            append_to(path)
        }
        opened => opened,
    }
}

/// One write, never continued: the rest of a half-written frame would land behind another process's frame.
/// Readers skip a torn frame.
fn write_once(mut file: &File, frames: &[u8]) -> io::Result<()> {
    let written = file.write(frames)?;
    if written == frames.len() { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
}

#[cfg(test)]
mod tests;
