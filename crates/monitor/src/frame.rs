//! A grid of cells, rendered as text or as the escape sequences that update another frame to it.
//!
//! Writes outside the grid are ignored or cut at its edge. It performs no output.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScreenSize {
    pub columns: u16,
    pub rows: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame(Buffer);

/// Synchronised output: a terminal that supports it shows everything in between at once; others ignore it.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";

impl Frame {
    pub fn blank(size: ScreenSize) -> Frame {
        Frame(Buffer::empty(Rect::new(0, 0, size.columns, size.rows)))
    }

    pub fn size(&self) -> ScreenSize {
        ScreenSize { columns: self.0.area.width, rows: self.0.area.height }
    }

    /// Writes text into one row, in at most `columns` columns.
    pub(crate) fn write_text(&mut self, x: u16, y: u16, text: &str, columns: u16, style: Style) {
        if x < self.0.area.width && y < self.0.area.height {
            self.0.set_stringn(x, y, text, columns.into(), style);
        }
    }

    /// Adds a style to existing cells.
    pub(crate) fn add_style(&mut self, x: u16, y: u16, columns: u16, style: Style) {
        self.0.set_style(Rect::new(x, y, columns, 1).intersection(self.0.area), style);
    }

    /// The rows as plain text, without trailing blanks.
    pub fn text(&self) -> String {
        let row = |y: u16| {
            let mut line = String::new();
            let mut x = 0;
            while let Some(cell) = self.0.cell((x, y)) {
                line.push_str(cell.symbol());
                x += columns_of(cell);
            }
            line.trim_end().to_owned() + "\n"
        };
        (0..self.0.area.height).map(row).collect()
    }

    /// The bytes that turn `before`, or an unknown screen if `None`, into this frame. Empty if they are equal.
    pub fn over(&self, before: Option<&Frame>) -> String {
        let blank = Frame::blank(self.size());
        let (clear, previous) = match before {
            Some(before) if before.size() == self.size() => ("", before),
            Some(_) | None => ("\x1b[0m\x1b[2J", &blank),
        };
        let changed = render_cells(&previous.0.diff(&self.0));
        if clear.is_empty() && changed.is_empty() {
            return String::new();
        }
        format!("{BEGIN}{clear}{changed}{END}")
    }
}

fn columns_of(cell: &Cell) -> u16 {
    u16::try_from(cell.symbol().width()).unwrap_or(1).max(1)
}

/// The cells with cursor movements. The cursor is set again after a wide cell: terminals disagree on widths.
fn render_cells(cells: &[(u16, u16, &Cell)]) -> String {
    let mut out = String::new();
    let mut look = (Color::Reset, Modifier::empty());
    let mut next = None;
    for (x, y, cell) in cells {
        if next != Some((*x, *y)) {
            let _ = write!(out, "\x1b[{};{}H", y + 1, x + 1);
        }
        if look != (cell.fg, cell.modifier) {
            look = (cell.fg, cell.modifier);
            out.push_str(&sgr(cell.fg, cell.modifier));
        }
        out.push_str(cell.symbol());
        next = (columns_of(cell) == 1).then(|| (x + 1, *y));
    }
    if !cells.is_empty() && look != (Color::Reset, Modifier::empty()) {
        out.push_str("\x1b[0m");
    }
    out
}

/// The SGR sequence for a style; only styles used here have a code.
fn sgr(colour: Color, modifier: Modifier) -> String {
    let mut codes = "\x1b[0".to_owned();
    let modifiers = [
        (Modifier::BOLD, ";1"),
        (Modifier::DIM, ";2"),
        (Modifier::UNDERLINED, ";4"),
        (Modifier::REVERSED, ";7"),
    ];
    modifiers.iter().filter(|(flag, _)| modifier.contains(*flag)).for_each(|(_, code)| codes.push_str(code));
    if let Color::Indexed(number @ 0..8) = colour {
        let _ = write!(codes, ";3{number}");
    }
    codes.push('m');
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(lines: &[&str]) -> Frame {
        let mut frame = Frame::blank(ScreenSize { columns: 10, rows: 2 });
        for (y, line) in (0..).zip(lines) {
            frame.write_text(0, y, line, 10, Style::new());
        }
        frame
    }

    #[test]
    fn only_what_changed_is_sent() {
        let (old, new) = (frame(&["first", "second"]), frame(&["first", "secret"]));
        assert_eq!(new.over(Some(&old)), "\x1b[?2026h\x1b[2;4Hret\x1b[?2026l");
        assert_eq!(new.over(Some(&new)), "");
    }

    #[test]
    fn an_unknown_screen_is_cleared_first() {
        let new = frame(&["a"]);
        assert_eq!(new.over(None), "\x1b[?2026h\x1b[0m\x1b[2J\x1b[1;1Ha\x1b[?2026l");
        let other = Frame::blank(ScreenSize { columns: 9, rows: 2 });
        assert_eq!(new.over(Some(&other)), new.over(None));
    }

    #[test]
    fn the_cursor_is_set_again_after_a_wide_character() {
        assert!(frame(&["漢a"]).over(None).contains("\x1b[1;1H漢\x1b[1;3Ha"));
        assert_eq!(frame(&["漢a🚀b"]).text(), "漢a🚀b\n\n");
    }

    #[test]
    fn a_style_is_set_and_reset() {
        let mut new = frame(&[]);
        let style = Style::new().fg(Color::Indexed(1)).add_modifier(Modifier::BOLD);
        new.write_text(0, 0, "x", 1, style);
        assert!(new.over(None).ends_with("\x1b[1;1H\x1b[0;1;31mx\x1b[0m\x1b[?2026l"));
    }

    #[test]
    fn writes_outside_the_frame_are_ignored() {
        let mut new = frame(&[]);
        new.write_text(10, 0, "x", 5, Style::new());
        new.write_text(0, 2, "x", 5, Style::new());
        new.write_text(9, 1, "漢", 5, Style::new());
        new.add_style(8, 1, 99, Style::new());
        assert_eq!(new.text(), "\n\n");
    }
}
