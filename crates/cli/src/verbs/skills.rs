//! The skill files that `tow install` adds to the agents' folders and `tow uninstall` removes.
//!
//! Leaves files that are not ours, or that the user changed, alone and reports them; other steps go on.

use towline_agents::settings::{
    EditPlan, EditRefusal, ManagedContent, OriginalsArchive, OwnedFile, OwnedFileState, RetryPace,
};
use towline_engine::runtime::failure::chain;
use towline_engine::status::tmux::conf::Writing;

/// The result for an agent's skills.
#[derive(Default)]
pub struct Skills {
    pub plans: Vec<EditPlan>,
    /// Reports of files that were left alone.
    pub remarks: Vec<String>,
}

pub fn put(pages: Vec<OwnedFile>, archive: &OriginalsArchive, writing: Writing) -> Skills {
    let mut skills = Skills::default();
    for page in pages {
        let planned = match writing {
            Writing::Planned => page.preview(RetryPace::BRIEF),
            Writing::Done => page.apply(archive, RetryPace::BRIEF).map(|applied| applied.plan),
        };
        skills.add(&page, planned);
    }
    skills
}

/// Removes in reverse order: folders that were created for all pages are removed with the first page.
pub fn take_away(pages: Vec<OwnedFile>, archive: &OriginalsArchive, writing: Writing) -> Skills {
    let mut skills = Skills::default();
    for page in pages.into_iter().rev() {
        let planned = match writing {
            Writing::Planned => page.preview_removal(archive, RetryPace::BRIEF),
            Writing::Done => page.remove(archive, RetryPace::BRIEF).map(|applied| applied.plan),
        };
        skills.add(&page, planned);
    }
    skills
}

impl Skills {
    fn add(&mut self, page: &OwnedFile, planned: Result<EditPlan, EditRefusal>) {
        self.remarks.extend(changed(page));
        match planned {
            Ok(plan) => self.plans.push(plan),
            Err(refusal) => self.remarks.push(format!("{}. {}", chain(&refusal), refusal.hint())),
        }
    }
}

/// The report of a page that the user changed.
fn changed(page: &OwnedFile) -> Option<String> {
    let standing = page.inspect_file(RetryPace::BRIEF).ok()?;
    let file = page.file().display();
    (standing == OwnedFileState::Changed).then(|| {
        format!("{file} was changed since we wrote it, and stays as it is; remove it to have it made anew")
    })
}
