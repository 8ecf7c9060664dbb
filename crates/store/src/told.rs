//! When a session's state was last notified through which channel, one small file each, so that no state is repeated.
//!
//! A lost file costs one notification too many. Each file has one writer at a time: the process that folds writes those
//! of `AtOnce`, the holder of the alert lock those of the other channels.

use crate::home::{Home, put_small};
use std::fs;
use std::io;
use std::path::PathBuf;
use towline_core::id::SessionKey;
use towline_core::session::State;
use towline_core::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Immediately: commands, and the agent's own terminal.
    AtOnce,
    Desktop,
    Phone,
}

impl Way {
    pub fn name(self) -> &'static str {
        match self {
            Way::AtOnce => "at_once",
            Way::Desktop => "desktop",
            Way::Phone => "phone",
        }
    }
}

/// The state that is notified, and the channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    pub session: SessionKey,
    pub state: State,
    pub way: Way,
}

/// The last notification of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// When the session entered the state.
    pub since: Timestamp,
    pub at: Timestamp,
}

/// The last notification; `None` also for a file that cannot be parsed.
pub fn last(home: &Home, topic: &Topic) -> Option<Told> {
    let text = fs::read_to_string(path(home, topic)).ok()?;
    parse(&text)
}

/// Replaces the file atomically: half a number would be another time.
pub fn remember(home: &Home, topic: &Topic, told: Told) -> io::Result<()> {
    put_small(&path(home, topic), format!("{} {}\n", told.since.0, told.at.0).as_bytes())
}

/// Removes files that were written before this time.
pub fn forget(home: &Home, before: Timestamp) {
    let entries = fs::read_dir(home.told()).into_iter().flatten().filter_map(Result::ok);
    for path in entries.map(|entry| entry.path()) {
        let told = fs::read_to_string(&path).ok().and_then(|text| parse(&text));
        if told.is_none_or(|told| told.at < before) {
            let _ = fs::remove_file(path);
        }
    }
}

fn parse(text: &str) -> Option<Told> {
    let (since, at) = text.trim_end().split_once(' ')?;
    Some(Told { since: Timestamp(since.parse().ok()?), at: Timestamp(at.parse().ok()?) })
}

/// No part contains a dot, so the dots separate them safely.
fn path(home: &Home, topic: &Topic) -> PathBuf {
    let (session, state) = (&topic.session, topic.state.name());
    home.told().join(format!("{}.{}.{state}.{}", session.agent, session.id, topic.way.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(state: State, way: Way) -> Topic {
        Topic { session: SessionKey::parse("agent:id").unwrap(), state, way }
    }

    #[test]
    fn each_state_and_way_is_remembered_by_itself_until_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let [old, new] = [5, 9].map(|at| Told { since: Timestamp(1), at: Timestamp(at) });
        let (completed, phone) = (topic(State::Completed, Way::Desktop), topic(State::Completed, Way::Phone));
        assert_eq!(last(&home, &completed), None);
        remember(&home, &completed, new).unwrap();
        remember(&home, &completed, old).unwrap();
        remember(&home, &phone, new).unwrap();
        assert_eq!((last(&home, &completed), last(&home, &phone)), (Some(old), Some(new)));
        assert_eq!(last(&home, &topic(State::Limited, Way::Phone)), None);
        forget(&home, Timestamp(6));
        assert_eq!((last(&home, &completed), last(&home, &phone)), (None, Some(new)));
        assert_eq!(fs::read_dir(home.told()).unwrap().count(), 1);
    }

    #[test]
    fn a_torn_file_counts_as_not_notified_and_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        fs::create_dir(home.told()).unwrap();
        fs::write(path(&home, &topic(State::Idle, Way::AtOnce)), "12").unwrap();
        assert_eq!(last(&home, &topic(State::Idle, Way::AtOnce)), None);
        forget(&home, Timestamp(0));
        assert_eq!(fs::read_dir(home.told()).unwrap().count(), 0);
    }
}
