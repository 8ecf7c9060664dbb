//! `cargo xtask plugin`: writes the folder from which agents load Towline as a plugin.
//!
//! The agents crate alone decides the content. Removes only files of that folder that no longer belong to it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::files;
use crate::outcome::{Failure, Result, Verdict};
use crate::repository::Repository;

pub fn run(repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let folder = repository.root().join("plugin");
    let wanted = wanted()?;
    files::create_folder(&folder)?;
    for file in files::below(&folder)? {
        let path = file.strip_prefix(&folder).unwrap_or(&file);
        if !wanted.contains_key(path) {
            files::remove(&file)?;
            writeln!(out, "removed {}", path.display())?;
        }
    }
    for (path, text) in wanted {
        let file = folder.join(&path);
        if !fs::read_to_string(&file).is_ok_and(|there| there == text) {
            files::write(&file, text)?;
            writeln!(out, "wrote {}", path.display())?;
        }
    }
    Ok(Verdict::Holds)
}

fn wanted() -> Result<BTreeMap<PathBuf, String>> {
    let files = towline_agents::plugin::files();
    Ok(files.map_err(|refusal| Failure::malformed("the plugin", refusal))?.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_plugin_is_what_would_be_written() {
        let repository = Repository::here().unwrap();
        let folder = repository.root().join("plugin");
        let file =
            |file: PathBuf| (file.strip_prefix(&folder).unwrap().to_owned(), files::read(&file).unwrap());
        let found: BTreeMap<PathBuf, String> = files::below(&folder).unwrap().into_iter().map(file).collect();
        assert_eq!(found, wanted().unwrap(), "run `cargo xtask plugin`");
    }
}
