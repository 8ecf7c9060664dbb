//! The options that choose which projects a command covers.

use clap::Args;
use towline_engine::query::ProjectScope;

#[derive(Debug, Args)]
pub struct ProjectArgs {
    /// Of this project, by name or by a folder in it, instead of the one of the current folder.
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "all_projects")]
    project: Option<String>,
    /// Of every project.
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
