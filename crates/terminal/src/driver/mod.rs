//! Looks at a seat and types into it, through the program that shows it.
//!
//! Text and Enter are two steps, so that the caller can see the text before it is sent off. Nothing else is ever sent, no
//! key that interrupts least of all. Whether something may be typed is not decided here.

mod call;
mod kitty;
mod osascript;
mod screen;
mod sitter;
mod tmux;
mod wezterm;
mod zellij;

use sitter::Sitter;
use towline_core::seat::{Place, SeatKind};
use towline_core::typing::{Abilities, Look};

/// The hands and eyes for one seat.
#[derive(Debug)]
pub struct Driver {
    sitter: Sitter,
    shown_by: ShownBy,
}

#[derive(Debug)]
enum ShownBy {
    Tmux(tmux::Pane),
    Screen(screen::Window),
    Zellij(zellij::Pane),
    Kitty(kitty::Window),
    Wezterm(wezterm::Pane),
    Osascript(osascript::Session),
}

/// Why nobody can type into a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDriver {
    #[error("a plain terminal takes keys from its own window alone; run the agent in tmux")]
    PlainTerminal,
    #[error("an editor's terminal takes keys from the editor alone; run the agent in tmux")]
    Editor,
    #[error("it is not known which pane the seat is")]
    NoPane,
    #[error("the process that sat there has ended")]
    Left,
    #[error("kitty listens to nobody; set `allow_remote_control socket-only` and `listen_on` in kitty.conf")]
    KittyIsDeaf,
}

/// Why something was not typed. After `NoAnswer` alone it may have been: whoever typed must look.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    #[error("there is nothing to type")]
    Nothing,
    #[error("the text is longer than {LONGEST} bytes")]
    TooLong,
    #[error("the text holds a control character")]
    ControlCharacter,
    #[error("the agent's process is not on that terminal any more")]
    Moved,
    #[error("{program} could not be started: {cause}")]
    NotStarted { program: &'static str, cause: String },
    #[error("{program} does not answer")]
    NoAnswer { program: &'static str },
    #[error("{program} refused: {said}")]
    Refused { program: &'static str, said: String },
    #[error("no private file for {program} could be made: {cause}")]
    NoFile { program: &'static str, cause: String },
}

/// The longest text that was seen to arrive whole in every client.
pub const LONGEST: usize = 20 * 1024;

impl Driver {
    /// The driver for a seat, if anybody can type into it.
    pub fn of(place: &Place) -> Result<Driver, NoDriver> {
        let sitter = Sitter::of(place);
        let shown_by = match place.kind {
            SeatKind::Tmux => ShownBy::Tmux(tmux::Pane::of(place)?),
            SeatKind::Screen => ShownBy::Screen(screen::Window::of(place, &sitter)?),
            SeatKind::Zellij => ShownBy::Zellij(zellij::Pane::of(place, &sitter)?),
            SeatKind::Kitty => ShownBy::Kitty(kitty::Window::of(place, &sitter)?),
            SeatKind::Wezterm => ShownBy::Wezterm(wezterm::Pane::of(place, &sitter)?),
            // iTerm2 is known by the terminal's device alone; other terminals of that system say so when asked.
            SeatKind::Terminal if cfg!(target_os = "macos") => {
                ShownBy::Osascript(osascript::Session::of(place)?)
            }
            SeatKind::Terminal => return Err(NoDriver::PlainTerminal),
            SeatKind::Ide => return Err(NoDriver::Editor),
        };
        Ok(Driver { sitter, shown_by })
    }

    /// What can be made sure of there.
    pub fn abilities(&self) -> Abilities {
        match &self.shown_by {
            ShownBy::Tmux(_) => tmux::ABILITIES,
            ShownBy::Screen(_) => screen::ABILITIES,
            ShownBy::Zellij(_) => zellij::ABILITIES,
            ShownBy::Kitty(_) => kitty::ABILITIES,
            ShownBy::Wezterm(_) => wezterm::ABILITIES,
            ShownBy::Osascript(_) => osascript::ABILITIES,
        }
    }

    /// How the seat is now. What cannot be seen is `None`.
    pub fn look(&self) -> Look {
        let seen = match &self.shown_by {
            ShownBy::Tmux(pane) => pane.look(&self.sitter),
            ShownBy::Screen(window) => window.look(&self.sitter),
            ShownBy::Zellij(pane) => pane.look(&self.sitter),
            ShownBy::Kitty(window) => window.look(&self.sitter),
            ShownBy::Wezterm(pane) => pane.look(&self.sitter),
            ShownBy::Osascript(session) => session.look(),
        };
        Look { foreground: self.sitter.foreground(), ..seen }
    }

    /// Puts the text into the seat as a paste, and leaves it there unsent.
    pub fn type_in(&self, text: &str) -> Result<(), DriverError> {
        check(text)?;
        self.check_sitter()?;
        match &self.shown_by {
            ShownBy::Tmux(pane) => pane.paste(text),
            ShownBy::Screen(window) => window.paste(text),
            ShownBy::Zellij(pane) => pane.paste(text),
            ShownBy::Kitty(window) => window.paste(text),
            ShownBy::Wezterm(pane) => pane.paste(text),
            ShownBy::Osascript(session) => session.paste(text),
        }
    }

    /// Sends off what stands in the seat's input line.
    pub fn press_enter(&self) -> Result<(), DriverError> {
        self.check_sitter()?;
        match &self.shown_by {
            ShownBy::Tmux(pane) => pane.enter(),
            ShownBy::Screen(window) => window.enter(),
            ShownBy::Zellij(pane) => pane.enter(),
            ShownBy::Kitty(window) => window.enter(),
            ShownBy::Wezterm(pane) => pane.enter(),
            ShownBy::Osascript(session) => session.enter(),
        }
    }

    /// At the last moment once more: looking and typing are two calls.
    fn check_sitter(&self) -> Result<(), DriverError> {
        let is_asked_by_device = matches!(self.shown_by, ShownBy::Osascript(_));
        if is_asked_by_device || self.sitter.process().is_some() { Ok(()) } else { Err(DriverError::Moved) }
    }
}

/// A control character could end the paste and act as keys do.
fn check(text: &str) -> Result<(), DriverError> {
    let is_key = |char: char| char.is_control() && char != '\n' && char != '\t';
    match text {
        "" => Err(DriverError::Nothing),
        _ if text.len() > LONGEST => Err(DriverError::TooLong),
        _ if text.contains(is_key) => Err(DriverError::ControlCharacter),
        _ => Ok(()),
    }
}

/// The text as a terminal sends a paste: in brackets, its line ends as Enter would be, which within brackets it is not.
fn bracketed(text: &str) -> String {
    format!("\u{1b}[200~{}\u{1b}[201~", text.replace('\n', "\r"))
}

const ENTER: &str = "\r";

#[cfg(test)]
mod tests;
