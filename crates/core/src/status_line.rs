//! The line that an agent shows below its input, rendered from a template of named parts.
//!
//! Pure text: the facts are arguments. Names are escaped for the terminal, and no part exceeds `WIDEST` columns.

mod template;

pub use template::{BadTemplate, Colour, StatusPart, StatusTemplate};

use crate::escape::{escape_for_terminal, fit_to_width, width};
use crate::meter::ContextUsage;
use crate::shown::SeatLight;
use crate::time::Timestamp;
use crate::usage::{Cost, short_count};
use template::{TemplatePiece, TemplateSection};

/// The facts a line is rendered from.
#[derive(Clone, Debug, Default)]
pub struct StatusFacts {
    pub model: Option<String>,
    pub fill: Option<ContextUsage>,
    pub project: Option<String>,
    pub branch: Option<String>,
    /// The session's cost, as the agent reports it.
    pub cost: Option<Cost>,
    pub limits: Vec<UsageLimit>,
    /// The status of all other agents; `None` if unknown.
    pub others: Option<Vec<SeatLight>>,
    pub now: Timestamp,
}

/// How much of a usage limit is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageLimit {
    pub span: LimitPeriod,
    pub percent: u8,
    pub resets_at: Option<Timestamp>,
}

/// The period of a usage limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitPeriod {
    FiveHours,
    Week,
}

/// The display of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusCanvas {
    /// `None` if unknown.
    pub columns: Option<usize>,
    pub colours: StatusColours,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusColours {
    Shown,
    Hidden,
}

/// Maximum width of a part, in columns.
const WIDEST: usize = 60;

struct RenderedPart {
    text: String,
    /// The colour to use if the template requests none.
    colour: Colour,
}

impl StatusTemplate {
    /// Renders the line. Omits optional sections with an unknown part, and the last sections if there is no room.
    pub fn draw(&self, facts: &StatusFacts, canvas: StatusCanvas) -> String {
        let mut sections: Vec<(String, String)> =
            self.sections.iter().filter_map(|section| render(section, facts, canvas.colours)).collect();
        let columns = canvas.columns.unwrap_or(usize::MAX);
        let room =
            |sections: &[(String, String)]| sections.iter().map(|(plain, _)| width(plain)).sum::<usize>();
        while sections.len() > 1 && room(&sections) > columns {
            sections.pop();
        }
        if room(&sections) > columns {
            return fit_to_width(&sections.into_iter().map(|(plain, _)| plain).collect::<String>(), columns);
        }
        let line: String = sections.into_iter().map(|(_, coloured)| coloured).collect();
        line.trim_end().to_owned()
    }
}

/// Renders a section as plain text and with colours.
fn render(
    section: &TemplateSection,
    facts: &StatusFacts,
    colours: StatusColours,
) -> Option<(String, String)> {
    let (mut plain, mut coloured) = (String::new(), String::new());
    for piece in &section.pieces {
        match piece {
            TemplatePiece::Text(text) => {
                plain.push_str(text);
                coloured.push_str(text);
            }
            TemplatePiece::Part(part, requested) => {
                let Some(rendered) = part.render(facts) else {
                    if section.is_optional { return None } else { continue }
                };
                let text = fit_to_width(&escape_for_terminal(&rendered.text), WIDEST);
                let colour = if *requested == Colour::Auto { rendered.colour } else { *requested };
                plain.push_str(&text);
                coloured.push_str(&match colours {
                    StatusColours::Shown => colour.paint(&text),
                    StatusColours::Hidden => text,
                });
            }
        }
    }
    Some((plain, coloured))
}

impl StatusPart {
    fn render(self, facts: &StatusFacts) -> Option<RenderedPart> {
        let plain = |text: String| RenderedPart { text, colour: Colour::Plain };
        let limit = |span: LimitPeriod| facts.limits.iter().find(|limit| limit.span == span);
        Some(match self {
            StatusPart::Model => plain(facts.model.clone()?),
            StatusPart::Project => plain(facts.project.clone()?),
            StatusPart::Branch => plain(facts.branch.clone()?),
            StatusPart::Place => plain(match (facts.project.clone()?, &facts.branch) {
                (project, Some(branch)) => format!("{project}/{branch}"),
                (project, None) => project,
            }),
            StatusPart::Context => by_percent(bar(facts.fill?), facts.fill?.percent(), FULL),
            StatusPart::Percent => {
                by_percent(format!("{}%", facts.fill?.percent()), facts.fill?.percent(), FULL)
            }
            StatusPart::Tokens => {
                plain(format!("{}/{}", short_count(facts.fill?.tokens), short_count(facts.fill?.window)))
            }
            StatusPart::Cost => RenderedPart { text: facts.cost?.display(), colour: Colour::Faint },
            StatusPart::FiveHours => render_limit(*limit(LimitPeriod::FiveHours)?, facts.now),
            StatusPart::Week => render_limit(*limit(LimitPeriod::Week)?, facts.now),
            StatusPart::Limits => {
                let all: Vec<RenderedPart> =
                    facts.limits.iter().map(|limit| render_limit(*limit, facts.now)).collect();
                let tightest = facts.limits.iter().map(|limit| limit.percent).max()?;
                let texts: Vec<String> = all.into_iter().map(|limit| limit.text).collect();
                by_percent(texts.join(" "), tightest, USED_UP)
            }
            StatusPart::Agents => others(facts.others.as_deref()?)?,
        })
    }
}

/// The percentages from which a value is yellow and red.
struct ColourThresholds {
    yellow: u8,
    red: u8,
}

const FULL: ColourThresholds = ColourThresholds { yellow: 50, red: 70 };
const USED_UP: ColourThresholds = ColourThresholds { yellow: 70, red: 90 };

fn by_percent(text: String, percent: u8, thresholds: ColourThresholds) -> RenderedPart {
    let colour = match percent {
        _ if percent >= thresholds.red => Colour::Red,
        _ if percent >= thresholds.yellow => Colour::Yellow,
        _ => Colour::Green,
    };
    RenderedPart { text, colour }
}

/// The context as a bar of ten characters and in percent.
fn bar(fill: ContextUsage) -> String {
    let full = usize::from(fill.percent()).div_ceil(10);
    format!("{}{} {}%", "▓".repeat(full), "░".repeat(10 - full.min(10)), fill.percent())
}

/// `5h 23% ↻2h13m`: the share used up, and the time until the reset.
fn render_limit(limit: UsageLimit, now: Timestamp) -> RenderedPart {
    let name = match limit.span {
        LimitPeriod::FiveHours => "5h",
        LimitPeriod::Week => "7d",
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

/// `1 waiting, 2 working, 1 idle`: agents that need the user first.
fn others(lights: &[SeatLight]) -> Option<RenderedPart> {
    let count = |matches: &dyn Fn(SeatLight) -> bool| lights.iter().filter(|light| matches(**light)).count();
    let waiting =
        count(&|light| matches!(light, SeatLight::Blocked | SeatLight::Stopped | SeatLight::Completed));
    let counts = [
        (waiting, "waiting"),
        (count(&|light| light == SeatLight::Working), "working"),
        (count(&|light| light == SeatLight::Idle), "idle"),
    ];
    let words: Vec<String> = counts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let colour = if waiting > 0 { Colour::Yellow } else { Colour::Faint };
    (!words.is_empty()).then(|| RenderedPart { text: words.join(", "), colour })
}

#[cfg(test)]
mod tests;
