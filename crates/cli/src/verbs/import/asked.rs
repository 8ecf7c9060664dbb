//! Parses `--since` and `--project` of `tow data import`.
//!
//! Reads only the files that identify a project.

use std::path::{Path, PathBuf};
use towline_core::time::Timestamp;
use towline_core::when::TimeExpression;
use towline_engine::capture::{Asked, Project, Wishes};
use towline_engine::runtime::env::current_folder;
use towline_engine::runtime::text::plain_text;
use towline_engine::runtime::{Env, Failure, calendar};

pub fn asked(
    env: &Env,
    wishes: &Wishes,
    since: Option<&str>,
    project: Option<&str>,
) -> Result<Asked, Failure> {
    let since = since.map(|raw| beginning(env.now, raw)).transpose()?;
    let project = project.map(|raw| named(wishes, raw)).transpose()?;
    Ok(Asked { since, project })
}

/// The start of the time span that `raw` names.
fn beginning(now: Timestamp, raw: &str) -> Result<Timestamp, Failure> {
    const HINT: &str = "Write `--since 2026-10-01`, `--since yesterday`, `--since \"2h ago\"`.";
    let no_time = || Failure::input(format!("`{}` is not a time", plain_text(raw))).hint(HINT);
    let wanted = TimeExpression::parse(raw).map_err(|_| no_time())?;
    if let Some((from, _)) = wanted.range(now) {
        return Ok(from);
    }
    let today = calendar::today(now).ok_or_else(no_time)?;
    let begins = |window| calendar::stretch(window).map(|(from, _)| from);
    wanted.windows(today).filter_map(begins).find(|from| *from <= now).ok_or_else(no_time)
}

/// A folder if `raw` is written as one or exists as one; else a project name.
fn named(wishes: &Wishes, raw: &str) -> Result<Project, Failure> {
    let given = current_folder().unwrap_or_default().join(raw);
    let is_written_as_folder = raw.contains('/') || raw == "." || raw == "..";
    match std::fs::canonicalize(&given) {
        Ok(folder) if is_written_as_folder || folder.is_dir() => Ok(at(wishes, folder)),
        Err(_) if Path::new(raw).is_absolute() => Ok(at(wishes, given)),
        Err(error) if is_written_as_folder => {
            Err(Failure::about(format!("there is no folder `{}`", plain_text(raw)), &error)
                .hint("Give a project's name, or a folder of it."))
        }
        Ok(_) | Err(_) if !raw.trim().is_empty() => Ok(Project::Named(raw.trim().to_owned())),
        Ok(_) | Err(_) => Err(Failure::input("the project has no name").hint("Write `--project NAME`.")),
    }
}

/// The folder may be gone: its sessions still name it.
fn at(wishes: &Wishes, folder: PathBuf) -> Project {
    let traces = wishes.traces(&folder);
    Project::At { folder, traces }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_without_a_day_is_the_last_one_that_has_been() {
        let now = Timestamp(1_794_700_800_000);
        assert_eq!(beginning(now, "2h ago").unwrap(), now.plus_ms(-2 * 3_600_000));
        assert_eq!(beginning(now, "2026-11-14T00:00:00Z").unwrap(), now.plus_ms(-24 * 3_600_000));
        assert!(beginning(now, "2026-11-01").unwrap() < now);
        assert!(beginning(now, "14:05").unwrap() < now);
        for raw in ["soon", "1a2b3c4d#2", "2030-01-01", ""] {
            assert!(beginning(now, raw).is_err(), "{raw}");
        }
    }
}
