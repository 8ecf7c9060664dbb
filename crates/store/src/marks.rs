//! Which sessions work: one small file with a hash of each, so that most hooks need not open the database.
//!
//! A mark may be missing while its session works (the hook then applies, which is only slower), but must never be set
//! while it does not: it is lowered before the state change is saved and raised only afterwards. A file for each session took
//! up to 300 of the 1,300 µs of a new session's first hook, where the file system has to look for a free inode.

use crate::home::{DataFolder, if_exists, remove_file, session_file};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use towline_core::id::{IdHash, SessionKey};

type Mark = [u8; 8];
const NONE: Mark = [0; 8];

/// The marks of a bucket are read by one call. More sessions than that which work at once and share a bucket overwrite each
/// other's mark: with 500 of them, less than one time in a million.
const BUCKET: usize = 8;
const BUCKETS: u64 = 1024;

type Bucket = [Mark; BUCKET];

/// Where a session's mark is looked for.
struct Place {
    mark: Mark,
    bucket: u64,
}

impl Place {
    fn of(session: &SessionKey) -> Place {
        let hash = IdHash::of(&session_file(session)).0.cast_unsigned();
        Place {
            mark: hash.max(1).to_be_bytes(),
            bucket: hash % BUCKETS * (BUCKET * size_of::<Mark>()) as u64,
        }
    }

    /// Empty where the file ends.
    fn read(&self, file: &File) -> io::Result<Bucket> {
        let mut bytes = [0; BUCKET * size_of::<Mark>()];
        file.read_at(&mut bytes, self.bucket)?;
        let mut marks = [NONE; BUCKET];
        for (mark, bytes) in marks.iter_mut().zip(bytes.as_chunks().0) {
            *mark = *bytes;
        }
        Ok(marks)
    }

    fn write(&self, file: &File, index: usize, mark: Mark) -> io::Result<()> {
        file.write_all_at(&mark, self.bucket + (index * size_of::<Mark>()) as u64)
    }
}

/// Whether the session was working at the last apply.
pub fn is_working(home: &DataFolder, session: &SessionKey) -> bool {
    let place = Place::of(session);
    let marks = File::open(home.marks()).and_then(|file| place.read(&file));
    marks.is_ok_and(|marks| marks.contains(&place.mark))
}

/// Whether any session is known to be working.
pub fn is_any(home: &DataFolder) -> bool {
    fs::read(home.marks()).is_ok_and(|marks| marks.iter().any(|byte| *byte != 0))
}

/// Makes the session's next tool result get applied, because there is a message for its agent. If the mark cannot be
/// lowered, the message waits until the next prompt.
pub fn unmark(home: &DataFolder, session: &SessionKey) {
    let _ = lower(home, session);
}

/// A mark that cannot be set costs time, nothing else.
pub(crate) fn raise(home: &DataFolder, session: &SessionKey) {
    let _ = try_raise(home, &Place::of(session));
}

fn try_raise(home: &DataFolder, place: &Place) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(home.marks())?;
    let marks = place.read(&file)?;
    if marks.contains(&place.mark) {
        return Ok(());
    }
    let free = marks.iter().position(|mark| *mark == NONE);
    place.write(&file, free.unwrap_or(usize::from(place.mark[0]) % BUCKET), place.mark)
}

/// Fails only if the mark is still set afterwards.
pub(crate) fn lower(home: &DataFolder, session: &SessionKey) -> io::Result<()> {
    let Some(file) = if_exists(OpenOptions::new().read(true).write(true).open(home.marks()))? else {
        return Ok(());
    };
    let place = Place::of(session);
    let marks = place.read(&file)?;
    let its = marks.iter().enumerate().filter(|(_, mark)| **mark == place.mark);
    its.into_iter().try_for_each(|(index, _)| place.write(&file, index, NONE))
}

/// Removes all marks, for when the database they were derived from is gone.
pub(crate) fn remove_all(home: &DataFolder) -> io::Result<()> {
    remove_file(&home.marks())
}

/// Removes the folder in which earlier versions had a file for each session.
pub(crate) fn remove_old_folder(home: &DataFolder) -> io::Result<()> {
    if_exists(fs::remove_dir_all(home.folder().join("working"))).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u32) -> SessionKey {
        SessionKey::parse(&format!("alpha:{number}")).unwrap()
    }

    #[test]
    fn many_sessions_share_a_small_file_and_keep_their_marks() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        assert!(!is_any(&home) && !is_working(&home, &session(0)));
        lower(&home, &session(0)).unwrap();
        for number in 0..500 {
            raise(&home, &session(number));
            raise(&home, &session(number));
        }
        assert!((0..500).all(|number| is_working(&home, &session(number))));
        assert!(!(500..5000).any(|number| is_working(&home, &session(number))));
        for number in (0..500).step_by(2) {
            lower(&home, &session(number)).unwrap();
        }
        assert!((0..500).all(|number| is_working(&home, &session(number)) == (number % 2 == 1)));
        for number in 500..20_000 {
            raise(&home, &session(number));
        }
        assert!(fs::metadata(home.marks()).unwrap().len() <= 65_536);
        for number in 0..20_000 {
            lower(&home, &session(number)).unwrap();
        }
        assert!(!is_any(&home), "no mark stays, however full its bucket was");
    }
}
