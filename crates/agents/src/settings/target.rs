//! The wanted entries of an agent's settings file.
//!
//! Describes only: reads no file, no environment, and knows no agent by name.

use std::path::{Path, PathBuf};

use super::layout::Node;
use super::ours::is_tow;
use super::page::OwnedFile;
use super::refusal::{EditRefusal, RefusalCause};

/// A settings file, and the entries that we want in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    agent: &'static str,
    pub(super) file: PathBuf,
    pub(super) wanted: Vec<HookEntry>,
    pub(super) order: EntryOrder,
    /// The key whose value `true` disables all hooks in the file.
    pub(super) off_switch: Option<&'static str>,
    status_line: Option<(String, StatusLineMode)>,
    /// The whole file, for agents whose hooks are a script of ours.
    pub(super) script: Option<OwnedFile>,
}

/// Whether we draw the agent's status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusLineMode {
    /// Only if already installed.
    AsItIs,
    /// Installed, in front of an existing status line.
    Wanted,
}

/// The meaning of an entry's position in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryOrder {
    /// Positions have no meaning.
    Free,
    /// Entries are trusted by their position: shifting another tool's entry disables it.
    Trusted,
}

/// One wanted entry: its event, command and timeout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntry {
    event: &'static str,
    invocation: Invocation,
    /// In the agent's unit.
    timeout: u32,
    /// The name under which the agent shows the hook.
    name: Option<&'static str>,
    pub(super) matcher: Option<&'static str>,
}

/// How the agent starts a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation {
    /// The program itself, with its arguments.
    Exec { command: String, args: Vec<String> },
    /// A shell command line.
    Shell(String),
}

impl Target {
    /// The settings `file` of `agent`, without entries.
    pub fn new(agent: &'static str, file: PathBuf, order: EntryOrder) -> Self {
        Self { agent, file, wanted: Vec::new(), order, off_switch: None, status_line: None, script: None }
    }

    /// Restricts the entry for `event` to the tools that `matcher` names.
    pub fn matching(mut self, event: &str, matcher: &'static str) -> Self {
        for wanted in self.wanted.iter_mut().filter(|wanted| wanted.event == event) {
            wanted.matcher = Some(matcher);
        }
        self
    }

    pub fn with_entries(self, wanted: impl IntoIterator<Item = HookEntry>) -> Self {
        Self { wanted: wanted.into_iter().collect(), ..self }
    }

    /// Makes the file a script of ours, which calls the program at the wanted events.
    pub(crate) fn in_script(self, script: OwnedFile) -> Self {
        Self { script: Some(script), ..self }
    }

    /// Names the key whose value `true` disables all hooks in the file.
    pub fn with_disabling_key(self, key: &'static str) -> Self {
        Self { off_switch: Some(key), ..self }
    }

    /// Sets the status line's program, and whether to install it.
    pub fn with_status_line(self, program: String, showing: StatusLineMode) -> Self {
        Self { status_line: Some((program, showing)), ..self }
    }

    /// Installs the status line if the agent has one.
    pub fn installing_status_line(self) -> Self {
        let status_line = self.status_line.map(|(program, _)| (program, StatusLineMode::Wanted));
        Self { status_line, ..self }
    }

    /// The agent's name in `tow hook`.
    pub fn agent(&self) -> &'static str {
        self.agent
    }

    pub fn entry_for(&self, event: &str) -> Option<&HookEntry> {
        self.wanted.iter().find(|wanted| wanted.event == event)
    }

    /// All wanted entries, in the order in which a new file lists them.
    pub fn all_wanted(&self) -> &[HookEntry] {
        &self.wanted
    }

    pub(super) fn status_line(&self) -> Option<(&str, StatusLineMode)> {
        self.status_line.as_ref().map(|(program, showing)| (program.as_str(), *showing))
    }
}

impl HookEntry {
    pub fn new(event: &'static str, invocation: Invocation, timeout: u32) -> Self {
        Self { event, invocation, timeout, name: None, matcher: None }
    }

    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Restricts the entry to its event's matcher in `matchers`.
    pub(crate) fn with_matcher(self, matchers: &[(&str, &'static str)]) -> Self {
        let matcher = matchers.iter().find(|(event, _)| *event == self.event).map(|(_, matcher)| *matcher);
        Self { matcher, ..self }
    }

    pub fn event(&self) -> &'static str {
        self.event
    }

    pub(super) fn handler(&self) -> Node {
        let mut members = vec![("type", Node::Text("command".to_owned()))];
        match &self.invocation {
            Invocation::Exec { command, args } => {
                members.push(("command", Node::Text(command.clone())));
                members.push(("args", Node::Array(args.iter().cloned().map(Node::Text).collect())));
            }
            Invocation::Shell(line) => members.push(("command", Node::Text(line.clone()))),
        }
        members.extend(self.name.map(|name| ("name", Node::Text(name.to_owned()))));
        members.push(("timeout", Node::Number(self.timeout)));
        Node::Object(members)
    }

    pub(super) fn group(&self) -> Node {
        let matcher = self.matcher.map(|matcher| ("matcher", Node::Text(matcher.to_owned())));
        let hooks = ("hooks", Node::Array(vec![self.handler()]));
        Node::Object(matcher.into_iter().chain([hooks]).collect())
    }
}

/// The program's path as text, which must be absolute to work from any folder. Its name must be one by which the
/// entry is found again: otherwise each install would add another.
pub(crate) fn absolute_command(file: &Path, program: &Path) -> Result<String, EditRefusal> {
    match program.to_str() {
        Some(command) if program.is_absolute() && is_tow(command) => Ok(command.to_owned()),
        _ => Err(EditRefusal {
            file: file.to_owned(),
            cause: RefusalCause::BadCommand { command: program.display().to_string() },
        }),
    }
}
