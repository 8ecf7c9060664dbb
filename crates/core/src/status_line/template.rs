//! Parses the template of a status line: text, `{parts}` with an optional `:colour`, optional `[sections]`.
//!
//! A template is a pure value and knows no facts.

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
    pub enum StatusPart as named {
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

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Colour as named {
        /// Chosen by the part itself.
        Auto = "auto",
        Plain = "plain",
        Bold = "bold",
        Faint = "dim",
        Red = "red",
        Green = "green",
        Yellow = "yellow",
        Blue = "blue",
        Magenta = "magenta",
        Cyan = "cyan",
    }
}

impl Colour {
    pub(super) fn paint(self, text: &str) -> String {
        let code = match self {
            Colour::Auto | Colour::Plain => return text.to_owned(),
            Colour::Bold => 1,
            Colour::Faint => 2,
            Colour::Red => 31,
            Colour::Green => 32,
            Colour::Yellow => 33,
            Colour::Blue => 34,
            Colour::Magenta => 35,
            Colour::Cyan => 36,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Why a template cannot be parsed; names the invalid part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    #[error("there is no `{{{0}}}`, there are {names}", names = StatusPart::ALL.map(StatusPart::name).join(", "))]
    NoSuchPart(String),
    #[error("there is no colour `{0}`, there are {names}", names = Colour::ALL.map(Colour::name).join(", "))]
    NoSuchColour(String),
    #[error("a `{0}` has no other half; write it twice to show it")]
    Unbalanced(char),
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
    let part = StatusPart::named(name).ok_or_else(|| BadTemplate::NoSuchPart(name.to_owned()))?;
    let colour = Colour::named(colour).ok_or_else(|| BadTemplate::NoSuchColour(colour.to_owned()))?;
    Ok(TemplatePiece::Part(part, colour))
}
