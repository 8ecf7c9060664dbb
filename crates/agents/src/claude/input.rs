//! Reads Claude Code's input box.
//!
//! Uses the box between two horizontal lines, the prompt mark in it, which is dimmed only while the client works, and
//! the cursor's cell. A box that is cut off, that belongs to a subagent, or beside which another element is selected
//! never counts as empty.

use super::screen::{InputBox, input_box, shows_dialog};
use crate::cells::{CellPosition, CellStyle, ScreenCell, ScreenRow, columns, is_after, rows};
use towline_core::typing::InputLine;

/// `screen` has colour sequences; `cursor` is the terminal's own, by column and line, if known.
pub(crate) fn input_line(screen: &str, cursor: Option<(usize, usize)>) -> InputLine {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let Some(input) = input_box(&lines) else {
        let is_covered = shows_dialog(&lines) || shows_view(&lines);
        return if is_covered { InputLine::Covered } else { InputLine::Unknown };
    };
    let line = in_box(&input, &rows);
    // An unfocused client draws no cursor, and without one typed blanks are invisible.
    let is_blank =
        line == InputLine::Empty && cursor.is_some_and(|(column, line)| is_moved(column, line, &input));
    if is_blank { InputLine::Holds { text: String::new() } } else { line }
}

/// Whether the cursor is where the typed text ends. A focused client draws its own, which counts.
pub(crate) fn is_cursor_at_end(screen: &str, column: usize, line: usize) -> bool {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let Some(input) = input_box(&lines) else { return false };
    let inside = &rows[input.inside.clone()];
    let drawn =
        cursor(inside).map(|(line, cell)| CellPosition { line, column: columns(&inside[line].0[..cell]) });
    let shown = || Some(CellPosition { line: line.checked_sub(input.inside.start)?, column });
    drawn.or_else(shown).is_some_and(|at| is_after(at, inside, TEXT, &|cells, cell| !is_hint(cells, cell)))
}

/// Whether this is the client's placeholder for a long paste of `text`: a running number and the count of line ends.
pub(crate) fn is_folded(held: &str, text: &str) -> bool {
    let inner =
        held.strip_prefix("[Pasted text #").and_then(|rest| rest.strip_suffix(']')).unwrap_or_default();
    let (number, lines) = inner.split_once(" +").unwrap_or((inner, "0 lines"));
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && lines == format!("{} lines", text.matches('\n').count())
}

fn in_box(input: &InputBox<'_>, rows: &[ScreenRow]) -> InputLine {
    let inside = &rows[input.inside.clone()];
    let Some(mark) = inside.first().and_then(ScreenRow::first) else { return InputLine::Unknown };
    let in_shell = mark.glyph == '!';
    let held = held(inside);
    if shows_dialog(input.conversation()) || takes_keys(&rows[input.inside.end + 1..]) {
        InputLine::Covered
    } else if input.is_busy() || ((mark.style.faint || mark.style.has_colour) && !in_shell) {
        InputLine::Busy
    } else if in_shell {
        InputLine::Holds { text: format!("!{held}") }
    } else if !held.is_empty() || cursor(inside).is_some_and(|position| position != FIRST) {
        InputLine::Holds { text: held }
    } else if inside[0].text().starts_with(TO_SUBAGENT) {
        InputLine::Covered
    } else if input.below.iter().all(|line| line.is_empty()) {
        // Cut off: a search field there would take the keys.
        InputLine::Unknown
    } else if input.waits()
        || rows.iter().flat_map(|row| &row.0).any(|cell| cell.style != CellStyle::default())
    {
        InputLine::Empty
    } else {
        InputLine::Unknown
    }
}

/// The column of the text, after the prompt mark and a blank.
const TEXT: usize = 2;

/// The cursor's position in an empty box. An unfocused client shows none.
const FIRST: (usize, usize) = (0, TEXT);

/// Whether the terminal's cursor is in the box, but not at its start. Outside, it is in transit while drawing.
fn is_moved(column: usize, line: usize, input: &InputBox<'_>) -> bool {
    input.inside.contains(&line) && (line, column) != (input.inside.start, TEXT)
}

/// The typed text, line by line: a line that the client wrapped becomes two. Faint text is a hint of the client's.
fn held(inside: &[ScreenRow]) -> String {
    let lines: Vec<String> = inside.iter().map(|row| typed(row.0.get(TEXT..).unwrap_or_default())).collect();
    lines.join("\n").trim_end().to_owned()
}

fn typed(cells: &[ScreenCell]) -> String {
    let kept = cells.iter().enumerate().filter(|(index, _)| !is_hint(cells, *index));
    let text: String = kept.map(|(_, cell)| cell.glyph).collect();
    text.trim_end().to_owned()
}

/// The cursor is drawn on the first letter of a hint, in full brightness.
fn is_hint(cells: &[ScreenCell], index: usize) -> bool {
    let style = cells[index].style;
    style.faint || (style.reversed && cells.get(index + 1).is_some_and(|next| next.style.faint))
}

/// Line and column of the first reversed cell.
fn cursor(inside: &[ScreenRow]) -> Option<(usize, usize)> {
    let column = |row: &ScreenRow| row.0.iter().position(|cell| cell.style.reversed);
    inside.iter().enumerate().find_map(|(line, row)| Some((line, column(row)?)))
}

/// Whether an element below the box has the focus: a search, or a list such as that of subagents. An unfocused client
/// shows no cursor.
fn takes_keys(below: &[ScreenRow]) -> bool {
    below.iter().any(|row| {
        let line = row.text();
        let has_cursor = row.0.iter().any(|cell| cell.style.reversed);
        has_cursor || line.starts_with('❯') || line.trim_start().starts_with("search prompts:")
    })
}

/// The placeholder of an empty box whose text goes to a subagent instead of the session.
const TO_SUBAGENT: &str = "❯ Message @";

/// A full-screen view, recognised by the hint on how to leave it in the last line.
fn shows_view(lines: &[&str]) -> bool {
    let last = lines.iter().rev().find(|line| !line.is_empty()).copied().unwrap_or_default();
    last.contains("ctrl+o to toggle") || last.split(" · ").any(|part| part.trim() == "Esc to clear")
}

#[cfg(test)]
mod tests;
