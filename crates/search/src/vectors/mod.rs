//! The vector file: fixed-length rows, append-only, memory-mapped and scanned in place.
//!
//! Derived data, like the index. A row torn by a kill is skipped; a file of another model is treated as missing.
//! Files are never repaired in place: a reader that has the file mapped must not see it shrink.

mod near;
mod writer;

pub use near::QuerySimilarity;
pub use writer::VectorWriter;

use std::collections::HashMap;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::Path;

use tantivy::directory::error::OpenReadError;
use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

/// The model and length of a file's vectors. Vectors of different models cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorFormat {
    /// Identifies the model.
    pub model: u64,
    pub dimensions: usize,
}

/// The file header: `TOWV`, a version, the vector length, the model.
const HEADER: usize = 24;
const MAGIC: &[u8; 4] = b"TOWV";
const VERSION: u32 = 1;

/// Bytes before a row's numbers: the document id, the hash of the embedded text, the scale.
const ROW_PREFIX: usize = 20;
/// Bytes after them: a checksum of the row.
const ROW_SUFFIX: usize = 4;

/// A row with this document id holds the caller's checkpoint.
const CHECKPOINT: i64 = i64::MIN;

impl VectorFormat {
    /// Reads the header of a file; `None` if there is no vector file.
    pub fn of_file(file: &Path) -> Result<Option<VectorFormat>, Error> {
        let mut header = [0; HEADER];
        match File::open(file).and_then(|mut file| file.read_exact(&mut header)) {
            Ok(()) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        let (dimensions, model) = (VectorRow(&header).number(8) as usize, VectorRow(&header).number(16));
        let format = VectorFormat { model, dimensions };
        Ok((header == format.header()).then_some(format))
    }

    fn header(self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(MAGIC);
        header[4..8].copy_from_slice(&VERSION.to_le_bytes());
        header[8..16].copy_from_slice(&(self.dimensions as u64).to_le_bytes());
        header[16..].copy_from_slice(&self.model.to_le_bytes());
        header
    }

    fn row_len(self) -> usize {
        ROW_PREFIX + self.dimensions + ROW_SUFFIX
    }
}

/// A memory-mapped vector file.
pub struct VectorFile {
    format: VectorFormat,
    bytes: OwnedBytes,
}

/// One row of the file.
#[derive(Clone, Copy)]
struct VectorRow<'a>(&'a [u8]);

impl VectorFile {
    /// Opens the file for reading; `None` if there is no file of this model.
    pub fn open(file: &Path, format: VectorFormat) -> Result<Option<VectorFile>, Error> {
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
        Ok(bytes.starts_with(&format.header()).then_some(VectorFile { format, bytes }))
    }

    /// The number of rows, replaced ones included.
    pub fn len(&self) -> usize {
        self.rows().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The documents that have a vector, each with the hash of the text that was embedded.
    pub fn known(&self) -> HashMap<i64, u64> {
        let valid = self.rows().filter(|row| row.id() != CHECKPOINT && row.is_valid());
        valid.map(|row| (row.id(), row.mark())).collect()
    }

    /// The row number of each embedded text, by the text's hash.
    pub fn places(&self) -> HashMap<u64, usize> {
        let rows = self.rows().enumerate().filter(|(_, row)| row.id() != CHECKPOINT);
        rows.map(|(row_number, row)| (row.mark(), row_number)).collect()
    }

    /// The vector of a row number from `places`; `None` if the row is torn.
    pub fn at(&self, row_number: usize) -> Option<Vec<f32>> {
        let start = HEADER + row_number * self.format.row_len();
        let row = Some(VectorRow(self.bytes.get(start..start + self.format.row_len())?))
            .filter(|row| row.is_valid())?;
        Some(row.numbers().iter().map(|number| f32::from(*number as i8) * row.scale()).collect())
    }

    /// The caller's checkpoint of the last commit.
    pub fn checkpoint(&self) -> Option<i64> {
        let last = self.rows().rev().find(|row| row.id() == CHECKPOINT && row.is_valid())?;
        Some(last.mark() as i64)
    }

    fn rows(&self) -> impl DoubleEndedIterator<Item = VectorRow<'_>> + ExactSizeIterator {
        self.bytes[HEADER..].chunks_exact(self.format.row_len()).map(VectorRow)
    }
}

impl<'a> VectorRow<'a> {
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
        &self.0[ROW_PREFIX..self.0.len() - ROW_SUFFIX]
    }

    /// Whether the checksum matches.
    fn is_valid(self) -> bool {
        let (row, sum) = self.0.split_at(self.0.len() - ROW_SUFFIX);
        crc32fast::hash(row).to_le_bytes() == *sum
    }
}

/// Serialises a row. Values are scaled so that the largest becomes 127.
fn row(id: i64, mark: u64, vector: &[f32]) -> Vec<u8> {
    let largest = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    let mut row = Vec::with_capacity(ROW_PREFIX + vector.len() + ROW_SUFFIX);
    row.extend(id.to_le_bytes());
    row.extend(mark.to_le_bytes());
    row.extend(scale.to_le_bytes());
    row.extend(vector.iter().map(|value| (value / scale).round() as i8 as u8));
    row.extend(crc32fast::hash(&row).to_le_bytes());
    row
}
