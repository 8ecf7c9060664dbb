//! Reads Gemini CLI's input box.
//!
//! The client hides the terminal's cursor and draws its own, a reversed cell: before the placeholder it is blank. A box
//! without a cursor, or one that is drawn in another way, never counts as empty.

use super::screen::{input_box, is_busy, shows_box};
use crate::cells::{CellPosition, ScreenRow, columns, is_after, rows};
use towline_core::typing::InputLine;

/// The column of the text, after a blank, the mark and another blank.
const TEXT: usize = 3;

/// The text of an empty box, after the cursor.
const PLACEHOLDER: &str = "Type your message or @path/to/file";

/// `screen` is the screen's lines with colour sequences.
pub(crate) fn input_line(screen: &str) -> InputLine {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let Some(input) = input_box(&lines) else {
        return if shows_box(&lines) { InputLine::Covered } else { InputLine::Unknown };
    };
    let inside = &rows[input.clone()];
    if is_busy(&lines, &input) {
        InputLine::Busy
    } else if is_empty(inside) {
        InputLine::Empty
    } else if cursor(inside).is_none() {
        InputLine::Unknown
    } else {
        InputLine::Holds { text: held(inside) }
    }
}

/// Whether the client's cursor is where the typed text ends.
pub(crate) fn is_cursor_at_end(screen: &str) -> bool {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let Some(inside) = input_box(&lines).map(|input| &rows[input]) else { return false };
    let is_typed = |_: &[_], _: usize| !is_empty(inside);
    cursor(inside).is_some_and(|cursor| is_after(cursor, inside, TEXT, &is_typed))
}

/// Whether this is the client's placeholder for a long paste of `text`.
pub(crate) fn is_folded(held: &str, text: &str) -> bool {
    let inner = held.strip_prefix("[Pasted Text: ").and_then(|rest| rest.strip_suffix(']'));
    // A number follows if the same text was pasted before.
    let size = inner.map(|inner| inner.split(" #").next().unwrap_or(inner));
    let lines = text.split('\n').count();
    size.is_some_and(|size| {
        size == format!("{lines} lines") || size == format!("{} chars", text.encode_utf16().count())
    })
}

/// Only an empty box shows the cursor on a blank and the placeholder, or its beginning in a narrow pane, behind it.
fn is_empty(inside: &[ScreenRow]) -> bool {
    let [row, ..] = inside else { return false };
    let behind: String = row.0.iter().skip(TEXT + 1).map(|cell| cell.glyph).collect();
    let is_at_start = row.0.get(TEXT).is_some_and(|cell| cell.style.reversed && cell.glyph == ' ');
    let shown = behind.trim();
    is_at_start && !shown.is_empty() && PLACEHOLDER.starts_with(shown) && mark(inside) != Some('!')
}

fn mark(inside: &[ScreenRow]) -> Option<char> {
    inside.first()?.0.get(1).map(|cell| cell.glyph)
}

/// The typed text, line by line: a line that the client wrapped becomes two.
fn held(inside: &[ScreenRow]) -> String {
    let typed = |row: &ScreenRow| {
        let text: String = row.0.iter().skip(TEXT).map(|cell| cell.glyph).collect();
        text.trim_end().to_owned()
    };
    let lines: Vec<String> = inside.iter().map(typed).collect();
    let shell = if mark(inside) == Some('!') { "!" } else { "" };
    format!("{shell}{}", lines.join("\n").trim_end())
}

/// The first reversed cell.
fn cursor(inside: &[ScreenRow]) -> Option<CellPosition> {
    let column = |row: &ScreenRow| {
        let cell = row.0.iter().position(|cell| cell.style.reversed)?;
        Some(columns(&row.0[..cell]))
    };
    inside.iter().enumerate().find_map(|(line, row)| Some(CellPosition { line, column: column(row)? }))
}

#[cfg(test)]
mod tests;
