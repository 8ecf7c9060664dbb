//! Removes records from the journal: a sealed segment is written to a new file without them, which then replaces it.
//!
//! Replacing is atomic. Only fully applied segments are rewritten, so that no stored position points into one.
//! The active file is never rewritten: it is sealed first.

use super::frame::{self, ParsedFrame};
use super::{JournalRecord, Segments};
use crate::columns::sums;
use crate::home::{DataFolder, if_exists};
use crate::lock::ProjectionLock;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use towline_core::event::{Event, EventScene};

#[expect(clippy::large_enum_variant, reason = "nearly all entries are records; none is kept")]
pub enum JournalEntry<'a> {
    Record(JournalRecord),
    /// Bytes that are not a record, or not one that this version understands.
    Bytes(&'a [u8]),
}

/// The decision about an entry.
#[expect(clippy::large_enum_variant, reason = "one at a time")]
pub enum Rewrite {
    Keep,
    Replace(JournalRecord),
    Remove,
}

/// The scene of an event that has none of its own, if it is known.
pub type SceneOf<'a> = &'a dyn Fn(&Event) -> Option<EventScene>;

pub type Decide<'a> = &'a mut dyn FnMut(JournalEntry<'_>) -> Rewrite;

/// How many entries were, or would be, removed or changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteCounts {
    pub gone: usize,
    pub changed: usize,
}

impl RewriteCounts {
    fn is_empty(self) -> bool {
        self == RewriteCounts::default()
    }
}

sums!(RewriteCounts { gone, changed });

/// The suffix of a segment that is being written.
const DRAFT: &str = "new";

/// Rewrites all sealed segments. May be interrupted at any point and repeated.
pub fn rewrite(
    home: &DataFolder,
    _lock: &ProjectionLock,
    decide: &mut dyn FnMut(JournalEntry<'_>) -> Rewrite,
) -> io::Result<RewriteCounts> {
    remove_drafts(home)?;
    let segments = Segments::list(home)?;
    let mut all = RewriteCounts::default();
    for path in segments.paths().rev().skip(1) {
        let (bytes, done) = rewritten(&fs::read(path)?, decide)?;
        if !done.is_empty() {
            replace(path, &bytes)?;
        }
        all = all.plus(done);
    }
    Ok(all)
}

/// Reduces a sealed segment to what the user wrote, or removes it. Returns the bytes freed. `scene_of` tells where the
/// session of an event runs: the events that told so before are removed.
pub(super) fn keep_only_written(path: &Path, scene_of: SceneOf<'_>) -> io::Result<u64> {
    let before = fs::read(path)?;
    let (after, _) = rewritten(&before, &mut |entry| match entry {
        JournalEntry::Record(JournalRecord::Event(event)) if event.happening.is_kept() => {
            match scene_of(&event).filter(|_| event.scene.is_none()) {
                Some(scene) => Rewrite::Replace(JournalRecord::Event(Event { scene: Some(scene), ..event })),
                None => Rewrite::Keep,
            }
        }
        JournalEntry::Record(_) | JournalEntry::Bytes(_) => Rewrite::Remove,
    })?;
    match after.len() {
        0 => fs::remove_file(path)?,
        length if length != before.len() => replace(path, &after)?,
        _ => {}
    }
    Ok(before.len().saturating_sub(after.len()) as u64)
}

/// Counts the entries that would be removed or changed, including those of the active file.
pub fn preview_rewrite(
    home: &DataFolder,
    decide: &mut dyn FnMut(JournalEntry<'_>) -> Rewrite,
) -> io::Result<RewriteCounts> {
    let mut all = RewriteCounts::default();
    let Some(segments) = if_exists(Segments::list(home))? else { return Ok(all) };
    for path in segments.paths() {
        let Some(bytes) = if_exists(fs::read(path))? else { continue };
        all = all.plus(rewritten(&bytes, decide)?.1);
    }
    Ok(all)
}

/// The segment's bytes after `decide` was applied to each entry.
fn rewritten(
    bytes: &[u8],
    decide: &mut dyn FnMut(JournalEntry<'_>) -> Rewrite,
) -> io::Result<(Vec<u8>, RewriteCounts)> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut done = RewriteCounts::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (length, entry) = match frame::next(rest) {
            ParsedFrame::Newer => return Err(io::Error::from(ErrorKind::Unsupported)),
            // The segment does not grow: an incomplete frame is torn.
            ParsedFrame::Incomplete => (rest.len(), JournalEntry::Bytes(rest)),
            ParsedFrame::Torn { length } => (length, JournalEntry::Bytes(&rest[..length])),
            ParsedFrame::Frame { payload, length } => {
                let record = serde_json::from_slice(payload).map(JournalEntry::Record);
                (length, record.unwrap_or(JournalEntry::Bytes(payload)))
            }
        };
        match decide(entry) {
            Rewrite::Keep => out.extend_from_slice(&rest[..length]),
            Rewrite::Replace(record) => {
                out.extend(frame::encode(&[record])?);
                done.changed += 1;
            }
            Rewrite::Remove => done.gone += 1,
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

/// Removes files left by a process that was killed while writing.
fn remove_drafts(home: &DataFolder) -> io::Result<()> {
    for entry in fs::read_dir(home.journal())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == DRAFT) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
