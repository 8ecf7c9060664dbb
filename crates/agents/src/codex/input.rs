//! Reads Codex's composer.
//!
//! Uses the bold mark before the text, the faint placeholder that only an empty composer shows, the hint below it, and
//! the end of a turn directly above it: while text streams, the client shows no other sign of work. A composer that
//! lacks one of these never counts as empty.

use super::screen::is_duration;
use crate::cells::{CellPosition, ScreenCell, ScreenRow, is_after, rows};
use towline_core::typing::{InputLine, ShownSession};

/// `screen` is the screen's lines with colour sequences.
pub(crate) fn input_line(screen: &str) -> InputLine {
    let rows = rows(screen);
    match rows.iter().rposition(is_composer) {
        Some(start) if !rows[start..].iter().any(is_chosen) => in_composer(&Composer::new(&rows, start)),
        Some(_) => InputLine::Covered,
        None if rows.iter().any(is_chosen) || is_browsed(&rows) => InputLine::Covered,
        None => InputLine::Unknown,
    }
}

/// Whether the terminal's cursor is where the typed text ends.
pub(crate) fn is_cursor_at_end(screen: &str, column: usize, line: usize) -> bool {
    let rows = rows(screen);
    let Some(start) = rows.iter().rposition(is_composer) else { return false };
    let inside = Composer::new(&rows, start).inside;
    let is_typed = |cells: &[ScreenCell], cell: usize| !cells[cell].style.faint;
    let cursor = line.checked_sub(start).map(|line| CellPosition { line, column });
    cursor.is_some_and(|cursor| is_after(cursor, inside, TEXT, &is_typed))
}

/// Identifies the session by the last prompt above the composer, or the lack of one.
pub(crate) fn shown(screen: &str) -> ShownSession {
    let rows = rows(screen);
    let Some(start) = rows.iter().rposition(is_composer) else { return ShownSession::Unknown };
    let composer = Composer::new(&rows, start);
    match composer.last_prompt() {
        Some(shown) => shown,
        None if composer.is_new() => ShownSession::New,
        None => ShownSession::Unknown,
    }
}

/// Whether this is the client's placeholder for a long paste of `text`.
pub(crate) fn is_folded(held: &str, text: &str) -> bool {
    held == format!("[Pasted Content {} chars]", text.chars().count())
}

fn in_composer(composer: &Composer<'_>) -> InputLine {
    let hint = composer.hint();
    if COVERED.iter().any(|start| hint.starts_with(start)) {
        InputLine::Covered
    } else if hint.starts_with(QUEUES) || composer.says_at_work() {
        InputLine::Busy
    } else if !composer.shows_placeholder() {
        InputLine::Holds { text: composer.held() }
    } else if is_idle(&hint) && composer.is_at_rest() {
        InputLine::Empty
    } else {
        InputLine::Unknown
    }
}

/// The last line while another element takes the keys: the transcript, a search, the list of keys.
const COVERED: [&str; 3] = ["Browsing", "reverse-i-search:", "? / esc close"];

/// The last line while the client works and the composer holds text.
const QUEUES: &str = "tab to queue message";

/// The last line below an empty composer.
const IDLE: [&str; 2] = ["? for shortcuts", "esc again to edit previous message"];

/// With the client's daemon, the hint for its other sessions comes first.
fn is_idle(hint: &str) -> bool {
    hint.split(" · ").any(|part| IDLE.iter().any(|start| part.starts_with(start)))
}

/// The composer's line: its mark is bold, while that of a sent prompt is also faint.
fn is_composer(row: &ScreenRow) -> bool {
    row.first().is_some_and(|mark| {
        matches!(mark.glyph, '›' | '!') && mark.style.bold && !mark.style.faint && !mark.style.reversed
    })
}

/// The line of a list that Enter would choose.
fn is_chosen(row: &ScreenRow) -> bool {
    let mark = row.0.iter().find(|cell| !cell.glyph.is_whitespace());
    mark.is_some_and(|mark| mark.glyph == '›' && mark.style.reversed)
}

/// While the transcript is browsed, the whole composer is faint.
fn is_browsed(rows: &[ScreenRow]) -> bool {
    let last = rows.iter().rev().find(|row| !row.is_blank());
    last.is_some_and(|row| row.text().trim_start().starts_with(COVERED[0]))
}

/// The composer's lines, with the rows above and below.
struct Composer<'a> {
    above: &'a [ScreenRow],
    inside: &'a [ScreenRow],
    below: &'a [ScreenRow],
}

impl<'a> Composer<'a> {
    /// One or two lines follow the composer after a blank line. The typed text may contain blank lines itself.
    fn new(rows: &'a [ScreenRow], start: usize) -> Composer<'a> {
        let end = rows.iter().rposition(|row| !row.is_blank()).map_or(start, |last| last + 1);
        let blank = rows[start..end].iter().rposition(ScreenRow::is_blank).map_or(end, |blank| start + blank);
        Composer { above: &rows[..start], inside: &rows[start..blank], below: &rows[blank..] }
    }

    /// The left part of the last line.
    fn hint(&self) -> String {
        let last =
            self.below.iter().rev().find(|row| !row.is_blank()).map(ScreenRow::text).unwrap_or_default();
        last.trim().split("   ").next().unwrap_or_default().to_owned()
    }

    /// Only an empty composer, without even blanks, shows a faint placeholder.
    fn shows_placeholder(&self) -> bool {
        let behind = self.inside.first().map(|row| row.0.get(1..).unwrap_or_default()).unwrap_or_default();
        let mut visible = behind.iter().filter(|cell| !cell.glyph.is_whitespace()).peekable();
        self.inside.len() == 1
            && visible.peek().is_some()
            && visible.all(|cell| cell.style.faint)
            && !self.in_shell()
    }

    fn in_shell(&self) -> bool {
        self.inside.first().and_then(ScreenRow::first).is_some_and(|mark| mark.glyph == '!')
    }

    /// The typed text, line by line: a line that the client wrapped becomes two. Faint text is the client's.
    fn held(&self) -> String {
        let typed = |row: &ScreenRow| {
            let behind = row.0.get(TEXT..).unwrap_or_default();
            let text: String =
                behind.iter().filter(|cell| !cell.style.faint).map(|cell| cell.glyph).collect();
            text.trim_end().to_owned()
        };
        let lines: Vec<String> = self.inside.iter().map(typed).collect();
        let mark = if self.in_shell() { "!" } else { "" };
        format!("{mark}{}", lines.join("\n").trim_end())
    }

    /// The user's last prompt, up to the first blank line. Once it has scrolled away, the client keeps it in the first
    /// row: all of it in one line, truncated if long, and distinguished from the answer below only by its background.
    fn last_prompt(&self) -> Option<ShownSession> {
        let begin = self.above.iter().rposition(is_sent_prompt)?;
        let (first, rest) = self.above[begin..].split_first()?;
        let behind = |row: &ScreenRow| row.0.iter().skip(TEXT).map(|cell| cell.glyph).collect::<String>();
        let is_cut = first.text().ends_with('…');
        if begin == 0 && (is_cut || !has_background(first)) {
            return Some(ShownSession::Begins(behind(first).trim_end().trim_end_matches('…').to_owned()));
        }
        let goes_on = |row: &&ScreenRow| {
            !row.is_blank() && row.text().starts_with("  ") && has_background(row) == has_background(first)
        };
        let prompt = [first].into_iter().chain(rest.iter().take_while(goes_on));
        Some(ShownSession::Said(prompt.map(behind).collect::<Vec<_>>().join("\n")))
    }

    fn is_new(&self) -> bool {
        self.is_fresh(&self.above.iter().map(ScreenRow::text).collect::<Vec<_>>())
    }

    /// A working client says so somewhere between the last prompt and the composer.
    fn says_at_work(&self) -> bool {
        let since = self.above.iter().rposition(is_sent_prompt).map_or(0, |prompt| prompt + 1);
        self.above[since..].iter().map(ScreenRow::text).any(|line| {
            (line.starts_with("• ") || line.starts_with("◦ ")) && line.contains(" • esc to interrupt)")
        })
    }

    /// Whether the end of a turn is directly above, or the conversation is still empty.
    fn is_at_rest(&self) -> bool {
        let lines: Vec<String> = self.above.iter().map(ScreenRow::text).collect();
        let end = lines.iter().rposition(|line| !line.is_empty()).unwrap_or(0);
        let begin = lines[..end].iter().rposition(String::is_empty).map_or(0, |blank| blank + 1);
        let is_end = |line: &String| is_duration(line) || line.starts_with("■ ");
        lines.get(begin).is_some_and(is_end) || self.is_fresh(&lines)
    }

    /// Whether the client's name with the folder below is at the top, and the conversation is empty. The status output,
    /// which can be requested at any time, has the name and then a blank line.
    fn is_fresh(&self, lines: &[String]) -> bool {
        let top = lines.iter().zip(lines.iter().skip(1)).take(BANNER_LINES);
        let is_new =
            top.into_iter().any(|(line, next)| line.trim_start().starts_with(BANNER) && !next.is_empty());
        is_new && !lines.iter().any(|line| line.starts_with(['›', '•', '◦', '✗', '⚠', '/']))
    }
}

/// The column of the text, after the mark and a blank.
const TEXT: usize = 2;

/// The first line that a new session shows.
const BANNER: &str = ">_ OpenAI Codex";
const BANNER_LINES: usize = 3;

fn has_background(row: &ScreenRow) -> bool {
    row.first().is_some_and(|cell| cell.style.has_background)
}

fn is_sent_prompt(row: &ScreenRow) -> bool {
    row.first().is_some_and(|ScreenCell { glyph, style }| glyph == '›' && style.faint)
}

#[cfg(test)]
mod tests;
