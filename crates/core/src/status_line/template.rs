//! The template of a status line: text, `{parts}` with a colour behind a colon, `[sections]` that may be missing.
//!
//! Reading gives a pure value; what a part shows is not known here.

/// What a line is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    pub(super) sections: Vec<Section>,
}

/// Pieces that are shown together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub pieces: Vec<Piece>,
    pub is_optional: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Part(Part, Colour),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Model,
    Context,
    Percent,
    Tokens,
    Place,
    Project,
    Branch,
    Cost,
    Limits,
    FiveHours,
    Week,
    Agents,
}

impl Part {
    pub const ALL: [Part; 12] = [
        Part::Model,
        Part::Context,
        Part::Percent,
        Part::Tokens,
        Part::Place,
        Part::Project,
        Part::Branch,
        Part::Cost,
        Part::Limits,
        Part::FiveHours,
        Part::Week,
        Part::Agents,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Part::Model => "model",
            Part::Context => "context",
            Part::Percent => "percent",
            Part::Tokens => "tokens",
            Part::Place => "place",
            Part::Project => "project",
            Part::Branch => "branch",
            Part::Cost => "cost",
            Part::Limits => "limits",
            Part::FiveHours => "limit_5h",
            Part::Week => "limit_7d",
            Part::Agents => "agents",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// What the part deserves.
    Auto,
    Plain,
    Bold,
    Faint,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

impl Colour {
    pub const ALL: [Colour; 10] = [
        Colour::Auto,
        Colour::Plain,
        Colour::Bold,
        Colour::Faint,
        Colour::Red,
        Colour::Green,
        Colour::Yellow,
        Colour::Blue,
        Colour::Magenta,
        Colour::Cyan,
    ];

    pub fn name(self) -> &'static str {
        self.name_and_code().0
    }

    pub(super) fn paint(self, text: &str) -> String {
        match self.name_and_code().1 {
            "" => text.to_owned(),
            code => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    fn name_and_code(self) -> (&'static str, &'static str) {
        match self {
            Colour::Auto => ("auto", ""),
            Colour::Plain => ("plain", ""),
            Colour::Bold => ("bold", "1"),
            Colour::Faint => ("dim", "2"),
            Colour::Red => ("red", "31"),
            Colour::Green => ("green", "32"),
            Colour::Yellow => ("yellow", "33"),
            Colour::Blue => ("blue", "34"),
            Colour::Magenta => ("magenta", "35"),
            Colour::Cyan => ("cyan", "36"),
        }
    }
}

/// Why a template cannot be read: names the part that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadTemplate {
    NoSuchPart(String),
    NoSuchColour(String),
    /// A bracket that is not closed, or closes nothing.
    Unbalanced(char),
}

impl std::fmt::Display for BadTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BadTemplate::NoSuchPart(name) => {
                write!(f, "there is no `{{{name}}}`, there are {}", Part::ALL.map(Part::name).join(", "))
            }
            BadTemplate::NoSuchColour(name) => {
                write!(
                    f,
                    "there is no colour `{name}`, there are {}",
                    Colour::ALL.map(Colour::name).join(", ")
                )
            }
            BadTemplate::Unbalanced(bracket) => {
                write!(f, "a `{bracket}` has no other half; write it twice to show it")
            }
        }
    }
}

impl Template {
    /// Reads a template. A bracket that is to be shown is written twice.
    pub fn parse(text: &str) -> Result<Template, BadTemplate> {
        let mut reading =
            Reading { sections: vec![], current: Section { pieces: vec![], is_optional: false } };
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            rest = match c {
                '{' | '}' | '[' | ']' if after.starts_with(c) => {
                    reading.text(c);
                    &after[c.len_utf8()..]
                }
                '{' => {
                    let (part, behind) = after.split_once('}').ok_or(BadTemplate::Unbalanced('{'))?;
                    reading.current.pieces.push(parse_part(part)?);
                    behind
                }
                '[' if !reading.current.is_optional => {
                    reading.turn_over();
                    after
                }
                ']' if reading.current.is_optional => {
                    reading.turn_over();
                    after
                }
                '}' | '[' | ']' => return Err(BadTemplate::Unbalanced(c)),
                // A line has one line, and brings no marks for the terminal of its own.
                _ if c.is_control() => after,
                _ => {
                    reading.text(c);
                    after
                }
            };
        }
        if reading.current.is_optional {
            return Err(BadTemplate::Unbalanced('['));
        }
        reading.turn_over();
        Ok(Template { sections: reading.sections })
    }
}

struct Reading {
    sections: Vec<Section>,
    current: Section,
}

impl Reading {
    fn text(&mut self, c: char) {
        match self.current.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            Some(Piece::Part(..)) | None => self.current.pieces.push(Piece::Text(c.to_string())),
        }
    }

    /// Ends the section, and begins the next: one that may be missing follows one that may not, and the other way round.
    fn turn_over(&mut self) {
        let next = Section { pieces: vec![], is_optional: !self.current.is_optional };
        let ended = std::mem::replace(&mut self.current, next);
        self.sections.extend((!ended.pieces.is_empty()).then_some(ended));
    }
}

fn parse_part(text: &str) -> Result<Piece, BadTemplate> {
    let (name, colour) = text.split_once(':').unwrap_or((text, Colour::Auto.name()));
    let part = Part::ALL.into_iter().find(|part| part.name() == name);
    let part = part.ok_or_else(|| BadTemplate::NoSuchPart(name.to_owned()))?;
    let known = Colour::ALL.into_iter().find(|known| known.name() == colour);
    Ok(Piece::Part(part, known.ok_or_else(|| BadTemplate::NoSuchColour(colour.to_owned()))?))
}
