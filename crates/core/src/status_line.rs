//! The line that an agent shows below its input, drawn from a template of named parts.
//!
//! Pure text: what a part shows is given. Names are made harmless before they stand in the line, and no part of it is
//! wider than its share.

mod template;

pub use template::{BadTemplate, Colour, Part, Template};

use crate::escape::{fit, for_terminal, width};
use crate::meter::Fill;
use crate::shown::Light;
use crate::time::Timestamp;
use crate::usage::{Cost, short_count};

/// What is known when the line is drawn.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub model: Option<String>,
    pub fill: Option<Fill>,
    pub project: Option<String>,
    pub branch: Option<String>,
    /// What the session has cost, as the agent says itself.
    pub cost: Option<Cost>,
    pub limits: Vec<Limit>,
    /// What all other agents are doing; none where nobody knows.
    pub others: Option<Vec<Light>>,
    pub now: Timestamp,
}

/// How much of a usage limit is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub span: Span,
    pub percent: u8,
    pub resets_at: Option<Timestamp>,
}

/// The time that a usage limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    FiveHours,
    Week,
}

/// Where the line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// None where nobody says.
    pub columns: Option<usize>,
    pub colours: Colours,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    Shown,
    Hidden,
}

/// No single part is wider.
const WIDEST: usize = 60;

/// A part as it is shown.
struct Drawn {
    text: String,
    /// What it deserves if no colour was asked for.
    colour: Colour,
}

impl Template {
    /// Draws the line. Sections of which a part is not known are left out, and where there is no room, the last ones.
    pub fn draw(&self, facts: &Facts, canvas: Canvas) -> String {
        let mut sections: Vec<(String, String)> =
            self.sections.iter().filter_map(|section| drawn(section, facts, canvas.colours)).collect();
        let columns = canvas.columns.unwrap_or(usize::MAX);
        let room =
            |sections: &[(String, String)]| sections.iter().map(|(plain, _)| width(plain)).sum::<usize>();
        while sections.len() > 1 && room(&sections) > columns {
            sections.pop();
        }
        if room(&sections) > columns {
            return fit(&sections.into_iter().map(|(plain, _)| plain).collect::<String>(), columns);
        }
        let line: String = sections.into_iter().map(|(_, coloured)| coloured).collect();
        line.trim_end().to_owned()
    }
}

/// A section as plain text and with its colours.
fn drawn(section: &template::Section, facts: &Facts, colours: Colours) -> Option<(String, String)> {
    let (mut plain, mut coloured) = (String::new(), String::new());
    for piece in &section.pieces {
        match piece {
            template::Piece::Text(text) => {
                plain.push_str(text);
                coloured.push_str(text);
            }
            template::Piece::Part(part, asked) => {
                let Some(shown) = part.shown(facts) else {
                    if section.is_optional { return None } else { continue }
                };
                let text = fit(&for_terminal(&shown.text), WIDEST);
                let colour = if *asked == Colour::Auto { shown.colour } else { *asked };
                plain.push_str(&text);
                coloured.push_str(&match colours {
                    Colours::Shown => colour.paint(&text),
                    Colours::Hidden => text,
                });
            }
        }
    }
    Some((plain, coloured))
}

impl Part {
    fn shown(self, facts: &Facts) -> Option<Drawn> {
        let plain = |text: String| Drawn { text, colour: Colour::Plain };
        let limit = |span: Span| facts.limits.iter().find(|limit| limit.span == span);
        Some(match self {
            Part::Model => plain(facts.model.clone()?),
            Part::Project => plain(facts.project.clone()?),
            Part::Branch => plain(facts.branch.clone()?),
            Part::Place => plain(match (facts.project.clone()?, &facts.branch) {
                (project, Some(branch)) => format!("{project}/{branch}"),
                (project, None) => project,
            }),
            Part::Context => by_percent(bar(facts.fill?), facts.fill?.percent(), FULL),
            Part::Percent => by_percent(format!("{}%", facts.fill?.percent()), facts.fill?.percent(), FULL),
            Part::Tokens => plain(tokens(facts.fill?)),
            Part::Cost => Drawn { text: facts.cost?.spelt(), colour: Colour::Faint },
            Part::FiveHours => limit_shown(*limit(Span::FiveHours)?, facts.now),
            Part::Week => limit_shown(*limit(Span::Week)?, facts.now),
            Part::Limits => {
                let all: Vec<Drawn> =
                    facts.limits.iter().map(|limit| limit_shown(*limit, facts.now)).collect();
                let tightest = facts.limits.iter().map(|limit| limit.percent).max()?;
                let texts: Vec<String> = all.into_iter().map(|limit| limit.text).collect();
                by_percent(texts.join(" "), tightest, USED_UP)
            }
            Part::Agents => others(facts.others.as_deref()?)?,
        })
    }
}

/// From which percent on something is worth a look, and from which on it is urgent.
type Bounds = (u8, u8);
const FULL: Bounds = (50, 70);
const USED_UP: Bounds = (70, 90);

fn by_percent(text: String, percent: u8, (worth_a_look, urgent): Bounds) -> Drawn {
    let colour = match percent {
        _ if percent >= urgent => Colour::Red,
        _ if percent >= worth_a_look => Colour::Yellow,
        _ => Colour::Green,
    };
    Drawn { text, colour }
}

/// The context as a bar of ten, and in percent.
fn bar(fill: Fill) -> String {
    let full = usize::from(fill.percent()).div_ceil(10);
    format!("{}{} {}%", "▓".repeat(full), "░".repeat(10 - full.min(10)), fill.percent())
}

fn tokens(fill: Fill) -> String {
    format!("{}/{}", short_count(fill.tokens), short_count(fill.window))
}

/// `5h 23% ↻2h13m`: how much is used up, and when it begins anew.
fn limit_shown(limit: Limit, now: Timestamp) -> Drawn {
    let name = match limit.span {
        Span::FiveHours => "5h",
        Span::Week => "7d",
    };
    let left = limit.resets_at.map(|at| at.since_ms(now) / 60_000).filter(|minutes| *minutes > 0);
    let left =
        left.map_or_else(String::new, |minutes| match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
            (0, 0, minutes) => format!(" ↻{minutes}m"),
            (0, hours, minutes) => format!(" ↻{hours}h{minutes:02}m"),
            (days, hours, _) => format!(" ↻{days}d{hours}h"),
        });
    by_percent(format!("{name} {}%{left}", limit.percent), limit.percent, USED_UP)
}

/// `1 waiting, 2 working, 1 idle`: what needs a person first.
fn others(lights: &[Light]) -> Option<Drawn> {
    let count = |is_meant: &dyn Fn(Light) -> bool| lights.iter().filter(|light| is_meant(**light)).count();
    let waiting = count(&|light| matches!(light, Light::Blocked | Light::Stopped | Light::Completed));
    let counts = [
        (waiting, "waiting"),
        (count(&|light| light == Light::Working), "working"),
        (count(&|light| light == Light::Idle), "idle"),
    ];
    let words: Vec<String> = counts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let colour = if waiting > 0 { Colour::Yellow } else { Colour::Faint };
    (!words.is_empty()).then(|| Drawn { text: words.join(", "), colour })
}

#[cfg(test)]
mod tests;
