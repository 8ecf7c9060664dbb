//! The scope of an import: a start time and a project.
//!
//! Only narrows: excluded projects stay excluded in any scope.

use std::path::{Path, PathBuf};
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;

/// Everything by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub since: Option<Timestamp>,
    pub project: Option<Project>,
}

/// The requested project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Project {
    Named(String),
    /// A folder and the project traces found in it.
    At {
        folder: PathBuf,
        traces: ProjectIdentity,
    },
}

impl Project {
    /// Whether a session in this folder belongs to the project.
    pub fn has(&self, folder: &str, traces: &ProjectIdentity) -> bool {
        match self {
            Project::Named(name) => traces.display_name() == name,
            Project::At { folder: asked, traces: of_asked } => {
                Path::new(folder).starts_with(asked)
                    || of_asked.matches_project(&traces.root, traces.remote.as_deref())
            }
        }
    }

    /// Whether a project known only by name matches. The part before a slash is a repository, the part after
    /// it one of its worktrees.
    pub fn has_name(&self, name: &str) -> bool {
        let asked = match self {
            Project::Named(name) => name.as_str(),
            Project::At { traces, .. } => traces.display_name(),
        };
        name == asked || name.split('/').any(|part| part == asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traces(root: &str, name: Option<&str>) -> ProjectIdentity {
        ProjectIdentity { root: root.into(), remote: None, name: name.map(str::to_owned), branch: None }
    }

    #[test]
    fn a_project_is_known_by_its_name_its_folder_and_its_repository() {
        let named = Project::Named("app".into());
        assert!(named.has("/srv/app/src", &traces("/srv/app", None)));
        assert!(named.has("/srv/other", &traces("/srv/other", Some("app"))));
        assert!(!named.has("/srv/app2", &traces("/srv/app2", None)));
        let at = Project::At { folder: "/srv/app".into(), traces: traces("/srv/app", None) };
        assert!(at.has("/srv/app/src", &traces("/elsewhere", None)));
        assert!(at.has("/trees/app-fix", &traces("/srv/app", None)), "a worktree");
        assert!(!at.has("/srv/app2", &traces("/srv/app2", None)));
    }

    #[test]
    fn where_only_a_name_is_known_the_name_decides() {
        let at = Project::At { folder: "/srv/app".into(), traces: traces("/srv/app", None) };
        assert!(at.has_name("app") && at.has_name("app/fix"));
        assert!(!at.has_name("apple") && !Project::Named("x".into()).has_name("app"));
    }
}
