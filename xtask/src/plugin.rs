//! `cargo xtask plugin`: writes the folder from which agents load Towline as a plugin.
//!
//! The agents crate alone decides the content. Removes only files of that folder that no longer belong to it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::outcome::{Failure, Verdict};
use crate::repository::Repository;

pub fn run(repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    let folder = repository.root().join("plugin");
    let wanted = wanted()?;
    for (path, _) in found(&folder)?.iter().filter(|(path, _)| !wanted.contains_key(*path)) {
        let file = folder.join(path);
        fs::remove_file(&file).map_err(Failure::write(&file))?;
        writeln!(out, "removed {}", path.display())?;
    }
    for (path, text) in wanted {
        let file = folder.join(&path);
        if fs::read_to_string(&file).is_ok_and(|there| there == text) {
            continue;
        }
        let parent = file.parent().unwrap_or(&folder);
        fs::create_dir_all(parent).map_err(Failure::write(parent))?;
        fs::write(&file, text).map_err(Failure::write(&file))?;
        writeln!(out, "wrote {}", path.display())?;
    }
    Ok(Verdict::Holds)
}

fn wanted() -> Result<BTreeMap<PathBuf, String>, Failure> {
    let files = towline_agents::plugin::files();
    Ok(files.map_err(|refusal| Failure::malformed("the plugin", refusal))?.into_iter().collect())
}

/// Every file below the folder, by relative path.
fn found(folder: &Path) -> Result<BTreeMap<PathBuf, String>, Failure> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.map_err(Failure::read(&next))?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).map_err(Failure::read(&path))?;
            files.insert(path.strip_prefix(folder).unwrap_or(&path).to_owned(), text);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_plugin_is_what_would_be_written() {
        let repository = Repository::here().unwrap();
        let found = found(&repository.root().join("plugin")).unwrap();
        assert_eq!(found, wanted().unwrap(), "run `cargo xtask plugin`");
    }
}
