//! The text of the tmux status bar: seats counted by state, the longest wait, open proposals, and a broken configuration.
//!
//! Uses tmux's own colour markup, with a background of its own: colours chosen for one theme are unreadable on another.
//! Names are escaped, so tmux expands none of their content.

use crate::escape::{fit_to_width, for_tmux};
use crate::shown::{SeatLight, SeatView, age};
use crate::time::Timestamp;

/// The bar's appearance: an icon and a colour per light, and whether a project is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarStyle {
    pub idle: LightStyle,
    pub working: LightStyle,
    pub completed: LightStyle,
    pub stopped: LightStyle,
    pub blocked: LightStyle,
    /// The background of all counts; empty for plain text without markup.
    pub background: String,
    pub project: ProjectNameDisplay,
}

/// Appearance of one light. An empty colour leaves the status line's own colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LightStyle {
    pub icon: String,
    pub colour: String,
}

/// Whether the bar names the most urgent seat's project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectNameDisplay {
    Shown,
    Hidden,
}

impl Default for BarStyle {
    fn default() -> Self {
        let look = |icon: &str, colour: &str| LightStyle { icon: icon.into(), colour: colour.into() };
        BarStyle {
            idle: look(".", "colour250"),
            working: look("*", "colour255"),
            completed: look("+", "colour114"),
            stopped: look("x", "colour221"),
            blocked: look("!", "colour210"), // light red
            background: "colour235".into(),
            project: ProjectNameDisplay::Hidden,
        }
    }
}

impl BarStyle {
    /// For a bar that would print colour markup literally.
    pub fn without_colours(mut self) -> BarStyle {
        self.background.clear();
        self
    }

    /// The text as one part of the bar. `Blocked` is reversed: it waits for the user.
    fn painted(&self, light: SeatLight, text: &str) -> String {
        let colour = &self.light_style(light).colour;
        let emphasis = if light == SeatLight::Blocked { "#[bold,reverse]" } else { "" };
        match (self.background.as_str(), colour.as_str()) {
            ("", _) => text.to_owned(),
            (_, "") => format!("#[default] {text}"),
            (background, colour) => format!("#[default,fg={colour},bg={background}] {emphasis}{text}"),
        }
    }

    pub fn light_style(&self, light: SeatLight) -> &LightStyle {
        match light {
            SeatLight::Idle => &self.idle,
            SeatLight::Working => &self.working,
            SeatLight::Completed => &self.completed,
            SeatLight::Stopped => &self.stopped,
            SeatLight::Blocked => &self.blocked,
        }
    }
}

const MAX_NAME_WIDTH: usize = 24;

/// Shown while the configuration file has mistakes; every command names them with their lines.
const BROKEN_CONFIG: &str = "config!";

/// The notes behind the counts of the bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BarNotes {
    pub open_proposals: u32,
    pub has_config_mistakes: bool,
}

/// Draws the bar for seats sorted by urgency. Empty without seats, so that it takes no room, unless the configuration is
/// broken.
pub fn bar(seats: &[SeatView], notes: BarNotes, style: &BarStyle, now: Timestamp) -> String {
    if seats.is_empty() && !notes.has_config_mistakes {
        return String::new();
    }
    let counted = SeatLight::ALL.iter().filter_map(|light| count(seats, *light, style, now));
    let mut parts: Vec<String> = counted.collect();
    let open = notes.open_proposals;
    parts
        .extend((open > 0 && !seats.is_empty()).then(|| style.painted(SeatLight::Idle, &format!("{open}?"))));
    parts.extend(notes.has_config_mistakes.then(|| style.painted(SeatLight::Stopped, BROKEN_CONFIG)));
    if style.project == ProjectNameDisplay::Shown {
        let most_urgent = seats.first().and_then(|seat| seat.project.as_deref());
        let named = |name| format!("@{}", for_tmux(&fit_to_width(name, MAX_NAME_WIDTH)));
        parts.extend(most_urgent.map(|name| style.painted(SeatLight::Idle, &named(name))));
    }
    match style.background.as_str() {
        "" => parts.join(" "),
        _ => format!("{}#[noreverse] #[default]", parts.concat()),
    }
}

/// `None` for a light without seats: a zero asks for nothing.
fn count(seats: &[SeatView], light: SeatLight, style: &BarStyle, now: Timestamp) -> Option<String> {
    let members = || seats.iter().filter(|seat| seat.light() == light);
    let number = members().count();
    if number == 0 {
        return None;
    }
    let longest = members().map(|seat| now.since_ms(seat.since)).max().unwrap_or(0);
    let timer = if light == SeatLight::Blocked { age(longest) } else { String::new() };
    let icon = for_tmux(&style.light_style(light).icon);
    Some(style.painted(light, &format!("{number}{icon}{timer}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::BlockReason;
    use crate::session::SessionState;

    fn seat(state: SessionState, since: i64) -> SeatView {
        let project = Some("#(touch x)".into());
        SeatView { state, seen: false, project, ..SeatView::at("s", "a", Timestamp(since)) }
    }

    #[track_caller]
    fn check(seats: &[SeatView], expected: &str) {
        assert_eq!(bar(seats, BarNotes::default(), &BarStyle::default(), Timestamp(3_600_000)), expected);
    }

    #[test]
    fn an_empty_bar_takes_no_room() {
        check(&[], "");
    }

    #[test]
    fn seats_are_counted_and_the_longest_block_is_timed() {
        let blocked = SessionState::Blocked(BlockReason::Permission);
        check(
            &[
                seat(blocked, 0),
                seat(blocked, 3_500_000),
                seat(SessionState::Working, 1),
                seat(SessionState::Completed, 1),
            ],
            "#[default,fg=colour255,bg=colour235] 1*#[default,fg=colour114,bg=colour235] 1+\
             #[default,fg=colour210,bg=colour235] #[bold,reverse]2!1h#[noreverse] #[default]",
        );
        check(
            &[seat(SessionState::Interrupted, 1)],
            "#[default,fg=colour221,bg=colour235] 1x#[noreverse] #[default]",
        );
    }

    #[test]
    fn a_light_without_a_colour_has_those_of_the_status_line() {
        let mut style = BarStyle::default();
        style.idle.colour.clear();
        let drawn = bar(&[seat(SessionState::Idle, 1)], BarNotes::default(), &style, Timestamp(0));
        assert_eq!(drawn, "#[default] 1.#[noreverse] #[default]");
    }

    #[test]
    fn open_proposals_are_counted_behind_the_seats() {
        let (style, notes) =
            (BarStyle::default().without_colours(), BarNotes { open_proposals: 2, ..BarNotes::default() });
        assert_eq!(bar(&[seat(SessionState::Idle, 1)], notes, &style, Timestamp(0)), "1. 2?");
        assert_eq!(bar(&[], notes, &style, Timestamp(0)), "");
    }

    #[test]
    fn a_broken_configuration_is_marked_with_and_without_seats() {
        let (style, notes) = (
            BarStyle::default().without_colours(),
            BarNotes { open_proposals: 2, has_config_mistakes: true },
        );
        assert_eq!(bar(&[seat(SessionState::Idle, 1)], notes, &style, Timestamp(0)), "1. 2? config!");
        assert_eq!(bar(&[], notes, &style, Timestamp(0)), "config!");
    }

    #[test]
    fn a_project_is_named_harmlessly() {
        let style = BarStyle { project: ProjectNameDisplay::Shown, ..BarStyle::default() };
        let seats = [seat(SessionState::Idle, 1)];
        assert!(bar(&seats, BarNotes::default(), &style, Timestamp(0)).contains(" @##(touch x)#["));
    }
}
