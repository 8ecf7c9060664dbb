//! `tow hub`: one memory for several machines, or for a team, in a PostgreSQL database.
//!
//! One file for each subcommand. Only chosen projects are shared, and only a command that the user ran waits
//! for the hub.

mod common;
mod export;
mod init;
mod join;
mod leave;
mod members;
mod model;
mod private;
mod share;
mod status;
mod sync;
mod unshare;
mod whereabouts;
mod withdraw;

use crate::scope::Scope;
use clap::{Args, Subcommand};
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow hub init postgres://owner@hub.example/towline --team crew --as ann     once, by whoever owns the database
  tow hub join postgres://ann@hub.example/towline --team crew                on each machine
  tow hub share .                                                            this project, and nothing else
  tow hub status                                                             what is shared, and how far it came
  tow search --team login cookie                                             what the team knows of it
  tow hub unshare .                                                          and back again

The password is never given here: see `tow hub join --help`. docs/hub.md tells it all.";

/// Share memories between machines, or with a team.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    action: HubAction,
}

#[derive(Debug, Subcommand)]
enum HubAction {
    Init(init::Arguments),
    Join(join::Arguments),
    Leave(leave::Arguments),
    Status(status::Arguments),
    Share(share::Arguments),
    Unshare(unshare::Arguments),
    Members(members::Arguments),
    Model(model::Arguments),
    Sync(sync::Arguments),
    Private(private::Arguments),
    Export(export::Arguments),
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.action {
        HubAction::Init(arguments) => init::run(scope, arguments),
        HubAction::Join(arguments) => join::run(scope, arguments),
        HubAction::Leave(arguments) => leave::run(scope, arguments),
        HubAction::Status(arguments) => status::run(scope, arguments),
        HubAction::Share(arguments) => share::run(scope, arguments),
        HubAction::Unshare(arguments) => unshare::run(scope, arguments),
        HubAction::Members(arguments) => members::run(scope, arguments),
        HubAction::Model(arguments) => model::run(scope, arguments),
        HubAction::Sync(arguments) => sync::run(scope, arguments),
        HubAction::Private(arguments) => private::run(scope, arguments),
        HubAction::Export(arguments) => export::run(scope, arguments),
    }
}
