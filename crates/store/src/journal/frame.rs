//! The frame of a record: magic, length, checksum, JSON, newline.
//!
//! A frame is whole or ignored: `next` never returns part of one, and finds the next whole frame behind a torn one.

use serde::Serialize;
use std::io;

/// The last byte is the version of the payload; the frame itself is the same in all versions. It increases with every
/// change that an older reader could not parse, such as a new kind of event.
/// Readers stop at a version newer than theirs; they never skip it.
const MAGIC: [u8; 4] = *b"TOW1";
const HEADER: usize = 12;

/// Longer than any record we write: a length above it means a torn header.
const MAX_PAYLOAD: usize = 1 << 20;

/// The size of the longest whole frame.
pub(super) const MAX_FRAME: u64 = (HEADER + MAX_PAYLOAD + 1) as u64;

/// Fails for a record that is too long for readers.
pub(crate) fn encode<T: Serialize>(records: &[T]) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(512 * records.len());
    for record in records {
        let head = out.len();
        out.resize(head + HEADER, 0);
        serde_json::to_writer(&mut out, record)?;
        let length = out.len() - head - HEADER;
        if length > MAX_PAYLOAD {
            return Err(io::Error::other(format!("a record of {length} bytes is too long")));
        }
        let checksum = checksum(&out[head + HEADER..]);
        out[head..head + 4].copy_from_slice(&MAGIC);
        out[head + 4..head + 8].copy_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        out[head + 8..head + HEADER].copy_from_slice(&checksum.to_le_bytes());
        out.push(b'\n');
    }
    Ok(out)
}

/// The CRC-32 of a payload, four bytes at a time. Not by `crc32fast`: it asks for the processor's abilities, which takes
/// longer on a virtual machine than a hook takes for its event.
fn checksum(payload: &[u8]) -> u32 {
    let at = |table: usize, crc: u32| TABLES[table][(crc & 0xff) as usize];
    let (words, rest) = payload.as_chunks::<4>();
    let mut crc = u32::MAX;
    for word in words {
        let mixed = crc ^ u32::from_le_bytes(*word);
        crc = at(3, mixed) ^ at(2, mixed >> 8) ^ at(1, mixed >> 16) ^ at(0, mixed >> 24);
    }
    !rest.iter().fold(crc, |crc, byte| at(0, crc ^ u32::from(*byte)) ^ crc >> 8)
}

/// The checksum's remainder of each byte, alone and followed by one to three zero bytes.
static TABLES: [[u32; 256]; 4] = {
    let (mut tables, mut at) = ([[0; 256]; 4], 0);
    while at < 4 * 256 {
        let (table, byte) = (at / 256, at % 256);
        let mut crc = if table == 0 { byte as u32 } else { tables[table - 1][byte] };
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xedb8_8320 };
            bit += 1;
        }
        tables[table][byte] = crc;
        at += 1;
    }
    tables
};

/// The result of parsing the start of some bytes of the journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ParsedFrame<'a> {
    /// A whole frame of `length` bytes.
    Frame { payload: &'a [u8], length: usize },
    /// Bytes that are not a frame and never will be; `length` is how many to skip.
    Torn { length: usize },
    /// A frame of a newer format.
    Newer,
    /// Too few bytes to tell: a process may still be writing.
    Incomplete,
}

pub(crate) fn next(bytes: &[u8]) -> ParsedFrame<'_> {
    let Some(head) = bytes.get(..HEADER) else { return ParsedFrame::Incomplete };
    if head[..3] != MAGIC[..3] || head[3] < MAGIC[3] {
        return torn(bytes);
    }
    let length = number(&head[4..8]) as usize;
    if length > MAX_PAYLOAD {
        return torn(bytes);
    }
    let whole = HEADER + length + 1;
    let Some(payload) = bytes.get(HEADER..whole - 1) else {
        // Either the tail is being written, or a torn frame is followed by whole ones.
        return if next_frame(&bytes[1..]).is_some() { torn(bytes) } else { ParsedFrame::Incomplete };
    };
    if checksum(payload) != number(&head[8..HEADER]) {
        return torn(bytes);
    }
    match bytes.len() < whole {
        _ if head[3] != MAGIC[3] => ParsedFrame::Newer,
        true => ParsedFrame::Incomplete,
        false => ParsedFrame::Frame { payload, length: whole },
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// Skips to the next possible start of a frame, at least one byte further.
fn torn(bytes: &[u8]) -> ParsedFrame<'_> {
    let length =
        1 + bytes[1..].windows(3).position(|window| window == &MAGIC[..3]).unwrap_or(bytes.len() - 1);
    ParsedFrame::Torn { length }
}

/// The first whole frame with a correct checksum anywhere in `bytes`.
fn next_frame(bytes: &[u8]) -> Option<usize> {
    let mut starts =
        bytes.windows(3).enumerate().filter(|(_, window)| *window == &MAGIC[..3]).map(|(at, _)| at);
    starts.find(|at| {
        let Some(head) = bytes.get(*at..at + HEADER) else { return false };
        let length = number(&head[4..8]) as usize;
        let payload = bytes.get(at + HEADER..at + HEADER + length.min(MAX_PAYLOAD));
        payload
            .is_some_and(|payload| payload.len() == length && checksum(payload) == number(&head[8..HEADER]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_the_one_that_earlier_versions_wrote() {
        let bytes: Vec<u8> = (0..300_u32).map(|at| (at * 31 + at / 7) as u8).collect();
        for end in 0..bytes.len() {
            assert_eq!(checksum(&bytes[..end]), crc32fast::hash(&bytes[..end]), "{end} bytes");
        }
    }
}
