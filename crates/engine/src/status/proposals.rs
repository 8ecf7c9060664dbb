//! The number of open proposals in one small file: the bar must not open the archive.
//!
//! Derived from the archive; whoever changes proposals notes the number.

use crate::runtime::{Env, json_file};
use crate::status::cache;
use std::path::PathBuf;
use towline_store::home::private_folder;
use towline_store::{Archive, DataFolder};

/// The number that was noted last.
pub fn count(home: &DataFolder) -> u32 {
    json_file::load(&file(home)).unwrap_or_default()
}

/// Notes the number, and has the bars redrawn if it changed. A failure leaves the bar behind until the next change.
pub fn note(env: &Env, archive: &Archive) {
    let (Ok(pins), Ok(changes)) = (archive.count_proposals(None), archive.count_team_proposals()) else {
        return;
    };
    let open = pins.saturating_add(changes);
    if open != count(&env.home) && private_folder(&env.home.bars()).is_ok() {
        json_file::save(&file(&env.home), &open);
        cache::clear(&env.home);
    }
}

fn file(home: &DataFolder) -> PathBuf {
    home.bars().join("proposals")
}
