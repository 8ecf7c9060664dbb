//! What we want to stand in an agent's settings file.
//!
//! Describes only: reads no file, no environment, and knows no agent by name.

use std::path::{Path, PathBuf};

use super::inspect::Inspection;
use super::json;
use super::layout::Node;
use super::plan::{Containers, Plan};
use super::refusal::{Cause, Refusal};
use super::subject::Subject;

/// A settings file, and the entries that we want in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    agent: &'static str,
    file: PathBuf,
    wanted: Vec<Wanted>,
    order: Order,
    off_switch: Option<&'static str>,
    status_line: Option<(String, Showing)>,
}

/// Whether we draw a line for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Showing {
    /// Only if we do so already.
    AsItIs,
    /// In front of whatever draws one now.
    Wanted,
}

/// What the place of an entry in its list means to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Nothing.
    Free,
    /// Entries are trusted by their place: whatever shifts another tool's entry switches it off.
    Trusted,
}

/// One entry that we want: the event, what it runs, and for how long it may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    event: &'static str,
    invocation: Invocation,
    timeout_s: u32,
    matcher: Option<&'static str>,
}

/// How the agent starts a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation {
    /// The program itself, with its arguments.
    Exec {
        /// Path of the program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// A line for the shell.
    Shell(String),
}

impl Target {
    /// The settings `file` of `agent`, with nothing wanted yet.
    pub fn new(agent: &'static str, file: PathBuf, order: Order) -> Self {
        Self { agent, file, wanted: Vec::new(), order, off_switch: None, status_line: None }
    }

    /// The same, its entry for `event` called for the tools that `matcher` names.
    pub fn matching(mut self, event: &str, matcher: &'static str) -> Self {
        for wanted in self.wanted.iter_mut().filter(|wanted| wanted.event == event) {
            wanted.matcher = Some(matcher);
        }
        self
    }

    /// The same target that wants these entries.
    pub fn wanting(self, wanted: impl IntoIterator<Item = Wanted>) -> Self {
        Self { wanted: wanted.into_iter().collect(), ..self }
    }

    /// The same target that keeps right what stands there already, and adds no entry for another event.
    pub fn adding_none(self, found: &Inspection) -> Self {
        let wanted =
            self.wanted.into_iter().filter(|wanted| !found.missing.contains(&wanted.event)).collect();
        Self { wanted, ..self }
    }

    /// The same target in whose file `key: true` silences all hooks.
    pub fn silenced_by(self, key: &'static str) -> Self {
        Self { off_switch: Some(key), ..self }
    }

    /// The same target in whose file the program draws the status line, or may.
    pub fn with_status_line(self, program: String, showing: Showing) -> Self {
        Self { status_line: Some((program, showing)), ..self }
    }

    /// The same target, with the status line if the agent has one.
    pub fn showing(self) -> Self {
        let status_line = self.status_line.map(|(program, _)| (program, Showing::Wanted));
        Self { status_line, ..self }
    }

    /// The agent, as `tow hook` knows it.
    pub fn agent(&self) -> &'static str {
        self.agent
    }

    /// The settings file, as it was named to us.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The entry that we want for `event`.
    pub fn wanted(&self, event: &str) -> Option<&Wanted> {
        self.wanted.iter().find(|wanted| wanted.event == event)
    }

    /// All entries that we want, in the order in which a new file lists them.
    pub fn all_wanted(&self) -> &[Wanted] {
        &self.wanted
    }

    pub(super) fn order(&self) -> Order {
        self.order
    }

    pub(super) fn status_line(&self) -> Option<(&str, Showing)> {
        self.status_line.as_ref().map(|(program, showing)| (program.as_str(), *showing))
    }

    pub(super) fn off_switch(&self) -> Option<&'static str> {
        self.off_switch
    }
}

impl Subject for Target {
    fn owner(&self) -> &'static str {
        self.agent
    }

    fn file(&self) -> &Path {
        &self.file
    }

    fn is_whole(&self, bytes: &[u8]) -> bool {
        let text = std::str::from_utf8(bytes);
        text.is_ok_and(|text| !json::is_blank(text) && json::check(text).is_ok())
    }

    fn plan(&self, existing: Option<&[u8]>) -> Result<Plan, Refusal> {
        Target::plan(self, existing)
    }

    fn plan_removal(&self, existing: Option<&[u8]>, kept: &Containers) -> Result<Plan, Refusal> {
        Target::plan_removal(self, existing, kept)
    }

    fn containers_without_us(&self, existing: Option<&[u8]>) -> Result<Containers, Refusal> {
        Target::containers_without_us(self, existing)
    }
}

impl Wanted {
    /// An entry for `event`.
    pub fn new(event: &'static str, invocation: Invocation, timeout_s: u32) -> Self {
        Self { event, invocation, timeout_s, matcher: None }
    }

    /// The same entry, restricted to what `matchers` says of its event.
    pub(crate) fn among(self, matchers: &[(&str, &'static str)]) -> Self {
        let matcher = matchers.iter().find(|(event, _)| *event == self.event).map(|(_, matcher)| *matcher);
        Self { matcher, ..self }
    }

    pub(super) fn matcher(&self) -> Option<&'static str> {
        self.matcher
    }

    /// The event that the entry waits for.
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
        members.push(("timeout", Node::Number(self.timeout_s)));
        Node::Object(members)
    }

    pub(super) fn group(&self) -> Node {
        let matcher = self.matcher.map(|matcher| ("matcher", Node::Text(matcher.to_owned())));
        let hooks = ("hooks", Node::Array(vec![self.handler()]));
        Node::Object(matcher.into_iter().chain([hooks]).collect())
    }

    pub(super) fn list(&self) -> Node {
        Node::Array(vec![self.group()])
    }
}

/// The program as text, for a file that must find it from everywhere.
pub(crate) fn absolute_command(file: &Path, program: &Path) -> Result<String, Refusal> {
    match program.to_str() {
        Some(command) if program.is_absolute() => Ok(command.to_owned()),
        _ => Err(Refusal {
            file: file.to_owned(),
            cause: Cause::BadCommand { command: program.display().to_string() },
        }),
    }
}
