//! Renders a terminal's screen as SVG: text with its colours, on a dark background.
//!
//! Supports the colours and weights that tmux prints; all other terminal features are ignored.

use std::fmt::Write;

use towline_core::escape::width;

/// The size of one cell in pixels, for the requested fonts.
const CELL: (f64, f64) = (7.83, 17.0);
const MARGIN: f64 = 12.0;
const FONT: &str =
    "font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13\"";
const GROUND: &str = "#14171c";
const INK: &str = "#d7dae0";

/// The first sixteen colours of a terminal.
const COLOURS: [&str; 16] = [
    "#14171c", "#e06c75", "#8cc265", "#d9a65c", "#5ba3e0", "#c07bd8", "#4fb3bf", "#c8ccd4", "#6b7280",
    "#f0848d", "#a5d97f", "#efbe78", "#7cbcf2", "#d598ea", "#6fcdd9", "#ffffff",
];

/// The style of a character.
#[derive(Clone, Default, PartialEq)]
struct Look {
    ink: Option<String>,
    ground: Option<String>,
    bold: bool,
    dim: bool,
    reversed: bool,
}

/// Characters with the same style, from this column on.
struct Stretch {
    column: usize,
    look: Look,
    text: String,
}

pub fn drawn(screen: &str) -> String {
    let lines: Vec<Vec<Stretch>> = screen.trim_end().lines().map(stretches).collect();
    let mut all = opening(&lines);
    for (row, line) in lines.iter().enumerate() {
        all.push_str(&shown_row(line, row));
    }
    all + "</svg>\n"
}

/// A screen of a film, and how long it is shown.
pub struct Frame {
    pub screen: String,
    pub seconds: u32,
}

/// An animated picture that shows the screens one after the other, for ever. A row that does not change is drawn once.
pub fn film(frames: &[Frame]) -> String {
    let lines: Vec<Vec<Stretch>> =
        frames.iter().flat_map(|frame| frame.screen.lines().map(stretches)).collect();
    let rows = frames.iter().map(|frame| frame.screen.trim_end().lines().count()).max().unwrap_or(0);
    let mut all = opening(&lines[..rows.min(lines.len())]);
    let seconds: u32 = frames.iter().map(|frame| frame.seconds).sum();
    for row in 0..rows {
        let drawn: Vec<String> = frames
            .iter()
            .map(|frame| shown_row(&stretches(frame.screen.lines().nth(row).unwrap_or_default()), row))
            .collect();
        let mut unlike = drawn.clone();
        unlike.sort();
        unlike.dedup();
        for one in unlike.iter().filter(|one| !one.is_empty()) {
            all.push_str(&timed(one, frames, &drawn, seconds));
        }
    }
    all + "</svg>\n"
}

/// The row, visible during the frames that contain it.
fn timed(one: &str, frames: &[Frame], drawn: &[String], seconds: u32) -> String {
    if drawn.iter().all(|row| row == one) {
        return one.to_owned();
    }
    let (mut at, mut times, mut values) = (0, vec![], vec![]);
    for (frame, row) in frames.iter().zip(drawn) {
        let value = if row == one { "inline" } else { "none" };
        if values.last() != Some(&value) {
            times.push(format!("{:.4}", f64::from(at) / f64::from(seconds)));
            values.push(value);
        }
        at += frame.seconds;
    }
    format!(
        "<g display=\"none\"><animate attributeName=\"display\" calcMode=\"discrete\" dur=\"{seconds}s\" \
         repeatCount=\"indefinite\" keyTimes=\"{}\" values=\"{}\"/>\n{one}</g>\n",
        times.join(";"),
        values.join(";")
    )
}

/// The beginning of a picture that holds these lines.
fn opening(lines: &[Vec<Stretch>]) -> String {
    let end = |stretch: &Stretch| stretch.column + width(&stretch.text);
    let columns = lines.iter().flatten().map(end).max().unwrap_or(0);
    let wide = f64::from(u32::try_from(columns).unwrap_or(0)) * CELL.0 + 2.0 * MARGIN;
    let high = f64::from(u32::try_from(lines.len()).unwrap_or(0)) * CELL.1 + 2.0 * MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.0} {high:.0}\" {FONT}>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{GROUND}\"/>\n"
    )
}

fn shown_row(line: &[Stretch], row: usize) -> String {
    line.iter().map(|stretch| shown(stretch, row)).collect()
}

/// A background rectangle, if any, and the text. `textLength` keeps the columns aligned in any font.
fn shown(stretch: &Stretch, row: usize) -> String {
    let (x, y) = (place(stretch.column, CELL.0), place(row, CELL.1));
    let long = place(width(&stretch.text), CELL.0) - MARGIN;
    let (ink, ground) = colours(&stretch.look);
    let mut all = String::new();
    if let Some(ground) = ground {
        let _ = writeln!(
            all,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{long:.2}\" height=\"{}\" fill=\"{ground}\"/>",
            CELL.1
        );
    }
    if stretch.text.trim().is_empty() {
        return all;
    }
    let weight = if stretch.look.bold { " font-weight=\"bold\"" } else { "" };
    let faint = if stretch.look.dim { " opacity=\"0.6\"" } else { "" };
    // SVG renderers collapse plain spaces.
    let text = stretch.text.replace('&', "&amp;").replace('<', "&lt;").replace(' ', "\u{a0}");
    let base = y + CELL.1 - 4.5;
    let _ = writeln!(
        all,
        "<text x=\"{x:.2}\" y=\"{base:.2}\" textLength=\"{long:.2}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{ink}\"{weight}{faint}>{text}</text>"
    );
    all
}

fn place(count: usize, size: f64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(0)) * size + MARGIN
}

fn colours(look: &Look) -> (String, Option<String>) {
    let ink = look.ink.clone().unwrap_or_else(|| INK.to_owned());
    if look.reversed {
        return (look.ground.clone().unwrap_or_else(|| GROUND.to_owned()), Some(ink));
    }
    (ink, look.ground.clone())
}

fn stretches(line: &str) -> Vec<Stretch> {
    let (mut all, mut look, mut column) = (vec![], Look::default(), 0);
    let mut parts = line.split("\x1b[");
    let mut take = |text: &str, look: &Look, all: &mut Vec<Stretch>| {
        if !text.is_empty() {
            all.push(Stretch { column, look: look.clone(), text: text.to_owned() });
            column += width(text);
        }
    };
    take(parts.next().unwrap_or_default(), &look, &mut all);
    for part in parts {
        let (codes, text) = part.split_once('m').unwrap_or(("", part));
        change(&mut look, codes);
        take(text, &look, &mut all);
    }
    all
}

fn change(look: &mut Look, codes: &str) {
    let mut codes = codes.split([';', ':']).map(|code| code.parse::<usize>().unwrap_or(0));
    while let Some(code) = codes.next() {
        match code {
            0 => *look = Look::default(),
            1 => look.bold = true,
            2 => look.dim = true,
            7 => look.reversed = true,
            22 => (look.bold, look.dim) = (false, false),
            27 => look.reversed = false,
            30..=37 => look.ink = Some(COLOURS[code - 30].to_owned()),
            90..=97 => look.ink = Some(COLOURS[code - 82].to_owned()),
            38 => look.ink = chosen(&mut codes),
            39 => look.ink = None,
            40..=47 => look.ground = Some(COLOURS[code - 40].to_owned()),
            100..=107 => look.ground = Some(COLOURS[code - 92].to_owned()),
            48 => look.ground = chosen(&mut codes),
            49 => look.ground = None,
            _ => {}
        }
    }
}

/// A colour from the 256-colour palette or from RGB.
fn chosen(codes: &mut impl Iterator<Item = usize>) -> Option<String> {
    if codes.next()? == 2 {
        let (red, green, blue) = (codes.next()?, codes.next()?, codes.next()?);
        return Some(format!("#{red:02x}{green:02x}{blue:02x}"));
    }
    let number = codes.next()?;
    Some(match number {
        0..=15 => COLOURS[number].to_owned(),
        16..=231 => {
            let step = |place: usize| [0, 95, 135, 175, 215, 255][(number - 16) / place % 6];
            format!("#{:02x}{:02x}{:02x}", step(36), step(6), step(1))
        }
        _ => {
            let grey = (8 + number.saturating_sub(232) * 10).min(255);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_columns_of_a_screen_are_kept() {
        let drawn = drawn("ab\x1b[1;31mc<\x1b[0m\n\x1b[48;5;232m日\x1b[49md");
        assert!(
            drawn.contains("font-weight=\"bold\"") && drawn.contains(COLOURS[1]) && drawn.contains("c&lt;")
        );
        let after_a_wide_letter = format!("<text x=\"{:.2}\"", 2.0 * CELL.0 + MARGIN);
        assert_eq!(drawn.matches(&after_a_wide_letter).count(), 2, "{drawn}");
        assert!(drawn.contains("fill=\"#080808\""));
    }

    #[test]
    fn a_film_draws_a_row_that_stays_once_and_shows_others_in_their_time() {
        let frame = |screen: &str, seconds| Frame { screen: screen.to_owned(), seconds };
        let film = film(&[frame("stays\none", 1), frame("stays\ntwo", 3), frame("stays\none", 1)]);
        assert_eq!(film.matches("stays").count(), 1);
        assert!(film.contains("keyTimes=\"0.0000;0.2000;0.8000\" values=\"inline;none;inline\""), "{film}");
        assert!(film.contains("keyTimes=\"0.0000;0.2000;0.8000\" values=\"none;inline;none\""), "{film}");
    }
}
