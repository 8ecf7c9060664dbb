//! Reads the input of OpenCode and Kilo.
//!
//! Uses the terminal's cursor: an empty input shows an example, which differs from typed text in colour alone, behind the
//! cursor. Where the cursor is outside, keys go to a list or a dialog above.

use super::screen::{Composer, TEXT, composer, shows_dialog};
use crate::cells::{CellPosition, ScreenRow, is_after, rows};
use towline_core::typing::{InputLine, ShownSession};

/// The beginnings of the examples in an empty input, for prompts and for the shell.
const EXAMPLES: [&str; 4] =
    ["Ask anything… \"", "Run a command… \"", "Ask anything... \"", "Run a command... \""];

/// Cell of the cursor, by column and line.
type Cursor = (usize, usize);

/// `screen` has colour sequences; `cursor` is the terminal's own.
pub(crate) fn input_line(screen: &str, cursor: Option<Cursor>) -> InputLine {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let Some(composer) = composer(&lines) else {
        return if shows_dialog(&lines) { InputLine::Covered } else { InputLine::Unknown };
    };
    let text = held(&composer, &rows);
    let example = EXAMPLES.iter().any(|example| text.starts_with(example));
    let start = (composer.column + TEXT, composer.inside.start);
    let is_outside = |(_, line): Cursor| !composer.inside.contains(&line);
    if cursor.is_some_and(is_outside) {
        InputLine::Covered
    } else if composer.is_busy() {
        InputLine::Busy
    } else if composer.is_shell() {
        InputLine::Holds { text: format!("!{}", if example { "" } else { &text }) }
    } else if text.is_empty() && cursor.is_none_or(|cursor| cursor == start) {
        InputLine::Empty
    } else if example {
        // Typed text that begins like an example has the cursor behind it.
        if cursor == Some(start) { InputLine::Empty } else { InputLine::Unknown }
    } else {
        InputLine::Holds { text }
    }
}

/// Whether the cursor is where the typed text ends.
pub(crate) fn is_cursor_at_end(screen: &str, column: usize, line: usize) -> bool {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let Some(composer) = composer(&lines) else { return false };
    let Some(line) = line.checked_sub(composer.inside.start) else { return false };
    let cursor = CellPosition { line, column };
    is_after(cursor, &rows[composer.inside.clone()], composer.column + TEXT, &|_, _| true)
}

/// Whether this is the client's placeholder for a long paste of `text`.
pub(crate) fn is_folded(held: &str, text: &str) -> bool {
    let lines = held.strip_prefix("[Pasted ~").and_then(|rest| rest.strip_suffix(" lines]"));
    lines.is_some_and(|lines| lines == text.split('\n').count().to_string())
}

/// A new session shows the start screen; the client reports it with its first prompt.
pub(crate) fn shown(screen: &str) -> ShownSession {
    let lines: Vec<String> = rows(screen).iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let is_start = composer(&lines).is_some_and(|composer| composer.column > MARGIN);
    if is_start { ShownSession::New } else { ShownSession::Unknown }
}

/// The column of the bar in a session; the input of the start screen is in the middle.
const MARGIN: usize = 2;

/// The typed text, line by line: a line that the client wrapped becomes two.
fn held(composer: &Composer<'_>, rows: &[ScreenRow]) -> String {
    let behind = |row: &ScreenRow| {
        let text: String = row.0.iter().skip(composer.column + TEXT).map(|cell| cell.glyph).collect();
        text.trim_end().to_owned()
    };
    let lines: Vec<String> = rows[composer.inside.clone()].iter().map(behind).collect();
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
pub(super) use tests::recorded;
#[cfg(test)]
mod tests;
