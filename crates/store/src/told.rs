//! When a session's state was last notified through which channel, one small file each, so that no state is repeated.
//!
//! A lost file costs one notification too many. Each file has one writer at a time: the process that applies writes those
//! of `AtOnce`, the holder of the alert lock those of the other channels.

use crate::home::{DataFolder, remove_old, replace_file};
use std::path::PathBuf;
use std::{fs, io};
use towline_core::id::SessionKey;
use towline_core::session::SessionState;
use towline_core::time::Timestamp;

towline_core::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum NotifyChannel {
        /// Immediately: commands, and the agent's own terminal.
        AtOnce = "at_once",
        Desktop = "desktop",
        Phone = "phone",
    }
}

/// The state that is notified, and the channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationTopic {
    pub session: SessionKey,
    pub state: SessionState,
    pub way: NotifyChannel,
}

/// The last notification of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastNotification {
    /// When the session entered the state.
    pub since: Timestamp,
    pub at: Timestamp,
}

/// The last notification; `None` also for a file that cannot be parsed.
pub fn last(home: &DataFolder, topic: &NotificationTopic) -> Option<LastNotification> {
    parse(&fs::read_to_string(path(home, topic)).ok()?)
}

/// Replaces the file atomically: half a number would be another time.
pub fn remember(home: &DataFolder, topic: &NotificationTopic, told: LastNotification) -> io::Result<()> {
    replace_file(&path(home, topic), format!("{} {}\n", told.since.0, told.at.0).as_bytes())
}

/// Removes files that were written before this time.
pub fn forget(home: &DataFolder, before: Timestamp) {
    remove_old(&home.notified_file(), |path| {
        let told = fs::read_to_string(path).ok().and_then(|text| parse(&text));
        told.is_none_or(|told| told.at < before)
    });
}

fn parse(text: &str) -> Option<LastNotification> {
    let (since, at) = text.trim_end().split_once(' ')?;
    Some(LastNotification { since: Timestamp(since.parse().ok()?), at: Timestamp(at.parse().ok()?) })
}

/// No part contains a dot, so the dots separate them safely.
fn path(home: &DataFolder, topic: &NotificationTopic) -> PathBuf {
    let (session, state) = (&topic.session, topic.state.name());
    home.notified_file().join(format!("{}.{}.{state}.{}", session.agent, session.id, topic.way.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(state: SessionState, way: NotifyChannel) -> NotificationTopic {
        NotificationTopic { session: SessionKey::parse("agent:id").unwrap(), state, way }
    }

    #[test]
    fn each_state_and_way_is_remembered_by_itself_until_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        let [old, new] = [5, 9].map(|at| LastNotification { since: Timestamp(1), at: Timestamp(at) });
        let (completed, phone) = (
            topic(SessionState::Completed, NotifyChannel::Desktop),
            topic(SessionState::Completed, NotifyChannel::Phone),
        );
        assert_eq!(last(&home, &completed), None);
        remember(&home, &completed, new).unwrap();
        remember(&home, &completed, old).unwrap();
        remember(&home, &phone, new).unwrap();
        assert_eq!((last(&home, &completed), last(&home, &phone)), (Some(old), Some(new)));
        assert_eq!(last(&home, &topic(SessionState::Limited, NotifyChannel::Phone)), None);
        forget(&home, Timestamp(6));
        assert_eq!((last(&home, &completed), last(&home, &phone)), (None, Some(new)));
        assert_eq!(fs::read_dir(home.notified_file()).unwrap().count(), 1);
    }

    #[test]
    fn a_torn_file_counts_as_not_notified_and_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        fs::create_dir(home.notified_file()).unwrap();
        fs::write(path(&home, &topic(SessionState::Idle, NotifyChannel::AtOnce)), "12").unwrap();
        assert_eq!(last(&home, &topic(SessionState::Idle, NotifyChannel::AtOnce)), None);
        forget(&home, Timestamp(0));
        assert_eq!(fs::read_dir(home.notified_file()).unwrap().count(), 0);
    }
}
