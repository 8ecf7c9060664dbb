//! Doctor checks of the data folder: permissions, database integrity, journal backlog, recorded faults.
//!
//! Repairs nothing; it only creates a missing folder, and clears faults on request.

use super::check::Check;
use crate::scope::Scope;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use towline_core::fault::{FaultKind, FaultRecord};
use towline_core::time::Timestamp;
use towline_core::typing::{TypingPause, TypingRules};
use towline_engine::handoff::typing::rules;
use towline_engine::runtime::config::layered;
use towline_engine::runtime::faults::{fallback_logs, readable};
use towline_engine::runtime::{Failure, chain};
use towline_store::journal::{JournalPosition, Segments, faults_from};
use towline_store::lock::{ArchiveLock, ProjectionLock, pauses};
use towline_store::{DataFolder, FaultRow, SCHEMA, Store, StoreError};
use towline_terminal::process::lock_holder;

const PATIENCE: Duration = Duration::from_millis(500);

/// A lock that is not free within this time is reported.
const HELD_TOO_LONG: Duration = Duration::from_secs(2);

/// How many faults are listed; the rest is counted.
const LISTED: usize = 5;

pub fn all(scope: &Scope) -> Vec<Check> {
    let mut checks = vec![config(scope), typing(scope), folder(scope)];
    checks.extend(held_locks(&scope.env.home));
    match Store::read(&scope.env.home, PATIENCE) {
        Err(error) => checks.push(Check::bad("database", chain(&error), mend_of(&error))),
        Ok(None) => {
            checks.push(Check::good("database", "none yet; the first event makes it"));
            checks.extend(unapplied(&scope.env.home));
            checks.extend(waiting_faults(&journal_faults(&scope.env.home)));
        }
        Ok(Some(store)) => {
            checks.push(database(&store));
            checks.push(journal(&store));
            checks.extend(programs_seen(&store));
            checks.extend(faults(&store));
        }
    }
    checks.extend(fallback_logs(&scope.env).iter().filter_map(|log| fallback(log)));
    checks
}

/// Writers hold these for milliseconds; an import of many files holds the second for minutes.
fn held_locks(home: &DataFolder) -> Vec<Check> {
    let waited = || pauses(HELD_TOO_LONG);
    let database = (home.apply_lock(), matches!(ProjectionLock::take_within(home, waited()), Ok(None)));
    let archive = (home.archive_lock(), matches!(ArchiveLock::take_within(home, waited()), Ok(None)));
    let held = [database, archive].into_iter().filter(|(_, is_held)| *is_held);
    held.map(|(file, _)| held_lock(&file)).collect()
}

fn held_lock(file: &Path) -> Check {
    let (by, mend) = lock_holder(file).map_or_else(
        || ("another process".to_owned(), "wait for it, then run `tow doctor` again".to_owned()),
        |holder| {
            let by = format!("{} (process {})", holder.arguments().join(" "), holder.pid);
            (by, format!("wait for it, or run `kill {}`: no data is lost", holder.pid))
        },
    );
    let detail = format!("{} is held by {by}; nothing is captured or applied meanwhile", file.display());
    Check::warning("lock", detail, mend)
}

fn config(scope: &Scope) -> Check {
    let file = scope.env.config_file.display();
    match fs::read_to_string(&scope.env.config_file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Check::good("config", "all defaults"),
        Err(error) => {
            Check::bad("config", format!("could not read {file}: {error}"), format!("ls -l {file}"))
        }
        Ok(user) => match layered(&user).mistakes.as_slice() {
            [] => Check::good("config", file.to_string()),
            [first, rest @ ..] => {
                let more =
                    if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
                Check::warning("config", format!("{file}: {first}{more}"), "tow config edit")
            }
        },
    }
}

/// On and off are both fine; an endless pause and disabled safety checks are worth a warning.
fn typing(scope: &Scope) -> Check {
    match rules(&scope.env) {
        TypingRules { enabled: false, .. } => Check::good("typing", "off: nothing is typed in your place"),
        TypingRules { pause: Some(TypingPause { until: Some(until) }), .. } => {
            Check::good("typing", format!("on, paused until {}", until.to_utc()))
        }
        TypingRules { pause: Some(TypingPause { until: None }), .. } => {
            Check::warning("typing", "on, but paused without an end", "tow typing resume")
        }
        TypingRules { without, .. } if !without.is_empty() => {
            let names: Vec<&str> = without.iter().map(|ability| ability.name()).collect();
            let detail = format!("on, even where a terminal cannot tell: {}", names.join(", "));
            Check::warning("typing", detail, "tow config unset typing.without")
        }
        TypingRules { .. } => {
            Check::good("typing", "on; `tow typing list` lists what was typed, `tow typing pause` stops it")
        }
    }
}

fn folder(scope: &Scope) -> Check {
    let folder = scope.env.home.folder();
    let shown = folder.display();
    let Ok(meta) = fs::metadata(folder) else {
        return match scope.env.home.create() {
            Ok(()) => Check::good("data folder", format!("made {shown}")),
            Err(error) => Check::bad(
                "data folder",
                format!("{shown} cannot be made: {error}"),
                "make the folder above it writable",
            ),
        };
    };
    if !meta.is_dir() {
        let mend = format!("move {shown} away, or set TOWLINE_HOME to a folder");
        return Check::bad("data folder", format!("{shown} is not a folder"), mend);
    }
    if meta.permissions().mode() & 0o077 != 0 {
        return Check::bad(
            "data folder",
            format!("{shown} can be read by others"),
            format!("chmod 700 {shown}"),
        );
    }
    match write_and_remove(&folder.join("doctor.probe")) {
        Ok(()) => Check::good("data folder", shown.to_string()),
        Err(error) => {
            let mend = "free disk space, or make the folder writable: nothing can be recorded until then";
            Check::bad("data folder", format!("{shown} cannot be written: {error}"), mend)
        }
    }
}

fn write_and_remove(probe: &Path) -> std::io::Result<()> {
    fs::write(probe, [0; 4096])?;
    fs::remove_file(probe)
}

fn database(store: &Store) -> Check {
    let path = store.home().database();
    let megabytes = fs::metadata(&path).map_or(0, |meta| meta.len()) / 1024 / 1024;
    let looked = store.schema().and_then(|schema| Ok((schema, store.complaints()?)));
    match looked {
        // `tow data work` repairs only damage that it runs into while applying the journal; a rebuild repairs all.
        Err(error @ StoreError::Damaged { .. }) => Check::bad("database", chain(&error), REBUILD),
        Err(error) => Check::bad("database", chain(&error), mend_of(&error)),
        Ok((schema, _)) if schema > SCHEMA => Check::warning(
            "database",
            format!("schema {schema} is newer than this tow's {SCHEMA}: events are only journalled"),
            "update tow",
        ),
        Ok((0, _)) => Check::warning("database", "it was begun and never finished", "tow data work"),
        Ok((schema, complaints)) if complaints.is_empty() => {
            Check::good("database", format!("sound, schema {schema}, {megabytes} MB at {}", path.display()))
        }
        Ok((_, complaints)) => Check::bad("database", format!("damaged: {}", complaints.join("; ")), REBUILD),
    }
}

const REBUILD: &str = "tow data work --rebuild";

fn mend_of(error: &StoreError) -> String {
    match error {
        StoreError::Damaged { .. } => "tow data work".to_owned(),
        StoreError::StillRead => "run `tow data work` once the other process is done".to_owned(),
        StoreError::Busy { .. } => {
            "wait until the other process is done, then run `tow data work`".to_owned()
        }
        StoreError::Newer { .. } | StoreError::NewerJournal => "update tow".to_owned(),
        StoreError::Open { path, .. } | StoreError::Folder { path, .. } => {
            format!("ls -ld {}", path.display())
        }
        StoreError::Sql { .. } | StoreError::Unpack { .. } => {
            "run `tow data work`; if it fails, its message says more".to_owned()
        }
    }
}

fn journal(store: &Store) -> Check {
    let looked = store.backlog_bytes().and_then(|backlog| {
        let folder = store.home().journal();
        let segments =
            Segments::list(store.home()).map_err(|source| StoreError::Folder { path: folder, source })?;
        Ok((backlog, segments.total_bytes()))
    });
    match looked {
        Err(error) => Check::bad("journal", chain(&error), mend_of(&error)),
        Ok((0, total)) => Check::good("journal", format!("all applied, {} KB kept", total / 1024)),
        Ok((backlog, _)) => {
            Check::warning("journal", format!("{backlog} bytes are not applied yet"), "tow data work")
        }
    }
}

/// Without a database the whole journal is still to be applied.
fn unapplied(home: &DataFolder) -> Option<Check> {
    let waiting = Segments::list(home).map_or(0, |segments| segments.total_bytes());
    (waiting > 0)
        .then(|| Check::warning("journal", format!("{waiting} bytes are not applied yet"), "tow data work"))
}

/// Lists the client programs, with versions, that were seen in seats.
fn programs_seen(store: &Store) -> Option<Check> {
    let seats = store.seats().ok()?;
    let programs: BTreeSet<String> = seats.into_iter().filter_map(|seat| seat.place.program).collect();
    (!programs.is_empty())
        .then(|| Check::good("clients seen", programs.into_iter().collect::<Vec<_>>().join(", ")))
}

fn faults(store: &Store) -> Vec<Check> {
    let known = match store.faults() {
        Err(error) => return vec![Check::bad("faults", chain(&error), mend_of(&error))],
        Ok(known) => known,
    };
    let waiting = store.unapplied_faults().unwrap_or_default();
    if known.is_empty() && waiting.is_empty() {
        return vec![Check::good("faults", "none")];
    }
    let mut checks: Vec<Check> = known.iter().take(LISTED).map(fault).collect();
    checks.extend(waiting_faults(&waiting));
    if let Some(rest) = known.len().checked_sub(LISTED).filter(|rest| *rest > 0) {
        checks.push(Check::warning(
            "faults",
            format!("{rest} more kinds"),
            "tow doctor --forget-faults, once they are dealt with",
        ));
    }
    checks
}

fn fault(known: &FaultRow) -> Check {
    let times = if known.count == 1 { String::new() } else { format!(", {} times", known.count) };
    let detail = format!(
        "{} (since {}, last {}{times})",
        known.detail,
        known.first_at.to_utc(),
        known.last_at.to_utc()
    );
    Check::warning(format!("fault: {}", known.kind.name()), detail, known.kind.remedy())
}

fn journal_faults(home: &DataFolder) -> Vec<FaultRecord> {
    let faults = Segments::list(home).and_then(|segments| faults_from(&segments, JournalPosition::default()));
    faults.unwrap_or_default()
}

/// Faults that are still in the journal, with the last time and the number of each. Shown because one of them may keep the
/// journal from being applied.
fn waiting_faults(waiting: &[FaultRecord]) -> Vec<Check> {
    let mut kinds: BTreeMap<(FaultKind, &str), (Timestamp, usize)> = BTreeMap::new();
    for fault in waiting {
        let (last, count) = kinds.entry((fault.kind, &fault.detail)).or_insert((fault.at, 0));
        (*last, *count) = (fault.at.max(*last), *count + 1);
    }
    let check = |((kind, detail), (last, count)): ((FaultKind, &str), (Timestamp, usize))| {
        let detail = format!("{detail} (last {}, {count} in the journal)", last.to_utc());
        Check::warning(format!("fault: {}", kind.name()), detail, kind.remedy())
    };
    kinds.into_iter().take(LISTED).map(check).collect()
}

/// Reports a fallback log, which is written when the journal cannot be.
fn fallback(log: &Path) -> Option<Check> {
    let text = fs::read_to_string(log).ok()?;
    let last = text.lines().last()?;
    let kind = last.split(' ').nth(1).and_then(FaultKind::named).unwrap_or(FaultKind::Journal);
    let detail = format!("{} ({} lines in {})", readable(last), text.lines().count(), log.display());
    let mend = format!("{}; then remove {}", kind.remedy(), log.display());
    Some(Check::warning(format!("fault: {}", kind.name()), detail, mend))
}

/// Clears the faults in the database and the fallback logs beside it.
pub fn forget_faults(scope: &Scope) -> Result<(), Failure> {
    for log in fallback_logs(&scope.env) {
        let _ = fs::remove_file(log);
    }
    let failed =
        |error: &dyn std::error::Error| Failure::new(error).hint("Run `tow doctor` again in a moment.");
    let lock =
        ProjectionLock::take_within(&scope.env.home, pauses(PATIENCE)).map_err(|error| failed(&error))?;
    let lock = lock
        .ok_or_else(|| Failure::input("an apply is under way").hint("Run the command again in a moment."))?;
    let store =
        Store::open(&scope.env.home, &lock, PATIENCE, scope.env.uid()).map_err(|error| failed(&error))?;
    store.clear_faults().map_err(|error| failed(&error))?;
    Ok(())
}
