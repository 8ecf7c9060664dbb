//! Horizontal bars, in the characters that the terminal can show.
//!
//! Produces plain text only: no colour, and no measuring of the terminal.

use towline_engine::runtime::variable;

/// The character set of bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strokes {
    /// Blocks down to an eighth of a column.
    Fine,
    /// ASCII.
    Plain,
}

/// Chooses the character set by locale and terminal.
pub fn strokes() -> Strokes {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| variable(name)).unwrap_or_default();
    let is_utf8 = locale.to_ascii_lowercase().replace('-', "").contains("utf8");
    if is_utf8 && variable("TERM").as_deref() != Some("dumb") { Strokes::Fine } else { Strokes::Plain }
}

impl Strokes {
    /// A bar of `value / longest` of the columns; a positive value has at least one stroke.
    pub fn bar(self, value: i64, longest: i64, columns: usize) -> String {
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        if value <= 0 || longest <= 0 {
            return String::new();
        }
        let parts = |of: usize| {
            let whole = (columns * of) as i128;
            usize::try_from(i128::from(value) * whole / i128::from(longest)).unwrap_or(0).max(1)
        };
        match self {
            Strokes::Plain => "#".repeat(parts(1)),
            Strokes::Fine => "█".repeat(parts(8) / 8) + EIGHTHS[parts(8) % 8],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_part_of_the_longest() {
        let bars = [(8, 8), (4, 8), (1, 8), (0, 8), (8, 0)]
            .map(|(value, longest)| Strokes::Fine.bar(value, longest, 5));
        assert_eq!(bars, ["█████", "██▌", "▋", "", ""]);
        let plain = [8, 4, 1, 0].map(|value| Strokes::Plain.bar(value, 8, 4));
        assert_eq!(plain, ["####", "##", "#", ""]);
        assert_eq!(Strokes::Fine.bar(1, i64::MAX, 40), "▏");
    }
}
