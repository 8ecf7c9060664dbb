//! Detects agents that newly need the user, and builds the terminal's notification.
//!
//! Returns text and writes nothing; the wording comes from `core`.

use clap::ValueEnum;
use towline_core::session::SessionState;
use towline_core::shown::SeatView;
use towline_core::telling::{Notification, TerminalSignal};

/// How the terminal notifies the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Channel {
    /// Ring the bell.
    Bell,
    /// A notification of kitty, iTerm2 and others.
    Osc9,
    /// A notification of WezTerm, foot, Ghostty and urxvt.
    Osc777,
    /// Say nothing.
    None,
}

impl Channel {
    /// Guesses from environment variables. A multiplexer swallows notifications, but passes on a bell.
    pub fn of_terminal(variable: &dyn Fn(&str) -> Option<String>) -> Channel {
        let is_set = |name: &str| variable(name).is_some();
        if is_set("TMUX") || is_set("STY") || is_set("ZELLIJ") {
            return Channel::Bell;
        }
        let (term, program) =
            (variable("TERM").unwrap_or_default(), variable("TERM_PROGRAM").unwrap_or_default());
        match (program.as_str(), term.as_str()) {
            ("iTerm.app", _) | (_, "xterm-kitty") => Channel::Osc9,
            ("WezTerm" | "ghostty", _) | (_, "wezterm" | "xterm-ghostty" | "foot" | "foot-extra") => {
                Channel::Osc777
            }
            _ if is_set("KITTY_WINDOW_ID") => Channel::Osc9,
            _ => Channel::Bell,
        }
    }

    /// The escape sequences that notify the user of these agents; empty if there are none.
    fn say(self, news: &[&SeatView]) -> String {
        let told = |sign: TerminalSignal| {
            let telling = |seat: &&SeatView| Notification::of(seat, None, seat.state).terminal_sequence(sign);
            news.iter().take(MOST).map(telling).collect()
        };
        match self {
            // One bell for all of them.
            Channel::Bell => news.first().map_or_else(String::new, |_| "\x07".to_owned()),
            Channel::None => String::new(),
            Channel::Osc9 => told(TerminalSignal::Osc9),
            Channel::Osc777 => told(TerminalSignal::Osc777),
        }
    }
}

/// Collects notifications from one refresh to the next frame.
pub struct Notifier {
    channel: Channel,
    /// The last list; `None` before the first refresh, which is no news.
    before: Option<Vec<SeatView>>,
    untold: String,
}

impl Notifier {
    pub fn new(channel: Channel) -> Notifier {
        Notifier { channel, before: None, untold: String::new() }
    }

    pub fn compare(&mut self, seats: Vec<SeatView>) {
        if let Some(before) = &self.before {
            self.untold += &self.channel.say(&news(before, &seats));
        }
        self.before = Some(seats);
    }

    /// The escape sequences to write with the next frame.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.untold)
    }
}

/// More notifications at once would hide each other.
const MOST: usize = 5;

/// The agents that newly need the user since `before`, in the order of `after`.
fn news<'a>(before: &[SeatView], after: &'a [SeatView]) -> Vec<&'a SeatView> {
    let is_known = |seat: &SeatView| {
        before.iter().any(|old| {
            (&old.seat, &old.session, old.state, old.since)
                == (&seat.seat, &seat.session, seat.state, seat.since)
        })
    };
    after.iter().filter(|seat| !seat.seen && wants_a_person(seat.state) && !is_known(seat)).collect()
}

fn wants_a_person(state: SessionState) -> bool {
    match state {
        SessionState::Blocked(_)
        | SessionState::Completed
        | SessionState::Limited
        | SessionState::Interrupted => true,
        SessionState::Idle | SessionState::Working | SessionState::Ended => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::event::BlockReason;
    use towline_core::time::Timestamp;

    fn seat(key: &str, state: SessionState) -> SeatView {
        SeatView {
            session: Some(format!("agent:{key}")),
            state,
            seen: false,
            project: Some("app".into()),
            prompt: Some("do it".into()),
            ..SeatView::at(key, "agent", Timestamp(1))
        }
    }

    const BLOCKED: SessionState = SessionState::Blocked(BlockReason::Permission);

    #[track_caller]
    fn check(before: &[SeatView], after: &[SeatView], expected: &[&str]) {
        let found: Vec<&str> = news(before, after).iter().map(|seat| seat.seat.as_str()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_came_to_need_a_person_is_news_once() {
        let (working, blocked) = ([seat("a", SessionState::Working)], [seat("a", BLOCKED)]);
        check(&working, &blocked, &["a"]);
        check(&blocked, &blocked, &[]);
        check(&blocked, &working, &[]);
        let ends = [
            SessionState::Completed,
            SessionState::Limited,
            SessionState::Interrupted,
            SessionState::Idle,
            SessionState::Ended,
        ];
        let after: Vec<SeatView> = ends.iter().map(|state| seat(state.name(), *state)).collect();
        check(&[], &after, &["completed", "limited", "interrupted"]);
    }

    #[test]
    fn a_second_block_between_two_looks_is_news_again() {
        let again = SeatView { since: Timestamp(99), ..seat("a", BLOCKED) };
        check(&[seat("a", BLOCKED)], &[again], &["a"]);
    }

    #[test]
    fn what_somebody_has_seen_is_no_news() {
        let seen = SeatView { seen: true, ..seat("a", SessionState::Completed) };
        check(&[seat("a", SessionState::Working)], &[seen], &[]);
    }

    #[test]
    fn each_terminal_is_told_in_its_own_way() {
        let seat = seat("a", SessionState::Completed);
        let said = |channel: Channel| channel.say(&[&seat, &seat]);
        assert_eq!(said(Channel::Bell), "\x07");
        assert_eq!(said(Channel::None), "");
        assert_eq!(said(Channel::Osc9).matches("\x1b]9;towline: ").count(), 2);
        let nothing =
            [Channel::Bell, Channel::Osc9, Channel::Osc777, Channel::None].map(|channel| channel.say(&[]));
        assert_eq!(nothing, [""; 4]);
    }

    #[test]
    fn the_terminal_is_known_by_its_variables() {
        let of = |set: &[(&str, &str)]| {
            let set: Vec<(String, String)> = set.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
            Channel::of_terminal(&|name| {
                set.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
            })
        };
        assert_eq!(of(&[("TERM", "xterm-256color")]), Channel::Bell);
        assert_eq!(of(&[("TERM", "xterm-kitty")]), Channel::Osc9);
        assert_eq!(of(&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1")]), Channel::Osc9);
        assert_eq!(of(&[("TERM_PROGRAM", "iTerm.app")]), Channel::Osc9);
        assert_eq!(of(&[("TERM_PROGRAM", "WezTerm")]), Channel::Osc777);
        assert_eq!(of(&[("TERM", "foot")]), Channel::Osc777);
        assert_eq!(of(&[("TERM_PROGRAM", "ghostty")]), Channel::Osc777);
        assert_eq!(of(&[("TERM_PROGRAM", "WezTerm"), ("TMUX", "/s,1,0")]), Channel::Bell);
        assert_eq!(of(&[("KITTY_WINDOW_ID", "1"), ("STY", "1.x")]), Channel::Bell);
    }
}
