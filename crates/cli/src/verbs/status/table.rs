//! The agent list as lines of text, one per agent, fitted to the width.
//!
//! Pure: no colours, no clock, no terminal. Escapes all text.

use crate::output::{Output, Tone};
use towline_core::escape::{escape_for_terminal, fit_to_width, pad};
use towline_core::shown::{SeatLight, SeatView, age};
use towline_core::time::Timestamp;

/// One agent: its state, and the rest of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLine {
    tone: Tone,
    state: String,
    rest: String,
}

impl TableLine {
    pub fn plain(&self) -> String {
        format!("{}{}", self.state, self.rest)
    }

    pub fn tinted(&self, out: &Output) -> String {
        format!("{}{}", out.tint(self.tone, &self.state), self.rest)
    }
}

/// Below this width a line holds only state, age and project.
const NARROW: usize = 60;

/// No line is wider than `columns`.
pub fn table(seats: &[SeatView], now: Timestamp, columns: usize) -> Vec<TableLine> {
    seats.iter().map(|seat| line(seat, now, columns)).collect()
}

fn line(seat: &SeatView, now: Timestamp, columns: usize) -> TableLine {
    let state = fit_to_width(&pad(seat.state.name(), 12), columns);
    let waited = pad(&age(now.since_ms(seat.since)), 4);
    let rest = if columns < NARROW {
        format!("{waited} {}", project(seat))
    } else {
        let (agent, place) =
            (pad(&seat.agent, 7), pad(&escape_for_terminal(seat.pane.as_deref().unwrap_or("-")), 5));
        let context = seat.context_percent.map_or(String::new(), |percent| format!("{percent}%"));
        let place = format!("{place} {} {}", pad(&project(seat), 24), pad(&context, 4));
        format!("{waited} {agent} {place} {}", details(seat))
    };
    let rest = fit_to_width(&rest, columns.saturating_sub(12)).trim_end().to_owned();
    TableLine { tone: tone(seat.light()), state, rest }
}

/// The remaining details, most important first, because the end of the line may be cut off.
fn details(seat: &SeatView) -> String {
    let some =
        |text: String, number: u32| if number == 0 { String::new() } else { format!("{number} {text}") };
    let reason = seat.state.reason().map_or(String::new(), |reason| match &seat.tool {
        Some(tool) if !tool.is_empty() => format!("{reason} for {tool}"),
        Some(_) | None => reason.to_owned(),
    });
    let parts = [
        if seat.session.is_none() { "nothing heard yet".to_owned() } else { String::new() },
        reason,
        seat.until.map_or(String::new(), |until| format!("until {}", until.to_utc())),
        some("helpers".to_owned(), seat.helpers),
        some("tasks done".to_owned(), seat.tasks),
    ];
    let notes: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let notes = if notes.is_empty() { String::new() } else { format!("({}) ", notes.join(", ")) };
    let model = seat.model.as_deref().map_or(String::new(), |model| format!(" [{model}]"));
    escape_for_terminal(&format!("{notes}{}{model}", seat.prompt.as_deref().unwrap_or("")))
}

pub fn project(seat: &SeatView) -> String {
    escape_for_terminal(&seat.project_and_branch())
}

fn tone(light: SeatLight) -> Tone {
    match light {
        SeatLight::Blocked => Tone::Bad,
        SeatLight::Stopped => Tone::Warning,
        SeatLight::Completed => Tone::Good,
        SeatLight::Working | SeatLight::Idle => Tone::Faint,
    }
}
