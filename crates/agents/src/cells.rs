//! A screen with its sequences, as cells: what stands where, and how it is drawn.
//!
//! Understands what a multiplexer prints of a screen, which is text with sequences for colours, and passes over any other
//! sequence. It knows no agent.

/// One character on a screen. A wide one is one cell: nothing here counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub glyph: char,
    pub look: Drawn,
}

/// How a character is drawn, as far as it tells something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub bold: bool,
    pub faint: bool,
    /// With the colours of text and ground exchanged: a cursor, or what is chosen.
    pub reversed: bool,
    /// In any colour but the usual one of text.
    pub coloured: bool,
    /// On any ground but the usual one.
    pub grounded: bool,
}

/// One line of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row(pub Vec<Cell>);

impl Row {
    /// Its text without the blanks at its end.
    pub(crate) fn text(&self) -> String {
        let text: String = self.0.iter().map(|cell| cell.glyph).collect();
        text.trim_end().to_owned()
    }

    pub(crate) fn first(&self) -> Option<Cell> {
        self.0.first().copied()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.0.iter().all(|cell| cell.glyph.is_whitespace())
    }
}

/// The lines of a screen. How something is drawn goes on from one line to the next.
pub(crate) fn rows(screen: &str) -> Vec<Row> {
    let mut drawn = Drawn::default();
    screen.lines().map(|line| row(line, &mut drawn)).collect()
}

fn row(line: &str, drawn: &mut Drawn) -> Row {
    let mut cells = vec![];
    let mut rest = line.chars();
    while let Some(glyph) = rest.next() {
        match glyph {
            '\u{1b}' => *drawn = after_sequence(&mut rest, *drawn),
            // Shifts between sets of characters, and the like.
            _ if glyph.is_control() => {}
            _ => cells.push(Cell { glyph, look: *drawn }),
        }
    }
    Row(cells)
}

/// How it goes on after a sequence, which is taken away from `rest`.
fn after_sequence(rest: &mut std::str::Chars<'_>, drawn: Drawn) -> Drawn {
    match rest.next() {
        Some('[') => {
            let text = rest.as_str();
            let end = text.find(|end: char| ('@'..='~').contains(&end)).unwrap_or(text.len());
            let is_style = text[end..].starts_with('m');
            *rest = text[end..].chars();
            rest.next();
            if is_style { styled(&text[..end], drawn) } else { drawn }
        }
        // A link, a title: up to its end, which is a bell or a sequence of its own.
        Some(']') => {
            let text = rest.as_str();
            let end = text.find(['\u{7}', '\u{1b}']).unwrap_or(text.len());
            let is_bell = text[end..].starts_with('\u{7}');
            *rest = text[end..].chars();
            rest.nth(if is_bell { 0 } else { 1 });
            drawn
        }
        // A set of characters is named by one more.
        Some('(' | ')') => {
            rest.next();
            drawn
        }
        Some(_) | None => drawn,
    }
}

/// What the numbers of one style sequence make of it.
fn styled(numbers: &str, mut drawn: Drawn) -> Drawn {
    let mut parts = numbers.split(';');
    while let Some(part) = parts.next() {
        match part {
            "" | "0" => drawn = Drawn::default(),
            "1" => drawn.bold = true,
            "2" => drawn.faint = true,
            "7" => drawn.reversed = true,
            "22" => (drawn.bold, drawn.faint) = (false, false),
            "27" => drawn.reversed = false,
            "39" => drawn.coloured = false,
            "38" => {
                drawn.coloured = true;
                skip_colour(&mut parts);
            }
            "49" => drawn.grounded = false,
            "48" => {
                drawn.grounded = true;
                skip_colour(&mut parts);
            }
            "58" => skip_colour(&mut parts),
            _ if is_colour(part) => drawn.coloured = true,
            _ if is_ground(part) => drawn.grounded = true,
            _ => {}
        }
    }
    drawn
}

/// One of the sixteen, or a colour with its own parts behind colons.
fn is_colour(part: &str) -> bool {
    let number: u32 = part.parse().unwrap_or(0);
    (30..=37).contains(&number) || (90..=97).contains(&number) || part.starts_with("38:")
}

fn is_ground(part: &str) -> bool {
    let number: u32 = part.parse().unwrap_or(0);
    (40..=47).contains(&number) || (100..=107).contains(&number) || part.starts_with("48:")
}

/// A colour by its number has one part more, by its three lights three.
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
    fn check(screen: &str, expected: &[(&str, Drawn)]) {
        let found: Vec<(String, Drawn)> =
            rows(screen)[0].0.iter().map(|cell| (cell.glyph.to_string(), cell.look)).collect();
        let expected: Vec<(String, Drawn)> =
            expected.iter().map(|(glyph, look)| ((*glyph).to_owned(), *look)).collect();
        assert_eq!(found, expected, "{screen:?}");
    }

    #[test]
    fn styles_are_added_and_taken_away() {
        let plain = Drawn::default();
        let faint = Drawn { faint: true, ..plain };
        check("a\u{1b}[2mb\u{1b}[0mc", &[("a", plain), ("b", faint), ("c", plain)]);
        check("\u{1b}[1;2ma\u{1b}[22mb", &[("a", Drawn { bold: true, ..faint }), ("b", plain)]);
        check("\u{1b}[7ma\u{1b}[27mb", &[("a", Drawn { reversed: true, ..plain }), ("b", plain)]);
        check("\u{1b}[2ma\u{1b}[mb", &[("a", faint), ("b", plain)]);
    }

    #[test]
    fn numbers_of_a_colour_are_no_styles() {
        let plain = Drawn::default();
        let coloured = Drawn { coloured: true, ..plain };
        check("\u{1b}[38;5;2ma\u{1b}[39mb", &[("a", coloured), ("b", plain)]);
        check("\u{1b}[38;2;1;2;7ma", &[("a", coloured)]);
        let grounded = Drawn { grounded: true, ..plain };
        check(
            "\u{1b}[48;5;2ma\u{1b}[49mb\u{1b}[48;2;7;1;2mc",
            &[("a", grounded), ("b", plain), ("c", grounded)],
        );
        check("\u{1b}[44ma\u{1b}[0mb\u{1b}[48:5:2mc", &[("a", grounded), ("b", plain), ("c", grounded)]);
        check("\u{1b}[38:2::1:2:7ma\u{1b}[90mb", &[("a", coloured), ("b", coloured)]);
    }

    #[test]
    fn other_sequences_are_passed_over_and_cut_ones_harm_nothing() {
        let plain = Drawn::default();
        check("\u{1b}]8;;http://x\u{1b}\\a\u{1b}]0;t\u{7}b", &[("a", plain), ("b", plain)]);
        check("\u{1b}(0a\u{e}b\u{1b}[Kc", &[("a", plain), ("b", plain), ("c", plain)]);
        for cut in ["\u{1b}", "\u{1b}[", "\u{1b}[38;5", "\u{1b}]8;", "\u{1b}("] {
            assert!(rows(&format!("x{cut}")).len() == 1, "{cut:?}");
        }
    }

    #[test]
    fn how_something_is_drawn_goes_on_in_the_next_line() {
        let all = rows("a\u{1b}[2m\nb\n\u{1b}[0mc");
        assert_eq!(all.iter().map(|row| row.0[0].look.faint).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn a_line_is_its_text_without_the_blanks_at_its_end() {
        let row = &rows("  \u{1b}[1mtwo  words\u{1b}[0m   ")[0];
        assert_eq!((row.text().as_str(), row.is_blank()), ("  two  words", false));
        assert!(rows(" \u{1b}[7m  ")[0].is_blank());
    }
}
