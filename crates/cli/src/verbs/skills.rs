//! The skills that `tow install` puts into the agents' folders, and `tow uninstall` takes away.
//!
//! A file that is not ours, or that a person changed, is left alone and named; it keeps nothing else from being done.

use towline_agents::settings::{Archive, Pace, Page, PageStanding, Plan, Refusal, Subject};
use towline_engine::runtime::failure::chain;
use towline_engine::status::tmux::conf::Writing;

/// What became of an agent's skills.
#[derive(Default)]
pub struct Skills {
    pub plans: Vec<Plan>,
    /// Files that were left alone.
    pub remarks: Vec<String>,
}

pub fn put(pages: Vec<Page>, archive: &Archive, writing: Writing) -> Skills {
    let mut skills = Skills::default();
    for page in pages {
        let planned = match writing {
            Writing::Planned => page.preview(Pace::BRIEF),
            Writing::Done => page.apply(archive, Pace::BRIEF).map(|applied| applied.plan),
        };
        skills.add(&page, planned);
    }
    skills
}

/// The last one first: folders that were made for all of them go with the first.
pub fn take_away(pages: Vec<Page>, archive: &Archive, writing: Writing) -> Skills {
    let mut skills = Skills::default();
    for page in pages.into_iter().rev() {
        let planned = match writing {
            Writing::Planned => page.preview_removal(archive, Pace::BRIEF),
            Writing::Done => page.remove(archive, Pace::BRIEF).map(|applied| applied.plan),
        };
        skills.add(&page, planned);
    }
    skills
}

impl Skills {
    fn add(&mut self, page: &Page, planned: Result<Plan, Refusal>) {
        self.remarks.extend(changed(page));
        match planned {
            Ok(plan) => self.plans.push(plan),
            Err(refusal) => self.remarks.push(format!("{}. {}", chain(&refusal), refusal.hint())),
        }
    }
}

/// What to say of a page that a person changed.
fn changed(page: &Page) -> Option<String> {
    let standing = page.inspect_file(Pace::BRIEF).ok()?;
    let file = page.file().display();
    (standing == PageStanding::Changed).then(|| {
        format!("{file} was changed since we wrote it, and stays as it is; remove it to have it made anew")
    })
}
