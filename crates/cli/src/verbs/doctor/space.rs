//! Doctor check of disk space: the parts of the data folder by size, and the settings that bound them.
//!
//! Reads sizes only, and deletes nothing.

use super::check::Check;
use crate::scope::Scope;
use std::fs;
use std::path::Path;
use towline_engine::runtime::settings;
use towline_engine::runtime::text::size;

/// Smaller parts count in the total alone.
const NAMED_FROM: u64 = 1 << 20;

/// A folder from this size on comes with what would free space.
const LARGE: u64 = 1 << 30;

pub fn check(scope: &Scope) -> Check {
    let mut parts: Vec<(String, u64)> = vec![];
    for entry in fs::read_dir(scope.env.home.folder()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let bytes = bytes_below(&entry.path());
        // The log and the shared memory of a database belong to it.
        let name = name.trim_end_matches("-wal").trim_end_matches("-shm").to_owned();
        match parts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += bytes,
            None => parts.push((name, bytes)),
        }
    }
    let all = parts.iter().map(|(_, bytes)| bytes).sum();
    parts.retain(|(_, bytes)| *bytes >= NAMED_FROM);
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let named: Vec<String> = parts.iter().map(|(name, bytes)| format!("{name} {}", size(*bytes))).collect();
    let most = settings(&scope.env).archive.most_mb << 20;
    let list = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
    let check = Check::good("space", format!("{}{list}; the archive may use {}", size(all), size(most)));
    let is_worth_it = |(name, _): &&(String, u64)| all >= LARGE || is_aside(name);
    let mut frees: Vec<&str> =
        parts.iter().filter(is_worth_it).filter_map(|(name, _)| what_frees(name)).collect();
    frees.dedup();
    if frees.is_empty() { check } else { check.with_next(format!("to free some: {}", frees.join("; "))) }
}

/// A damaged database that was kept.
fn is_aside(name: &str) -> bool {
    name.contains(".damaged-")
}

/// The command or setting that makes a part smaller.
fn what_frees(name: &str) -> Option<&'static str> {
    match name {
        _ if is_aside(name) => {
            Some("`tow data scrub --delete-aside` deletes databases that were damaged and kept")
        }
        "archive.db" => Some(
            "`tow data forget --project NAME`, or lower archive.details_days or archive.most_mb by `tow config set`, \
             then run `tow data work`",
        ),
        "index" => Some("`tow data reindex` writes the search index anew"),
        "journal" => Some("lower keep.journal_mb"),
        "towline.db" => Some("lower keep.events_days"),
        _ => None,
    }
}

fn bytes_below(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| bytes_below(&entry.path())).sum()
}
