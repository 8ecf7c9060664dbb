//! The payloads recorded from the real clients.
//!
//! They are read as bytes and never changed here.

use std::fs;
use std::path::{Path, PathBuf};

/// One recorded payload.
#[derive(Clone, Debug)]
pub struct Recording {
    pub agent: String,
    /// `version/Event.variant`.
    pub name: String,
    pub payload: Vec<u8>,
}

/// Reads `folder/<agent>/<version>/<Event>[.variant].json`, sorted by path.
#[track_caller]
pub fn recordings(folder: &Path) -> Vec<Recording> {
    let mut found = Vec::new();
    for agent in entries(folder) {
        for version in entries(&agent) {
            for file in entries(&version).into_iter().filter(|path| path.is_file()) {
                let payload = named(fs::read(&file).expect("a recording can be read"), &name_of(&file));
                let name = format!("{}/{}", name_of(&version), name_of(&file).trim_end_matches(".json"));
                found.push(Recording { agent: name_of(&agent), name, payload });
            }
        }
    }
    found
}

/// One agent names the event as an argument of the hook, and not in the payload, where this puts it.
fn named(payload: Vec<u8>, file: &str) -> Vec<u8> {
    let is_named = payload.windows(15).any(|window| window == b"hook_event_name");
    let event = file.split('.').next().unwrap_or_default();
    match payload.split_first() {
        Some((b'{', rest)) if !is_named => {
            [format!("{{\"hook_event_name\":\"{event}\",").as_bytes(), rest].concat()
        }
        _ => payload,
    }
}

#[track_caller]
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("could not read {}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = read.map(|entry| entry.expect("a folder can be listed").path()).collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
