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

pub fn line(fault: &FaultRecord) -> String {
    format!("{} {} {}\n", fault.at.to_utc(), fault.kind.name(), fault.detail.replace('\n', " "))
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
