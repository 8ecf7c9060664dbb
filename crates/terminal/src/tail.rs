//! Bounded reads from files: the last bytes, or a range.
//!
//! Reads no more than asked for, whatever the file's size, and only regular files: a pipe would block the reader.

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Component, Path};
use towline_core::time::Timestamp;

/// At most the last `limit` bytes, and the modification time. Bytes appended meanwhile are left for the next call.
pub fn last_bytes(path: &Path, limit: u64) -> io::Result<(Vec<u8>, Timestamp)> {
    let file = open_file(path)?;
    let meta = file.metadata()?;
    let length = meta.len().min(limit);
    let bytes = bytes_at(&file, meta.len() - length, usize::try_from(length).unwrap_or(usize::MAX))?;
    let modified = meta.mtime().saturating_mul(1000).saturating_add(meta.mtime_nsec() / 1_000_000);
    Ok((bytes, Timestamp(modified)))
}

/// Opens a regular file for reading, and nothing else: opening a pipe would wait for its writer.
pub fn open_file(path: &Path) -> io::Result<File> {
    // NONBLOCK has no effect on a regular file.
    plain(File::from(open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?))
}

/// The same for a file below a folder, following no link on the way from there, even one that is made meanwhile. The
/// folder itself may be a link.
pub fn open_file_below(folder: &Path, path: &Path) -> io::Result<File> {
    let below = path.strip_prefix(folder).map_err(|_| refused("it is not below its folder"))?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mut at = open(folder, flags | OFlags::DIRECTORY, Mode::empty())?;
    let mut parts = below.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else { return Err(refused("it is not below its folder")) };
        let kind = if parts.peek().is_some() { OFlags::DIRECTORY } else { OFlags::NONBLOCK };
        at = openat(&at, name, flags | OFlags::NOFOLLOW | kind, Mode::empty()).map_err(
            |error| match error {
                Errno::LOOP | Errno::NOTDIR => refused("a part of its path is a link, or no folder"),
                other => other.into(),
            },
        )?;
    }
    plain(File::from(at))
}

fn plain(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused("not a plain file")) }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// The bytes of a range that are still there. The count is known, so no read past the end is spent on finding it.
pub fn bytes_at(file: &File, from: u64, count: usize) -> io::Result<Vec<u8>> {
    let (mut bytes, mut read) = (vec![0; count], 0);
    while read < count {
        match file.read_at(&mut bytes[read..], from + read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{Seek, SeekFrom, Write};
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn a_small_file_is_read_whole_with_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small");
        fs::write(&path, "one\ntwo\n").unwrap();
        let written = UNIX_EPOCH + Duration::from_millis(1_794_708_799_123);
        File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
        let expected = (b"one\ntwo\n".to_vec(), Timestamp(1_794_708_799_123));
        assert_eq!(last_bytes(&path, 100).unwrap(), expected);
        assert_eq!(last_bytes(&path, 8).unwrap(), expected);
    }

    #[test]
    fn only_the_end_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one\ntwo\n").unwrap();
        assert_eq!(last_bytes(&path, 5).unwrap().0, b"\ntwo\n");
        assert_eq!(last_bytes(&path, 0).unwrap().0, b"");
    }

    #[test]
    fn a_file_of_100_megabytes_costs_no_more_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        let mut file = File::create(&path).unwrap();
        file.set_len(100 * 1024 * 1024).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(b"the end\n").unwrap();
        let before = bytes_read();
        let (bytes, _) = last_bytes(&path, 64 * 1024).unwrap();
        let cost = bytes_read() - before;
        assert_eq!((bytes.len(), bytes.ends_with(b"\0the end\n")), (64 * 1024, true));
        assert!(bytes.capacity() < 256 * 1024, "{} bytes of memory", bytes.capacity());
        assert!((64 * 1024..256 * 1024).contains(&cost), "{cost} bytes were read");
    }

    /// The bytes this thread has read so far, by the kernel's count.
    fn bytes_read() -> u64 {
        let counts = fs::read_to_string("/proc/thread-self/io").unwrap();
        counts.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
    }

    #[test]
    fn a_link_below_the_folder_is_not_followed() {
        use std::os::unix::fs::symlink;
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = root.path().join("folder");
        fs::create_dir_all(folder.join("real")).unwrap();
        fs::write(folder.join("real/file"), "in").unwrap();
        fs::write(outside.path().join("file"), "secret").unwrap();
        symlink(outside.path().join("file"), folder.join("real/link")).unwrap();
        symlink(folder.join("real/file"), folder.join("real/own")).unwrap();
        symlink(outside.path(), folder.join("linked")).unwrap();
        for refused in ["real/link", "real/own", "linked/file", "real/../../x", "real/file/x", "real", ""] {
            let error = open_file_below(&folder, &folder.join(refused)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{refused}: {error}");
        }
        let beside = open_file_below(&folder, &outside.path().join("file")).unwrap_err();
        assert_eq!(beside.kind(), io::ErrorKind::InvalidInput);
        let missing = open_file_below(&folder, &folder.join("real/none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        // The folder itself is the user's choice.
        symlink(&folder, root.path().join("chosen")).unwrap();
        for chosen in [folder, root.path().join("chosen")] {
            let file = open_file_below(&chosen, &chosen.join("real/file")).unwrap();
            assert_eq!(bytes_at(&file, 0, 9).unwrap(), b"in");
        }
    }

    #[test]
    fn other_than_regular_files_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            let refused = last_bytes(path, 10).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{}", path.display());
        }
        let missing = last_bytes(&folder.path().join("missing"), 10).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
