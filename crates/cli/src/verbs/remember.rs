//! `tow remember`: stores a memory in the user's own words.
//!
//! Never truncates: too long a text is refused. Reports which memory it replaces, or that it was known.

use crate::output::Tone;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use towline_core::capture::FileAccess;
use towline_core::escape::for_terminal;
use towline_core::id::SessionKey;
use towline_core::memory::suspicion::{Suspicion, held_back};
use towline_core::memory::{
    ConfidencePercent, LONGEST, Memory, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
    RejectedText, told,
};
use towline_engine::capture::Wishes;
use towline_engine::handoff::bookmarks::code_in;
use towline_engine::ingest::live;
use towline_engine::memory::remember::{Kept, keep, no_memory, open};
use towline_engine::query::{Chosen, called, is_path, ownership, unreadable};
use towline_engine::runtime::env::current_folder;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::plain;
use towline_render::memory_json;
use towline_store::archive::NewMemory;
use towline_store::{Archive, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow remember \"deploy on Tuesdays only\"
  tow remember --pin \"never push to main\"       given to every session of this project
  tow remember --type gotcha --file src/paint.rs \"a restart is needed after a change\"
  tow remember --title \"How we deploy\" - < deploy.txt
  tow remember --project app \"use pnpm instead of npm\"

It belongs to the project of this folder. What it takes the place of is told, and `tow undo` takes that back.";

/// Keep something worth knowing later, in your own words.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The text to remember; `-` reads it from standard input.
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Give it to every session from now on.
    #[arg(long)]
    pin: bool,
    /// decision, preference, gotcha, discovery, … or a word of your own; guessed if not given.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// A title; the text follows below it.
    #[arg(long)]
    title: Option<String>,
    /// A file that it is about; may be given several times.
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// A keyword; may be given several times.
    #[arg(long = "concept", value_name = "WORD")]
    concepts: Vec<String>,
    /// This project, by name or by a folder in it, instead of that of the current folder.
    #[arg(long, value_name = "NAME|PATH")]
    project: Option<String>,
    /// Said by an agent, not by the user: trusted less, and held back if it gives orders.
    #[arg(long, hide = true)]
    by_agent: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let content = content(arguments)?;
    let session = caller(scope);
    let writing = open(&scope.env)?;
    let archive = &writing.archive;
    let new = NewMemory { content, session, ..blank(scope, project(scope, archive, arguments)?)? };
    // A call from within an agent's session counts as the agent's, whatever its options say.
    let new = if arguments.by_agent || new.session.is_some() { by_agent(new) } else { new };
    let done = archive.as_one(|| {
        let kept = keep(archive, &new, scope.env.now)?;
        if let (true, Some(number)) = (arguments.pin, kept.number()) {
            archive.pin_memory(number, Some(scope.env.now), scope.env.now)?;
        }
        Ok(kept)
    });
    let kept = done.map_err(failed)?;
    archive.tidy().map_err(failed)?;
    let number = kept.number().unwrap_or_default();
    let memory = archive.memory(number).map_err(failed)?.ok_or_else(|| no_memory(number))?;
    let mut old = vec![];
    if let Kept::Replaced { old: replaced, .. } = &kept {
        for one in replaced {
            old.extend(archive.memory(one.number).map_err(failed)?);
        }
    }
    say(scope, arguments, &kept, &memory, &old);
    Ok(ExitCode::SUCCESS)
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not remember it", &error).hint("Run `tow doctor`.")
}

/// The text, combined with the options.
fn content(arguments: &Arguments) -> Result<MemoryContent, Failure> {
    let typed = arguments.text.join(" ");
    let text = if typed == "-" { from_stdin()? } else { typed };
    let kind = arguments.kind.as_deref().map(type_named).transpose()?;
    let mut draft = told(&text, kind).map_err(untellable)?;
    if let Some(title) = &arguments.title {
        draft = MemoryDraft { title: title.clone(), narrative: text.trim().to_owned(), ..draft };
    }
    draft.concepts = arguments.concepts.clone();
    draft.files = arguments.files.iter().map(|path| (path.clone(), FileAccess::Changed)).collect();
    MemoryContent::of(draft).ok_or_else(|| untellable(RejectedText::Empty))
}

pub(super) fn type_named(word: &str) -> Result<MemoryType, Failure> {
    let known: Vec<&str> = MemoryType::KNOWN.iter().map(|(known, _)| *known).collect();
    MemoryType::parse(word).ok_or_else(|| {
        Failure::input(format!("`{}` is no type of a memory", plain(word)))
            .hint(format!("Give one word: {}, or one of your own.", known.join(", ")))
    })
}

fn untellable(why: RejectedText) -> Failure {
    match why {
        RejectedText::Empty => Failure::input("there is nothing to remember: the text is empty")
            .hint("Write `tow remember \"…\"`, or `tow remember -` and give it on standard input."),
        RejectedText::TooLong(bytes) => {
            Failure::input(format!("the text has {bytes} bytes, and a memory holds {LONGEST}"))
                .hint("Say the gist of it, or make several memories of it; a file can be named by `--file`.")
        }
    }
}

fn from_stdin() -> Result<String, Failure> {
    let mut bytes = vec![];
    io::stdin()
        .take(1 << 20)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::about("could not read the text", &error).hint("Give it as an argument."))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The session of the calling agent, if there is one.
fn caller(scope: &Scope) -> Option<SessionKey> {
    let store = live::store(&scope.env).ok().flatten()?;
    ownership::of_caller(&store).ok().flatten().map(|session| session.key)
}

/// A memory by the user, with placeholder content.
fn blank(scope: &Scope, project: i64) -> Result<NewMemory, Failure> {
    let folder = current_folder().and_then(|folder| folder.to_str().map(str::to_owned));
    let code = code_in(folder.as_deref());
    let nothing = MemoryContent::of(MemoryDraft::new(type_named("discovery")?, "…"));
    Ok(NewMemory {
        uid: scope.env.uid(),
        content: nothing.ok_or_else(|| untellable(RejectedText::Empty))?,
        project: Some(project),
        session: None,
        turn: None,
        branch: code.as_ref().and_then(|code| Some(code.branch.as_ref()?.as_str().to_owned())),
        commit: code.map(|code| code.commit.as_str().to_owned()),
        maker: MemoryAuthor::Person,
        trust: MemoryTrust::Person,
        confidence: ConfidencePercent::SURE,
        cost: 0,
        at: scope.env.now,
        valid_from: scope.env.now,
        quarantine: None,
    })
}

/// Turns it into a memory by an agent: less trusted, and held back if suspicious.
fn by_agent(new: NewMemory) -> NewMemory {
    let quarantine = held_back(&new.content, MemoryTrust::Agent).map(Suspicion::why).map(str::to_owned);
    let (maker, confidence) = (MemoryAuthor::Model("agent".to_owned()), ConfidencePercent::percent(80));
    NewMemory { maker, confidence, trust: MemoryTrust::Agent, quarantine, ..new }
}

/// The row of the project that the memory belongs to.
fn project(scope: &Scope, archive: &Archive, arguments: &Arguments) -> Result<i64, Failure> {
    let wishes = Wishes::load(&scope.env)?;
    let folder = match &arguments.project {
        Some(name) if !is_path(name) => {
            return match called(archive.project_rows().map_err(unreadable)?, name)? {
                Chosen::Known { row, .. } => Ok(row),
                Chosen::All | Chosen::Strange { .. } => Err(no_folder()),
            };
        }
        Some(path) => Some(PathBuf::from(path)),
        None => current_folder(),
    };
    let folder = folder.and_then(|folder| std::fs::canonicalize(folder).ok()).ok_or_else(no_folder)?;
    if wishes.excludes(&folder.to_string_lossy()) {
        return Err(Failure::input("this folder is excluded: nothing of it is kept")
            .hint("Name another project by `--project`, or see `tow config get privacy.exclude_projects`."));
    }
    archive.project_made(&wishes.traces(&folder)).map_err(failed)
}

fn no_folder() -> Failure {
    Failure::input("there is no such folder").hint("Give a project's name, or a folder that exists.")
}

fn say(scope: &Scope, arguments: &Arguments, kept: &Kept, memory: &Memory, old: &[Memory]) {
    if arguments.json {
        return scope.out.line(&as_json(kept, memory, old).to_string());
    }
    let (id, title) = (memory.name(), for_terminal(&memory.content.title));
    let place = memory.project.as_deref().map_or(String::new(), |name| format!(" in {}", for_terminal(name)));
    let pinned = if memory.pinned_at.is_some() { ", pinned" } else { "" };
    scope.out.line(&match kept {
        Kept::FoundAgain(_) => format!("{id} says this already{pinned}: {title}"),
        Kept::New(_) | Kept::Replaced { .. } | Kept::Outdated { .. } | Kept::Forgotten => {
            format!("{id} {}{place}{pinned}: {title}", for_terminal(memory.content.kind.as_str()))
        }
    });
    for old in old {
        let (was, before) = (old.name(), for_terminal(&old.content.title));
        let line = format!("it replaces {was}, since {}: {before}", for_terminal(reason(old)));
        scope.out.line(&scope.out.tint(Tone::Warning, &line));
    }
    if memory.content.text().contains("[redacted:") {
        scope.out.line(&scope.out.tint(Tone::Warning, "a secret in it was left out"));
    }
    if let Some(old) = old.first() {
        let was = old.name();
        return scope.out.line(&format!("next: `tow undo {was}` lets both stand, `tow show {id}` shows it"));
    }
    let pin = if memory.pinned_at.is_some() { "pin --off" } else { "pin" };
    scope.out.line(&format!("next: `tow show {id}`, `tow edit {id}`, `tow {pin} {id}`, `tow forget {id}`"));
}

fn reason(old: &Memory) -> &str {
    old.superseded.as_ref().map_or("", |superseded| superseded.why.as_str())
}

fn as_json(kept: &Kept, memory: &Memory, old: &[Memory]) -> Value {
    let outcome = match kept {
        Kept::FoundAgain(_) => "found_again",
        Kept::Replaced { .. } => "replaced",
        Kept::New(_) | Kept::Outdated { .. } | Kept::Forgotten => "new",
    };
    let one = |old: &Memory| json!({"id": old.name(), "title": old.content.title, "why": reason(old)});
    let replaced: Vec<Value> = old.iter().map(one).collect();
    json!({"id": memory.name(), "outcome": outcome, "replaced": replaced, "memory": memory_json(memory)})
}
