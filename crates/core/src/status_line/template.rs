//! Parses the template of a status line: text, `{parts}` with an optional `:colour`, optional `[sections]`.
//!
//! A template is a pure value and knows no facts.

/// A parsed template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusTemplate {
    pub(super) sections: Vec<TemplateSection>,
}

/// Pieces that are shown together or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TemplateSection {
    pub pieces: Vec<TemplatePiece>,
    pub is_optional: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TemplatePiece {
    Text(String),
    Part(StatusPart, Colour),
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum StatusPart {
        Model = "model",
        Context = "context",
        Percent = "percent",
        Tokens = "tokens",
        Place = "place",
        Project = "project",
        Branch = "branch",
        Cost = "cost",
        Limits = "limits",
        FiveHours = "limit_5h",
        Week = "limit_7d",
        Agents = "agents",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Chosen by the part itself.
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

/// Why a template cannot be parsed; names the invalid part.
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
                let names = StatusPart::ALL.map(StatusPart::name).join(", ");
                write!(f, "there is no `{{{name}}}`, there are {names}")
            }
            BadTemplate::NoSuchColour(name) => {
                let names = Colour::ALL.map(Colour::name).join(", ");
                write!(f, "there is no colour `{name}`, there are {names}")
            }
            BadTemplate::Unbalanced(bracket) => {
                write!(f, "a `{bracket}` has no other half; write it twice to show it")
            }
        }
    }
}

impl StatusTemplate {
    /// Parses a template. A doubled bracket is a literal one.
    pub fn parse(text: &str) -> Result<StatusTemplate, BadTemplate> {
        let mut parser = TemplateParser::default();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            rest = match c {
                '{' | '}' | '[' | ']' if after.starts_with(c) => {
                    parser.push_char(c);
                    &after[c.len_utf8()..]
                }
                '{' => {
                    let (part, behind) = after.split_once('}').ok_or(BadTemplate::Unbalanced('{'))?;
                    parser.current.pieces.push(parse_part(part)?);
                    behind
                }
                '[' if !parser.current.is_optional => {
                    parser.end_section();
                    after
                }
                ']' if parser.current.is_optional => {
                    parser.end_section();
                    after
                }
                '}' | '[' | ']' => return Err(BadTemplate::Unbalanced(c)),
                // The line is a single line and must not contain control characters of its own.
                _ if c.is_control() => after,
                _ => {
                    parser.push_char(c);
                    after
                }
            };
        }
        if parser.current.is_optional {
            return Err(BadTemplate::Unbalanced('['));
        }
        parser.end_section();
        Ok(StatusTemplate { sections: parser.sections })
    }
}

#[derive(Default)]
struct TemplateParser {
    sections: Vec<TemplateSection>,
    current: TemplateSection,
}

impl TemplateParser {
    fn push_char(&mut self, c: char) {
        match self.current.pieces.last_mut() {
            Some(TemplatePiece::Text(text)) => text.push(c),
            Some(TemplatePiece::Part(..)) | None => {
                self.current.pieces.push(TemplatePiece::Text(c.to_string()))
            }
        }
    }

    /// Ends the section and begins the next: optional and mandatory sections alternate.
    fn end_section(&mut self) {
        let next = TemplateSection { pieces: vec![], is_optional: !self.current.is_optional };
        let ended = std::mem::replace(&mut self.current, next);
        self.sections.extend((!ended.pieces.is_empty()).then_some(ended));
    }
}

fn parse_part(text: &str) -> Result<TemplatePiece, BadTemplate> {
    let (name, colour) = text.split_once(':').unwrap_or((text, Colour::Auto.name()));
    let part = StatusPart::ALL.into_iter().find(|part| part.name() == name);
    let part = part.ok_or_else(|| BadTemplate::NoSuchPart(name.to_owned()))?;
    let matching = Colour::ALL.into_iter().find(|candidate| candidate.name() == colour);
    Ok(TemplatePiece::Part(part, matching.ok_or_else(|| BadTemplate::NoSuchColour(colour.to_owned()))?))
}
