//! `tow memory edit`: rewrites a memory, by options or in the user's editor.
//!
//! Changes nothing unless the whole form parses; if it does not, the typed text is kept in its file.

use super::change;
use super::config::edit_file;
use crate::scope::Scope;
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use towline_core::escape::escape_for_terminal;
use towline_engine::curate::{Actor, MemoryChange, MemoryEdit, current};
use towline_engine::memory::remember::{form, read_form};
use towline_engine::runtime::Failure;
use towline_store::home::replace_file;

const EXAMPLES: &str = "\
Examples:
  tow memory edit m12                                in $VISUAL or $EDITOR
  tow memory edit m12 --title \"Deploy on Tuesdays\"
  tow memory edit m12 --fact \"the freeze is on Fridays\" --fact \"ask before\"
  tow memory edit m12 --type decision
  tow memory undo m12                                as it was before";

/// Change the text of a memory.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Which: m12.
    #[arg(value_name = "ID")]
    id: String,
    #[arg(long)]
    title: Option<String>,
    #[arg(long)]
    subtitle: Option<String>,
    /// Replaces all facts; may be given several times.
    #[arg(long = "fact", value_name = "TEXT")]
    facts: Vec<String>,
    #[arg(long, value_name = "TEXT")]
    narrative: Option<String>,
    /// Replaces all concepts; may be given several times.
    #[arg(long = "concept", value_name = "WORD")]
    concepts: Vec<String>,
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let given = |values: &[String]| (!values.is_empty()).then(|| values.to_vec());
    let edit = MemoryEdit {
        kind: arguments.kind.clone(),
        title: arguments.title.clone(),
        subtitle: arguments.subtitle.clone(),
        narrative: arguments.narrative.clone(),
        facts: given(&arguments.facts),
        concepts: given(&arguments.concepts),
        files: None,
    };
    let save = |edit| {
        let ids = std::slice::from_ref(&arguments.id);
        change::run(scope, ids, &MemoryChange::Edit(edit), arguments.json)
    };
    if edit != MemoryEdit::default() {
        return save(edit);
    }
    // Before the editor opens: nothing is typed in vain.
    Actor::of_caller(&scope.env)?.require_person("edit memories")?;
    let sheet = sheet(scope, &arguments.id)?;
    save(edited(&sheet)?).map_err(|failure| failure.hint(typed_text_is_in(&sheet)))?;
    drop(fs::remove_file(&sheet));
    Ok(())
}

/// Writes the memory's form to a file that only its owner can read.
fn sheet(scope: &Scope, id: &str) -> Result<PathBuf, Failure> {
    let memory = current(&scope.env, id)?;
    let name = format!("edit-{}-{}.txt", memory.name(), std::process::id());
    let path = scope.env.home.folder().join(name);
    replace_file(&path, form(&memory.name(), &memory.content).as_bytes())
        .map_err(|error| Failure::about(format!("could not write {}", path.display()), &error))?;
    Ok(path)
}

fn edited(sheet: &Path) -> Result<MemoryEdit, Failure> {
    if !edit_file(sheet)? {
        let _ = fs::remove_file(sheet);
        return Err(Failure::input("nothing was changed: the editor was left with a failure")
            .hint("Run it again, and leave the editor as usual."));
    }
    let text = fs::read_to_string(sheet)
        .map_err(|error| Failure::about(format!("could not read {}", sheet.display()), &error))?;
    read_form(&text).map(MemoryEdit::from).map_err(|why| {
        Failure::input(format!("nothing was changed: {}", escape_for_terminal(&why)))
            .hint(typed_text_is_in(sheet))
    })
}

fn typed_text_is_in(sheet: &Path) -> String {
    format!("What was typed is in {}.", sheet.display())
}
