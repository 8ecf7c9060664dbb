//! Records faults in the first place that can still be written.
//!
//! The order is the journal, which is applied to the database; a log in the data folder; a log in the runtime
//! folder. A fault that fits none of them is lost and never reaches the agent.

use crate::runtime::env::{Env, variable};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use towline_core::fault::{FaultKind, FaultRecord};
use towline_core::time::Timestamp;
use towline_store::journal::{self, JournalRecord};

/// A fallback log that is larger than this is not appended to.
const LARGEST_LOG: u64 = 256 * 1024;

pub fn record(env: Option<&Env>, kind: FaultKind, detail: String) {
    match env {
        Some(env) => record_here(env, kind, detail),
        None => drop(log_to(&runtime_log(), &FaultRecord { at: Timestamp(0), kind, detail })),
    }
}

pub fn record_here(env: &Env, kind: FaultKind, detail: String) {
    let fault = FaultRecord { at: env.now, kind, detail };
    if journal::append(&env.home, &[JournalRecord::Fault(fault.clone())]).is_ok() {
        return;
    }
    if log_to(&env.home.fault_log(), &fault).is_err() {
        let _ = log_to(&runtime_log(), &fault);
    }
}

/// The logs that `tow doctor` has to read besides the database.
pub fn fallback_logs(env: &Env) -> [PathBuf; 2] {
    [env.home.fault_log(), runtime_log()]
}

fn log_to(path: &Path, fault: &FaultRecord) -> std::io::Result<()> {
    let mut log = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    if log.metadata()?.len() > LARGEST_LOG {
        return Ok(());
    }
    log.write_all(line(fault).as_bytes())
}

fn line(fault: &FaultRecord) -> String {
    format!("{} {} {}\n", fault.at.to_utc(), fault.kind.name(), fault.detail.replace('\n', " "))
}

/// A line of the log for a signal handler, which may not build one. Every hook prepares it and almost none writes it, so
/// the time stays a number: printing a date would touch four more pages of the program.
pub fn prepared_line(at: Timestamp, kind: FaultKind, detail: &str) -> String {
    format!("@{} {} {detail}\n", at.0, kind.name())
}

/// A line of a log with its time as users read it.
pub fn readable(line: &str) -> String {
    let prepared = line.strip_prefix('@').and_then(|rest| rest.split_once(' '));
    match prepared.and_then(|(ms, rest)| Some((Timestamp(ms.parse().ok()?), rest))) {
        Some((at, rest)) => format!("{} {rest}", at.to_utc()),
        None => line.to_owned(),
    }
}

/// The user's runtime folder, else a folder in `/tmp` that belongs to the user.
fn runtime_log() -> PathBuf {
    if let Some(folder) = variable("XDG_RUNTIME_DIR") {
        return Path::new(&folder).join("towline-faults.log");
    }
    let owner = std::fs::metadata("/proc/self").map_or(0, |meta| meta.uid());
    let folder = PathBuf::from(format!("/tmp/towline-{owner}"));
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&folder);
    // A folder of that name that belongs to another user must not be written to.
    let ours = std::fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir() && meta.uid() == owner);
    if ours { folder.join("faults.log") } else { PathBuf::from("/dev/null") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prepared_line_reads_like_any_other() {
        let at = Timestamp(1_794_708_799_999);
        let prepared = prepared_line(at, FaultKind::Deadline, "too late");
        let fault = FaultRecord { at, kind: FaultKind::Deadline, detail: "too late".to_owned() };
        assert_eq!(readable(&prepared), line(&fault));
        assert_eq!(readable(&line(&fault)), line(&fault));
        assert_eq!(readable("@noon deadline"), "@noon deadline");
    }
}
