//! The frame of a record: magic, length, checksum, JSON, newline.
//!
//! A frame is whole or it is not there: `next` never returns part of one, and finds the next whole frame behind a torn one.

use super::Record;
use std::io;

/// The last byte is the version of what is inside; the frame itself is the same in all versions. It goes up with every
/// change that an older reader could not understand, such as a new kind of event.
/// Readers stop at a version that is newer than theirs; they never skip it.
const MAGIC: [u8; 4] = *b"TOW1";
const HEAD: usize = 12;

/// Longer than any record we write: a length above it is a torn head.
const LONGEST: usize = 1 << 20;

/// Bytes that hold any whole frame.
pub(super) const LONGEST_WHOLE: u64 = (HEAD + LONGEST + 1) as u64;

/// Refuses a record that no reader would take for whole.
pub(super) fn encode(records: &[Record]) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(512 * records.len());
    for record in records {
        let head = out.len();
        out.resize(head + HEAD, 0);
        serde_json::to_writer(&mut out, record)?;
        let length = out.len() - head - HEAD;
        if length > LONGEST {
            return Err(io::Error::other(format!("a record of {length} bytes is too long")));
        }
        let checksum = crc32fast::hash(&out[head + HEAD..]);
        out[head..head + 4].copy_from_slice(&MAGIC);
        out[head + 4..head + 8].copy_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        out[head + 8..head + HEAD].copy_from_slice(&checksum.to_le_bytes());
        out.push(b'\n');
    }
    Ok(out)
}

/// What stands at the start of some bytes of the journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// A whole frame of `length` bytes.
    Frame { payload: &'a [u8], length: usize },
    /// Bytes that are no frame and never will be: skip so many.
    Torn { length: usize },
    /// A frame of a newer format.
    Newer,
    /// Not enough bytes to tell: perhaps somebody is still writing.
    Incomplete,
}

pub(super) fn next(bytes: &[u8]) -> Found<'_> {
    let Some(head) = bytes.get(..HEAD) else { return Found::Incomplete };
    if head[..3] != MAGIC[..3] || head[3] < MAGIC[3] {
        return torn(bytes);
    }
    let length = number(&head[4..8]) as usize;
    if length > LONGEST {
        return torn(bytes);
    }
    let whole = HEAD + length + 1;
    let Some(payload) = bytes.get(HEAD..whole - 1) else {
        // Either the tail is being written, or a torn frame is followed by whole ones.
        return if next_frame(&bytes[1..]).is_some() { torn(bytes) } else { Found::Incomplete };
    };
    if crc32fast::hash(payload) != number(&head[8..HEAD]) {
        return torn(bytes);
    }
    match bytes.len() < whole {
        _ if head[3] != MAGIC[3] => Found::Newer,
        true => Found::Incomplete,
        false => Found::Frame { payload, length: whole },
    }
}

fn number(four: &[u8]) -> u32 {
    four.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// Skips to the next place that looks like a frame's start, at least one byte further.
fn torn(bytes: &[u8]) -> Found<'_> {
    let length =
        1 + bytes[1..].windows(3).position(|window| window == &MAGIC[..3]).unwrap_or(bytes.len() - 1);
    Found::Torn { length }
}

/// The first whole frame with a right checksum anywhere in `bytes`.
fn next_frame(bytes: &[u8]) -> Option<usize> {
    let mut starts =
        bytes.windows(3).enumerate().filter(|(_, window)| *window == &MAGIC[..3]).map(|(at, _)| at);
    starts.find(|at| {
        let Some(head) = bytes.get(*at..at + HEAD) else { return false };
        let length = number(&head[4..8]) as usize;
        let payload = bytes.get(at + HEAD..at + HEAD + length.min(LONGEST));
        payload.is_some_and(|payload| {
            payload.len() == length && crc32fast::hash(payload) == number(&head[8..HEAD])
        })
    })
}
