//! `tow bench-seed`: fills a data folder with a past, for benchmarks.
//!
//! The events go through the journal and the fold like any others: nothing here writes a table.

use crate::edge::variable;
use crate::failure::Failure;
use crate::scope::Scope;
use clap::Args;
use std::process::ExitCode;
use std::time::Duration;
use towline_core::event::{Event, Happening, Origin, Presence, Scene, StartedBy, ToolOutcome};
use towline_core::id::{SessionKey, Uid};
use towline_core::inherit::Wishes;
use towline_core::project::ProjectTraces;
use towline_core::text::{Keeping, Kept, Secrets};
use towline_core::time::Timestamp;
use towline_store::journal::{self, Record};
use towline_store::lock::FoldLock;
use towline_store::{Pace, Store, upkeep};

/// Fill the data folder with so many events of made-up sessions.
#[derive(Debug, Args)]
pub struct Arguments {
    #[arg(long)]
    events: u64,
    /// How many of them belong to one session.
    #[arg(long, default_value_t = 400)]
    per_session: u64,
}

const BATCH: u64 = 5_000;

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if variable("TOWLINE_HOME").is_none() {
        return Err(Failure::input("this would fill your own data folder")
            .hint("Set TOWLINE_HOME to a folder of its own."));
    }
    let failed = |error: &dyn std::error::Error| Failure::new(error);
    let home = &scope.edge.home;
    home.create().map_err(|error| failed(&error))?;
    let lock = FoldLock::try_take(home).map_err(|error| failed(&error))?;
    let lock = lock.ok_or_else(|| Failure::input("somebody is folding this data folder"))?;
    for from in (0..arguments.events).step_by(usize::try_from(BATCH).unwrap_or(1)) {
        let to = (from + BATCH).min(arguments.events);
        let records: Vec<Record> =
            (from..to).map(|n| Record::Event(event(arguments, scope.edge.now, n))).collect();
        journal::append(home, &records).map_err(|error| failed(&error))?;
        let pace = Pace {
            has_time: &|| true,
            now: scope.edge.now,
            new_machine: scope.edge.uid(),
            patience: Duration::from_secs(5),
        };
        let (store, _) = Store::open_and_fold(home, &lock, &pace).map_err(|error| failed(&error))?;
        upkeep::checkpoint(&store).map_err(|error| failed(&error))?;
        upkeep::seal_if_large(home, &lock).map_err(|error| failed(&error))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The nth event of the past: sessions one after the other, ten events to a turn, a second apart, ending a day ago.
fn event(arguments: &Arguments, now: Timestamp, n: u64) -> Event {
    let (session, step) = (n / arguments.per_session, n % arguments.per_session);
    let age = (arguments.events - n).cast_signed();
    let at = now.plus_ms(-86_400_000 - 1000 * age);
    let mut random = [0; 10];
    random[..8].copy_from_slice(&n.to_le_bytes());
    let keeping = Keeping { longest_bytes: 200, secrets: Secrets::Kept };
    let happening = match step % 10 {
        _ if step == 0 => Happening::SessionStarted { by: StartedBy::Startup, wishes: Wishes::default() },
        1 => Happening::PromptSubmitted {
            prompt: Kept::new("go on with the work at hand", keeping),
            origin: Origin::Human,
            own: None,
        },
        9 => Happening::TurnEnded { background: Some(0), answer: None },
        _ => Happening::ToolFinished {
            tool: Kept::new("Bash", keeping),
            outcome: ToolOutcome::Done,
            bytes: 400,
        },
    };
    let key = SessionKey::parse(&format!("seeded:past-{session}"));
    let project = ProjectTraces {
        root: format!("/past/project-{}/.git", session % 20),
        remote: None,
        name: None,
        branch: None,
    };
    let scene = Scene {
        presence: Presence::Terminal,
        folder: None,
        transcript: None,
        model: None,
        place: None,
        project: Some(project),
    };
    Event {
        uid: Uid::v7(at, random),
        at,
        session: key.unwrap_or_else(|_| unreachable!("a made-up key is a sound one")),
        subagent: None,
        turn: None,
        happening,
        scene: (step == 0).then_some(scene),
    }
}
