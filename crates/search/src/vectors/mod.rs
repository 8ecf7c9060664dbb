//! Vectors of documents in one file: rows of one length, only ever added at its end, mapped and scanned as they lie.
//!
//! Derived, like the index. A row that was cut off by a kill is passed over; a file of another model is as good as none.
//! Nothing here is repaired in place: whoever has the file mapped must not see it shrink.

mod near;
mod writer;

pub use near::Near;
pub use writer::VectorWriter;

use std::collections::HashMap;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::Path;

use tantivy::directory::error::OpenReadError;
use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

/// Whose vectors a file holds: others cannot be compared with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorsOf {
    /// Tells one model from another.
    pub model: u64,
    pub dimensions: usize,
}

/// The file's first bytes: `TOWV`, a version, the length of a vector, the model.
const HEAD: usize = 24;
const MAGIC: &[u8; 4] = b"TOWV";
const VERSION: u32 = 1;

/// Before a row's numbers: the document, what was embedded of it, what the numbers are to be multiplied by.
const BEFORE: usize = 20;
/// After them: a checksum of all of it.
const AFTER: usize = 4;

/// The row that says how far the file goes carries this in place of a document.
const CHECKPOINT: i64 = i64::MIN;

impl VectorsOf {
    /// Whose vectors a file holds; `None` where there is no such file.
    pub fn of_file(file: &Path) -> Result<Option<VectorsOf>, Error> {
        let mut head = [0; HEAD];
        match File::open(file).and_then(|mut file| file.read_exact(&mut head)) {
            Ok(()) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        let (dimensions, model) = (Row(&head).number(8) as usize, Row(&head).number(16));
        let of = VectorsOf { model, dimensions };
        Ok((head == of.head()).then_some(of))
    }

    fn head(self) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(MAGIC);
        head[4..8].copy_from_slice(&VERSION.to_le_bytes());
        head[8..16].copy_from_slice(&(self.dimensions as u64).to_le_bytes());
        head[16..].copy_from_slice(&self.model.to_le_bytes());
        head
    }

    fn row(self) -> usize {
        BEFORE + self.dimensions + AFTER
    }
}

/// A file of vectors, mapped.
pub struct Vectors {
    of: VectorsOf,
    bytes: OwnedBytes,
}

/// One row of it.
#[derive(Clone, Copy)]
struct Row<'a>(&'a [u8]);

impl Vectors {
    /// Opens the file for reading; `None` where there is none of this model.
    pub fn open(file: &Path, of: VectorsOf) -> Result<Option<Vectors>, Error> {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
            return Err(Error::from(ErrorKind::InvalidFilename));
        };
        if !file.exists() {
            return Ok(None);
        }
        let mapped = MmapDirectory::open(folder).map_err(Error::other)?;
        let bytes = match mapped.open_read(Path::new(name)) {
            Err(OpenReadError::FileDoesNotExist(_)) => return Ok(None),
            opened => opened.map_err(Error::other)?.read_bytes()?,
        };
        Ok(bytes.starts_with(&of.head()).then_some(Vectors { of, bytes }))
    }

    /// How many rows there are, those that were replaced included.
    pub fn len(&self) -> usize {
        self.rows().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The documents that have a vector, each with the mark of what was embedded of it.
    pub fn known(&self) -> HashMap<i64, u64> {
        let sound = self.rows().filter(|row| row.id() != CHECKPOINT && row.is_sound());
        sound.map(|row| (row.id(), row.mark())).collect()
    }

    /// Where the vector of each embedded text is, by the text's mark.
    pub fn places(&self) -> HashMap<u64, usize> {
        let rows = self.rows().enumerate().filter(|(_, row)| row.id() != CHECKPOINT);
        rows.map(|(place, row)| (row.mark(), place)).collect()
    }

    /// The vector at a place of `places`; `None` where it is torn.
    pub fn at(&self, place: usize) -> Option<Vec<f32>> {
        let start = HEAD + place * self.of.row();
        let row = Some(Row(self.bytes.get(start..start + self.of.row())?)).filter(|row| row.is_sound())?;
        Some(row.numbers().iter().map(|number| f32::from(*number as i8) * row.scale()).collect())
    }

    /// How far the file goes, in the caller's own count.
    pub fn checkpoint(&self) -> Option<i64> {
        let last = self.rows().rev().find(|row| row.id() == CHECKPOINT && row.is_sound())?;
        Some(last.mark() as i64)
    }

    fn rows(&self) -> impl DoubleEndedIterator<Item = Row<'_>> + ExactSizeIterator {
        self.bytes[HEAD..].chunks_exact(self.of.row()).map(Row)
    }
}

impl<'a> Row<'a> {
    fn id(self) -> i64 {
        self.number(0) as i64
    }

    fn mark(self) -> u64 {
        self.number(8)
    }

    fn number(self, at: usize) -> u64 {
        self.0[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn scale(self) -> f32 {
        self.0[16..].first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
    }

    fn numbers(self) -> &'a [u8] {
        &self.0[BEFORE..self.0.len() - AFTER]
    }

    /// Whether it is what was written.
    fn is_sound(self) -> bool {
        let (row, sum) = self.0.split_at(self.0.len() - AFTER);
        crc32fast::hash(row).to_le_bytes() == *sum
    }
}

/// A row as it is written. A vector's largest number becomes 127.
fn row(id: i64, mark: u64, vector: &[f32]) -> Vec<u8> {
    let largest = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    let mut row = Vec::with_capacity(BEFORE + vector.len() + AFTER);
    row.extend(id.to_le_bytes());
    row.extend(mark.to_le_bytes());
    row.extend(scale.to_le_bytes());
    row.extend(vector.iter().map(|value| (value / scale).round() as i8 as u8));
    row.extend(crc32fast::hash(&row).to_le_bytes());
    row
}
