//! Parses a screen with escape sequences into styled cells.
//!
//! Understands the output of a multiplexer: text with style sequences. Skips any other sequence, and knows no agent.

use towline_core::escape::width;

/// One character on a screen. A wide one is one cell; only `columns` counts what it takes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScreenCell {
    pub glyph: char,
    pub style: CellStyle,
}

/// The style attributes that carry meaning on the agents' screens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellStyle {
    pub bold: bool,
    pub faint: bool,
    /// Inverse video: a cursor, or a selection.
    pub reversed: bool,
    /// Any foreground colour but the default.
    pub has_colour: bool,
    /// Any background colour but the default.
    pub has_background: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScreenRow(pub Vec<ScreenCell>);

impl ScreenRow {
    /// The text without trailing whitespace.
    pub(crate) fn text(&self) -> String {
        let text: String = self.0.iter().map(|cell| cell.glyph).collect();
        text.trim_end().to_owned()
    }

    pub(crate) fn first(&self) -> Option<ScreenCell> {
        self.0.first().copied()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.0.iter().all(|cell| cell.glyph.is_whitespace())
    }
}

/// The columns that these cells take up.
pub(crate) fn columns(cells: &[ScreenCell]) -> usize {
    width(&cells.iter().map(|cell| cell.glyph).collect::<String>())
}

/// A place on a screen, or in a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellPosition {
    pub line: usize,
    pub column: usize,
}

/// Whether a cursor is right after the last of these cells that `is_typed`: in its line, or, if the line is full, at the
/// start of the next one. `text` is the column where text begins.
pub(crate) fn is_after(
    cursor: CellPosition,
    inside: &[ScreenRow],
    text: usize,
    is_typed: IsTyped<'_>,
) -> bool {
    let last = |row: &ScreenRow| {
        let cells = row.0.get(text..).unwrap_or_default();
        let last = (0..cells.len()).rfind(|at| !cells[*at].glyph.is_whitespace() && is_typed(cells, *at))?;
        Some(columns(&row.0[..=text + last]))
    };
    let lines = inside.iter().enumerate();
    let mut ends = lines.filter_map(|(line, row)| Some(CellPosition { line, column: last(row)? }));
    let end = ends.next_back().unwrap_or(CellPosition { line: 0, column: text });
    cursor == end || cursor == CellPosition { line: end.line + 1, column: text }
}

/// Whether the cell with this number was typed, and is no hint of the client's.
pub(crate) type IsTyped<'a> = &'a dyn Fn(&[ScreenCell], usize) -> bool;

/// The lines of a screen. A style continues from one line to the next.
pub(crate) fn rows(screen: &str) -> Vec<ScreenRow> {
    let mut style = CellStyle::default();
    screen.lines().map(|line| row(line, &mut style)).collect()
}

fn row(line: &str, style: &mut CellStyle) -> ScreenRow {
    let mut cells = vec![];
    let mut rest = line.chars();
    while let Some(glyph) = rest.next() {
        match glyph {
            '\u{1b}' => *style = after_sequence(&mut rest, *style),
            // Character set shifts and the like.
            _ if glyph.is_control() => {}
            _ => cells.push(ScreenCell { glyph, style: *style }),
        }
    }
    ScreenRow(cells)
}

/// The style after an escape sequence, which is consumed from `rest`.
fn after_sequence(rest: &mut std::str::Chars<'_>, style: CellStyle) -> CellStyle {
    match rest.next() {
        Some('[') => {
            let text = rest.as_str();
            let end = text.find(|end: char| ('@'..='~').contains(&end)).unwrap_or(text.len());
            let is_style = text[end..].starts_with('m');
            *rest = text[end..].chars();
            rest.next();
            if is_style { styled(&text[..end], style) } else { style }
        }
        // OSC sequences such as links and titles end with BEL or ST.
        Some(']') => {
            let text = rest.as_str();
            let end = text.find(['\u{7}', '\u{1b}']).unwrap_or(text.len());
            let is_bell = text[end..].starts_with('\u{7}');
            *rest = text[end..].chars();
            rest.nth(if is_bell { 0 } else { 1 });
            style
        }
        // Character set designations have one more byte.
        Some('(' | ')') => {
            rest.next();
            style
        }
        Some(_) | None => style,
    }
}

/// Applies the parameters of one SGR sequence.
fn styled(numbers: &str, mut style: CellStyle) -> CellStyle {
    let mut parts = numbers.split(';');
    while let Some(part) = parts.next() {
        match part {
            "" | "0" => style = CellStyle::default(),
            "1" => style.bold = true,
            "2" => style.faint = true,
            "7" => style.reversed = true,
            "22" => (style.bold, style.faint) = (false, false),
            "27" => style.reversed = false,
            "39" => style.has_colour = false,
            "38" => {
                style.has_colour = true;
                skip_colour(&mut parts);
            }
            "49" => style.has_background = false,
            "48" => {
                style.has_background = true;
                skip_colour(&mut parts);
            }
            "58" => skip_colour(&mut parts),
            _ if is_colour(part, 30) => style.has_colour = true,
            _ if is_colour(part, 40) => style.has_background = true,
            _ => {}
        }
    }
    style
}

/// One of the sixteen colours, or a colour whose components follow colons. Backgrounds are ten above the text's colours.
fn is_colour(part: &str, first: u32) -> bool {
    let index = part.parse::<u32>().unwrap_or(0).checked_sub(first);
    index.is_some_and(|index| matches!(index, 0..8 | 60..68)) || part.starts_with(&format!("{}:", first + 8))
}

/// Skips the components of an extended colour: one for an indexed colour, three for RGB.
fn skip_colour<'a>(parts: &mut impl Iterator<Item = &'a str>) {
    let more = match parts.next() {
        Some("5") => 1,
        Some("2") => 3,
        Some(_) | None => 0,
    };
    parts.take(more).for_each(drop);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(screen: &str, expected: &[(&str, CellStyle)]) {
        let found: Vec<(String, CellStyle)> =
            rows(screen)[0].0.iter().map(|cell| (cell.glyph.to_string(), cell.style)).collect();
        let expected: Vec<(String, CellStyle)> =
            expected.iter().map(|(glyph, style)| ((*glyph).to_owned(), *style)).collect();
        assert_eq!(found, expected, "{screen:?}");
    }

    #[test]
    fn styles_are_added_and_taken_away() {
        let plain = CellStyle::default();
        let faint = CellStyle { faint: true, ..plain };
        check("a\u{1b}[2mb\u{1b}[0mc", &[("a", plain), ("b", faint), ("c", plain)]);
        check("\u{1b}[1;2ma\u{1b}[22mb", &[("a", CellStyle { bold: true, ..faint }), ("b", plain)]);
        check("\u{1b}[7ma\u{1b}[27mb", &[("a", CellStyle { reversed: true, ..plain }), ("b", plain)]);
        check("\u{1b}[2ma\u{1b}[mb", &[("a", faint), ("b", plain)]);
    }

    #[test]
    fn components_of_a_colour_are_not_styles() {
        let plain = CellStyle::default();
        let has_colour = CellStyle { has_colour: true, ..plain };
        check("\u{1b}[38;5;2ma\u{1b}[39mb", &[("a", has_colour), ("b", plain)]);
        check("\u{1b}[38;2;1;2;7ma", &[("a", has_colour)]);
        let has_background = CellStyle { has_background: true, ..plain };
        check(
            "\u{1b}[48;5;2ma\u{1b}[49mb\u{1b}[48;2;7;1;2mc",
            &[("a", has_background), ("b", plain), ("c", has_background)],
        );
        check(
            "\u{1b}[44ma\u{1b}[0mb\u{1b}[48:5:2mc",
            &[("a", has_background), ("b", plain), ("c", has_background)],
        );
        check("\u{1b}[38:2::1:2:7ma\u{1b}[90mb", &[("a", has_colour), ("b", has_colour)]);
    }

    #[test]
    fn other_sequences_are_passed_over_and_cut_ones_harm_nothing() {
        let plain = CellStyle::default();
        check("\u{1b}]8;;http://x\u{1b}\\a\u{1b}]0;t\u{7}b", &[("a", plain), ("b", plain)]);
        check("\u{1b}(0a\u{e}b\u{1b}[Kc", &[("a", plain), ("b", plain), ("c", plain)]);
        for cut in ["\u{1b}", "\u{1b}[", "\u{1b}[38;5", "\u{1b}]8;", "\u{1b}("] {
            assert!(rows(&format!("x{cut}")).len() == 1, "{cut:?}");
        }
    }

    #[test]
    fn how_something_is_drawn_goes_on_in_the_next_line() {
        let all = rows("a\u{1b}[2m\nb\n\u{1b}[0mc");
        assert_eq!(all.iter().map(|row| row.0[0].style.faint).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn a_line_is_its_text_without_the_blanks_at_its_end() {
        let row = &rows("  \u{1b}[1mtwo  words\u{1b}[0m   ")[0];
        assert_eq!((row.text().as_str(), row.is_blank()), ("  two  words", false));
        assert!(rows(" \u{1b}[7m  ")[0].is_blank());
    }
}
