//! Damaged files of the search index.

use std::fs;
use std::path::PathBuf;

use crate::world::World;

#[test]
fn each_damaged_index_file_is_survived_by_the_search_that_meets_it() {
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
        let whole = fs::read(&file).expect("it can be read");
        fs::write(&file, &whole[..whole.len() / 2]).expect("it can be written");
        let found = world.env.tow(&["search", "larch"]).ok();
        assert!(found.stdout.contains("is made of larch"), "{}: {found:?}", file.display());
        damaged.push(ending(&file));
    }
    assert!(damaged.len() > 4, "{damaged:?}");
    world.doctor().is_sound().names(&["fault: rebuilt", "the search index was damaged"]);
}

/// The files that hold data, in a fixed order.
fn files(folder: &PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it can be listed");
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("it is there").path()).collect();
    all.retain(|file| !matches!(ending(file).as_str(), "" | "json" | "lock"));
    all.sort_by_key(ending);
    all
}

fn ending(file: &PathBuf) -> String {
    file.extension().unwrap_or_default().to_string_lossy().into_owned()
}
