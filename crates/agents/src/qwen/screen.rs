//! Reads the bottom of Qwen Code's screen: its state and its input line.
//!
//! Uses the box between two full lines and the rows beside it. Anything uncertain is unknown, and an input line with a
//! dim suggestion in it counts as empty only while the cursor is at its start.

use crate::cells::{CellPosition, ScreenCell, ScreenRow, columns, is_after, rows};
use std::ops::Range;
use towline_core::arbiter::ScreenProbe;
use towline_core::typing::InputLine;

/// In the row with the spinner above the box, while the client works.
const BUSY_ROW: &str = "esc to cancel)";

/// Below the box, while the client works.
const BUSY_HINT: &str = "Enter to steer";

/// The last row of every dialog.
const DIALOG_ROW: &str = "Waiting for user confirmation...";

/// The column of the text, after the prompt mark and a blank.
const TEXT: usize = 2;

/// Rows above the box that may hold the spinner: queued prompts stand between it and the box.
const SPINNER_ROWS: usize = 6;

/// `text` is the screen's lines, without colours.
pub(crate) fn screen(text: &str) -> ScreenProbe {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    match input_box(&lines) {
        Some(inside) if is_busy(&lines, &inside) => ScreenProbe::Busy,
        Some(_) => ScreenProbe::Prompt,
        None if shows_dialog(&lines) => ScreenProbe::Dialog,
        None => ScreenProbe::Unknown,
    }
}

/// `screen` has colour sequences; `cursor` is the terminal's own, by column and line, if known.
pub(crate) fn input_line(screen: &str, cursor: Option<(usize, usize)>) -> InputLine {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let Some(inside) = input_box(&lines) else {
        return if shows_dialog(&lines) { InputLine::Covered } else { InputLine::Unknown };
    };
    let in_shell = lines[inside.start].starts_with('!');
    let typed: Vec<String> = rows[inside.clone()].iter().map(typed).collect();
    let text = typed.join("\n").trim_end().to_owned();
    let is_at_start = cursor == Some((TEXT, inside.start));
    match (is_busy(&lines, &inside), in_shell) {
        (true, _) => InputLine::Busy,
        (false, true) => InputLine::Holds { text: format!("!{text}") },
        (false, false) if text.is_empty() && is_at_start => InputLine::Empty,
        (false, false) if text.is_empty() && cursor.is_none() => InputLine::Unknown,
        (false, false) => InputLine::Holds { text },
    }
}

/// Whether the cursor is where the typed text ends.
pub(crate) fn is_cursor_at_end(screen: &str, column: usize, line: usize) -> bool {
    let rows = rows(screen);
    let lines: Vec<String> = rows.iter().map(ScreenRow::text).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let Some(inside) = input_box(&lines) else { return false };
    let Some(line) = line.checked_sub(inside.start) else { return false };
    is_after(CellPosition { line, column }, &rows[inside], TEXT, &|cells, cell| is_typed(cells, cell))
}

/// The line numbers of the input's text, between the two lowest full lines.
fn input_box(lines: &[&str]) -> Option<Range<usize>> {
    let is_border = |line: &&str| line.starts_with("───") && line.ends_with('─');
    let bottom = lines.iter().rposition(is_border)?;
    let top = lines[..bottom].iter().rposition(is_border)?;
    let first = lines.get(top + 1).filter(|_| top + 1 < bottom)?;
    let has_mark = ["> ", "! ", ">", "!"].iter().any(|mark| first.starts_with(mark));
    has_mark.then_some(top + 1..bottom)
}

fn is_busy(lines: &[&str], inside: &Range<usize>) -> bool {
    let above = lines[..inside.start - 1].iter().rev().filter(|line| !line.is_empty());
    let below = lines.get(inside.end + 1..).unwrap_or_default();
    above.take(SPINNER_ROWS).any(|line| line.ends_with(BUSY_ROW))
        || below.iter().any(|line| line.contains(BUSY_HINT))
}

fn shows_dialog(lines: &[&str]) -> bool {
    lines.iter().rev().find(|line| !line.is_empty()).is_some_and(|line| line.ends_with(DIALOG_ROW))
}

fn typed(row: &ScreenRow) -> String {
    let cells = row.0.get(TEXT..).unwrap_or_default();
    let kept = (0..cells.len()).filter(|cell| is_typed(cells, *cell)).map(|cell| cells[cell].glyph);
    kept.collect::<String>().trim_end().to_owned()
}

/// Placeholder and suggestion stand behind the cursor's blank cell, in a colour; typed text begins at the first cell.
fn is_typed(cells: &[ScreenCell], cell: usize) -> bool {
    let is_hint =
        cells.first().is_none_or(|first| first.glyph.is_whitespace()) && cells[cell].style.has_colour;
    !is_hint && cells[cell].glyph != '\u{200b}' && columns(&cells[cell..=cell]) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn recorded(name: &str, kind: &str) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("screens/qwen-0.24.4");
        std::fs::read_to_string(folder.join(format!("{name}.{kind}"))).unwrap()
    }

    /// Column and line of the recorded cursor.
    fn cursor(name: &str) -> (usize, usize) {
        let meta = recorded(name, "meta");
        let position = meta.strip_prefix("cursor=").and_then(|rest| rest.split(' ').next()).unwrap();
        let (column, line) = position.split_once(',').unwrap();
        (column.parse().unwrap(), line.parse().unwrap())
    }

    #[test]
    fn every_recorded_screen_shows_its_state() {
        let check = |expected: ScreenProbe, names: &[&str]| {
            for name in names {
                assert_eq!(screen(&recorded(name, "txt")), expected, "{name}");
            }
        };
        check(ScreenProbe::Dialog, &["permission-dialog", "permission-dialog-edit", "question-dialog"]);
        check(ScreenProbe::Busy, &["thinking", "streaming", "streaming-half-typed", "queued"]);
        let idle =
            ["idle-empty", "half-typed", "finished-turn", "finished-tool", "after-allow", "after-clear"];
        check(ScreenProbe::Prompt, &idle);
        check(ScreenProbe::Prompt, &["interrupted-while-streaming", "after-dialog-esc", "error", "resumed"]);
        check(ScreenProbe::Unknown, &["exited"]);
    }

    #[test]
    fn the_input_line_is_empty_only_behind_its_mark() {
        let line = |name: &str| input_line(&recorded(name, "ansi"), Some(cursor(name)));
        let holds = |text: &str| InputLine::Holds { text: text.to_owned() };
        for name in ["idle-empty", "finished-turn", "after-clear", "resumed", "compressed"] {
            assert_eq!(line(name), InputLine::Empty, "{name}");
        }
        assert_eq!(line("half-typed"), holds("half typed"));
        assert_eq!(line("multi-line"), holds("line one\nline two"));
        assert_eq!(line("shell-mode"), holds("!"));
        assert_eq!(line("streaming"), InputLine::Busy);
        assert_eq!(line("permission-dialog"), InputLine::Covered);
        assert!(
            matches!(line("interrupted-while-streaming"), InputLine::Holds { text } if text.starts_with("cut @fake"))
        );
    }

    #[test]
    fn the_cursor_is_known_to_be_behind_the_typed_text() {
        for name in ["half-typed", "multi-line", "idle-empty", "interrupted-while-streaming"] {
            let (column, line) = cursor(name);
            assert!(is_cursor_at_end(&recorded(name, "ansi"), column, line), "{name}");
        }
        let (column, line) = cursor("half-typed");
        assert!(!is_cursor_at_end(&recorded("half-typed", "ansi"), column - 3, line));
    }
}
