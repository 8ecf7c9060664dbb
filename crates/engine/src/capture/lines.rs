//! Reads the complete lines of a file from an offset on, block by block.
//!
//! An unfinished last line is left for the next read. A line longer than any agent writes is skipped: memory
//! use is bounded for any file.

use super::opened::Opened;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes read, and by a capture written, at a time: a block fits into the CPU cache while it is parsed.
const BLOCK: usize = 512 << 10;

/// More than any agent writes in one line.
const LONGEST_LINE: usize = 64 << 20;

pub(super) struct LineReader<'b> {
    file: Opened,
    /// Bytes read but not yet returned, from `offset` on.
    buffer: &'b mut Vec<u8>,
    offset: u64,
    /// The length of the block returned last.
    given: usize,
    /// Inside a line that is being skipped.
    is_passing: bool,
}

/// Some complete lines.
pub(super) struct LineBlock<'a> {
    pub lines: &'a [u8],
    /// The file offset after them.
    pub end: u64,
    /// An oversized line before them was skipped.
    pub passed_over: bool,
}

impl<'b> LineReader<'b> {
    /// `buffer` may be reused from another file.
    pub fn from(file: impl Into<Opened>, offset: u64, buffer: &'b mut Vec<u8>) -> io::Result<Self> {
        let mut lines = Self { file: file.into(), buffer, offset, given: 0, is_passing: false };
        lines.go_to(offset)?;
        Ok(lines)
    }

    /// Goes on from this offset, which begins a line.
    pub fn go_to(&mut self, offset: u64) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.buffer.clear();
        (self.offset, self.given, self.is_passing) = (offset, 0, false);
        Ok(())
    }

    /// The next complete lines; `None` at the end, or before an unfinished line.
    pub fn next(&mut self) -> io::Result<Option<LineBlock<'_>>> {
        self.buffer.drain(..self.given);
        self.offset += self.given as u64;
        self.given = 0;
        let mut passed_over = false;
        loop {
            let searched = self.buffer.len();
            let read = self.file.by_ref().take(BLOCK as u64).read_to_end(self.buffer)?;
            if read == 0 && searched == 0 {
                return Ok(None);
            }
            if self.is_passing {
                // A skipped line leaves nothing in the buffer: all of it is new.
                passed_over = !self.pass_over();
            }
            if let Some(end) = memchr::memrchr(b'\n', &self.buffer[searched..]) {
                self.given = searched + end + 1;
                let end = self.offset + self.given as u64;
                return Ok(Some(LineBlock { lines: &self.buffer[..self.given], end, passed_over }));
            }
            if self.buffer.len() > LONGEST_LINE {
                self.is_passing = true;
                self.pass_over();
            } else if read == 0 {
                return Ok(None);
            }
        }
    }

    /// The underlying file, for reads at any offset.
    pub fn file(&self) -> &Opened {
        &self.file
    }

    /// Drops the bytes of an oversized line; returns whether the line goes on.
    fn pass_over(&mut self) -> bool {
        let end = memchr::memchr(b'\n', self.buffer).map_or(self.buffer.len(), |end| end + 1);
        self.is_passing = end == self.buffer.len() && self.buffer.last() != Some(&b'\n');
        self.buffer.drain(..end);
        self.offset += end as u64;
        self.is_passing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn all(lines: &mut LineReader<'_>) -> (Vec<u8>, u64) {
        let (mut found, mut end) = (vec![], 0);
        while let Some(block) = lines.next().unwrap() {
            found.extend_from_slice(block.lines);
            end = block.end;
        }
        (found, end)
    }

    #[test]
    fn a_line_that_is_being_written_is_left_for_the_next_time() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"one\ntwo\nthr").unwrap();
        let (found, end) = all(&mut LineReader::from(file.reopen().unwrap(), 0, &mut vec![]).unwrap());
        assert_eq!((found.as_slice(), end), (&b"one\ntwo\n"[..], 8));
        file.write_all(b"ee\n").unwrap();
        let (found, end) = all(&mut LineReader::from(file.reopen().unwrap(), end, &mut vec![]).unwrap());
        assert_eq!((found.as_slice(), end), (&b"three\n"[..], 14));
    }

    #[test]
    fn blocks_end_at_lines_however_they_fall() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let text: String = (0..300_000).map(|n| format!("line {n}{}\n", "x".repeat(n % 97))).collect();
        file.write_all(text.as_bytes()).unwrap();
        let mut buffer = vec![];
        let mut lines = LineReader::from(file.reopen().unwrap(), 0, &mut buffer).unwrap();
        let mut found = vec![];
        while let Some(block) = lines.next().unwrap() {
            assert!(block.lines.ends_with(b"\n") && !block.passed_over);
            found.extend_from_slice(block.lines);
            assert_eq!(block.end, found.len() as u64);
        }
        assert!(found == text.as_bytes());
    }

    #[test]
    fn a_line_longer_than_any_agent_writes_is_passed_over_and_told() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"before\n").unwrap();
        file.write_all(&vec![b'x'; LONGEST_LINE + BLOCK]).unwrap();
        file.write_all(b"\nafter\n").unwrap();
        let mut buffer = vec![];
        let mut lines = LineReader::from(file.reopen().unwrap(), 0, &mut buffer).unwrap();
        let first = lines.next().unwrap().unwrap();
        assert_eq!((first.lines, first.passed_over), (&b"before\n"[..], false));
        let second = lines.next().unwrap().unwrap();
        assert_eq!((second.lines, second.passed_over), (&b"after\n"[..], true));
        assert_eq!(second.end, file.as_file().metadata().unwrap().len());
        assert!(lines.next().unwrap().is_none());
    }
}
