//! The skills that `tow install` puts into the agents' folders, and `tow uninstall` takes away.
//!
//! A file that is not ours, or that a person changed, is left alone and named; it keeps nothing else from being done.

use super::install::refused;
use crate::failure::Failure;
use crate::tmux::conf::Writing;
use towline_agents::settings::{Archive, Cause, Pace, Page, PageStanding, Plan, Refusal};

/// What became of an agent's skills.
#[derive(Default)]
pub struct Skills {
    pub plans: Vec<Plan>,
    /// Files that were left alone.
    pub remarks: Vec<String>,
}

pub fn put(pages: Vec<Page>, archive: &Archive, writing: Writing) -> Result<Skills, Failure> {
    let mut skills = Skills::default();
    for page in pages {
        skills.remarks.extend(changed(&page));
        let planned = match writing {
            Writing::Planned => page.preview(Pace::BRIEF),
            Writing::Done => page.apply(archive, Pace::BRIEF).map(|applied| applied.plan),
        };
        match planned {
            Ok(plan) => skills.plans.push(plan),
            Err(refusal @ Refusal { cause: Cause::NotOurs, .. }) => {
                skills.remarks.push(format!("{refusal}: it is not ours. {}", refusal.hint()));
            }
            Err(refusal) => return Err(refused(refusal)),
        }
    }
    Ok(skills)
}

/// The last one first: folders that were made for all of them go with the first.
pub fn take_away(pages: Vec<Page>, archive: &Archive, writing: Writing) -> Result<Skills, Failure> {
    let mut skills = Skills::default();
    for page in pages.into_iter().rev() {
        skills.remarks.extend(changed(&page));
        let planned = match writing {
            Writing::Planned => page.preview_removal(archive, Pace::BRIEF),
            Writing::Done => page.remove(archive, Pace::BRIEF).map(|applied| applied.plan),
        };
        skills.plans.push(planned.map_err(refused)?);
    }
    Ok(skills)
}

/// What to say of a page that a person changed.
fn changed(page: &Page) -> Option<String> {
    let standing = page.inspect_file(Pace::BRIEF).ok()?;
    let file = page.file().display();
    (standing == PageStanding::Changed).then(|| {
        format!("{file} was changed since we wrote it, and stays as it is; remove it to have it made anew")
    })
}
