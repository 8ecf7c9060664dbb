//! The journal: every event is accepted here first, by one append of one framed record.
//!
//! It knows frames, files and order, and nothing of what a record means. Nothing is ever changed in place:
//! a file is appended to, sealed under a number, replaced whole where something of it must go, and one day removed.

mod frame;
mod read;
mod rewrite;
mod segments;

pub use read::{Chunk, End, Position, read_from};
pub use rewrite::{Entry, Fate, Rewritten, rehearse, rewrite};
pub use segments::{Segments, expire, seal, sync, unsealed_bytes};

use crate::home::{Home, append_to, modified_at};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use towline_core::event::Event;
use towline_core::fault::Fault;
use towline_core::time::Timestamp;

/// What one frame holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all records are events; boxing them would cost every hook"
)]
pub enum Record {
    Event(Event),
    Fault(Fault),
}

/// The journal could not take a record.
#[derive(Debug, thiserror::Error)]
#[error("could not append to the journal in {folder}")]
pub struct AppendError {
    folder: String,
    source: io::Error,
}

/// When something was accepted last; `None` if that cannot be told. Where nothing was since the last sealing, that, or the
/// making of the folder, is not before it.
pub fn heard_at(home: &Home) -> Option<Timestamp> {
    modified_at(&segments::active(home)).or_else(|| modified_at(&home.journal()))
}

/// Appends records by one write. Once this returns they are accepted: no kill and no broken database loses them.
pub fn append(home: &Home, records: &[Record]) -> Result<(), AppendError> {
    let failed = |source| AppendError { folder: home.journal().display().to_string(), source };
    let frames = frame::encode(records).map_err(failed)?;
    append_frames(home, &frames).map_err(failed)
}

/// How often a sealing may come in between before something must be wrong.
const TRIES: usize = 16;

fn append_frames(home: &Home, frames: &[u8]) -> io::Result<()> {
    let path = segments::active(home);
    for _ in 0..TRIES {
        let file = open_active(home, &path)?;
        // Sealing waits for all who hold this; whoever gets it after a sealing sees that the file has moved.
        file.lock_shared()?;
        if is_still_at(&file, &path)? {
            return write_once(&file, frames);
        }
    }
    Err(io::Error::other("the journal was sealed again and again during one append"))
}

fn open_active(home: &Home, path: &Path) -> io::Result<File> {
    match append_to(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            home.create()?;
            append_to(path)
        }
        opened => opened,
    }
}

fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(named) => Ok((held.dev(), held.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// One write, never continued: the rest of a half-written frame would land behind somebody else's.
/// A torn frame is skipped by whoever reads.
fn write_once(mut file: &File, frames: &[u8]) -> io::Result<()> {
    let written = file.write(frames)?;
    if written == frames.len() { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
}

#[cfg(test)]
mod tests;
