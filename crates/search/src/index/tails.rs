//! The ends of an index's files, together in one file, for a process that looks up a few terms and ends.
//!
//! The library opens six files of each segment and reads the end of each: with eight segments, 260 of a first prompt's 950
//! system calls. With the ends at hand, it opens only files of which it reads more. The library never changes a file that it
//! has written, so recorded ends are right or belong to no file; a file without recorded ends is opened as usual, and one that
//! was cut is an error. Decides nothing: without the record a lookup only takes longer.
//!
//! Small files are recorded whole, with words of documents in them: ends are recorded under the writer's lock alone, so that
//! nothing erased comes back.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tantivy::HasLen;
use tantivy::directory::{Directory, FileHandle, MmapDirectory, OwnedBytes};

/// The library does not know it, and so never removes it.
const NAME: &str = ".tails";
/// Where it is written before it takes the place of the last one.
const ASIDE: &str = ".tails.new";
const MAGIC: [u8; 4] = *b"TLT1";
/// Bytes of each end: more than the library reads to open a segment. Small files are recorded whole.
const TAIL: u64 = 1024;
const OWNER_ONLY: u32 = 0o600;

/// The name, the length and the end of a file.
#[derive(Clone, Debug)]
struct Tail {
    name: OwnedBytes,
    length: usize,
    bytes: OwnedBytes,
}

/// The recorded ends. Cheap to clone: the library clones the folder of an index twice for each segment.
#[derive(Clone, Debug, Default)]
pub struct Tails(Arc<[Tail]>);

impl Tails {
    /// Those of the folder; none if they are missing or damaged.
    pub fn read(folder: &Path) -> Tails {
        fs::read(folder.join(NAME)).ok().and_then(|bytes| parse(&OwnedBytes::new(bytes))).unwrap_or_default()
    }

    /// Records the ends of these files alone; if that fails, there is no record. Fails if an earlier record remains.
    pub fn record(folder: &Path, files: impl Iterator<Item = PathBuf>) -> io::Result<()> {
        if Tails::write(folder, files).is_ok() {
            return Ok(());
        }
        // A partial record is never read, and the next one overwrites it.
        let _ = fs::remove_file(folder.join(ASIDE));
        match fs::remove_file(folder.join(NAME)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The ends of known files are not read again, since files do not change.
    fn write(folder: &Path, files: impl Iterator<Item = PathBuf>) -> io::Result<()> {
        let known = Tails::read(folder);
        let mut bytes = MAGIC.to_vec();
        for name in files {
            let tail = known.of(&name).cloned().map_or_else(|| end_of(folder, &name), Ok);
            tail.iter().for_each(|tail| append(&mut bytes, tail));
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        let aside = folder.join(ASIDE);
        let mut options = fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(OWNER_ONLY).open(&aside)?;
        file.write_all_at(&bytes, 0)?;
        fs::rename(aside, folder.join(NAME))
    }

    /// A file that is opened once more than its end is read; `None` without its end.
    pub fn file(&self, mapped: &MmapDirectory, path: &Path) -> Option<Arc<dyn FileHandle>> {
        let tail = self.of(path)?.clone();
        Some(Arc::new(LazyFile { mapped: mapped.clone(), tail, whole: OnceLock::new() }))
    }

    fn of(&self, path: &Path) -> Option<&Tail> {
        self.0.iter().find(|tail| tail.path() == path.as_os_str())
    }
}

impl Tail {
    fn path(&self) -> &OsStr {
        OsStr::from_bytes(&self.name)
    }
}

fn end_of(folder: &Path, name: &Path) -> io::Result<Tail> {
    let file = File::open(folder.join(name))?;
    let length = file.metadata()?.len();
    let mut bytes = vec![0; length.min(TAIL) as usize];
    file.read_exact_at(&mut bytes, length - length.min(TAIL))?;
    let name = OwnedBytes::new(name.as_os_str().as_bytes().to_vec());
    Ok(Tail {
        name,
        length: usize::try_from(length).map_err(io::Error::other)?,
        bytes: OwnedBytes::new(bytes),
    })
}

fn append(bytes: &mut Vec<u8>, tail: &Tail) {
    bytes.extend((tail.name.len() as u16).to_le_bytes());
    bytes.extend((tail.bytes.len() as u16).to_le_bytes());
    bytes.extend((tail.length as u64).to_le_bytes());
    bytes.extend(tail.name.as_slice());
    bytes.extend(tail.bytes.as_slice());
}

fn parse(file: &OwnedBytes) -> Option<Tails> {
    let (content, checksum) = file.split_last_chunk()?;
    let mut rest = content.strip_prefix(&MAGIC)?;
    if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let mut tails = Vec::new();
    while !rest.is_empty() {
        let (name_length, after) = rest.split_first_chunk()?;
        let (tail_length, after) = after.split_first_chunk()?;
        let (length, after) = after.split_first_chunk()?;
        let (name, after) = after.split_at_checked(u16::from_le_bytes(*name_length).into())?;
        let (tail, left) = after.split_at_checked(u16::from_le_bytes(*tail_length).into())?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let tail_at = content.len() - left.len() - tail.len();
        let bytes = file.slice(tail_at..tail_at + tail.len());
        if bytes.len() > length {
            return None;
        }
        tails.push(Tail { name: file.slice(tail_at - name.len()..tail_at), length, bytes });
        rest = left;
    }
    Some(Tails(tails.into()))
}

#[derive(Debug)]
struct LazyFile {
    mapped: MmapDirectory,
    tail: Tail,
    whole: OnceLock<Arc<dyn FileHandle>>,
}

impl HasLen for LazyFile {
    fn len(&self) -> usize {
        self.tail.length
    }
}

impl FileHandle for LazyFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let recorded_from = self.tail.length - self.tail.bytes.len();
        if range.start >= recorded_from {
            return Ok(self.tail.bytes.slice(range.start - recorded_from..range.end - recorded_from));
        }
        if let Some(whole) = self.whole.get() {
            return whole.read_bytes(range);
        }
        // It may have been merged into another since its name was read.
        let whole = self.mapped.get_file_handle(Path::new(self.tail.path())).map_err(io::Error::other)?;
        if whole.len() != self.tail.length {
            let told = format!("{} is not as long as it was", self.tail.path().display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, told));
        }
        self.whole.get_or_init(|| whole).read_bytes(range)
    }
}
