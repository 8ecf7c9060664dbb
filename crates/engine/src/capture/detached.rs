//! Starting a capture that the caller does not wait for.

use super::door::knock;
use crate::runtime::spawn::{PLACE, start_and_go};
use std::path::Path;
use towline_store::Home;

/// Whether a fold set bookmarks or asked for markers: then the journal has something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Bookmarked {
    Nothing,
    /// It is to be folded.
    Something,
}

/// Takes in what is new in the transcripts of a session and of its helper, unless somebody is about to. If bookmarks were
/// told of, it first looks what state the code is in. Only as the last thing that a hook does.
pub fn capture_detached(home: &Home, agent: &str, transcripts: [&Option<String>; 2], bookmarks: Bookmarked) {
    let is_there = |path: &&str| path.starts_with('/') && Path::new(path).exists();
    let is_left = |path: &&str| !knock(home, Path::new(path));
    let files = transcripts.into_iter().flatten().map(String::as_str).filter(is_there).filter(is_left);
    let mut arguments: Vec<&str> = ["capture", agent].into_iter().chain(files).collect();
    if bookmarks == Bookmarked::Something {
        arguments.insert(1, PLACE);
    }
    if arguments.len() > 2 {
        start_and_go(&arguments);
    }
}
