//! Overwrites the unused bytes of a database file: deleted rows may have left copies there when SQLite rebuilt a page.
//!
//! Reads the file once and writes only bytes that are not zero: `VACUUM` copies everything, needs the size of the file
//! again on disk, and took 52 s for 1.8 GB. Must not change a byte that SQLite reads, and needs a file without a WAL and
//! without a writer. Tails of overflow pages are clean only if all deletions were secure, as those of the archive are.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Pages that are read at once.
const AT_ONCE: usize = 256;

/// From this page number on, an overflow page can begin like a page of a tree.
const MOST_PAGES: u64 = 1 << 24;

/// SQLite locks bytes from here on, and uses no page that holds them.
const LOCKED_BYTE: u64 = 1 << 30;

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overwritten {
    /// How many of the bytes were not zero.
    pub bytes: u64,
    /// The page that the next step begins with; `None` at the end of the file.
    pub next: Option<u64>,
}

/// Overwrites the unused bytes of at most `most` bytes of the file with zeros, from this page on; the first step also does
/// the free pages. A file too large to tell its pages apart is refused as unsupported.
pub(crate) fn overwrite(path: &Path, from: u64, most: u64) -> io::Result<Overwritten> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let Some(layout) = Layout::of(&file)? else { return Err(io::ErrorKind::Unsupported.into()) };
    let mut overwritten = if from <= 1 { layout.overwrite_free_pages(&file)? } else { 0 };
    let end = layout.pages.min(from.saturating_add(most / layout.page_size as u64));
    let mut block = vec![0; AT_ONCE * layout.page_size];
    for first in (from.max(1)..=end).step_by(AT_ONCE) {
        let count = (end - first + 1).min(AT_ONCE as u64) as usize;
        let block = &mut block[..count * layout.page_size];
        file.read_exact_at(block, layout.offset(first))?;
        for (number, page) in (first..).zip(block.chunks_exact(layout.page_size)) {
            for unused in layout.unused_in_tree_page(number, page) {
                overwritten += zero(&file, layout.offset(number), page, unused)?;
            }
        }
    }
    file.sync_all()?;
    Ok(Overwritten { bytes: overwritten, next: (end < layout.pages).then_some(end + 1) })
}

struct Layout {
    page_size: usize,
    /// The bytes of a page that SQLite uses.
    usable: usize,
    pages: u64,
    /// Pages between two maps of pointers; 0 if there are none.
    map_every: u64,
    first_free_list: u64,
}

impl Layout {
    fn of(file: &File) -> io::Result<Option<Layout>> {
        let bytes = file.metadata()?.len();
        let mut header = [0; 100];
        if bytes == 0 {
            return Ok(None);
        }
        file.read_exact_at(&mut header, 0)?;
        if !header.starts_with(b"SQLite format 3\0") {
            return Ok(None);
        }
        let page_size = match number16(&header, 16) {
            1 => 65_536,
            size => size,
        };
        let usable = page_size.saturating_sub(usize::from(header[20]));
        let (pages, has_maps) = (bytes / page_size.max(1) as u64, number32(&header, 52) > 0);
        let layout = Layout {
            page_size,
            usable,
            pages,
            map_every: if has_maps { usable as u64 / 5 + 1 } else { 0 },
            first_free_list: number32(&header, 32),
        };
        Ok((page_size >= 512 && pages < MOST_PAGES).then_some(layout))
    }

    fn offset(&self, page: u64) -> u64 {
        (page - 1) * self.page_size as u64
    }

    /// Whether this page is no part of a tree, whatever its bytes are.
    fn is_special(&self, page: u64) -> bool {
        let locked = LOCKED_BYTE / self.page_size as u64 + 1;
        let is_map = |page: u64| self.map_every > 0 && page >= 2 && (page - 2).is_multiple_of(self.map_every);
        page == locked || is_map(page) || (page == locked + 1 && is_map(locked))
    }

    /// The gap before the cells, and the free blocks between them. Nothing for other pages and for damaged ones.
    fn unused_in_tree_page(&self, number: u64, page: &[u8]) -> Vec<Range<usize>> {
        let header = if number == 1 { 100 } else { 0 };
        let header_size = match page[header] {
            2 | 5 => 12,
            10 | 13 => 8,
            _ => return vec![],
        };
        let cells = number16(page, header + 3);
        let begins = match number16(page, header + 5) {
            0 => 65_536,
            begins => begins,
        };
        let gap = header + header_size + 2 * cells..begins;
        if self.is_special(number) || gap.start > gap.end || gap.end > self.usable {
            return vec![];
        }
        let mut unused = vec![gap.clone()];
        let mut block = number16(page, header + 1);
        while block >= gap.end && block + 4 <= self.usable {
            let (next, end) = (number16(page, block), block + number16(page, block + 2));
            if end < block + 4 || end > self.usable || (next != 0 && next < end) {
                return vec![];
            }
            unused.push(block + 4..end);
            block = next;
        }
        unused
    }

    /// Follows the lists of free pages, each of which lists others.
    fn overwrite_free_pages(&self, file: &File) -> io::Result<u64> {
        let (mut list, mut overwritten, mut lists) = (self.first_free_list, 0, 0);
        let (mut trunk, mut page) = (vec![0; self.page_size], vec![0; self.page_size]);
        while (2..=self.pages).contains(&list) && lists <= self.pages {
            file.read_exact_at(&mut trunk, self.offset(list))?;
            let listed = (number32(&trunk, 4) as usize).min(self.usable / 4 - 2);
            overwritten += zero(file, self.offset(list), &trunk, 8 + 4 * listed..self.page_size)?;
            let free = (0..listed).map(|place| number32(&trunk, 8 + 4 * place));
            for free in free.filter(|free| (2..=self.pages).contains(free)) {
                file.read_exact_at(&mut page, self.offset(free))?;
                overwritten += zero(file, self.offset(free), &page, 0..self.page_size)?;
            }
            (list, lists) = (number32(&trunk, 0), lists + 1);
        }
        Ok(overwritten)
    }
}

/// Overwrites a range of a page, unless it is zero already. Returns how many bytes were not zero.
fn zero(file: &File, offset: u64, page: &[u8], range: Range<usize>) -> io::Result<u64> {
    let left = page[range.clone()].iter().filter(|byte| **byte != 0).count() as u64;
    if left > 0 {
        file.write_all_at(&vec![0; range.len()], offset + range.start as u64)?;
    }
    Ok(left)
}

fn number16(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
}

fn number32(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{complaints, connect};
    use rusqlite::{Connection, OpenFlags};

    fn holds(path: &Path, needle: &str) -> bool {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    }

    fn open(path: &Path) -> Connection {
        connect(path, OpenFlags::default()).unwrap()
    }

    /// Rows that grow and shrink until pages were rebuilt, deletion without `secure_delete`, free pages.
    fn worn(path: &Path) -> Connection {
        let db = open(path);
        db.execute_batch(
            "pragma auto_vacuum = incremental; create table t (id integer primary key, name text, words text);
             create index t_by_name on t (name);",
        )
        .unwrap();
        db.execute_batch("begin").unwrap();
        for round in 0..40_i64 {
            for row in 0..300_i64 {
                let words = format!(
                    "SECRET-{row}-{}",
                    "x".repeat(usize::try_from((row * 31 + round * 97) % 900).unwrap())
                );
                db.execute(
                    "insert or replace into t values (?1, ?2, ?3)",
                    (row, format!("NAME-{}-{row}", round * 7919 % 1000), words),
                )
                .unwrap();
            }
        }
        db.execute_batch("commit; delete from t where id % 3 > 0").unwrap();
        db.execute("update t set name = 'kept', words = 'kept-' || id", []).unwrap();
        db
    }

    #[test]
    fn rows_that_were_deleted_or_overwritten_left_copies_in_unused_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("worn.db");
        drop(worn(&path));
        assert!(holds(&path, "SECRET-") && holds(&path, "NAME-"), "otherwise there is nothing to show");
        let (mut next, mut bytes) = (Some(1), 0);
        while let Some(from) = next {
            let step = overwrite(&path, from, 40 * 4096).unwrap();
            (next, bytes) = (step.next, bytes + step.bytes);
        }
        assert!(bytes > 0);
        assert!(!holds(&path, "SECRET-") && !holds(&path, "NAME-"));
        let again = overwrite(&path, 1, u64::MAX).unwrap();
        assert_eq!(again, Overwritten { bytes: 0, next: None }, "once is enough");
        let db = open(&path);
        assert_eq!(complaints(&db).unwrap(), Vec::<String>::new());
        let kept: (i64, String) = db
            .query_row("select count(*), max(words) from t", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!(kept, (100, "kept-99".to_owned()));
        db.execute_batch("pragma incremental_vacuum; insert into t values (1, 'more', 'more')").unwrap();
        assert_eq!(complaints(&db).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_is_no_database_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("noise");
        let noise: Vec<u8> = (0..9_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        std::fs::write(&path, &noise).unwrap();
        assert!(overwrite(&path, 1, u64::MAX).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), noise);
        std::fs::write(&path, "").unwrap();
        assert!(overwrite(&path, 1, u64::MAX).is_err());
    }
}
