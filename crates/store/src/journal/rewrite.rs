//! Taking something out of the journal: a sealed segment is written beside itself without it, then put in its place.
//!
//! A segment is the old one or the new one, never half of each. Only segments that are folded to their end are touched, so
//! that no remembered place points into them. The file that is appended to is never rewritten: it is sealed first.

use super::frame::{self, Found};
use super::{Record, Segments};
use crate::home::Home;
use crate::lock::FoldLock;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What stands in a segment.
#[expect(clippy::large_enum_variant, reason = "nearly all entries are records; none is kept")]
pub enum Entry<'a> {
    Record(Record),
    /// Bytes that are no record, or none that this version understands.
    Bytes(&'a [u8]),
}

/// What becomes of an entry.
#[expect(clippy::large_enum_variant, reason = "one at a time")]
pub enum Fate {
    Kept,
    Changed(Record),
    Gone,
}

/// What was, or would be, taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    pub gone: usize,
    pub changed: usize,
}

impl Rewritten {
    fn is_nothing(self) -> bool {
        self == Rewritten::default()
    }

    pub fn plus(self, other: Rewritten) -> Rewritten {
        Rewritten { gone: self.gone + other.gone, changed: self.changed + other.changed }
    }
}

/// The suffix of a segment that is being written.
const DRAFT: &str = "new";

/// Rewrites all sealed segments. May be stopped at any point and done again.
pub fn rewrite(
    home: &Home,
    _lock: &FoldLock,
    decide: &mut dyn FnMut(Entry<'_>) -> Fate,
) -> io::Result<Rewritten> {
    remove_drafts(home)?;
    let segments = Segments::list(home)?;
    let mut all = Rewritten::default();
    for path in segments.paths().rev().skip(1) {
        let (bytes, done) = without(&fs::read(path)?, decide)?;
        if !done.is_nothing() {
            replace(path, &bytes)?;
        }
        all = all.plus(done);
    }
    Ok(all)
}

/// Counts what would be taken out, also of the file that is appended to.
pub fn rehearse(home: &Home, decide: &mut dyn FnMut(Entry<'_>) -> Fate) -> io::Result<Rewritten> {
    let mut all = Rewritten::default();
    let segments = match Segments::list(home) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(all),
        segments => segments?,
    };
    for path in segments.paths() {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            bytes => bytes?,
        };
        all = all.plus(without(&bytes, decide)?.1);
    }
    Ok(all)
}

/// The segment without what goes.
fn without(bytes: &[u8], decide: &mut dyn FnMut(Entry<'_>) -> Fate) -> io::Result<(Vec<u8>, Rewritten)> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut done = Rewritten::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (length, entry) = match frame::next(rest) {
            Found::Newer => return Err(io::Error::from(ErrorKind::Unsupported)),
            // Nobody appends any more: what is not whole never will be.
            Found::Incomplete => (rest.len(), Entry::Bytes(rest)),
            Found::Torn { length } => (length, Entry::Bytes(&rest[..length])),
            Found::Frame { payload, length } => {
                let record = serde_json::from_slice(payload).map(Entry::Record);
                (length, record.unwrap_or(Entry::Bytes(payload)))
            }
        };
        match decide(entry) {
            Fate::Kept => out.extend_from_slice(&rest[..length]),
            Fate::Changed(record) => {
                out.extend(frame::encode(&[record])?);
                done.changed += 1;
            }
            Fate::Gone => done.gone += 1,
        }
        rest = &rest[length..];
    }
    Ok((out, done))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = PathBuf::from(format!("{}.{DRAFT}", path.display()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// What somebody left behind who was killed while he wrote.
fn remove_drafts(home: &Home) -> io::Result<()> {
    for entry in fs::read_dir(home.journal())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == DRAFT) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
