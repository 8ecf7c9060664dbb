//! Opens the archive for a query: brought up to date, with the requested project resolved.
//!
//! Creates nothing: without captured data, no file exists afterwards.

use crate::capture::{Caught, Wishes, catch_up};
use crate::index::{FindError, Found};
use crate::runtime::env::current_folder;
use crate::runtime::text::plain_text;
use crate::runtime::{Env, Failure};
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_core::escape::escape_for_terminal;
use towline_core::id::SessionKey;
use towline_core::memory::number;
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;
use towline_store::archive::{Conversation, ProjectRow};
use towline_store::{Archive, StoreError};

/// How long a reader waits for a locked database.
const PATIENCE: Duration = Duration::from_millis(500);

/// The user's error for a failed archive read.
pub fn unreadable_data(error: StoreError) -> Failure {
    Failure::about("could not read what was captured", &error).hint("Run `tow doctor`.")
}

/// The user's error for a failed search.
pub fn search_failed(error: FindError) -> Failure {
    match error {
        FindError::Store(error) => unreadable_data(error),
        FindError::Model(error) => Failure::new(&error).hint("Run `tow data model get`."),
        FindError::Index(error) => Failure::new(&error).hint("Run `tow data reindex`, then search again."),
    }
}

/// Which projects a query covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProjectScope {
    /// The project of the current folder.
    #[default]
    Here,
    /// One project, by its name or by a folder in it.
    Named(String),
    All,
    /// As `Here`, for a reader that may not see other projects: ids of those are refused, and so is any name but this
    /// project's.
    Own(Option<String>),
}

/// The resolved project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    All,
    Known {
        row: i64,
        name: String,
    },
    /// A folder whose project has no captured data.
    Strange {
        name: String,
    },
}

/// The archive, opened for one query.
pub struct Past {
    pub archive: Archive,
    pub project: Chosen,
    /// Whether nothing of other projects may be read, not even by id.
    pub is_fenced: bool,
    pub now: Timestamp,
    pub caught: Caught,
}

impl Past {
    /// Brings the archive up to date and opens it; `None` if nothing was ever captured.
    pub fn open(env: &Env, wanted: &ProjectScope) -> Result<Option<Past>, Failure> {
        let wishes = Wishes::load(env).ok();
        let folder = wanted.folder();
        let usual = Wishes::default_rules();
        let traces = folder.map(|folder| wishes.as_ref().unwrap_or(&usual).traces(&folder));
        let opened = opened(env, wishes.as_ref(), traces.as_ref()).map_err(unreadable_data)?;
        let (Some(archive), caught) = opened else { return Ok(None) };
        archive.begin_read().map_err(unreadable_data)?;
        let project = wanted.choose(&archive, traces.as_ref())?;
        let is_fenced = matches!(wanted, ProjectScope::Own(_));
        Ok(Some(Past { archive, project, is_fenced, now: env.now, caught }))
    }

    /// Whether the reader may see a memory. One without a project belongs to all of them.
    pub fn admits_memory(&self, number: i64) -> Result<bool, Failure> {
        let project = self.archive.memory_project(number).map_err(unreadable_data)?;
        Ok(!self.is_fenced || project.is_none() || project == self.project.row())
    }

    /// Whether the reader may see a session.
    pub fn admits(&self, of: &Conversation) -> Result<bool, Failure> {
        match self.project.row() {
            _ if !self.is_fenced => Ok(true),
            Some(row) => self.archive.is_of_project(of, row).map_err(unreadable_data),
            None => Ok(false),
        }
    }

    /// As `admits`, for a session that may not have been captured.
    pub fn admits_session(&self, session: &SessionKey) -> Result<bool, Failure> {
        let of = self.archive.conversation(session).map_err(unreadable_data)?;
        of.map_or(Ok(!self.is_fenced), |of| self.admits(&of))
    }

    /// Whether the reader may see a search hit: two projects of one name are one to the index.
    pub fn admits_hit(&self, hit: &Found) -> Result<bool, Failure> {
        if let (true, Some(number)) = (hit.kind == "memory", number(&hit.id)) {
            return self.admits_memory(number);
        }
        let session = hit.agent.as_ref().zip(hit.session.as_ref());
        let session = session.and_then(|(agent, id)| SessionKey::parse(&format!("{agent}:{id}")).ok());
        session.map_or(Ok(!self.is_fenced), |session| self.admits_session(&session))
    }
}

/// The refusal to read another project.
pub fn other_project(id: &str) -> Failure {
    Failure::input(format!("`{}` is of another project, and models may read only this one", plain_text(id)))
        .hint("The user can allow it in a terminal: `tow config set mcp.projects all`.")
}

/// Captures nothing new if the privacy settings cannot be read.
fn opened(
    env: &Env,
    wishes: Option<&Wishes>,
    project: Option<&ProjectIdentity>,
) -> Result<(Option<Archive>, Caught), StoreError> {
    match wishes {
        Some(wishes) => catch_up(env, wishes, project),
        None => Ok((Archive::read(&env.home, PATIENCE)?, Caught::Behind)),
    }
}

impl ProjectScope {
    /// The named project, or all.
    pub fn of(project: Option<String>) -> ProjectScope {
        project.map_or(ProjectScope::All, ProjectScope::Named)
    }

    /// The folder whose project is meant, if the scope is given as a folder.
    fn folder(&self) -> Option<PathBuf> {
        match self {
            ProjectScope::Named(name) if is_path(name) => Some(PathBuf::from(name)),
            ProjectScope::Named(_) | ProjectScope::All => None,
            ProjectScope::Here | ProjectScope::Own(_) => current_folder(),
        }
    }

    fn choose(&self, archive: &Archive, traces: Option<&ProjectIdentity>) -> Result<Chosen, Failure> {
        if let Some(traces) = traces {
            let name = escape_for_terminal(traces.display_name());
            if let ProjectScope::Own(Some(wanted)) = self
                && !wanted.eq_ignore_ascii_case(&name)
            {
                return Err(other_project(wanted));
            }
            let row = archive.project(traces).map_err(unreadable_data)?;
            return Ok(row.map_or(Chosen::Strange { name: name.clone() }, |row| Chosen::Known { row, name }));
        }
        match self {
            ProjectScope::Named(name) => {
                project_called(archive.project_rows().map_err(unreadable_data)?, name)
            }
            ProjectScope::Here | ProjectScope::All => Ok(Chosen::All),
            ProjectScope::Own(_) => Err(Failure::input("the folder of this server is gone")),
        }
    }
}

/// Whether the text is a folder rather than a project name.
pub fn is_path(text: &str) -> bool {
    text.contains('/') || text == "." || text == ".." || Path::new(text).is_dir()
}

/// The one project with this name.
pub fn project_called(known: Vec<ProjectRow>, name: &str) -> Result<Chosen, Failure> {
    let fits = |project: &&ProjectRow| project.name.eq_ignore_ascii_case(name);
    let fitting: Vec<&ProjectRow> = known.iter().filter(fits).collect();
    match fitting.as_slice() {
        [one] => Ok(Chosen::Known { row: one.row, name: escape_for_terminal(&one.name) }),
        [] => {
            let names: Vec<_> =
                known.iter().take(20).map(|project| escape_for_terminal(&project.name)).collect();
            let what = format!("nothing was captured of a project called `{}`", plain_text(name));
            Err(Failure::input(what)
                .hint(format!("Known are: {}. A folder can be given too.", names.join(", "))))
        }
        several => {
            let roots: Vec<_> = several.iter().map(|project| escape_for_terminal(&project.root)).collect();
            let what = format!("several projects are called `{}`", plain_text(name));
            Err(Failure::input(what).hint(format!("Give one of their folders: {}.", roots.join(", "))))
        }
    }
}

impl Chosen {
    /// The row to filter by; `None` is every project. `Strange` has no row: see `is_empty`.
    pub fn row(&self) -> Option<i64> {
        match self {
            Chosen::Known { row, .. } => Some(*row),
            Chosen::All | Chosen::Strange { .. } => None,
        }
    }

    /// The name of the one project; `None` as for `row`.
    pub fn name(&self) -> Option<&str> {
        match self {
            Chosen::Known { name, .. } => Some(name),
            Chosen::All | Chosen::Strange { .. } => None,
        }
    }

    /// Whether the project has no captured data.
    pub fn is_empty(&self) -> bool {
        matches!(self, Chosen::Strange { .. })
    }

    /// Description of the searched scope.
    pub fn description(&self) -> String {
        match self {
            Chosen::All => "every project".to_owned(),
            Chosen::Known { name, .. } => format!("project {name}"),
            Chosen::Strange { name } => format!("project {name}, of which nothing was captured"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(row: i64, name: &str, root: &str) -> ProjectRow {
        ProjectRow { row, name: name.into(), root: root.into(), remote: None }
    }

    #[test]
    fn a_project_is_called_by_its_name_in_any_case() {
        let known = || vec![project(1, "app", "/a"), project(2, "Site", "/b"), project(3, "app", "/c")];
        assert_eq!(project_called(known(), "site").unwrap(), Chosen::Known { row: 2, name: "Site".into() });
        let several = project_called(known(), "app").unwrap_err().render();
        assert!(several.contains("Give one of their folders: /a, /c."), "{several}");
        let none = project_called(known(), "shop").unwrap_err().render();
        assert!(none.contains("Known are: app, Site, app."), "{none}");
    }
}
