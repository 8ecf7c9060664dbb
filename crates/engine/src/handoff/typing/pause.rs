//! The pause file: while it exists and has not expired, no intent is typed.
//!
//! An unreadable file counts as a pause without end.

use std::fs;
use std::io::{self, ErrorKind};
use towline_core::time::Timestamp;
use towline_core::typing::TypingPause;
use towline_store::home::{DataFolder, replace_file};

/// Stops all typing, until `pause.until` if given.
pub fn pause(home: &DataFolder, pause: TypingPause) -> io::Result<()> {
    let until = pause.until.map_or_else(String::new, |until| until.0.to_string());
    replace_file(&home.typing_pause(), until.as_bytes())
}

/// Removes the pause. Returns whether there was one.
pub fn resume_typing(home: &DataFolder) -> io::Result<bool> {
    match fs::remove_file(home.typing_pause()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The pause in effect now.
pub fn paused(home: &DataFolder, now: Timestamp) -> Option<TypingPause> {
    let written = match fs::read_to_string(home.typing_pause()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        written => written.ok(),
    };
    let until = written.and_then(|text| text.trim().parse().ok()).map(Timestamp);
    Some(TypingPause { until }).filter(|pause| pause.until.is_none_or(|until| now < until))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_until_its_time_or_until_it_is_lifted() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        assert_eq!(paused(&home, Timestamp(5)), None);
        let until = TypingPause { until: Some(Timestamp(10)) };
        pause(&home, until).unwrap();
        assert_eq!((paused(&home, Timestamp(9)), paused(&home, Timestamp(10))), (Some(until), None));
        pause(&home, TypingPause { until: None }).unwrap();
        assert_eq!(paused(&home, Timestamp(i64::MAX)), Some(TypingPause { until: None }));
        assert!(resume_typing(&home).unwrap() && !resume_typing(&home).unwrap());
        assert_eq!(paused(&home, Timestamp(5)), None);
    }

    #[test]
    fn what_cannot_be_read_is_a_pause() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        fs::create_dir_all(home.typing_pause()).unwrap();
        assert_eq!(paused(&home, Timestamp(5)), Some(TypingPause { until: None }));
        fs::remove_dir(home.typing_pause()).unwrap();
        fs::write(home.typing_pause(), "soon").unwrap();
        assert_eq!(paused(&home, Timestamp(5)), Some(TypingPause { until: None }));
    }
}
