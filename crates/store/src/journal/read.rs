//! Reads the journal in order, from a reader's last position.
//!
//! Takes no lock and changes no file. Torn bytes are skipped and counted; an incomplete frame, which may still be
//! being written, or one of a newer format ends the read and is left for the next one.

use super::frame::{self, ParsedFrame};
use super::{JournalRecord, Segments};
use std::io::{self, Read, Seek, SeekFrom};
use towline_core::fault::FaultRecord;

/// A position in the journal: a segment's number and a byte offset within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JournalPosition {
    pub segment: u64,
    pub offset: u64,
}

/// Some records in order, and the position after them.
#[derive(Debug)]
pub struct JournalChunk {
    pub records: Vec<JournalRecord>,
    pub next: JournalPosition,
    /// Bytes that belonged to no whole record.
    pub torn_bytes: u64,
    /// Whole records of our format version that could not be deserialized.
    pub unreadable: u64,
    pub ended_by: ChunkEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkEnd {
    /// The limit was reached: there is more.
    Limit,
    /// No further whole frame yet.
    CaughtUp,
    /// The next frame was written by a newer version.
    Newer,
}

/// Bytes of journal that are searched for faults.
const MOST_SEARCHED_BYTES: u64 = 4 << 20;

/// The faults from `from` on, oldest first.
pub fn faults_from(segments: &Segments, from: JournalPosition) -> io::Result<Vec<FaultRecord>> {
    let records = read_from(segments, from, MOST_SEARCHED_BYTES)?.records.into_iter();
    let fault = |record| if let JournalRecord::Fault(fault) = record { Some(fault) } else { None };
    Ok(records.filter_map(fault).collect())
}

/// Reads on from `from`, at most about `limit` bytes.
pub fn read_from(segments: &Segments, from: JournalPosition, limit: u64) -> io::Result<JournalChunk> {
    let mut chunk = JournalChunk {
        records: vec![],
        next: segments.clamp(from),
        torn_bytes: 0,
        unreadable: 0,
        ended_by: ChunkEnd::CaughtUp,
    };
    let (begun, mut budget) = (chunk.next, limit);
    loop {
        let bytes = read_segment(segments, chunk.next, budget)?;
        budget = budget.saturating_sub(bytes.len() as u64);
        let end = take_frames(&bytes, &mut chunk);
        match (end, segments.after(chunk.next.segment)) {
            (ChunkEnd::Newer, _) => chunk.ended_by = ChunkEnd::Newer,
            // A frame longer than the limit is read whole: otherwise no reader would ever get past it.
            (ChunkEnd::Limit | ChunkEnd::CaughtUp, _) if budget == 0 && chunk.next == begun => {
                budget = frame::MAX_FRAME;
                continue;
            }
            (ChunkEnd::Limit | ChunkEnd::CaughtUp, _) if budget == 0 => chunk.ended_by = ChunkEnd::Limit,
            // A sealed segment does not grow: an incomplete frame in it is torn.
            (ChunkEnd::Limit | ChunkEnd::CaughtUp, Some(following)) => {
                chunk.torn_bytes += segments.size(chunk.next.segment).saturating_sub(chunk.next.offset);
                chunk.next = JournalPosition { segment: following, offset: 0 };
                continue;
            }
            (ChunkEnd::Limit | ChunkEnd::CaughtUp, None) => chunk.ended_by = ChunkEnd::CaughtUp,
        }
        return Ok(chunk);
    }
}

/// Larger than the records of a usual event, so that one read suffices.
const INITIAL_CAPACITY: usize = 4096;

fn read_segment(segments: &Segments, at: JournalPosition, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(INITIAL_CAPACITY);
    let read = segments.with_file(at.segment, |mut file| {
        if at.offset > 0 {
            file.seek(SeekFrom::Start(at.offset))?;
        }
        file.take(limit).read_to_end(&mut bytes)
    });
    read?;
    Ok(bytes)
}

/// Parses the whole frames in `bytes` and advances the chunk's position past them.
fn take_frames(bytes: &[u8], chunk: &mut JournalChunk) -> ChunkEnd {
    let mut at = 0;
    loop {
        let taken = match frame::next(&bytes[at..]) {
            ParsedFrame::Incomplete => return ChunkEnd::CaughtUp,
            ParsedFrame::Newer => return ChunkEnd::Newer,
            ParsedFrame::Torn { length } => {
                chunk.torn_bytes += length as u64;
                length
            }
            ParsedFrame::Frame { payload, length } => {
                match serde_json::from_slice(payload) {
                    Ok(record) => chunk.records.push(record),
                    Err(_) => chunk.unreadable += 1,
                }
                length
            }
        };
        at += taken;
        chunk.next.offset += taken as u64;
    }
}
