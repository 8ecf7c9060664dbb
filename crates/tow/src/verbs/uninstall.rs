//! `tow uninstall`: gives the agents' settings back.
//!
//! Byte for byte where only we changed them, else without exactly our entries. The data folder stays.

use super::install::{Choice, Edited, command_to_register, edit_all, folder_of, refused};
use crate::failure::Failure;
use crate::scope::Scope;
use clap::Args;
use std::process::ExitCode;
use towline_agents::Agent;
use towline_agents::settings::{Archive, Pace};

const EXAMPLES: &str = "\
Examples:
  tow uninstall                 every agent that is found
  tow uninstall --dry-run       show what would be given back
  tow uninstall --agent NAME

What was recorded stays in the data folder; `tow doctor` says where that is.";

/// Take our hooks out of the agents' settings again.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    choice: Choice,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let tow = command_to_register()?;
    let archive = Archive::new(scope.edge.home.backups());
    let edit = |agent: Agent| {
        let target = agent.target(&folder_of(agent)?, &tow).map_err(refused)?;
        let plan = match arguments.choice.dry_run {
            true => target.preview_removal(&archive, Pace::USUAL).map_err(refused)?,
            false => target.remove(&archive, Pace::USUAL).map_err(refused)?.plan,
        };
        Ok(Edited { agent, plan, next: None })
    };
    edit_all(scope, &arguments.choice, "there is nothing of ours", edit)
}
