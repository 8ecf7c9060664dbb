//! Whether anything can have changed since the last refresh: the question that tmux asks every few seconds.
//!
//! Compares a few facts with a small file and opens no database. If in doubt, it reports a change: a false
//! alarm costs a few milliseconds, a missed change would hide an event.

use crate::runtime::{Env, json_file};
use crate::status::read_marks::{Look, is_unseen};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use towline_core::arbiter::{next_look_at, silent_after_ms};
use towline_core::id::SessionKey;
use towline_core::seat::SeatLocation;
use towline_core::session::{Session, SessionState};
use towline_core::shown::{SeatLight, SeatView};
use towline_core::time::Timestamp;
use towline_store::DataFolder;
use towline_terminal::process::Process;

/// The facts recorded by the last full refresh.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Quiet {
    /// From then on, time alone may have changed something.
    until: Timestamp,
    watch: Watch,
    /// Panes with an unseen state.
    unseen: Vec<String>,
    /// The light of each agent, by its session or its place.
    #[serde(default)]
    lights: Vec<(String, String)>,
}

/// Files and processes whose change means that an event happened.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    journal: Option<WriteStamp>,
    seats: Vec<Watched>,
    /// When the screens of working agents are next worth a probe.
    #[serde(skip)]
    probe_at: Vec<Timestamp>,
}

/// Changes with every write to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WriteStamp {
    inode: u64,
    bytes: u64,
    seconds: i64,
    nanoseconds: i64,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Watched {
    pid: u32,
    started: u64,
    /// Only for a session whose turn may end without a hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transcript: Option<(String, Option<WriteStamp>)>,
}

/// Timers show minutes, options and strays are renewed once a minute, silent screens twice as often.
const LONGEST_MS: i64 = 25_000;

/// A granted permission shows first in the agent's child processes, which are not compared here.
const LONGEST_BLOCKED_MS: i64 = 3000;

/// Returns whether nothing can have changed.
pub fn still(env: &Env, look: Look<'_>) -> bool {
    let Some(quiet) = json_file::load::<Quiet>(&file(&env.home)) else { return false };
    let is_new_look = match look {
        Look::Nowhere => false,
        Look::At(pane) => quiet.unseen.iter().any(|unseen| unseen == pane),
        Look::Focused(_) => true,
    };
    let in_time = env.now < quiet.until && quiet.until.since_ms(env.now) <= LONGEST_MS;
    in_time && !is_new_look && holds(&quiet.watch, &env.home)
}

/// Makes the next refresh look at everything.
pub fn clear(home: &DataFolder) {
    let _ = fs::remove_file(file(home));
}

/// Whether files and processes are unchanged since `watch` was taken.
pub fn holds(watch: &Watch, home: &DataFolder) -> bool {
    watch.journal == stamp(&home.journal().join("active")) && watch.seats.iter().all(is_as_it_was)
}

/// The lights of all other agents at the last refresh; `None` without a recent refresh.
pub fn other_lights(env: &Env, session: &SessionKey) -> Option<Vec<SeatLight>> {
    let quiet: Quiet = json_file::load(&file(&env.home))?;
    let is_recent = env.now < quiet.until.plus_ms(LONGEST_MS) && quiet.until.since_ms(env.now) <= LONGEST_MS;
    let own = session.to_string();
    let others = quiet.lights.iter().filter(|(name, _)| *name != own);
    let lights =
        others.filter_map(|(_, light)| SeatLight::ALL.into_iter().find(|known| known.name() == light));
    is_recent.then(|| lights.collect())
}

/// The facts to compare next time. Taken before probing, so that changes during the probe count as news.
pub fn watch(env: &Env, sitting: &[(Session, SeatLocation)]) -> Watch {
    Watch {
        journal: stamp(&env.home.journal().join("active")),
        seats: sitting.iter().map(|(session, place)| watched(session, place)).collect(),
        probe_at: sitting.iter().filter_map(|(session, _)| probe_at(session, env.now)).collect(),
    }
}

fn probe_at(session: &Session, now: Timestamp) -> Option<Timestamp> {
    [silent_at(session).filter(|at| *at > now), next_look_at(session, now)].into_iter().flatten().min()
}

fn silent_at(session: &Session) -> Option<Timestamp> {
    let works = session.state == SessionState::Working;
    let written = session.transcript.as_deref().and_then(|path| stamp(Path::new(path)));
    let written = written.map_or(session.last_event_at, |stamp| Timestamp(stamp.seconds * 1000));
    works.then(|| session.last_event_at.max(written).plus_ms(silent_after_ms(session) + 1))
}

/// Records the seats that were shown, with the facts from when `watch` was taken.
pub fn remember(env: &Env, watch: Watch, seats: &[SeatView]) {
    let unseen = seats.iter().filter(|seat| is_unseen(seat)).filter_map(|seat| seat.pane.clone());
    let tick = next_tick(seats, env.now);
    let until = watch.probe_at.iter().copied().min().map_or(tick, |at| at.min(tick));
    let lights = seats.iter().map(|seat| (seat.name().to_owned(), seat.light().name().to_owned()));
    let quiet = Quiet { until, watch, unseen: unseen.collect(), lights: lights.collect() };
    json_file::save(&file(&env.home), &quiet);
}

/// When the timer of the longest block changes, or a prompt may have been answered without a hook.
fn next_tick(seats: &[SeatView], now: Timestamp) -> Timestamp {
    let blocked = seats.iter().filter(|seat| seat.light() == SeatLight::Blocked).map(|seat| seat.since);
    let tick = blocked.min().map(|since| 60_000 - now.since_ms(since) % 60_000);
    now.plus_ms(tick.map_or(LONGEST_MS, |tick| tick.min(LONGEST_BLOCKED_MS)))
}

fn watched(session: &Session, place: &SeatLocation) -> Watched {
    let may_end = matches!(session.state, SessionState::Working | SessionState::Blocked(_));
    let transcript = session.transcript.clone().filter(|_| may_end);
    let transcript = transcript.map(|path| {
        let stamp = stamp(Path::new(&path));
        (path, stamp)
    });
    Watched { pid: place.pid, started: place.started, transcript }
}

fn is_as_it_was(watched: &Watched) -> bool {
    let lives = watched.started == 0
        || Process::read(watched.pid).is_some_and(|process| process.started == watched.started);
    lives && watched.transcript.as_ref().is_none_or(|(path, was)| stamp(Path::new(path)) == *was)
}

fn stamp(path: &Path) -> Option<WriteStamp> {
    let found = fs::metadata(path).ok()?;
    Some(WriteStamp {
        inode: found.ino(),
        bytes: found.len(),
        seconds: found.mtime(),
        nanoseconds: found.mtime_nsec(),
    })
}

fn file(home: &DataFolder) -> PathBuf {
    home.bars().join("quiet")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_do_is_known_for_as_long_as_somebody_refreshes() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        let mut env = Env::at(home, folder.path().join("config.toml"));
        let own = SessionKey::parse("alpha:own").unwrap();
        assert_eq!(other_lights(&env, &own), None);
        let shown = |session: &str, state| SeatView {
            session: Some(session.to_owned()),
            state,
            ..SeatView::at("seat", "alpha", env.now)
        };
        let seats = [
            shown("alpha:own", SessionState::Working),
            shown("alpha:other", SessionState::Working),
            shown("beta:x", SessionState::Idle),
        ];
        remember(&env, Watch::default(), &seats);
        assert_eq!(other_lights(&env, &own), Some(vec![SeatLight::Working, SeatLight::Idle]));
        env.now = env.now.plus_ms(2 * LONGEST_MS);
        assert_eq!(other_lights(&env, &own), None);
    }
}
