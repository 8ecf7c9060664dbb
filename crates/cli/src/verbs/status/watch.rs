//! `tow status --watch`: keeps the list on the screen, or prints a JSON line per change.
//!
//! Refreshes after writes, and fully every two seconds. Decides nothing: the modules below are pure and hold
//! news detection, drawing and keys.

mod frame;
mod keys;
mod news;

pub use news::Channel;

use super::{Arguments, fits};
use crate::canvas::{KeyInput, TerminalCanvas, end_signals, is_popup, is_possible, reporting_panics};
use crate::output::Output;
use crate::scope::Scope;
use crate::verbs::goto::NOBODY_WAITS;
use frame::{Footer, Selection, View, frame};
use keys::{WatchKey, pressed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use towline_core::bar::{BarStyle, bar};
use towline_core::escape::escape_for_terminal;
use towline_core::shown::SeatView;
use towline_engine::ingest::goto::{go, longest_waiting};
use towline_engine::ingest::live;
use towline_engine::ingest::live::Glance;
use towline_engine::runtime::env::{Env, variable};
use towline_engine::runtime::failure::Failure;
use towline_render::status_json;
use towline_store::DataFolder;

/// How often to check for writes.
const PULSE: Duration = Duration::from_millis(250);

/// Interval of full refreshes, for changes that no hook reports.
const FULL_LOOK: Duration = Duration::from_secs(2);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.json {
        return print_changes(scope, arguments);
    }
    if !is_possible() {
        let what = "`tow status --watch` needs a terminal that can be drawn on";
        let hint = "Run `tow status`, or `tow status --watch --json` for a script.";
        return Err(Failure::input(what).hint(hint));
    }
    reporting_panics("watch", || {
        let ended_by = end_signals()?;
        let signal = watch(scope, arguments, &ended_by)?;
        Ok(signal.map_or(ExitCode::SUCCESS, |signal| ExitCode::from(128_u8.saturating_add(signal))))
    })
}

/// Runs until a key, a signal (which is returned) or a closed terminal ends it.
fn watch(scope: &Scope, arguments: &Arguments, ended_by: &AtomicUsize) -> Result<Option<u8>, Failure> {
    let channel = arguments.notify.unwrap_or_else(|| Channel::of_terminal(&variable));
    let mut screen = Screen::new(arguments, channel, RefreshTimer::new(&scope.env));
    screen.look_again(&scope_of_now()?);
    let failed = |error: io::Error| Failure::about("could not use the terminal", &error);
    let own = |end: &dyn AsFd| end.as_fd().try_clone_to_owned().map_err(failed);
    let mut canvas = TerminalCanvas::enter(own(&io::stdin())?, own(&io::stdout())?).map_err(failed)?;
    loop {
        // A failed write means that the terminal is gone.
        if screen.draw(&mut canvas).is_err() {
            return Ok(None);
        }
        let typed = canvas.typed(PULSE);
        if let Ok(signal @ 1..) = u8::try_from(ended_by.load(Ordering::Relaxed)) {
            return Ok(Some(signal));
        }
        let scope = scope_of_now()?;
        match typed {
            KeyInput::Gone => return Ok(None),
            KeyInput::Bytes(bytes) => {
                if pressed(&bytes).into_iter().any(|key| screen.press(&scope, key) == WatchStep::Leave) {
                    return Ok(None);
                }
            }
            KeyInput::Nothing => {}
        }
        screen.look_again(&scope);
    }
}

/// Every refresh has its own clock and deadline.
fn scope_of_now() -> Result<Scope, Failure> {
    let env = Env::new().ok_or_else(|| Failure::input("there is no home folder any more"))?;
    Ok(Scope { env, out: Output::new() })
}

/// The list on the screen, and the user's selection.
struct Screen<'a> {
    arguments: &'a Arguments,
    channel: Channel,
    looks: RefreshTimer<'a>,
    /// The last list; `None` before the first refresh.
    seats: Option<Vec<SeatView>>,
    choice: Selection,
    footer: Footer,
    /// The error of the last refresh.
    trouble: Option<Footer>,
    /// Notifications to write with the next frame.
    untold: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchStep {
    Stay,
    Leave,
}

impl<'a> Screen<'a> {
    fn new(arguments: &'a Arguments, channel: Channel, looks: RefreshTimer<'a>) -> Screen<'a> {
        let (choice, footer) = (Selection::default(), Footer::default());
        Screen {
            arguments,
            channel,
            looks,
            seats: None,
            choice,
            footer,
            trouble: None,
            untold: String::new(),
        }
    }

    /// A failed refresh keeps the old list and shows the error.
    fn look_again(&mut self, scope: &Scope) {
        match self.looks.again(scope) {
            None => {}
            Some(Err(failure)) => self.trouble = Some(message(&failure)),
            Some(Ok(mut seats)) => {
                self.trouble = None;
                seats.retain(|seat| fits(seat, self.arguments));
                if let Some(before) = &self.seats {
                    self.untold += &self.channel.say(&news::news(before, &seats));
                }
                self.seats = Some(seats);
            }
        }
    }

    fn draw(&mut self, canvas: &mut TerminalCanvas) -> io::Result<()> {
        let scope = scope_of_now().map_err(|failure| io::Error::other(failure.what))?;
        let seats = self.seats.as_deref().unwrap_or_default();
        let (size, footer) = (canvas.size(), self.trouble.as_ref().unwrap_or(&self.footer));
        let view = View { seats, choice: &self.choice, footer, now: scope.env.now };
        canvas.draw(frame(&view, size, &scope.out), size)?;
        let counts = bar(seats, &BarStyle::default().without_colours(), scope.env.now);
        canvas.name(if counts.is_empty() { "no agents" } else { &counts })?;
        canvas.send(&std::mem::take(&mut self.untold))
    }

    fn press(&mut self, scope: &Scope, key: WatchKey) -> WatchStep {
        let seats = self.seats.clone().unwrap_or_default();
        // The next key dismisses the message.
        let said = std::mem::take(&mut self.footer);
        match key {
            WatchKey::Quit => return WatchStep::Leave,
            WatchKey::Up => self.choice.up(&seats),
            WatchKey::Down => self.choice.down(&seats),
            WatchKey::Help if said != Footer::Help => self.footer = Footer::Help,
            WatchKey::Help => {}
            WatchKey::Go => return self.go(scope, self.choice.of(&seats)),
            WatchKey::Next => match longest_waiting(&seats) {
                None => self.footer = Footer::Message(NOBODY_WAITS.to_owned()),
                seat => return self.go(scope, seat),
            },
        }
        WatchStep::Stay
    }

    /// Jumps to the agent's pane. A popup would cover the pane, so it closes.
    fn go(&mut self, scope: &Scope, seat: Option<&SeatView>) -> WatchStep {
        let Some(seat) = seat else { return WatchStep::Stay };
        match go(&scope.env, seat) {
            Ok(_) if is_popup() => WatchStep::Leave,
            Ok(_) => WatchStep::Stay,
            Err(failure) => {
                self.footer = message(&failure);
                WatchStep::Stay
            }
        }
    }
}

fn message(failure: &Failure) -> Footer {
    Footer::Message(escape_for_terminal(&failure.what))
}

/// Decides when to refresh, and how thoroughly.
struct RefreshTimer<'a> {
    /// Measures time since the start of the process.
    begun: &'a Env,
    seen: Option<[WriteStamp; 2]>,
    looked_at: Option<Duration>,
}

/// Size and modification time of a file; a change means that it was written.
type WriteStamp = Option<(u64, SystemTime)>;

impl<'a> RefreshTimer<'a> {
    fn new(begun: &'a Env) -> RefreshTimer<'a> {
        RefreshTimer { begun, seen: None, looked_at: None }
    }

    /// The agents, if a full refresh is due or something was written since; otherwise two `stat` calls.
    fn again(&mut self, scope: &Scope) -> Option<Result<Vec<SeatView>, Failure>> {
        // Read before refreshing: the next pulse sees writes that happen in between.
        let written = Some(written(&scope.env.home));
        let has_changed = std::mem::replace(&mut self.seen, written) != written;
        let now = self.begun.elapsed();
        if self.looked_at.is_none_or(|at| now.saturating_sub(at) >= FULL_LOOK) {
            self.looked_at = Some(now);
            return Some(full_look(scope));
        }
        has_changed.then(|| live::last_seats(&scope.env))
    }
}

/// Applies the journal, probes processes and transcripts, and pushes the result to the tmux bars.
fn full_look(scope: &Scope) -> Result<Vec<SeatView>, Failure> {
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    // The next refresh repeats a failed push.
    let _told = live::push(&scope.env);
    Ok(seats)
}

fn written(home: &DataFolder) -> [WriteStamp; 2] {
    let of = |path: &Path| {
        let meta = std::fs::metadata(path).ok()?;
        Some((meta.len(), meta.modified().ok()?))
    };
    [of(&home.database()), of(&home.write_ahead_log())]
}

/// Prints one object per line whenever it changed, until the reader closes the pipe.
fn print_changes(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut looks = RefreshTimer::new(&scope.env);
    let mut last = String::new();
    loop {
        // A failed refresh is repeated; the reader gets the next change.
        if let Some(Ok(mut seats)) = looks.again(&scope_of_now()?) {
            seats.retain(|seat| fits(seat, arguments));
            let object = status_json(&seats).to_string();
            if object != last && scope.out.send(&format!("{object}\n")).is_err() {
                return Ok(ExitCode::SUCCESS);
            }
            last = object;
        }
        if is_closed_within(PULSE) {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Whether the reader closed the pipe: polled for no events, a pipe reports only that.
fn is_closed_within(patience: Duration) -> bool {
    let Ok(limit) = Timespec::try_from(patience) else { return true };
    let stdout = io::stdout();
    let mut ends = [PollFd::new(&stdout, PollFlags::empty())];
    match poll(&mut ends, Some(&limit)) {
        Ok(0) | Err(Errno::INTR) => false,
        Ok(_) | Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::session::SessionState;
    use towline_core::time::Timestamp;

    pub fn seat(key: &str, state: SessionState) -> SeatView {
        SeatView {
            session: Some(format!("agent:{key}")),
            state,
            seen: false,
            project: Some("app".into()),
            prompt: Some("do it".into()),
            ..SeatView::at(key, "agent", Timestamp(1))
        }
    }
}
