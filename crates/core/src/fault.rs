//! Errors of processes that must stay silent, recorded for `tow doctor`.
//!
//! A fault names the thing and the cause; it never contains text that an agent or the user wrote.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRecord {
    pub at: Timestamp,
    pub kind: FaultKind,
    /// One line.
    pub detail: String,
}

stored_enum! {
    #[derive(PartialOrd, Ord)]
    pub enum FaultKind as named {
        /// An agent's payload could not be parsed.
        Payload = "payload",
        Journal = "journal",
        Store = "store",
        /// The database was damaged, moved aside and rebuilt.
        Rebuilt = "rebuilt",
        Config = "config",
        /// The clock jumped, so nothing old is deleted for now.
        Clock = "clock",
        Deadline = "deadline",
        /// A notification could not be sent, or a command could not be started.
        Notify = "notify",
        /// A bug in Towline.
        Internal = "internal",
    }
}

impl FaultKind {
    /// The remedy: a command, or where to look.
    pub fn remedy(self) -> &'static str {
        match self {
            FaultKind::Payload => "update tow if the agent is newer than it; else report the line",
            FaultKind::Journal => {
                "free disk space or make the data folder writable, then run `tow data work`"
            }
            FaultKind::Store => "run `tow data work` to apply what was kept in the journal",
            FaultKind::Rebuilt => {
                "nothing is lost that the journal held; the damaged file was kept beside the database"
            }
            FaultKind::Config => "run `tow config` to see the line, then `tow config edit`",
            FaultKind::Clock => {
                "correct the date of the machine; if it is right, run `tow data work --expire` or wait a week"
            }
            FaultKind::Deadline => {
                "run `tow data work`; if it comes back, the disk of the data folder is slow"
            }
            FaultKind::Notify => "run `tow config notify --test` to see what happens, then `tow config edit`",
            FaultKind::Internal => "report the line: it is a mistake in tow",
        }
    }

    /// Whether to notify the user unasked: their data or settings are affected.
    pub fn is_worth_telling(self) -> bool {
        !matches!(self, FaultKind::Payload | FaultKind::Deadline)
    }
}
