//! A seat: a terminal pane, a plain terminal, an editor window.
//!
//! A seat is identified by evidence, not by the claim of an environment variable; `proof` records the evidence.

use crate::id::SessionKey;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The location that one event was traced to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatLocation {
    /// Identifies the seat for as long as it exists; never reused for another.
    pub key: String,
    pub kind: SeatKind,
    /// The multiplexer's own id of the pane or window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane: Option<String>,
    /// How to reach the multiplexer's server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tty: Option<String>,
    /// The process that the user sees there.
    pub pid: u32,
    /// Its start time, in ticks since boot: with the pid it is never reused.
    #[serde(default)]
    pub started: u64,
    /// The program that runs there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    pub proof: SeatProof,
}

stored_enum! {
    pub enum SeatKind as named {
        Tmux = "tmux",
        Screen = "screen",
        Zellij = "zellij",
        Kitty = "kitty",
        Wezterm = "wezterm",
        Terminal = "terminal",
        Ide = "ide",
    }
}

stored_enum! {
    /// How certain it is that the session runs in this place.
    #[derive(PartialOrd, Ord)]
    pub enum SeatProof as named {
        /// Claimed by the agent's environment.
        Environment = "environment",
        /// The only possible place, or the one whose screen shows the prompt.
        Evidence = "evidence",
        /// The multiplexer owns the terminal that the agent's process is attached to.
        Terminal = "terminal",
    }
}

/// A stored seat: its place and its current session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    pub place: SeatLocation,
    pub current: Option<SessionKey>,
    pub first_seen: Timestamp,
    pub last_seen: Timestamp,
}
