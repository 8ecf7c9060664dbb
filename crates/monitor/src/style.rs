//! Styles: few colours, all from the user's sixteen terminal colours.
//!
//! No background is ever set, so that text stays readable on dark and light terminals.

use ratatui::style::{Color, Modifier, Style};
use towline_core::shown::SeatLight;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourMode {
    #[default]
    Shown,
    Hidden,
}

const RED: u8 = 1;
const GREEN: u8 = 2;
const YELLOW: u8 = 3;

impl ColourMode {
    /// The same colours as `tow status`.
    pub fn light(self, light: SeatLight) -> Style {
        match light {
            SeatLight::Blocked => self.coloured(RED).add_modifier(Modifier::BOLD),
            SeatLight::Stopped => self.coloured(YELLOW),
            SeatLight::Completed => self.coloured(GREEN),
            SeatLight::Working => Style::new(),
            SeatLight::Idle => FAINT,
        }
    }

    /// The style of a context gauge, by the number of thresholds passed.
    pub fn fill(self, passed: usize, thresholds: usize) -> Style {
        match passed {
            0 => Style::new(),
            _ if passed < thresholds => self.coloured(YELLOW),
            _ => self.coloured(RED),
        }
    }

    fn coloured(self, colour: u8) -> Style {
        match self {
            ColourMode::Shown => Style::new().fg(Color::Indexed(colour)),
            ColourMode::Hidden => Style::new(),
        }
    }
}

pub const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
pub const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
pub const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED).remove_modifier(Modifier::DIM);
