//! The options that choose which projects a command covers.
//!
//! Only translates options; the engine resolves names and folders.

use clap::Args;
use towline_engine::query::ProjectScope;

#[derive(Debug, Args)]
pub struct ProjectArgs {
    /// This project, by name or by a folder in it, instead of that of the current folder.
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "all_projects")]
    project: Option<String>,
    /// Every project.
    #[arg(long)]
    all_projects: bool,
}

impl ProjectArgs {
    pub fn scope(&self) -> ProjectScope {
        match &self.project {
            _ if self.all_projects => ProjectScope::All,
            Some(name) => ProjectScope::Named(name.clone()),
            None => ProjectScope::Here,
        }
    }
}
