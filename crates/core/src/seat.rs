//! The place a person sees: a terminal pane, a plain terminal, an editor window.
//!
//! A seat is known by what it is, not by what an environment variable claims; how it was found is kept as `proof`.

use crate::id::SessionKey;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What was found out about the place of one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The same text for the same seat as long as it exists, never reused for another.
    pub key: String,
    pub kind: SeatKind,
    /// The multiplexer's own id of the pane or window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane: Option<String>,
    /// How the multiplexer's server is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tty: Option<String>,
    /// The process that a person sees there.
    pub pid: u32,
    /// When it started, in ticks since boot: together with the pid it is never reused.
    #[serde(default)]
    pub started: u64,
    /// The program that runs there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    pub proof: Proof,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatKind {
    Tmux,
    Screen,
    Zellij,
    Kitty,
    Wezterm,
    Terminal,
    Ide,
}

impl SeatKind {
    pub fn name(self) -> &'static str {
        match self {
            SeatKind::Tmux => "tmux",
            SeatKind::Screen => "screen",
            SeatKind::Zellij => "zellij",
            SeatKind::Kitty => "kitty",
            SeatKind::Wezterm => "wezterm",
            SeatKind::Terminal => "terminal",
            SeatKind::Ide => "ide",
        }
    }
}

/// How surely the place is the session's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// The agent's environment says so.
    Environment,
    /// The only place it can be, or the one whose screen shows the prompt.
    Evidence,
    /// The multiplexer owns the terminal that the agent's process is attached to.
    Terminal,
}

impl Proof {
    pub fn name(self) -> &'static str {
        match self {
            Proof::Environment => "environment",
            Proof::Evidence => "evidence",
            Proof::Terminal => "terminal",
        }
    }
}

/// A seat as it is remembered: its place and the session that sits there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    pub place: Place,
    pub current: Option<SessionKey>,
    pub first_seen: Timestamp,
    pub last_seen: Timestamp,
}
