//! The seats as every surface displays them, and their order.
//!
//! Surfaces only draw this list. A completed, interrupted or limited session that the user has looked at is displayed as
//! idle; looking does not change the session's state.

use crate::id::short_of;
use crate::session::SessionState;
use crate::time::Timestamp;
use std::cmp::Reverse;

/// One seat as displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeatView {
    pub seat: String,
    pub agent: String,
    /// `None` for an agent that runs without our hooks: only its presence is known, or what its screen shows.
    pub session: Option<String>,
    pub state: SessionState,
    /// The state was read from the screen of an agent without hooks.
    pub by_screen: bool,
    pub since: Timestamp,
    pub seen: bool,
    pub project: Option<String>,
    pub branch: Option<String>,
    pub prompt: Option<String>,
    pub model: Option<String>,
    /// The tool that a block is about.
    pub tool: Option<String>,
    /// Subagents and background tasks at work.
    pub subagents: u32,
    /// Tasks completed since the last prompt.
    pub tasks: u32,
    /// When a usage limit ends.
    pub until: Option<Timestamp>,
    pub context_percent: Option<u8>,
    pub pane: Option<String>,
    pub server: Option<String>,
}

named_enum! {
    /// The five categories that a status bar counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum SeatLight {
        Idle = "idle",
        Working = "working",
        Completed = "completed",
        /// Stopped by the user, an error or a limit: it will not proceed by itself.
        Stopped = "stopped",
        Blocked = "blocked",
    }
}

impl SeatView {
    /// An agent of which only the seat is known.
    pub fn at(seat: impl Into<String>, agent: impl Into<String>, since: Timestamp) -> SeatView {
        SeatView { seat: seat.into(), agent: agent.into(), since, seen: true, ..SeatView::default() }
    }

    /// What `state_name` returns, the most urgent first.
    pub const STATES_BY_URGENCY: [&str; 6] =
        ["blocked", "limited", "interrupted", "completed", "working", "idle"];

    /// The state as a word, the same on every surface; `idle` once the user has looked at it, except blocked and working.
    pub fn state_name(&self) -> &'static str {
        if self.light() == SeatLight::Idle { SessionState::Idle.name() } else { self.state.name() }
    }

    /// The session's name, or else the seat's.
    pub fn name(&self) -> &str {
        self.session.as_deref().unwrap_or(&self.seat)
    }

    /// The session's id in its agent.
    pub fn session_id(&self) -> Option<&str> {
        self.session.as_deref()?.split_once(':').map(|(_, id)| id)
    }

    /// The word that means this agent alone: the short id of its session, or else its pane or seat.
    pub fn short(&self) -> &str {
        self.session_id().map(short_of).or(self.pane.as_deref()).unwrap_or(&self.seat)
    }

    /// The project with its branch, for display.
    pub fn project_and_branch(&self) -> String {
        let project = self.project.as_deref().unwrap_or("?");
        self.branch.as_deref().map_or(project.to_owned(), |branch| format!("{project}/{branch}"))
    }

    pub fn light(&self) -> SeatLight {
        match (self.state, self.seen) {
            (SessionState::Blocked(_), _) => SeatLight::Blocked,
            (SessionState::Working, _) => SeatLight::Working,
            (SessionState::Completed, false) => SeatLight::Completed,
            (SessionState::Interrupted | SessionState::Limited, false) => SeatLight::Stopped,
            (SessionState::Completed | SessionState::Interrupted | SessionState::Limited, true)
            | (SessionState::Idle | SessionState::Ended, _) => SeatLight::Idle,
        }
    }
}

/// Sorts seats that need the user first: blocked, stopped and completed ones by waiting time, then the rest by most
/// recent change.
pub fn by_urgency(seats: &mut [SeatView]) {
    seats.sort_by_key(|seat| match seat.light() {
        SeatLight::Blocked => (0, seat.since, Reverse(seat.since)),
        SeatLight::Stopped => (1, seat.since, Reverse(seat.since)),
        SeatLight::Completed => (2, seat.since, Reverse(seat.since)),
        SeatLight::Working => (3, Timestamp(0), Reverse(seat.since)),
        SeatLight::Idle => (4, Timestamp(0), Reverse(seat.since)),
    });
}

/// A duration in the fewest letters: empty below a minute, `5m`, `2h`, `3d`.
pub fn age(ms: i64) -> String {
    match ms / 60_000 {
        0 => String::new(),
        minutes @ 1..60 => format!("{minutes}m"),
        minutes @ 60..2880 => format!("{}h", minutes / 60),
        minutes => format!("{}d", minutes / 1440),
    }
}

/// Parses a duration into milliseconds: `90s`, `45m`, `1h`, `2d`.
pub fn span(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let ms = match unit {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| number.parse::<i64>().ok()?.checked_mul(ms)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::BlockReason;

    fn seat(name: &str, state: SessionState, since: i64) -> SeatView {
        SeatView { state, seen: false, ..SeatView::at(name, "a", Timestamp(since)) }
    }

    #[test]
    fn a_length_of_time_is_a_number_and_its_unit() {
        let found = ["90s", "45m", "1h", "2d"].map(span);
        assert_eq!(found, [Some(90_000), Some(2_700_000), Some(3_600_000), Some(172_800_000)]);
        for wrong in ["", "h", "1", "1w", "-1h", "1.5h", "é", "99999999999999999d", "1 h"] {
            assert_eq!(span(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn seats_that_wait_longest_come_first() {
        let blocked = SessionState::Blocked(BlockReason::Permission);
        let mut seats = [
            seat("idle", SessionState::Idle, 1),
            seat("old work", SessionState::Working, 2),
            seat("new work", SessionState::Working, 9),
            seat("done", SessionState::Completed, 5),
            seat("late block", blocked, 7),
            seat("early block", blocked, 3),
            seat("stopped", SessionState::Interrupted, 4),
        ];
        by_urgency(&mut seats);
        let order: Vec<&str> = seats.iter().map(|seat| seat.seat.as_str()).collect();
        assert_eq!(order, ["early block", "late block", "stopped", "done", "new work", "old work", "idle"]);
    }

    #[test]
    fn looking_at_a_seat_puts_out_its_light_but_not_a_block() {
        let looked_at = |state| SeatView { seen: true, ..seat("s", state, 1) }.light();
        assert_eq!(looked_at(SessionState::Completed), SeatLight::Idle);
        assert_eq!(looked_at(SessionState::Interrupted), SeatLight::Idle);
        assert_eq!(looked_at(SessionState::Blocked(BlockReason::Question)), SeatLight::Blocked);
        assert_eq!(looked_at(SessionState::Working), SeatLight::Working);
    }

    #[test]
    fn ages_are_short() {
        let ages: Vec<String> = [0, 59_999, 60_000, 3_599_999, 3_600_000, 172_800_000].map(age).into();
        assert_eq!(ages, ["", "", "1m", "59m", "1h", "2d"]);
    }
}
