//! What stands in Claude Code's input box.
//!
//! By the box between two lines across the screen, the mark before it, which is only faded while the client works, and
//! the cell of its cursor. A box that is cut off, that belongs to a helper, or beside which something else is chosen is
//! never an empty one.

use super::screen::{InputBox, input_box, shows_dialog};
use crate::cells::{Cell, Drawn, Row, rows};
use towline_core::typing::InputLine;

/// `screen` is what it shows, line by line, with the sequences for colours; `cursor` is the terminal's own, by column and
/// line, where that is known.
pub(crate) fn input_line(screen: &str, cursor: Option<(usize, usize)>) -> InputLine {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(Row::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let Some(input) = input_box(&lines) else {
        let is_covered = shows_dialog(&lines) || shows_view(&lines);
        return if is_covered { InputLine::Covered } else { InputLine::Unknown };
    };
    let line = in_box(&input, &rows);
    // A client that nobody looks at draws no cursor, and blanks are not seen without one.
    let is_blank = line == InputLine::Empty && cursor.is_some_and(|at| is_moved(at, &input));
    if is_blank { InputLine::Holds { text: String::new() } } else { line }
}

/// Whether this is how the client shows a long paste of `text`: by a number of its own and the count of its line ends.
pub(crate) fn is_folded(held: &str, text: &str) -> bool {
    let inner =
        held.strip_prefix("[Pasted text #").and_then(|rest| rest.strip_suffix(']')).unwrap_or_default();
    let (number, lines) = inner.split_once(" +").unwrap_or((inner, "0 lines"));
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && lines == format!("{} lines", text.matches('\n').count())
}

fn in_box(input: &InputBox<'_>, rows: &[Row]) -> InputLine {
    let inside = &rows[input.inside.clone()];
    let Some(mark) = inside.first().and_then(Row::first) else { return InputLine::Unknown };
    let in_shell = mark.glyph == '!';
    let held = held(inside);
    if shows_dialog(input.conversation()) || takes_keys(&rows[input.inside.end + 1..]) {
        InputLine::Covered
    } else if input.is_busy() || (is_faded(mark) && !in_shell) {
        InputLine::Busy
    } else if in_shell {
        InputLine::Holds { text: format!("!{held}") }
    } else if !held.is_empty() || cursor(inside).is_some_and(|place| place != FIRST) {
        InputLine::Holds { text: held }
    } else if inside[0].text().starts_with(TO_A_HELPER) {
        InputLine::Covered
    } else if input.below.iter().all(|line| line.is_empty()) {
        // Cut off: a search there would take the keys.
        InputLine::Unknown
    } else if input.waits() || rows.iter().flat_map(|row| &row.0).any(|cell| cell.look != Drawn::default()) {
        InputLine::Empty
    } else {
        InputLine::Unknown
    }
}

/// Behind the mark and a blank.
const TEXT: usize = 2;

/// Where the cursor of an empty box is. A client that is not looked at shows none.
const FIRST: (usize, usize) = (0, TEXT);

/// Whether the terminal's cursor is in the box, but not where that of an empty one is. Outside, it is on its way.
fn is_moved((column, line): (usize, usize), input: &InputBox<'_>) -> bool {
    input.inside.contains(&line) && (line, column) != (input.inside.start, TEXT)
}

fn is_faded(mark: Cell) -> bool {
    mark.look.faint || mark.look.coloured
}

/// What is typed, line by line: a long line that the client broke is two. Faint text is a hint of the client's.
fn held(inside: &[Row]) -> String {
    let lines: Vec<String> = inside.iter().map(|row| typed(row.0.get(TEXT..).unwrap_or_default())).collect();
    lines.join("\n").trim_end().to_owned()
}

fn typed(cells: &[Cell]) -> String {
    // The cursor stands on the first letter of a hint and shows that in full.
    let is_hint = |(at, cell): (usize, &Cell)| {
        cell.look.faint || (cell.look.reversed && cells.get(at + 1).is_some_and(|next| next.look.faint))
    };
    let kept = cells.iter().enumerate().filter(|(at, cell)| !is_hint((*at, cell)));
    let text: String = kept.map(|(_, cell)| cell.glyph).collect();
    text.trim_end().to_owned()
}

/// The line and the place in it of the first reversed cell.
fn cursor(inside: &[Row]) -> Option<(usize, usize)> {
    let place = |row: &Row| row.0.iter().position(|cell| cell.look.reversed);
    inside.iter().enumerate().find_map(|(line, row)| Some((line, place(row)?)))
}

/// Whether something below the box has the cursor instead: a search, or a list such as that of helpers. While nobody
/// looks at the client, it shows no cursor.
fn takes_keys(below: &[Row]) -> bool {
    below.iter().any(|row| {
        let line = row.text();
        let has_cursor = row.0.iter().any(|cell| cell.look.reversed);
        has_cursor || line.starts_with('❯') || line.trim_start().starts_with("search prompts:")
    })
}

/// What an empty box says whose text goes to a helper and not to the session.
const TO_A_HELPER: &str = "❯ Message @";

/// Something over the whole screen, by the line at its end on how to leave it.
fn shows_view(lines: &[&str]) -> bool {
    let last = lines.iter().rev().find(|line| !line.is_empty()).copied().unwrap_or_default();
    last.contains("ctrl+o to toggle") || last.split(" · ").any(|part| part.trim() == "Esc to clear")
}

#[cfg(test)]
mod tests;
