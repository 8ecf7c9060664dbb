//! Recording what went wrong, wherever it can still be recorded.
//!
//! The journal first, since it is folded like everything else; a log beside it if it cannot be written; a log in the
//! runtime folder if nothing in the data folder can. A fault that fits nowhere is lost, and the agent never hears of it.

use crate::runtime::env::Env;
use crate::runtime::env::variable;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use towline_core::fault::{Fault, FaultKind};
use towline_core::time::Timestamp;
use towline_store::journal::{self, Record};

/// A fallback log is not appended to beyond this.
const LARGEST_LOG: u64 = 256 * 1024;

/// Records a fault even if there is no home.
pub fn record(env: Option<&Env>, kind: FaultKind, detail: String) {
    let at = env.map_or(Timestamp(0), |env| env.now);
    let fault = Fault { at, kind, detail };
    match env {
        Some(env) => record_here(env, fault),
        None => drop(log_to(&runtime_log(), &fault)),
    }
}

pub fn record_here(env: &Env, fault: Fault) {
    if journal::append(&env.home, &[Record::Fault(fault.clone())]).is_ok() {
        return;
    }
    if log_to(&env.home.fault_log(), &fault).is_err() {
        let _ = log_to(&runtime_log(), &fault);
    }
}

/// The logs that `tow doctor` has to look at beside the database.
pub fn fallback_logs(env: &Env) -> [PathBuf; 2] {
    [env.home.fault_log(), runtime_log()]
}

fn log_to(path: &Path, fault: &Fault) -> std::io::Result<()> {
    let mut log = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    if log.metadata()?.len() > LARGEST_LOG {
        return Ok(());
    }
    log.write_all(line(fault).as_bytes())
}

/// A fault as a line of a log.
pub fn line(fault: &Fault) -> String {
    format!("{} {} {}\n", fault.at.to_utc(), fault.kind.name(), fault.detail.replace('\n', " "))
}

/// In the user's runtime folder, else in a folder of the user's own below the temporary one.
fn runtime_log() -> PathBuf {
    if let Some(folder) = variable("XDG_RUNTIME_DIR") {
        return Path::new(&folder).join("towline-faults.log");
    }
    let owner = std::fs::metadata("/proc/self").map_or(0, |meta| meta.uid());
    let folder = PathBuf::from(format!("/tmp/towline-{owner}"));
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&folder);
    // Somebody else's folder of that name is not ours to write into.
    let ours = std::fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir() && meta.uid() == owner);
    if ours { folder.join("faults.log") } else { PathBuf::from("/dev/null") }
}
