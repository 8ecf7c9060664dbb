//! A recorded day, played through the real hooks before somebody who has no agent at hand.
//!
//! Everything happens on a stage of its own: a home, a tmux server and their processes, which a sweeper takes away as soon
//! as whoever started it is gone, in whatever way. Nothing of the user's is read or written.

mod act;
mod scene;
mod stage;
mod sweep;
mod tour;

pub use stage::Stage;
pub use sweep::sweep;
pub use tour::Tempo;

use crate::scope::Scope;
use scene::Scene;
use std::io::{IsTerminal, stdin, stdout};
use towline_engine::runtime::env::on_path;
use towline_engine::runtime::failure::Failure;

/// Whether the agents of the day sit in windows of tmux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seats {
    Windows,
    None,
}

/// Plays the day and shows around, at the pace of who looks on or all at once.
pub fn run(scope: &Scope, tempo: Tempo, seats: Seats) -> Result<(), Failure> {
    let seats = match seats {
        Seats::Windows if on_path("tmux").is_none() => {
            scope.out.line(
                "tmux is not installed: there will be no bar and no windows; everything else is the same.\n",
            );
            Seats::None
        }
        Seats::Windows | Seats::None => seats,
    };
    let stage = Stage::build(&scope.env)?;
    let _sweeper = sweep::keep(&stage)?;
    let is_watched = stdin().is_terminal() && stdout().is_terminal();
    if seats == Seats::Windows && tempo == Tempo::ByKey && is_watched {
        return stage.attach_to_tour();
    }
    let tempo = if is_watched { tempo } else { Tempo::AtOnce };
    tour::walk(scope, &stage, tempo, seats)
}

/// The tour itself, in the first window of the stage.
pub fn guide(scope: &Scope, stage: &Stage) -> Result<(), Failure> {
    let walked = tour::walk(scope, stage, Tempo::ByKey, Seats::Windows);
    stage.close_windows();
    walked
}

/// A scene in its own window.
pub fn act(scope: &Scope, stage: &Stage, name: &str) -> Result<(), Failure> {
    let scene = Scene::named(name).ok_or_else(|| Failure::input(format!("no scene is called `{name}`")))?;
    act::act(scope, stage, scene)
}
