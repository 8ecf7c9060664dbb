//! `tow edit`: rewrites a memory, by options or in the user's editor.
//!
//! Changes nothing unless the whole form parses; if it does not, the typed text is kept in its file.

use super::config::edit_file;
use super::remember::type_named;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_core::memory::{Memory, MemoryContent, MemoryDraft};
use towline_engine::memory::remember::{form, memories_named, open, read_form};
use towline_engine::runtime::failure::Failure;
use towline_render::memory_json;
use towline_store::StoreError;

const EXAMPLES: &str = "\
Examples:
  tow edit m12                                in $VISUAL or $EDITOR
  tow edit m12 --title \"Deploy on Tuesdays\"
  tow edit m12 --fact \"the freeze is on Fridays\" --fact \"ask before\"
  tow edit m12 --type decision
  tow undo m12                                as it was before";

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

impl Arguments {
    fn say_nothing(&self) -> bool {
        let texts = [&self.title, &self.subtitle, &self.narrative, &self.kind];
        texts.iter().all(|text| text.is_none()) && self.facts.is_empty() && self.concepts.is_empty()
    }

    fn applied(&self, draft: MemoryDraft) -> Result<MemoryDraft, Failure> {
        let kind = self.kind.as_deref().map(type_named).transpose()?;
        let or = |given: &[String], known: Vec<String>| if given.is_empty() { known } else { given.to_vec() };
        Ok(MemoryDraft {
            kind: kind.unwrap_or(draft.kind),
            title: self.title.clone().unwrap_or(draft.title),
            subtitle: self.subtitle.clone().unwrap_or(draft.subtitle),
            narrative: self.narrative.clone().unwrap_or(draft.narrative),
            facts: or(&self.facts, draft.facts),
            concepts: or(&self.concepts, draft.concepts),
            files: draft.files,
        })
    }
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let memory = one(scope, &arguments.id)?;
    let known = memory.content.clone();
    let sheet = arguments.say_nothing().then(|| sheet(scope, &memory)).transpose()?;
    let draft = match &sheet {
        Some(sheet) => edited(sheet)?,
        None => arguments.applied(known.clone().into_draft())?,
    };
    let content = MemoryContent::of(draft).ok_or_else(|| {
        let failure = Failure::input("a memory needs a title").hint("Give one, then run it again.");
        sheet.iter().fold(failure, |failure, sheet| failure.hint(kept_at(sheet)))
    })?;
    let is_changed = content != known;
    if is_changed {
        let writing = open(&scope.env)?;
        writing.archive.edit_memory(memory.number, &content, scope.env.now, "").map_err(failed)?;
    }
    sheet.iter().for_each(|sheet| drop(fs::remove_file(sheet)));
    let after = one(scope, &arguments.id)?;
    if arguments.json {
        scope.out.line(&json!({"changed": is_changed, "memory": memory_json(&after)}).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    let (id, title) = (after.name(), for_terminal(&after.content.title));
    scope.out.line(&match is_changed {
        true => format!("{id} says now: {title}\nnext: `tow undo {id}` takes that back"),
        false => format!("{id} says what it said: {title}"),
    });
    Ok(ExitCode::SUCCESS)
}

/// Reads the memory and releases the archive, so that other processes can write while the editor is open.
fn one(scope: &Scope, id: &str) -> Result<Memory, Failure> {
    let writing = open(&scope.env)?;
    let mut found = memories_named(&writing.archive, &[id.to_owned()])?;
    found.pop().ok_or_else(|| Failure::input("no memory was named").hint("Run `tow memories`."))
}

/// Writes the memory's form to a file that only its owner can read.
fn sheet(scope: &Scope, memory: &Memory) -> Result<PathBuf, Failure> {
    let name = format!("edit-{}-{}.txt", memory.name(), std::process::id());
    let path = scope.env.home.folder().join(name);
    let write = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(form(&memory.name(), &memory.content).as_bytes())
    };
    write().map_err(|error| Failure::about(format!("could not write {}", path.display()), &error))?;
    Ok(path)
}

fn edited(sheet: &Path) -> Result<MemoryDraft, Failure> {
    if !edit_file(sheet)? {
        let _ = fs::remove_file(sheet);
        return Err(Failure::input("nothing was changed: the editor was left with a failure")
            .hint("Run it again, and leave the editor as usual."));
    }
    let text = fs::read_to_string(sheet)
        .map_err(|error| Failure::about(format!("could not read {}", sheet.display()), &error))?;
    read_form(&text).map_err(|why| {
        Failure::input(format!("nothing was changed: {}", for_terminal(&why))).hint(kept_at(sheet))
    })
}

fn kept_at(sheet: &Path) -> String {
    format!("What was typed is in {}.", sheet.display())
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not change it", &error).hint("Run `tow doctor`.")
}
