//! A model's weights in a memory-mapped safetensors file: names, shapes and numbers.
//!
//! Only the header is parsed. Numbers are never copied, and only 32-bit floats are supported.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

use super::{ModelError, unfit, unread};

/// A little-endian `f32` as stored in the file.
pub type Stored = [u8; 4];

/// Usual headers have some ten thousand bytes.
const MAX_HEADER: u64 = 1 << 20;
const LENGTH_PREFIX: usize = 8;

pub struct Weights {
    path: PathBuf,
    bytes: OwnedBytes,
    tensors: BTreeMap<String, Tensor>,
}

/// The byte range and shape of one tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub shape: Vec<usize>,
    range: Range<usize>,
}

#[derive(Deserialize)]
struct TensorEntry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl Weights {
    pub fn open(folder: &Path, name: &str) -> Result<Weights, ModelError> {
        let path = folder.join(name);
        let file = || {
            let mapped = MmapDirectory::open(folder).map_err(std::io::Error::other)?;
            mapped.open_read(Path::new(name)).map_err(std::io::Error::other)?.read_bytes()
        };
        let bytes = file().map_err(|source| unread(&path, source))?;
        let tensors = parse_header(&bytes).map_err(|complaint| unfit(&path, complaint))?;
        Ok(Weights { path, bytes, tensors })
    }

    /// Looks up a tensor that must have this shape; 0 stands for any length.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let found =
            self.tensors.get(name).ok_or_else(|| unfit(&self.path, format!("`{name}` is missing")))?;
        let fits = |(wanted, is): (&usize, &usize)| *wanted == 0 || wanted == is;
        if found.shape.len() == shape.len() && shape.iter().zip(&found.shape).all(fits) {
            return Ok(found.clone());
        }
        Err(unfit(&self.path, format!("`{name}` has the shape {:?} in place of {shape:?}", found.shape)))
    }

    pub fn numbers(&self, tensor: &Tensor) -> &[Stored] {
        self.bytes[tensor.range.clone()].as_chunks().0
    }
}

fn parse_header(bytes: &[u8]) -> Result<BTreeMap<String, Tensor>, String> {
    let length = bytes.first_chunk::<LENGTH_PREFIX>().map(|length| u64::from_le_bytes(*length));
    let length = length.filter(|length| *length <= MAX_HEADER).ok_or("it has no list of tables")?;
    let (list, numbers) = bytes[LENGTH_PREFIX..]
        .split_at_checked(length as usize)
        .ok_or("it ends within its list of tables")?;
    let mut list: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(list).map_err(|error| format!("its list of tables is broken: {error}"))?;
    list.remove("__metadata__");
    let mut tensors = BTreeMap::new();
    for (name, entry) in list {
        let entry = TensorEntry::deserialize(entry).map_err(|error| format!("`{name}`: {error}"))?;
        if let Some(tensor) = tensor(entry, LENGTH_PREFIX + length as usize, numbers.len()) {
            tensors.insert(name, tensor);
        }
    }
    Ok(tensors)
}

/// `None` if the tensor is not `F32` or not complete; `Weights::tensor` then reports it as missing.
fn tensor(entry: TensorEntry, begin: usize, available: usize) -> Option<Tensor> {
    let (from, to) = entry.data_offsets;
    let size = entry.shape.iter().try_fold(4_usize, |size, length| size.checked_mul(*length))?;
    let fits = entry.dtype == "F32" && from <= to && to <= available && to - from == size;
    fits.then(|| Tensor { shape: entry.shape, range: begin + from..begin + to })
}
