//! How text is laid out: its colours and the width of a line.
//!
//! The caller decides both; text for models and other programs is `PLAIN`.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Warning,
    Bad,
    Faint,
    /// A word that was searched for.
    Match,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub is_coloured: bool,
    pub columns: usize,
}

impl Style {
    /// Without colours, wider than any terminal.
    pub const PLAIN: Style = Style { is_coloured: false, columns: 240 };

    pub fn tint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Warning => "33",
            Tone::Bad => "31",
            Tone::Faint => "2",
            Tone::Match => "1;31",
        };
        if self.is_coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
