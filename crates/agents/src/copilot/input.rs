//! Reads Copilot's input line.
//!
//! Uses the hint below it, which differs for an empty line and for blanks, and the terminal's cursor: what follows it in a
//! command is the client's suggestion, in the same style as typed text. A line without its hint never counts as empty.

use super::screen::{Composer, HINT_WHEN_EMPTY, composer, shows_dialog};
use crate::cells::{CellPosition, ScreenRow, is_after, rows};
use towline_core::typing::{InputLine, ShownSession};

/// The column of the text, after the mark and a blank.
const TEXT: usize = 2;

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
    let in_shell = lines[composer.inside.start].starts_with('!');
    let text = held(&composer, &rows, cursor);
    if composer.is_busy() {
        InputLine::Busy
    } else if in_shell {
        InputLine::Holds { text: format!("!{text}") }
    } else if !text.is_empty() {
        InputLine::Holds { text }
    } else if composer.hints("any key close help") {
        InputLine::Covered
    } else if composer.hints(HINT_WHEN_EMPTY) {
        InputLine::Empty
    } else if composer.hints("@ files") {
        // Only blanks.
        InputLine::Holds { text }
    } else {
        InputLine::Unknown
    }
}

/// Whether the cursor is where the typed text ends.
pub(crate) fn is_cursor_at_end(screen: &str, column: usize, line: usize) -> bool {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let Some(composer) = composer(&lines) else { return false };
    if is_command(&composer, &rows) {
        return composer.inside.start == line && column > TEXT;
    }
    let cursor = line.checked_sub(composer.inside.start).map(|line| CellPosition { line, column });
    cursor.is_some_and(|cursor| is_after(cursor, &rows[composer.inside.clone()], TEXT, &|_, _| true))
}

/// Whether this is the client's placeholder for a long paste of `text`: a running number and the count of lines.
pub(crate) fn is_folded(held: &str, text: &str) -> bool {
    let inner =
        held.strip_prefix("[Paste #").and_then(|rest| rest.strip_suffix(" lines]")).unwrap_or_default();
    let (number, lines) = inner.split_once(" - ").unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && lines == (text.matches('\n').count() + 1).to_string()
}

/// Identifies the session by the last prompt above the input line, or the lack of one.
pub(crate) fn shown(screen: &str) -> ShownSession {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(|line| without_scrollbar(line)).collect();
    let Some(composer) = composer(&lines) else { return ShownSession::Unknown };
    let above = &lines[..composer.inside.start];
    let Some(begin) = above.iter().rposition(|line| line.starts_with(SENT)) else {
        let is_new = above.iter().any(|line| NEW.iter().any(|notice| line.contains(notice)));
        return if is_new { ShownSession::New } else { ShownSession::Unknown };
    };
    let first = without_time(&above[begin][SENT.len()..]);
    let more = above[begin + 1..].iter().take_while(|line| line.starts_with("   "));
    ShownSession::Said([first].into_iter().chain(more.copied()).collect::<Vec<_>>().join("\n"))
}

/// The start of a sent prompt; the time is at the end of its first line.
const SENT: &str = " ❯ ";

/// Notices of a session without a prompt.
const NEW: [&str; 3] = [" Copilot v", "● Started a fresh session.", "● Started a new session."];

fn without_scrollbar(line: &str) -> &str {
    line.strip_suffix('┃').unwrap_or(line).trim_end()
}

fn without_time(line: &str) -> &str {
    let is_time =
        |word: &str| word.len() == 5 && word.bytes().enumerate().all(|(at, byte)| is_of_time(at, byte));
    line.rsplit_once(' ').filter(|(_, word)| is_time(word)).map_or(line, |(text, _)| text.trim_end())
}

fn is_of_time(at: usize, byte: u8) -> bool {
    if at == 2 { byte == b':' } else { byte.is_ascii_digit() }
}

/// The typed text, line by line: a line that the client wrapped becomes two.
fn held(composer: &Composer<'_>, rows: &[ScreenRow], cursor: Option<Cursor>) -> String {
    let start = composer.inside.start;
    let typed = cursor.filter(|(_, line)| *line == start && is_command(composer, rows));
    let inside = &rows[composer.inside.clone()];
    let behind = |row: &ScreenRow, end: usize| -> String {
        row.0.iter().take(end).skip(TEXT).map(|cell| cell.glyph).collect()
    };
    if let Some((column, _)) = typed {
        return behind(&inside[0], column).trim_end().to_owned();
    }
    let lines: Vec<String> = inside.iter().map(|row| behind(row, usize::MAX).trim_end().to_owned()).collect();
    lines.join("\n").trim_end().to_owned()
}

fn is_command(composer: &Composer<'_>, rows: &[ScreenRow]) -> bool {
    rows[composer.inside.start].0.get(TEXT).is_some_and(|cell| cell.glyph == '/')
}

#[cfg(test)]
pub(super) use tests::recorded;
#[cfg(test)]
mod tests;
