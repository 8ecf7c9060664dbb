//! One index folder for another: what is needed to replace a folder that others read.
//!
//! A reader that opens the folder meanwhile sees the old files or the new ones, and can tell that they were exchanged.
//! Knows nothing of what the files hold.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// A folder that was made beside the index is in use for milliseconds; one of this age was left by a process that died.
const LEFT_OVER_AFTER: Duration = Duration::from_secs(600);

/// The path of a folder beside the index, for this process alone.
pub fn aside(folder: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    folder.with_extension(format!("new.{}.{number}", std::process::id()))
}

/// Exchanges two folders, in one step where the file system can.
pub fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    match renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        done => return Ok(done?),
    }
    let between = aside(old);
    std::fs::rename(old, &between)?;
    std::fs::rename(new, old)?;
    std::fs::rename(between, new)
}

/// What tells a folder from another one that had its name.
pub fn identity(folder: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(folder).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// Removes the folders that killed processes left beside the index. What cannot be removed stays for the next time.
pub fn remove_left_over(folder: &Path) {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_stem().and_then(|name| name.to_str()))
    else {
        return;
    };
    let opening = format!("{name}.new.");
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_aside = entry.file_name().to_str().is_some_and(|name| name.starts_with(&opening));
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_aside && age().is_some_and(|age| age > LEFT_OVER_AFTER) {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
}
