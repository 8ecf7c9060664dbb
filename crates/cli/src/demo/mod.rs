//! A recorded day, played through the real hooks for a user who has no agent at hand.
//!
//! Everything runs on its own stage: a home, a tmux server and their processes. A sweeper process removes the
//! stage as soon as its starter exits, for any reason. The demo reads and writes none of the user's data.

mod act;
mod scene;
mod stage;
mod sweep;
mod tour;

pub use stage::DemoStage;
pub use sweep::sweep;
pub use tour::Tempo;

use crate::scope::Scope;
use scene::DemoScene;
use std::io::{IsTerminal, stdin, stdout};
use towline_engine::runtime::Failure;
use towline_engine::runtime::env::find_in_path;

/// Whether the agents run in tmux windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seats {
    Windows,
    None,
}

/// Plays the day and gives the tour, page by page or all at once.
pub fn run(scope: &Scope, tempo: Tempo, seats: Seats) -> Result<(), Failure> {
    let seats = match seats {
        Seats::Windows if find_in_path("tmux").is_none() => {
            scope.out.line(
                "tmux is not installed: there will be no bar and no windows; everything else is the same.\n",
            );
            Seats::None
        }
        Seats::Windows | Seats::None => seats,
    };
    let stage = DemoStage::build(&scope.env)?;
    let _sweeper = sweep::keep(&stage)?;
    let is_watched = stdin().is_terminal() && stdout().is_terminal();
    if seats == Seats::Windows && tempo == Tempo::ByKey && is_watched {
        return stage.attach_to_tour();
    }
    let tempo = if is_watched { tempo } else { Tempo::AtOnce };
    tour::walk(scope, &stage, tempo, seats)
}

/// Gives the tour in the first window of the stage.
pub fn guide(scope: &Scope, stage: &DemoStage) -> Result<(), Failure> {
    let walked = tour::walk(scope, stage, Tempo::ByKey, Seats::Windows);
    stage.close_windows();
    walked
}

/// Plays a scene in its own window.
pub fn act(scope: &Scope, stage: &DemoStage, name: &str) -> Result<(), Failure> {
    let scene =
        DemoScene::named(name).ok_or_else(|| Failure::input(format!("no scene is called `{name}`")))?;
    act::act(scope, stage, scene)
}
