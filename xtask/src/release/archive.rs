//! Writes tar archives and Debian packages whose bytes depend on their contents alone.
//!
//! Knows ustar, gzip and ar as far as a release needs them. Reads no file and no clock.

use std::collections::BTreeSet;
use std::io::Write;

use flate2::{Compression, GzBuilder};

use crate::outcome::{Failure, Result};

/// A file of an archive. Paths are relative, with `/` as separator.
pub struct Entry {
    pub path: String,
    pub mode: u32,
    pub bytes: Vec<u8>,
}

const BLOCK: usize = 512;

/// A compressed tar archive of the files and the folders that hold them, all of this time and owned by root.
pub fn tar_gz(entries: &[Entry], epoch: u64) -> Result<Vec<u8>> {
    let mut tar = vec![];
    for folder in folders(entries) {
        tar.extend(header(&folder, 0o755, 0, epoch)?);
    }
    for Entry { path, mode, bytes } in entries {
        tar.extend(header(path, *mode, bytes.len(), epoch)?);
        tar.extend(bytes);
        tar.resize(tar.len().next_multiple_of(BLOCK), 0);
    }
    tar.resize(tar.len() + 2 * BLOCK, 0);
    gz(&tar)
}

/// Every folder above a file, with a `/` at its end, in order.
fn folders(entries: &[Entry]) -> BTreeSet<String> {
    let above = |entry: &Entry| {
        let ends: Vec<usize> = entry.path.match_indices('/').map(|(at, _)| at + 1).collect();
        ends.into_iter().map(|end| entry.path[..end].to_owned()).collect::<Vec<String>>()
    };
    entries.iter().flat_map(above).collect()
}

/// The ustar header of a file, or of a folder if the path ends with `/`.
fn header(path: &str, mode: u32, size: usize, epoch: u64) -> Result<[u8; BLOCK]> {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, room: usize, text: &str| {
        let fits = text.len() <= room;
        if fits {
            block[at..at + text.len()].copy_from_slice(text.as_bytes());
        }
        fits.then_some(())
            .ok_or_else(|| Failure::malformed(format!("`{path}`"), "too long for a tar archive"))
    };
    put(0, 100, path)?;
    put(100, 8, &format!("{mode:07o}\0"))?;
    put(108, 8, "0000000\0")?;
    put(116, 8, "0000000\0")?;
    put(124, 12, &format!("{size:011o}\0"))?;
    put(136, 12, &format!("{epoch:011o}\0"))?;
    // The sum counts its own field as blanks.
    put(148, 8, "        ")?;
    put(156, 1, if path.ends_with('/') { "5" } else { "0" })?;
    put(257, 8, "ustar\x0000")?;
    put(265, 32, "root")?;
    put(297, 32, "root")?;
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}

pub fn gz(bytes: &[u8]) -> Result<Vec<u8>> {
    // No name, no time, no system: each would differ between two builds.
    let mut writer = GzBuilder::new().operating_system(255).write(vec![], Compression::best());
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

/// A Debian package: the fields of its control file, and the files to install.
pub fn deb(control: &str, files: &[Entry], epoch: u64) -> Result<Vec<u8>> {
    let control = Entry { path: "control".to_owned(), mode: 0o644, bytes: control.into() };
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", tar_gz(&[control], epoch)?),
        ("data.tar.gz", tar_gz(files, epoch)?),
    ];
    let mut package = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let head = format!("{name:<16}{epoch:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 100_644, bytes.len());
        package.extend(head.into_bytes());
        package.extend(&bytes);
        package.resize(package.len().next_multiple_of(2), b'\n');
    }
    Ok(package)
}
