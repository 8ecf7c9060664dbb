//! Damaged files of the search index.

use std::fs;
use std::path::{Path, PathBuf};

use crate::world::World;

#[test]
fn a_search_that_meets_a_damaged_index_file_answers_or_names_the_remedy() {
    let world = World::plain();
    let folder = world.data().folder().join("index");
    for number in 0..50 {
        world.env.tow(&["remember", &format!("Mast {number} is made of larch")]).ok();
    }
    let mut damaged = Vec::new();
    loop {
        world.env.tow(&["reindex"]).ok();
        // File names are random, so the next file is chosen by its ending.
        let Some(file) = files(&folder).into_iter().find(|file| !damaged.contains(&ending(file))) else {
            break;
        };
        let mut bytes = fs::read(&file).expect("it can be read");
        let (start, end) = (bytes.len() / 8, bytes.len() * 5 / 8);
        bytes[start..end].fill(0xff);
        fs::write(&file, &bytes).expect("it can be written");
        let found = world.env.tow(&["search", "larch"]);
        let is_answered = found.status.success() && found.stdout.contains("is made of larch");
        assert!(
            is_answered || found.stderr.contains("Run `tow data reindex`"),
            "{}: {found:?}",
            file.display()
        );
        damaged.push(ending(&file));
    }
    assert!(damaged.len() > 4, "{damaged:?}");
    world.work();
    // At least one file made the search library panic.
    world.doctor().is_sound().names(&["fault: rebuilt", "the search index was damaged"]);
}

/// The files that hold data, in a fixed order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it can be listed");
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("it is there").path()).collect();
    all.retain(|file| !matches!(ending(file).as_str(), "" | "json" | "lock"));
    all.sort_by_key(|file| ending(file));
    all
}

fn ending(file: &Path) -> String {
    file.extension().unwrap_or_default().to_string_lossy().into_owned()
}
