//! `tow capture`: takes in what is new in an agent's transcripts. Started by hooks; people use `tow import`.
//!
//! Nobody waits for it, so it waits until the agent has written what it told of. It says nothing: what goes wrong is a
//! fault for `tow doctor`.

use crate::capture::{self, Transcript, Wishes};
use crate::edge::leave_folder;
use crate::failure::{Failure, chain};
use crate::hook::record_here;
use crate::scope::Scope;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use towline_agents::Agent;
use towline_core::fault::{Fault, FaultKind};

/// Take in what is new in an agent's transcripts.
#[derive(Debug, Args)]
pub struct Arguments {
    agent: String,
    files: Vec<PathBuf>,
    /// Take what is there, without waiting until the agent has written what it told of.
    #[arg(long)]
    at_once: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Some(agent) = Agent::named(&arguments.agent) else {
        return Err(Failure::input(format!("there is no agent `{}`", arguments.agent))
            .hint("Run `tow import --help`."));
    };
    let files: Vec<_> = arguments.files.iter().map(|path| Transcript { agent, path: path.clone() }).collect();
    leave_folder();
    if let Err(detail) = taken_in(scope, arguments, &files) {
        record_here(&scope.edge, Fault { at: scope.edge.now, kind: FaultKind::Store, detail });
    }
    Ok(ExitCode::SUCCESS)
}

fn taken_in(scope: &Scope, arguments: &Arguments, files: &[Transcript]) -> Result<(), String> {
    let wishes = Wishes::load(&scope.edge).map_err(|failure| failure.what)?;
    let done = match arguments.at_once {
        true => capture::capture(&scope.edge, &wishes, files).map(drop),
        false => capture::capture_settled(&scope.edge, &wishes, files),
    };
    done.map_err(|error| chain(&error))
}
