//! Resolves a name to one of the team's projects.
//!
//! Never guesses: a name that two projects share is an error that lists their keys.

use towline_core::escape::escape_for_terminal;
use towline_engine::runtime::Failure;
use towline_engine::sync::{Link, NoLink};
use towline_hub::HubProject;

/// The team's project with this key or name.
pub fn hub_project(link: &mut Link, called: &str) -> Result<HubProject, Failure> {
    let all = link.hub.projects(&link.membership).map_err(NoLink::from)?;
    let fits = |project: &HubProject| project.key == called || project.name.eq_ignore_ascii_case(called);
    let mut found: Vec<HubProject> = all.into_iter().filter(fits).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Failure::input(format!("the team shares no project `{}`", escape_for_terminal(called)))
            .hint("Run `tow hub status` to see which there are.")),
        _ => {
            let keys: Vec<String> = found.iter().map(|project| escape_for_terminal(&project.key)).collect();
            Err(Failure::input(format!("several projects are called `{}`", escape_for_terminal(called)))
                .hint(format!("Give one of their keys: {}.", keys.join(", "))))
        }
    }
}
