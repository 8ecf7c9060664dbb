//! The last context usage of each session, one small file each, so that frequent callers can compare without a query.
//!
//! Not authoritative: announced thresholds are in the database, and a lost or stale file costs one extra apply.

use crate::home::{DataFolder, remove_file, remove_old, replace_file, session_file};
use std::path::PathBuf;
use std::{fs, io};
use towline_core::id::SessionKey;
use towline_core::meter::{ContextUsage, Exactness, UsageSource};
use towline_core::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedUsage {
    pub fill: ContextUsage,
    pub at: Timestamp,
    /// The highest threshold announced to the model, as known at that time.
    pub told: u8,
}

/// Returns `None` also for a file that cannot be parsed.
pub fn last(home: &DataFolder, session: &SessionKey) -> Option<CachedUsage> {
    parse(&fs::read_to_string(path(home, session)).ok()?)
}

/// Replaces the file atomically.
pub fn note(home: &DataFolder, session: &SessionKey, noted: CachedUsage) -> io::Result<()> {
    let CachedUsage { fill: ContextUsage { tokens, window, exact, source }, at, told } = noted;
    let text = format!("{tokens} {window} {} {} {} {told}\n", exact.name(), source.name(), at.0);
    replace_file(&path(home, session), text.as_bytes())
}

/// Removes files that were written before this time.
pub fn forget(home: &DataFolder, before: Timestamp) {
    remove_old(&home.meters(), |path| {
        let noted = fs::read_to_string(path).ok().and_then(|text| parse(&text));
        noted.is_none_or(|noted| noted.at < before)
    });
}

pub(crate) fn remove(home: &DataFolder, session: &SessionKey) -> io::Result<()> {
    remove_file(&path(home, session))
}

fn parse(text: &str) -> Option<CachedUsage> {
    let mut words = text.strip_suffix('\n')?.split(' ');
    let tokens = words.next()?.parse().ok()?;
    let window = words.next()?.parse().ok().filter(|window| *window > 0)?;
    let exact = Exactness::named(words.next()?)?;
    let source = UsageSource::named(words.next()?)?;
    let at = Timestamp(words.next()?.parse().ok()?);
    let told = words.next()?.parse().ok()?;
    Some(CachedUsage { fill: ContextUsage { tokens, window, exact, source }, at, told })
}

fn path(home: &DataFolder, session: &SessionKey) -> PathBuf {
    home.meters().join(session_file(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_reads_back_until_it_expires() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        let session = SessionKey::parse("agent:id").unwrap();
        let fill = ContextUsage::from_display(90_000, 200_000).unwrap();
        let noted = CachedUsage { fill, at: Timestamp(5), told: 40 };
        assert_eq!(last(&home, &session), None);
        note(&home, &session, noted).unwrap();
        assert_eq!(last(&home, &session), Some(noted));
        forget(&home, Timestamp(5));
        assert_eq!(last(&home, &session), Some(noted));
        forget(&home, Timestamp(6));
        assert_eq!(last(&home, &session), None);
    }

    #[test]
    fn a_torn_meter_file_is_ignored_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        let session = SessionKey::parse("agent:id").unwrap();
        fs::create_dir(home.meters()).unwrap();
        for torn in ["", "12", "1 0 exact client 5 0\n", "1 2 exact client 5 400\n", "1 2 exact client 5 4"] {
            fs::write(path(&home, &session), torn).unwrap();
            assert_eq!(last(&home, &session), None, "{torn:?}");
        }
        forget(&home, Timestamp(0));
        assert_eq!(fs::read_dir(home.meters()).unwrap().count(), 0);
        remove(&home, &session).unwrap();
    }
}
