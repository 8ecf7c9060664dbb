//! Agents by description: what a TOML file says about an agent that has no adapter.
//!
//! A description is data. It runs nothing but the command that it names for resuming, reads only below the folder that it
//! names, and what it does not say is a capability that the agent does not have here. Hooks of agents with adapters never
//! read one.

mod document;
mod fields;
mod format;
mod json_path;
mod mapping;
mod pattern;
mod place;
mod tables;
mod tools;
mod writer;

pub use document::{BadDocument, LONGEST_DOCUMENT};
pub use fields::Mistake;
pub use mapping::MappedState;
pub use place::TranscriptList;
pub use tables::{SessionTables, TableColumn};
pub use writer::TranscriptWriter;

use crate::adapter::Variable;
use crate::files::database_session;
use crate::reader::TranscriptReader;
use json_path::JsonPath;
use mapping::Mapping;
use pattern::Sights;
use place::FilePattern;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tools::ToolRule;
use towline_core::arbiter::ScreenProbe;
use towline_core::deed::ToolAction;
use towline_core::id::SessionId;

/// The descriptions that Towline ships, by name. A user's description of the same name takes the place of one.
pub const SHIPPED: [(&str, &str); 6] = [
    ("cline", include_str!("../../descriptions/cline.toml")),
    ("droid", include_str!("../../descriptions/droid.toml")),
    ("grok", include_str!("../../descriptions/grok.toml")),
    ("kimi", include_str!("../../descriptions/kimi.toml")),
    ("pi", include_str!("../../descriptions/pi.toml")),
    ("vibe", include_str!("../../descriptions/vibe.toml")),
];

/// Programs that run scripts: the agent's name is that of the script.
const INTERPRETERS: [&str; 6] = ["bun", "deno", "node", "nodejs", "python", "ruby"];

/// An agent that a file describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    name: String,
    title: String,
    proven: Option<String>,
    /// Below the user's home.
    folder: String,
    folder_variable: Option<String>,
    process: ProcessNames,
    sights: Sights,
    resume: Vec<String>,
    stored: Option<Stored>,
    tools: Vec<ToolRule>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ProcessNames {
    names: Vec<String>,
    scripts: Vec<String>,
    headless: Vec<String>,
}

/// Where the transcripts are, and what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stored {
    format: Format,
    files: Vec<FilePattern>,
    about: Option<FilePattern>,
    /// The entries within a whole file, or within a line.
    entries: Vec<JsonPath>,
    /// In a database.
    tables: Option<SessionTables>,
    mapping: Arc<Mapping>,
}

/// How a transcript is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON value per line, appended.
    Lines,
    /// One JSON value, written anew each time.
    Document,
    /// Rows of an SQLite database, each an object of its columns.
    Rows,
}

/// What is known of a process, to tell whether it is the agent.
#[derive(Clone, Copy)]
pub struct ProcessTraits<'a> {
    /// As the process calls itself.
    pub name: &'a str,
    /// The file name of its program.
    pub program: &'a str,
    /// Asked for only if the program runs scripts.
    pub arguments: &'a dyn Fn() -> Vec<String>,
}

/// What a description says, for checks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub screen: bool,
    pub title: bool,
    pub transcript: bool,
    pub tools: bool,
    pub resume: bool,
}

impl Description {
    /// Parses the text of a file that is called like the agent.
    pub fn parse(name: &str, text: &str) -> Result<Description, Mistake> {
        format::parse(name, text)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The product name shown to users.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The version of the program that the description was compared with.
    pub fn proven(&self) -> Option<&str> {
        self.proven.as_deref()
    }

    /// The agent's own folder: everything that is read of it is below.
    pub fn folder(&self, variable: Variable<'_>) -> Option<PathBuf> {
        let own = self.folder_variable.as_deref().and_then(variable).map(PathBuf::from);
        let own = own.filter(|path| path.is_absolute() && path.parent().is_some());
        own.or_else(|| Some(PathBuf::from(variable("HOME")?).join(&self.folder)))
    }

    pub fn capabilities(&self) -> Capabilities {
        Capabilities {
            screen: !self.sights.screen.is_empty(),
            title: !self.sights.title.is_empty(),
            transcript: self.stored.is_some(),
            tools: !self.tools.is_empty(),
            resume: !self.resume.is_empty(),
        }
    }

    /// Whether a process is the agent, also as a script of an interpreter.
    pub fn is_process(&self, process: &ProcessTraits<'_>) -> bool {
        let names = &self.process.names;
        if names.iter().any(|name| name == process.name || name == process.program) {
            return true;
        }
        let interpreter = process.program.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
        !self.process.scripts.is_empty()
            && INTERPRETERS.contains(&interpreter)
            && script(&(process.arguments)()).is_some_and(|script| self.process.scripts.contains(&script))
    }

    /// Whether an invocation with these arguments runs without a user in front of it.
    pub fn runs_headless(&self, arguments: &[String]) -> bool {
        arguments.iter().skip(1).any(|argument| self.process.headless.contains(argument))
    }

    /// The state that the agent's screen and the title of its pane show.
    pub fn state(&self, screen: &str, title: &str) -> ScreenProbe {
        self.sights.state(screen, title)
    }

    /// The command that resumes a session, word by word.
    pub fn resume_command(&self, session: &SessionId) -> Option<Vec<String>> {
        let word = |word: &String| word.replace("{session}", session.as_str());
        (!self.resume.is_empty()).then(|| self.resume.iter().map(word).collect())
    }

    /// The action of a tool call.
    pub fn tool_action<'a>(&self, tool: &str, input: &'a str) -> ToolAction<'a> {
        tools::action(&self.tools, tool, input)
    }

    /// Where the sessions are in its databases; `None` if it writes files.
    pub fn tables(&self) -> Option<&SessionTables> {
        self.stored.as_ref()?.tables.as_ref()
    }

    /// The newest transcripts below the agent's folder, or its databases; none if the description does not say where they
    /// are.
    pub fn transcripts(&self, folder: &Path) -> TranscriptList {
        let patterns = self.stored.as_ref().map_or(&[][..], |stored| stored.files.as_slice());
        place::newest(patterns, folder, place::MOST)
    }

    /// How its transcripts are written.
    pub fn format(&self) -> Format {
        self.stored.as_ref().map_or(Format::Lines, |stored| stored.format)
    }

    /// The session whose transcript this is; `None` for a file that is none of the agent's.
    pub fn session_of(&self, folder: &Path, transcript: &Path) -> Option<String> {
        if self.format() == Format::Rows {
            let (database, session) = database_session(transcript)?;
            self.stored.as_ref()?.files.iter().find_map(|it| it.captures(folder, &database))?;
            return place::is_session(session).then(|| session.to_owned());
        }
        let captures = self.stored.as_ref()?.files.iter().find_map(|it| it.captures(folder, transcript))?;
        captures.session
    }

    /// The file that says more about the session of this transcript, such as its folder.
    pub fn about(&self, folder: &Path, transcript: &Path) -> Option<PathBuf> {
        let stored = self.stored.as_ref()?;
        let captures = stored.files.iter().find_map(|pattern| pattern.captures(folder, transcript))?;
        stored.about.as_ref()?.beside(folder, &captures)
    }

    /// A reader for the beginning of a transcript, given what the file about its session says. `None` for a file that is
    /// none of the agent's.
    pub fn reader(&self, folder: &Path, transcript: &Path, about: Option<&[u8]>) -> Option<TranscriptReader> {
        let (stored, session) = (self.stored.as_ref()?, self.session_of(folder, transcript)?);
        // Below the folder: a home that moves leaves the ids as they are.
        let path = transcript.strip_prefix(folder).unwrap_or(transcript).to_string_lossy();
        Some(TranscriptReader::Mapped(MappedState::new(&stored.mapping, &session, &path, about)))
    }

    /// A reader whose state was stored. `None` if another version of the description wrote it.
    pub fn continued(&self, reader: TranscriptReader) -> Option<TranscriptReader> {
        let TranscriptReader::Mapped(state) = reader else { return None };
        Some(TranscriptReader::Mapped(state.with(&self.stored.as_ref()?.mapping)?))
    }

    /// A whole JSON file as lines, one per entry, as if the agent had appended them.
    pub fn as_lines(&self, document: &[u8]) -> Result<Vec<u8>, BadDocument> {
        let entries = self.stored.as_ref().map_or(&[][..], |stored| stored.entries.as_slice());
        document::as_lines(entries, document)
    }
}

/// The name of the script that an interpreter runs: the first argument that is no option.
fn script(arguments: &[String]) -> Option<String> {
    let script = arguments.iter().skip(1).find(|argument| !argument.starts_with('-'))?;
    let name = Path::new(script).file_name()?.to_str()?;
    let stem =
        [".js", ".mjs", ".cjs", ".ts", ".py", ".rb"].iter().find_map(|ending| name.strip_suffix(ending));
    Some(stem.unwrap_or(name).to_owned())
}

#[cfg(test)]
mod tests;
