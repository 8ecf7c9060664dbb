//! The agent list as lines of text, one per agent, fitted to the width.
//!
//! Pure: no clock, no terminal. Escapes all text.

use towline_core::escape::{escape_for_terminal, fit_to_width, pad};
use towline_core::shown::{SeatLight, SeatView, age};
use towline_core::time::Timestamp;
use towline_render::{Style, Tone};

/// Below this width a line holds only state, age and project.
const NARROW: usize = 60;

/// One line per agent; none is wider than the style's columns.
pub fn table(seats: &[SeatView], now: Timestamp, style: Style) -> Vec<String> {
    seats.iter().map(|seat| line(seat, now, style)).collect()
}

fn line(seat: &SeatView, now: Timestamp, style: Style) -> String {
    let columns = style.columns;
    let state = fit_to_width(&pad(seat.state_name(), 12), columns);
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
    let rest = fit_to_width(&rest, columns.saturating_sub(12));
    format!("{}{}", style.tint(tone(seat.light()), &state), rest.trim_end())
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
        heard(seat).to_owned(),
        reason,
        seat.until.map_or(String::new(), |until| format!("until {}", until.to_utc())),
        some("helpers".to_owned(), seat.subagents),
        some("tasks done".to_owned(), seat.tasks),
    ];
    let notes: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let notes = if notes.is_empty() { String::new() } else { format!("({}) ", notes.join(", ")) };
    let model = seat.model.as_deref().map_or(String::new(), |model| format!(" [{model}]"));
    escape_for_terminal(&format!("{notes}{}{model}", seat.prompt.as_deref().unwrap_or("")))
}

/// Where the state comes from, if not from hooks.
fn heard(seat: &SeatView) -> &'static str {
    match (&seat.session, seat.by_screen) {
        (Some(_), _) => "",
        (None, true) => "by its screen",
        (None, false) => "nothing heard yet",
    }
}

fn project(seat: &SeatView) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::escape::width;
    use towline_core::event::BlockReason;
    use towline_core::session::SessionState;

    fn seat() -> SeatView {
        SeatView {
            session: Some("agent:a".into()),
            state: SessionState::Blocked(BlockReason::Permission),
            project: Some("app".into()),
            prompt: Some("do it".into()),
            ..SeatView::at("a", "agent", Timestamp(1))
        }
    }

    fn drawn(seats: &[SeatView], columns: usize) -> Vec<String> {
        table(seats, Timestamp(180_001), Style { columns, ..Style::PLAIN })
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let wide = SeatView { project: Some("漢字かな🚀".repeat(40)), ..seat() };
        let hostile = SeatView { prompt: Some("\u{1b}[31m漢".repeat(99)), ..seat() };
        for columns in [0, 1, 5, 11, 12, 13, 20, 30, 59, 60, 61, 100, 300] {
            let lines = drawn(&[seat(), wide.clone(), hostile.clone()], columns);
            assert!(lines.iter().all(|line| width(line) <= columns), "{columns}: {lines:?}");
            assert!(!lines.iter().any(|line| line.contains('\u{1b}')), "{lines:?}");
        }
    }

    #[test]
    fn a_narrow_terminal_keeps_state_age_and_project() {
        assert_eq!(drawn(&[seat()], 30), ["blocked     3m   app"]);
    }
}
