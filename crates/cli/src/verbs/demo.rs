//! `tow demo`: shows Towline on a recorded day.
//!
//! Needs no agent and never touches the user's files; see `demo`.

use crate::demo::{self, DemoStage, Seats, Tempo};
use crate::scope::Scope;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow demo              a tour of a minute in its own tmux; works inside tmux, too
  tow demo --no-tmux    the same in this terminal, without windows and bar
  tow demo --auto       print every page, without waiting for keys

Enter shows the next page; q and Ctrl-C leave at any time. The day was recorded with the real clients and is played
through the real hooks, in a home folder and a tmux server below TMPDIR. Both are removed when the tour ends.";

/// Play a recorded day: no agent needed, nothing of yours is touched.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Do not wait for keys, and end after the last page.
    #[arg(long)]
    auto: bool,
    /// Open no tmux.
    #[arg(long)]
    no_tmux: bool,
    #[command(subcommand)]
    part: Option<DemoPart>,
}

/// The processes that run inside the demo's own home.
#[derive(Debug, Subcommand)]
enum DemoPart {
    #[command(hide = true)]
    Tour(On),
    #[command(hide = true)]
    Act {
        scene: String,
        #[command(flatten)]
        on: On,
    },
    #[command(hide = true)]
    Sweep(On),
}

#[derive(Debug, Args)]
struct On {
    #[arg(long, value_name = "FOLDER")]
    stage: PathBuf,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.part {
        Some(DemoPart::Tour(on)) => demo::guide(scope, &DemoStage::at(&on.stage)?)?,
        Some(DemoPart::Act { scene, on }) => demo::act(scope, &DemoStage::at(&on.stage)?, scene)?,
        Some(DemoPart::Sweep(on)) => demo::sweep(&DemoStage::at(&on.stage)?),
        None => {
            let tempo = if arguments.auto { Tempo::AtOnce } else { Tempo::ByKey };
            let seats = if arguments.no_tmux { Seats::None } else { Seats::Windows };
            demo::run(scope, tempo, seats)?;
        }
    }
    Ok(())
}
