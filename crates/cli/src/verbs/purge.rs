//! The data that `tow uninstall` leaves behind, and `--purge`, which deletes it.
//!
//! Deletes only the data and configuration folders at their usual places: a folder that the user chose may hold other files.

use crate::agreement::{confirm, is_interactive};
use crate::scope::Scope;
use std::fs;
use std::path::{Path, PathBuf};
use towline_engine::curate::Actor;
use towline_engine::runtime::env::own_program;
use towline_engine::runtime::text::{plain_text, size};
use towline_engine::runtime::{Env, Failure, variable};

/// The folders that exist after an uninstall.
pub struct Leftovers {
    folders: Vec<Leftover>,
}

struct Leftover {
    path: PathBuf,
    contents: &'static str,
}

impl Leftovers {
    pub fn find(env: &Env) -> Leftovers {
        let data = env.home.folder().to_owned();
        let config = env.config_file.parent().unwrap_or(&env.config_file).to_owned();
        let folders = [
            Leftover {
                path: data,
                contents: "recorded sessions, memories, search index, backups of settings",
            },
            Leftover { path: config, contents: "your configuration" },
        ];
        Leftovers { folders: folders.into_iter().filter(|folder| folder.path.exists()).collect() }
    }

    /// Names every folder, and the program itself, which no command deletes.
    pub fn show(&self, scope: &Scope) {
        self.list(scope, "kept:");
        if let Some(program) = own_program() {
            scope.out.line(&format!("kept: {}, the program", shown(&program)));
        }
        if !self.folders.is_empty() {
            scope
                .out
                .line("To delete what was recorded and configured as well, run `tow uninstall --purge`.");
        }
    }

    fn list(&self, scope: &Scope, verb: &str) {
        for Leftover { path, contents } in &self.folders {
            scope.out.line(&format!("{verb} {} ({}): {contents}", shown(path), size(bytes(path))));
        }
    }

    /// Fails unless the user agrees to delete the folders.
    pub fn agree(&self, scope: &Scope, agreed: Agreement) -> Result<(), Failure> {
        Actor::of_caller(&scope.env)?.require_person("delete what was recorded")?;
        if let Some(folder) = self.folders.iter().find(|folder| !is_usual(&folder.path)) {
            let path = shown(&folder.path);
            let what = format!(
                "nothing was removed: {path} was chosen by TOWLINE_HOME or a link, and may hold other files"
            );
            return Err(Failure::input(what)
                .hint(format!("Run `tow uninstall`, look at {path}, and delete it yourself.")));
        }
        match agreed {
            Agreement::Given => return Ok(()),
            Agreement::Askable if is_interactive() => {}
            Agreement::Askable | Agreement::Missing => {
                return Err(Failure::input("nothing was removed: `--purge` has to be confirmed")
                    .hint("Add `--yes`, or `--dry-run` to see what would be deleted."));
            }
        }
        self.list(scope, "would delete");
        if confirm("Uninstall, and delete this for good?")? {
            return Ok(());
        }
        Err(Failure::input("nothing was removed").hint("Run `tow uninstall` to keep the data."))
    }

    pub fn show_plan(&self, scope: &Scope) {
        self.list(scope, "would delete");
    }

    /// Deletes the folders and returns them.
    pub fn delete(&self) -> Result<Vec<String>, Failure> {
        let delete = |Leftover { path, .. }: &Leftover| {
            // A process of ours that is ending may create a file meanwhile: try twice.
            let deleted = fs::remove_dir_all(path).or_else(|_| fs::remove_dir_all(path));
            match deleted {
                Err(error) if path.exists() => {
                    Err(Failure::about(format!("could not delete {}", shown(path)), &error)
                        .hint("End every `tow` that still runs, then run `tow uninstall --purge` again."))
                }
                Ok(()) | Err(_) => Ok(shown(path)),
            }
        };
        self.folders.iter().map(delete).collect()
    }
}

/// Whether the caller agrees to deletion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// By `--yes`.
    Given,
    Askable,
    /// The output is for a program, so no question can be asked.
    Missing,
}

fn is_usual(folder: &Path) -> bool {
    let is_chosen = variable("TOWLINE_HOME").is_some_and(|chosen| Path::new(&chosen) == folder);
    !is_chosen && !folder.is_symlink()
}

fn shown(path: &Path) -> String {
    plain_text(&path.display().to_string())
}

fn bytes(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else {
        return path.symlink_metadata().map_or(0, |found| found.len());
    };
    entries.flatten().map(|entry| if entry.path().is_symlink() { 0 } else { bytes(&entry.path()) }).sum()
}
