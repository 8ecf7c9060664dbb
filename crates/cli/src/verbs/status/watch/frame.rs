//! One frame: the agents that fit, the selection, and a footer line.
//!
//! Pure: lines of text for a size. Knows no terminal, and keeps no state between frames but the selection.

use super::super::NOBODY;
use super::super::table::{TableLine, table};
use crate::canvas::TerminalSize;
use crate::output::{Output, Tone};
use towline_core::escape::{fit_to_width, pad};
use towline_core::shown::SeatView;
use towline_core::time::Timestamp;

/// The selection: the most urgent agent until the user moves it, then a fixed agent, wherever it is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    seat: Option<String>,
    row: usize,
}

impl Selection {
    /// If the selected agent is gone, the one in its row is selected.
    pub fn row(&self, seats: &[SeatView]) -> usize {
        let found = self.seat.as_ref().and_then(|key| seats.iter().position(|seat| seat.seat == *key));
        found.unwrap_or(self.row).min(seats.len().saturating_sub(1))
    }

    pub fn of<'a>(&self, seats: &'a [SeatView]) -> Option<&'a SeatView> {
        seats.get(self.row(seats))
    }

    pub fn up(&mut self, seats: &[SeatView]) {
        self.choose(seats, self.row(seats).saturating_sub(1));
    }

    pub fn down(&mut self, seats: &[SeatView]) {
        self.choose(seats, (self.row(seats) + 1).min(seats.len().saturating_sub(1)));
    }

    fn choose(&mut self, seats: &[SeatView], row: usize) {
        *self = Selection { seat: seats.get(row).map(|seat| seat.seat.clone()), row };
    }
}

/// The content of the footer, besides the number of hidden agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Footer {
    /// Mentions the help key, if there is room.
    #[default]
    Hint,
    Help,
    Message(String),
}

const HELP: &str = "q quit  j/k move  Enter go there  n to who waited longest  ? hide";
const HINT: &str = "? help";

/// The input of a frame.
pub struct View<'a> {
    pub seats: &'a [SeatView],
    pub choice: &'a Selection,
    pub footer: &'a Footer,
    pub now: Timestamp,
}

/// Returns at most `rows` lines of at most `columns` columns.
pub fn frame(view: &View<'_>, size: TerminalSize, out: &Output) -> Vec<String> {
    let room = room(view, size.rows);
    let chosen = view.choice.row(view.seats);
    let first = (chosen + 1).saturating_sub(room);
    let draw = |(row, line): (usize, TableLine)| {
        let marked = || format!("\x1b[7m{}\x1b[0m", pad(&line.plain(), size.columns));
        if row == chosen { marked() } else { line.tinted(out) }
    };
    let lines = table(view.seats, view.now, size.columns);
    let mut drawn: Vec<String> = lines.into_iter().enumerate().skip(first).take(room).map(draw).collect();
    if view.seats.is_empty() {
        drawn.push(fit_to_width(NOBODY, size.columns));
    }
    let last = last_line(view, view.seats.len().saturating_sub(room), size.rows > drawn.len());
    if let Some(text) = last {
        drawn.resize(size.rows.saturating_sub(1), String::new());
        drawn.push(out.tint(Tone::Faint, &fit_to_width(&text, size.columns)));
    }
    drawn.truncate(size.rows);
    drawn
}

/// How many agents fit: the footer takes a row if it is needed and not the only one.
fn room(view: &View<'_>, rows: usize) -> usize {
    let says_something = *view.footer != Footer::Hint || view.seats.len() > rows;
    if says_something && rows > 1 { rows - 1 } else { rows }
}

fn last_line(view: &View<'_>, hidden: usize, has_room: bool) -> Option<String> {
    let more = (hidden > 0).then(|| format!("+{hidden} more"));
    let said = match view.footer {
        Footer::Hint if more.is_some() => None,
        Footer::Hint => Some(HINT.to_owned()),
        Footer::Help => Some(HELP.to_owned()),
        Footer::Message(text) => Some(text.clone()),
    };
    let parts: Vec<String> = more.into_iter().chain(said).collect();
    (has_room && !parts.is_empty()).then(|| parts.join("  "))
}

#[cfg(test)]
mod tests {
    use super::super::tests::seat;
    use super::*;
    use towline_core::escape::width;
    use towline_core::event::BlockReason;
    use towline_core::session::SessionState;

    fn seats(number: usize) -> Vec<SeatView> {
        (0..number).map(|n| seat(&format!("s{n}"), SessionState::Blocked(BlockReason::Permission))).collect()
    }

    fn drawn(
        seats: &[SeatView],
        choice: &Selection,
        footer: &Footer,
        (columns, rows): (usize, usize),
    ) -> Vec<String> {
        let view = View { seats, choice, footer, now: Timestamp(180_001) };
        frame(&view, TerminalSize { columns, rows }, &Output::plain())
    }

    fn moved(seats: &[SeatView], down: usize) -> Selection {
        let mut choice = Selection::default();
        (0..down).for_each(|_| choice.down(seats));
        choice
    }

    #[test]
    fn the_last_line_counts_what_does_not_fit() {
        let seats = seats(7);
        let lines = drawn(&seats, &Selection::default(), &Footer::Hint, (80, 5));
        assert_eq!((lines.len(), lines[4].as_str()), (5, "+3 more"));
        let help = drawn(&seats, &Selection::default(), &Footer::Help, (80, 5));
        assert!(help[4].starts_with("+3 more  q quit"), "{help:?}");
    }

    #[test]
    fn what_fits_exactly_is_shown_whole_and_room_is_used_for_a_hint() {
        let lines = drawn(&seats(5), &Selection::default(), &Footer::Hint, (80, 5));
        assert!(lines.len() == 5 && lines[4].starts_with("blocked"), "{lines:?}");
        let lines = drawn(&seats(2), &Selection::default(), &Footer::Hint, (80, 5));
        assert_eq!((lines.len(), lines[4].as_str()), (5, "? help"));
    }

    #[test]
    fn no_line_is_wider_or_lower_than_the_terminal() {
        let mut seats = seats(9);
        seats[1].project = Some("漢字かな🚀".repeat(40));
        seats[2].prompt = Some("\u{1b}[31m漢".repeat(99));
        for columns in [0, 1, 5, 11, 12, 13, 20, 30, 59, 60, 61, 100, 300] {
            for rows in 0..12 {
                for footer in [Footer::Hint, Footer::Help, Footer::Message("漢字".repeat(200))] {
                    let lines = drawn(&seats, &moved(&seats, rows / 2), &footer, (columns, rows));
                    let plain = |line: &String| line.replace("\x1b[7m", "").replace("\x1b[0m", "");
                    assert!(lines.len() <= rows, "{columns}x{rows}: {lines:?}");
                    assert!(
                        lines.iter().all(|line| width(&plain(line)) <= columns),
                        "{columns}x{rows}: {lines:?}"
                    );
                    assert!(!lines.iter().any(|line| plain(line).contains('\u{1b}')), "{lines:?}");
                }
            }
        }
    }

    #[test]
    fn the_chosen_one_is_always_on_the_screen() {
        let seats = seats(9);
        for down in 0..12 {
            let lines = drawn(&seats, &moved(&seats, down), &Footer::Hint, (80, 4));
            assert_eq!(
                lines.iter().filter(|line| line.starts_with("\x1b[7m")).count(),
                1,
                "{down}: {lines:?}"
            );
        }
    }

    #[test]
    fn the_choice_stays_with_its_seat_and_before_that_with_the_most_urgent() {
        let mut seats = seats(3);
        let (fresh, moved) = (Selection::default(), moved(&seats, 1));
        seats.rotate_right(1);
        assert_eq!(fresh.of(&seats).unwrap().seat, "s2");
        assert_eq!((moved.of(&seats).unwrap().seat.as_str(), moved.row(&seats)), ("s1", 2));
        seats.pop();
        assert_eq!(moved.of(&seats).unwrap().seat, "s0", "one that is gone leaves its row");
        assert_eq!(moved.of(&[]), None);
    }

    #[test]
    fn nobody_anywhere_is_said() {
        assert_eq!(
            drawn(&[], &Selection::default(), &Footer::Hint, (80, 3)),
            ["no agent sits anywhere", "", "? help"]
        );
        assert_eq!(drawn(&[], &Selection::default(), &Footer::Hint, (8, 1)), ["no agen…"]);
    }

    #[test]
    fn a_narrow_terminal_keeps_state_age_and_project() {
        let lines = drawn(&seats(1), &Selection::default(), &Footer::Hint, (30, 2));
        assert_eq!(lines[0], format!("\x1b[7m{}\x1b[0m", pad("blocked     3m   app", 30)));
    }
}
