//! Looking at a session's surroundings: its process, and how its transcript ends.
//!
//! Looks only as far as it is cheap: one small file of the process, and a bounded end of the transcript if that was
//! written after the last hook. What it means is judged in `core`.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;
use towline_agents::Agent;
use towline_core::arbiter::{ProcessSight, SKEW_MS, Sights, Tail};
use towline_core::seat::Place;
use towline_core::session::{Session, State};
use towline_core::time::Timestamp;
use towline_terminal::process::Process;
use towline_terminal::tail::last_bytes;

/// However long a transcript is, this much of its end is read.
const END: u64 = 64 * 1024;

pub fn of(session: &Session, place: &Place, now: Timestamp) -> Sights {
    let last_written = session.transcript.as_deref().and_then(|path| written_at(Path::new(path)));
    // Between turns there is nothing that a transcript could tell and a hook did not.
    let may_tell = matches!(session.state, State::Working | State::Blocked(_));
    let is_newer = last_written.is_some_and(|written| written.plus_ms(SKEW_MS) >= session.last_event_at);
    let tail = if may_tell && is_newer { tail(session) } else { None };
    Sights { now, process: process(place), tail, last_written }
}

/// A process id alone may be somebody else's by now.
pub fn process(place: &Place) -> ProcessSight {
    let can_look = place.started > 0 && Path::new("/proc/self/stat").exists();
    match Process::read(place.pid) {
        _ if !can_look => ProcessSight::Unknown,
        Some(process) if process.started == place.started => ProcessSight::Alive,
        Some(_) | None => ProcessSight::Gone,
    }
}

fn tail(session: &Session) -> Option<Tail> {
    let agent = Agent::named(session.key.agent.as_str())?;
    let (end, _) = last_bytes(Path::new(session.transcript.as_deref()?), END).ok()?;
    agent.tail(&end)
}

fn written_at(path: &Path) -> Option<Timestamp> {
    let since = fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp)
}
