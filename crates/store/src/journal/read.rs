//! Reading the journal in order, from where the last reader stopped.
//!
//! Reads without any lock and changes nothing. What is torn is skipped and counted; what may still be in the making,
//! or is of a newer format, ends the reading and is left for the next time.

use super::frame::{self, Found};
use super::{Record, Segments};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// A place in the journal: a segment's number and a byte within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub segment: u64,
    pub offset: u64,
}

/// Some records in order, and where reading goes on after them.
#[derive(Debug)]
pub struct Chunk {
    pub records: Vec<Record>,
    pub next: Position,
    /// Bytes that belonged to no whole record.
    pub torn_bytes: u64,
    /// Whole records that could not be understood although their format is ours.
    pub unreadable: u64,
    pub ended_by: End,
}

/// Why a chunk ends where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The limit was reached: there is more.
    Limit,
    /// Nothing further is whole yet.
    CaughtUp,
    /// Here begins what a newer version wrote.
    Newer,
}

/// Reads on from `from`, at most about `limit` bytes.
pub fn read_from(segments: &Segments, from: Position, limit: u64) -> io::Result<Chunk> {
    let mut chunk = Chunk {
        records: vec![],
        next: segments.clamp(from),
        torn_bytes: 0,
        unreadable: 0,
        ended_by: End::CaughtUp,
    };
    let (begun, mut budget) = (chunk.next, limit);
    loop {
        let bytes = read_segment(segments, chunk.next, budget)?;
        budget = budget.saturating_sub(bytes.len() as u64);
        let end = take_frames(&bytes, &mut chunk);
        match (end, segments.after(chunk.next.segment)) {
            (End::Newer, _) => chunk.ended_by = End::Newer,
            // A frame longer than the limit is read whole: nobody would ever get past it else.
            (End::Limit | End::CaughtUp, _) if budget == 0 && chunk.next == begun => {
                budget = frame::LONGEST_WHOLE;
                continue;
            }
            (End::Limit | End::CaughtUp, _) if budget == 0 => chunk.ended_by = End::Limit,
            // A sealed segment gets no more bytes: what is not whole in it never will be.
            (End::Limit | End::CaughtUp, Some(following)) => {
                chunk.torn_bytes += segments.size(chunk.next.segment).saturating_sub(chunk.next.offset);
                chunk.next = Position { segment: following, offset: 0 };
                continue;
            }
            (End::Limit | End::CaughtUp, None) => chunk.ended_by = End::CaughtUp,
        }
        return Ok(chunk);
    }
}

/// More than the records of a usual event: they are read at once.
const USUAL: usize = 4096;

fn read_segment(segments: &Segments, at: Position, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL);
    let mut file = match File::open(segments.path(at.segment)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(bytes),
        Err(error) => return Err(error),
    };
    if at.offset > 0 {
        file.seek(SeekFrom::Start(at.offset))?;
    }
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Takes the whole frames off `bytes` and moves the chunk's position behind them.
fn take_frames(bytes: &[u8], chunk: &mut Chunk) -> End {
    let mut at = 0;
    loop {
        let taken = match frame::next(&bytes[at..]) {
            Found::Incomplete => return End::CaughtUp,
            Found::Newer => return End::Newer,
            Found::Torn { length } => {
                chunk.torn_bytes += length as u64;
                length
            }
            Found::Frame { payload, length } => {
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
