//! Our content in files of others (skills, MCP server, editor task): for `tow install` and `tow uninstall`.
//!
//! Chooses the file; the agents crate edits it. Leaves a file that is not ours, that the user changed or that
//! cannot be edited alone and reports it; other steps go on.

use std::path::{Path, PathBuf};
use towline_agents::Agent;
use towline_agents::settings::{
    EditPlan, EditRefusal, EditorTasks, ManagedContent, McpServerEntry, OriginalsArchive, OwnedFile,
    OwnedFileState, RetryPace, TaskStart, TaskState,
};
use towline_engine::runtime::env::places;
use towline_engine::runtime::{Failure, chain, variable};
use towline_engine::status::tmux::conf::Writing;
pub use towline_engine::status::tmux::conf::refused;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Add,
    Remove,
}

/// How files are edited.
pub struct ManagedEdit<'a> {
    pub change: Change,
    pub writing: Writing,
    pub tow: &'a Path,
    pub archive: OriginalsArchive,
}

/// The changes to optional files: what could not be edited is a remark, not a failure.
#[derive(Default)]
pub struct OptionalEdits {
    pub plans: Vec<EditPlan>,
    /// Files that were left alone, and why.
    pub remarks: Vec<String>,
}

impl ManagedEdit<'_> {
    pub fn edit(&self, content: &impl ManagedContent, pace: RetryPace) -> Result<EditPlan, EditRefusal> {
        match (self.change, self.writing) {
            (Change::Add, Writing::Planned) => content.preview(pace),
            (Change::Add, Writing::Done) => content.apply(&self.archive, pace).map(|applied| applied.plan),
            (Change::Remove, Writing::Planned) => content.preview_removal(&self.archive, pace),
            (Change::Remove, Writing::Done) => {
                content.remove(&self.archive, pace).map(|applied| applied.plan)
            }
        }
    }

    /// Removes in reverse order: folders that were created for all pages are removed with the first page.
    pub fn skills(&self, mut pages: Vec<OwnedFile>) -> OptionalEdits {
        if self.change == Change::Remove {
            pages.reverse();
        }
        let mut edits = OptionalEdits::default();
        for page in &pages {
            let edited = self.edit(page, RetryPace::BRIEF);
            edits.remarks.extend(changed_by_user(page));
            edits.add(edited);
        }
        edits
    }

    pub fn mcp_server(&self, agent: Agent) -> OptionalEdits {
        let mut edits = OptionalEdits::default();
        if let Some(server) = mcp_server(agent, self.tow) {
            edits.add(server.and_then(|server| self.edit(&server, RetryPace::USUAL)));
        }
        edits
    }

    pub fn editor_task(&self, folder: &Path, start: TaskStart) -> Result<EditPlan, Failure> {
        let tasks = EditorTasks::in_folder(&existing(folder)?, self.tow).map_err(refused)?;
        self.edit(&tasks.started(start), RetryPace::USUAL).map_err(refused)
    }
}

impl OptionalEdits {
    fn add(&mut self, edited: Result<EditPlan, EditRefusal>) {
        match edited {
            Ok(plan) => self.plans.push(plan),
            Err(refusal) => self.remarks.push(format!("{}. {}", chain(&refusal), refusal.hint())),
        }
    }
}

/// Our server in the agent's settings; `None` if there is no home folder for them.
pub fn mcp_server(agent: Agent, tow: &Path) -> Option<Result<McpServerEntry, EditRefusal>> {
    let file = agent.servers_file(&variable)?;
    Some(agent.mcp_server(&file, tow, &places()))
}

fn changed_by_user(page: &OwnedFile) -> Option<String> {
    let state = page.inspect_file(RetryPace::BRIEF).ok()?;
    let file = page.file().display();
    (state == OwnedFileState::Changed).then(|| {
        format!("{file} was changed since we wrote it, and stays as it is; remove it to have it made anew")
    })
}

/// Whether our editor task in the folder runs another program than `tow`.
pub fn is_task_outdated(folder: &Path, tow: &Path) -> bool {
    let tasks = EditorTasks::in_folder(folder, tow).ok();
    tasks.and_then(|tasks| tasks.inspect_file(RetryPace::USUAL).ok()) == Some(TaskState::Outdated)
}

fn existing(folder: &Path) -> Result<PathBuf, Failure> {
    let whole = folder.canonicalize().ok().filter(|folder| folder.is_dir());
    whole.ok_or_else(|| {
        Failure::input(format!("{} is no folder", folder.display()))
            .hint("Name the folder that the editor opens: `tow install --vscode FOLDER`.")
    })
}
