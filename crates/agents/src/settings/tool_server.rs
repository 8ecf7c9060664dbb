//! The one entry of a settings file by which the agent starts our server of tools.
//!
//! Knows no agent: which file it is and how that is written is told by whoever makes one. An entry of our name that runs
//! another program is somebody else's: it is never touched. What else a person has put into ours stays there.

use std::path::{Path, PathBuf};

use super::apply::Pace;
use super::ours::is_tow;
use super::plan::{Change, Containers, Plan};
use super::refusal::{Cause, Refusal};
use super::subject::Subject;
use super::{server_json, server_toml};

/// The name under which agents know the server.
pub(crate) const NAME: &str = "towline";
/// What the program is told to be the server.
pub(crate) const VERB: &str = "mcp";

/// A settings file, and the server that we want named in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolServer {
    agent: &'static str,
    file: PathBuf,
    form: Form,
    pub(super) command: String,
    pub(super) places: Vec<Place>,
    pub(super) passed_on: &'static [&'static str],
}

/// How the file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON with an object of servers by their names.
    Json,
    /// TOML with a table of servers by their names.
    Toml,
}

/// The variables that decide where our data and configuration lie.
pub const PLACES: [&str; 3] = ["TOWLINE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];

/// A variable that decides where our data lies, and its value where it has one. Some agents start servers without it.
pub type Place = (&'static str, Option<String>);

/// How our entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerStanding {
    Missing,
    Right,
    /// Ours, of a program that lies elsewhere, or with data that lies elsewhere.
    Outdated,
    /// Somebody else's entry of that name.
    Foreign,
}

impl ToolServer {
    /// The `file` of `agent`, in which the server is `command`.
    pub(crate) fn new((agent, form): (&'static str, Form), file: PathBuf, command: String) -> Self {
        Self { agent, file, form, command, places: Vec::new(), passed_on: &[] }
    }

    /// The same server, which finds its data by these variables.
    pub fn among(self, places: impl IntoIterator<Item = Place>) -> Self {
        Self { places: places.into_iter().collect(), ..self }
    }

    /// The same server, in an entry that tells the agent to pass these variables on, whatever they say by then.
    pub(crate) fn passing_on(self, names: &'static [&'static str]) -> Self {
        Self { passed_on: names, ..self }
    }

    /// The file, as it was named to us.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What the file becomes with our entry, once and right.
    pub fn plan(&self, existing: Option<&[u8]>) -> Result<Plan, Refusal> {
        Subject::plan(self, existing)
    }

    /// How our entry stands now.
    pub fn inspect_file(&self, pace: Pace) -> Result<ServerStanding, Refusal> {
        match self.preview(pace) {
            Ok(plan) => Ok(standing(&plan)),
            Err(Refusal { cause: Cause::ServerNotOurs { .. }, .. }) => Ok(ServerStanding::Foreign),
            Err(refusal) => Err(refusal),
        }
    }

    /// The variables that are set, with their values.
    pub(super) fn set_places(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.places.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)))
    }

    fn opened(&self, existing: Option<&[u8]>) -> Result<String, Refusal> {
        let opened = match self.form {
            Form::Json => server_json::opened(existing),
            Form::Toml => server_toml::opened(existing),
        };
        opened.map_err(|cause| self.refuse(cause))
    }

    /// The next thing to do so that the entry is as wanted.
    fn step(&self, text: &str) -> Result<Option<(String, Change)>, Refusal> {
        let step = match self.form {
            Form::Json => server_json::step(self, text),
            Form::Toml => server_toml::step(self, text),
        };
        step.map_err(|cause| self.refuse(cause))
    }

    fn planned(&self, before: Option<&[u8]>, (text, changes): (String, Vec<Change>)) -> Plan {
        let before = before.map(<[u8]>::to_vec);
        let after = if changes.is_empty() { before.clone() } else { Some(text.into_bytes()) };
        Plan { file: self.file.clone(), before, after, changes }
    }
}

impl Subject for ToolServer {
    fn owner(&self) -> &'static str {
        self.agent
    }

    fn file(&self) -> &Path {
        &self.file
    }

    /// A writer that truncates the file first has nothing in it at that moment.
    fn is_whole(&self, bytes: &[u8]) -> bool {
        !bytes.trim_ascii().is_empty() && self.opened(Some(bytes)).is_ok()
    }

    fn is_ours_to_keep(&self) -> bool {
        false
    }

    fn plan(&self, existing: Option<&[u8]>) -> Result<Plan, Refusal> {
        let mut text = self.opened(existing)?;
        let mut changes = Vec::new();
        while let Some((edited, change)) = self.step(&text)? {
            text = edited;
            changes.push(change);
        }
        Ok(self.planned(existing, (text, changes)))
    }

    fn plan_removal(&self, existing: Option<&[u8]>, kept: &Containers) -> Result<Plan, Refusal> {
        let text = self.opened(existing)?;
        let removed = match self.form {
            Form::Json => Ok(server_json::removed(&text, kept)),
            Form::Toml => server_toml::removed(&text),
        };
        let (text, changes) = match removed.map_err(|cause| self.refuse(cause))? {
            Some((edited, change)) => (edited, vec![change]),
            None => (text, vec![]),
        };
        Ok(self.planned(existing, (text, changes)))
    }

    fn containers_without_us(&self, existing: Option<&[u8]>) -> Result<Containers, Refusal> {
        let text = self.opened(existing)?;
        Ok(match self.form {
            Form::Json => server_json::containers(&text),
            // What we write there stands in nothing of ours.
            Form::Toml => Containers::default(),
        })
    }
}

/// Whether what an entry runs is our server.
pub(super) fn is_ours(command: Option<&str>, first_argument: Option<&str>) -> bool {
    command.is_some_and(is_tow) && first_argument == Some(VERB)
}

fn standing(plan: &Plan) -> ServerStanding {
    match plan.changes.first() {
        None => ServerStanding::Right,
        Some(Change::Added { .. }) => ServerStanding::Missing,
        Some(Change::Upgraded { .. } | Change::Removed { .. }) => ServerStanding::Outdated,
    }
}
