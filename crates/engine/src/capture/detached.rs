//! Starts a capture process in the background. Never waits for it.

use super::door::notify_capture;
use super::opened::container;
use crate::runtime::spawn::{PLACE, start_without_waiting};
use std::path::Path;
use towline_store::DataFolder;

/// Whether bookmarks or marker requests were appended to the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub enum Bookmarked {
    #[default]
    Nothing,
    /// The new records still have to be applied.
    Something,
}

/// Starts a capture of the transcripts of a session and its subagent, unless one is pending. With bookmarks
/// it records the code state first. Must be the last thing that a hook does.
pub fn capture_detached(
    home: &DataFolder,
    agent: &str,
    transcripts: [&Option<String>; 2],
    bookmarks: Bookmarked,
) {
    let is_there = |path: &&str| path.starts_with('/') && is_or_will_be(&container(Path::new(path)));
    let is_left = |path: &&str| !notify_capture(home, Path::new(path));
    let files = transcripts.into_iter().flatten().map(String::as_str).filter(is_there).filter(is_left);
    let mut arguments: Vec<&str> = ["capture", agent].into_iter().chain(files).collect();
    if bookmarks == Bookmarked::Something {
        arguments.insert(1, PLACE);
    }
    if arguments.len() > 2 {
        start_without_waiting(&arguments);
    }
}

/// An agent on a busy machine may tell of the end of its first turn before it makes the transcript.
fn is_or_will_be(transcript: &Path) -> bool {
    transcript.exists() || transcript.parent().is_some_and(Path::is_dir)
}
