//! The settings entry with which an agent starts our MCP server.
//!
//! Knows no agent: the caller chooses file and format. Never touches an entry of our name that runs another program,
//! nor the user's additions to ours.

use std::path::{Path, PathBuf};

use super::apply::RetryPace;
use super::change::{Containers, EditPlan, EntryChange, NextEdit, edited};
use super::ours::is_tow;
use super::page::{OwnedFile, OwnedFileState};
use super::refusal::{EditRefusal, RefusalCause};
use super::subject::ManagedContent;
use super::{server_json, server_script, server_toml};

/// The name under which agents know the server.
pub(crate) const NAME: &str = "towline";
/// The subcommand that starts the server.
pub(crate) const VERB: &str = "mcp";

/// A settings file, and the server that we want in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerEntry {
    agent: &'static str,
    file: PathBuf,
    format: FileFormat,
    pub(super) command: String,
    pub(super) places: Vec<DataVariable>,
    pub(super) passed_on: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// JSON with an object of servers by name.
    Json,
    /// TOML with a table of servers by name.
    Toml,
    /// A script of ours that adds the server to the configuration when the agent starts.
    Script,
}

/// The variables that locate our data and configuration.
pub const PLACES: [&str; 3] = ["TOWLINE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];

/// A variable that locates our data, and its value if set. Some agents start servers without it.
pub type DataVariable = (&'static str, Option<String>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerState {
    Missing,
    Right,
    /// Ours, with another path of the program or the data.
    Outdated,
    /// A foreign entry of that name.
    Foreign,
}

impl McpServerEntry {
    /// The `file` of `agent`, with `command` as the server's program.
    pub(crate) fn new(agent: &'static str, format: FileFormat, file: PathBuf, command: String) -> Self {
        Self { agent, file, format, command, places: Vec::new(), passed_on: &[] }
    }

    /// Sets the variables by which the server finds its data.
    pub fn with_variables(self, places: impl IntoIterator<Item = DataVariable>) -> Self {
        Self { places: places.into_iter().collect(), ..self }
    }

    /// Makes the agent pass on these variables with their values at that time.
    pub(crate) fn with_forwarded_variables(self, names: &'static [&'static str]) -> Self {
        Self { passed_on: names, ..self }
    }

    pub fn inspect_file(&self, pace: RetryPace) -> Result<ServerState, EditRefusal> {
        if let Some(script) = self.script() {
            return Ok(match script.inspect_file(pace)? {
                OwnedFileState::Absent => ServerState::Missing,
                OwnedFileState::Right | OwnedFileState::Changed => ServerState::Right,
                OwnedFileState::Outdated => ServerState::Outdated,
                OwnedFileState::Foreign => ServerState::Foreign,
            });
        }
        match self.preview(pace) {
            Ok(plan) => Ok(standing(&plan)),
            Err(EditRefusal { cause: RefusalCause::ServerNotOurs { .. }, .. }) => Ok(ServerState::Foreign),
            Err(refusal) => Err(refusal),
        }
    }

    /// The variables that are set, with their values.
    pub(super) fn set_places(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.places.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)))
    }

    /// The whole file, if it is a script of ours.
    fn script(&self) -> Option<OwnedFile> {
        let is_script = self.format == FileFormat::Script;
        is_script.then(|| OwnedFile::script(self.agent, self.file.clone(), &server_script::text(self)))
    }

    fn opened(&self, existing: Option<&[u8]>) -> Result<String, EditRefusal> {
        let opened = match self.format {
            FileFormat::Json => server_json::opened(existing),
            FileFormat::Toml => server_toml::opened(existing),
            FileFormat::Script => Ok(String::new()),
        };
        opened.map_err(|cause| self.refuse(cause))
    }

    /// The next edit towards the wanted entry.
    fn step(&self, text: &str) -> NextEdit<String, EditRefusal> {
        let step = match self.format {
            FileFormat::Json => server_json::step(self, text),
            FileFormat::Toml => server_toml::step(self, text),
            FileFormat::Script => Ok(None),
        };
        step.map_err(|cause| self.refuse(cause))
    }
}

impl ManagedContent for McpServerEntry {
    fn owner(&self) -> &'static str {
        self.agent
    }

    fn file(&self) -> &Path {
        &self.file
    }

    /// A writer that truncates the file first leaves it empty for a moment.
    fn is_whole(&self, bytes: &[u8]) -> bool {
        !bytes.trim_ascii().is_empty() && self.opened(Some(bytes)).is_ok()
    }

    fn is_ours_to_keep(&self) -> bool {
        self.format == FileFormat::Script
    }

    fn plan(&self, existing: Option<&[u8]>) -> Result<EditPlan, EditRefusal> {
        if let Some(script) = self.script() {
            return script.plan(existing);
        }
        let (text, changes) = edited(self.opened(existing)?, |text| self.step(text))?;
        Ok(EditPlan::new(&self.file, existing, text, changes))
    }

    fn plan_removal(&self, existing: Option<&[u8]>, kept: &Containers) -> Result<EditPlan, EditRefusal> {
        if let Some(script) = self.script() {
            return script.plan_removal(existing, kept);
        }
        let text = self.opened(existing)?;
        let removed = match self.format {
            FileFormat::Json => Ok(server_json::removed(&text, kept)),
            FileFormat::Toml => server_toml::removed(&text),
            FileFormat::Script => Ok(None),
        };
        let (text, changes) = match removed.map_err(|cause| self.refuse(cause))? {
            Some((edited, change)) => (edited, vec![change]),
            None => (text, vec![]),
        };
        Ok(EditPlan::new(&self.file, existing, text, changes))
    }

    fn containers_without_us(&self, existing: Option<&[u8]>) -> Result<Containers, EditRefusal> {
        let text = self.opened(existing)?;
        Ok(match self.format {
            FileFormat::Json => server_json::containers(&text),
            // Our table there has no container of ours.
            FileFormat::Toml | FileFormat::Script => Containers::default(),
        })
    }
}

/// Whether an entry runs our server.
pub(super) fn is_ours(command: Option<&str>, first_argument: Option<&str>) -> bool {
    command.is_some_and(is_tow) && first_argument == Some(VERB)
}

fn standing(plan: &EditPlan) -> ServerState {
    match plan.changes.first() {
        None => ServerState::Right,
        Some(EntryChange::Added { .. }) => ServerState::Missing,
        Some(EntryChange::Upgraded { .. } | EntryChange::Removed { .. }) => ServerState::Outdated,
    }
}
