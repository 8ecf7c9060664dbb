//! `tow status --watch`: the same list, kept before a person until they leave it, or a line per change for a script.
//!
//! It looks again where something was written, at everything every two seconds, and decides nothing: what is news, how it
//! is drawn and what a key means are pure and lie below.

mod frame;
mod keys;
mod news;

pub use news::Channel;

use super::{Arguments, fits, object};
use crate::canvas::Canvas;
use crate::canvas::Typed;
use crate::canvas::end_signals;
use crate::canvas::is_popup;
use crate::canvas::is_possible;
use crate::canvas::reporting_panics;
use crate::output::Output;
use crate::scope::Scope;
use crate::verbs::goto;
use frame::{Choice, Footer, View, frame};
use keys::{Key, pressed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use towline_core::bar::{BarStyle, bar};
use towline_core::escape::for_terminal;
use towline_core::shown::Shown;
use towline_engine::ingest::live;
use towline_engine::ingest::live::Glance;
use towline_engine::runtime::env::Env;
use towline_engine::runtime::env::variable;
use towline_engine::runtime::failure::Failure;
use towline_store::Home;

/// How often it is asked whether something was written.
const PULSE: Duration = Duration::from_millis(250);

/// How often all seats are looked at for what no hook tells.
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

/// Until a key, a signal (which is returned) or the end of the terminal ends it.
fn watch(scope: &Scope, arguments: &Arguments, ended_by: &AtomicUsize) -> Result<Option<u8>, Failure> {
    let channel = arguments.notify.unwrap_or_else(|| Channel::of_terminal(&variable));
    let mut screen = Screen::new(arguments, channel, Looks::new(&scope.env));
    screen.look_again(&scope_of_now()?);
    let failed = |error: io::Error| Failure::about("could not use the terminal", &error);
    let own = |end: &dyn AsFd| end.as_fd().try_clone_to_owned().map_err(failed);
    let mut canvas = Canvas::enter(own(&io::stdin())?, own(&io::stdout())?).map_err(failed)?;
    loop {
        // What cannot be written has nobody to read it.
        if screen.draw(&mut canvas).is_err() {
            return Ok(None);
        }
        let typed = canvas.typed(PULSE);
        if let Ok(signal @ 1..) = u8::try_from(ended_by.load(Ordering::Relaxed)) {
            return Ok(Some(signal));
        }
        let scope = scope_of_now()?;
        match typed {
            Typed::Gone => return Ok(None),
            Typed::Bytes(bytes) => {
                if pressed(&bytes).into_iter().any(|key| screen.press(&scope, key) == After::Leave) {
                    return Ok(None);
                }
            }
            Typed::Nothing => {}
        }
        screen.look_again(&scope);
    }
}

/// Every look has a clock and a deadline of its own.
fn scope_of_now() -> Result<Scope, Failure> {
    let env = Env::new().ok_or_else(|| Failure::input("there is no home folder any more"))?;
    Ok(Scope { env, out: Output::new() })
}

/// What is before the person, and what they have chosen.
struct Screen<'a> {
    arguments: &'a Arguments,
    channel: Channel,
    looks: Looks<'a>,
    /// What was seen last; nothing before the first look.
    seats: Option<Vec<Shown>>,
    choice: Choice,
    footer: Footer,
    /// Why the last look failed.
    trouble: Option<Footer>,
    /// What the terminal is to be told with the next drawing.
    untold: String,
}

/// What a key leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Stay,
    Leave,
}

impl<'a> Screen<'a> {
    fn new(arguments: &'a Arguments, channel: Channel, looks: Looks<'a>) -> Screen<'a> {
        let (choice, footer) = (Choice::default(), Footer::default());
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

    /// A look that failed leaves what was seen before, and says so.
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

    fn draw(&mut self, canvas: &mut Canvas) -> io::Result<()> {
        let scope = scope_of_now().map_err(|failure| io::Error::other(failure.what))?;
        let seats = self.seats.as_deref().unwrap_or_default();
        let (size, footer) = (canvas.size(), self.trouble.as_ref().unwrap_or(&self.footer));
        let view = View { seats, choice: &self.choice, footer, now: scope.env.now };
        canvas.draw(frame(&view, size, &scope.out), size)?;
        let counts = bar(seats, &BarStyle::default().without_colours(), scope.env.now);
        canvas.name(if counts.is_empty() { "no agents" } else { &counts })?;
        canvas.send(&std::mem::take(&mut self.untold))
    }

    fn press(&mut self, scope: &Scope, key: Key) -> After {
        let seats = self.seats.clone().unwrap_or_default();
        // What was said has been read by whoever presses the next key.
        let said = std::mem::take(&mut self.footer);
        match key {
            Key::Quit => return After::Leave,
            Key::Up => self.choice.up(&seats),
            Key::Down => self.choice.down(&seats),
            Key::Help if said != Footer::Help => self.footer = Footer::Help,
            Key::Help => {}
            Key::Go => return self.go(scope, self.choice.of(&seats)),
            Key::Next => match goto::longest_waiting(&seats) {
                None => self.footer = Footer::Message(goto::NOBODY_WAITS.to_owned()),
                seat => return self.go(scope, seat),
            },
        }
        After::Stay
    }

    /// A popup lies over where it leads: it has to go.
    fn go(&mut self, scope: &Scope, seat: Option<&Shown>) -> After {
        let Some(seat) = seat else { return After::Stay };
        match goto::go(scope, seat) {
            Ok(_) if is_popup() => After::Leave,
            Ok(_) => After::Stay,
            Err(failure) => {
                self.footer = message(&failure);
                After::Stay
            }
        }
    }
}

fn message(failure: &Failure) -> Footer {
    Footer::Message(for_terminal(&failure.what))
}

/// When to look again, and how closely.
struct Looks<'a> {
    /// Measures time from the beginning of the process.
    begun: &'a Env,
    seen: Option<[Written; 2]>,
    looked_at: Option<Duration>,
}

/// Size and time of a file: another one means that something was written.
type Written = Option<(u64, SystemTime)>;

impl<'a> Looks<'a> {
    fn new(begun: &'a Env) -> Looks<'a> {
        Looks { begun, seen: None, looked_at: None }
    }

    /// The seats, if it is time to look at all of them or if something was written since; two questions to the file
    /// system else.
    fn again(&mut self, scope: &Scope) -> Option<Result<Vec<Shown>, Failure>> {
        // Asked before looking: what is written in between is seen by the next pulse.
        let written = Some(written(&scope.env.home));
        let has_changed = std::mem::replace(&mut self.seen, written) != written;
        let now = self.begun.elapsed();
        if self.looked_at.is_none_or(|at| now.saturating_sub(at) >= FULL_LOOK) {
            self.looked_at = Some(now);
            return Some(full_look(scope));
        }
        has_changed.then(|| live::glance(&scope.env))
    }
}

/// Folds, and asks processes and transcripts. Whoever folds tells the bars.
fn full_look(scope: &Scope) -> Result<Vec<Shown>, Failure> {
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    // A bar that is busy is told by the next look.
    let _told = live::push(&scope.env);
    Ok(seats)
}

fn written(home: &Home) -> [Written; 2] {
    let of = |path: &Path| {
        let meta = std::fs::metadata(path).ok()?;
        Some((meta.len(), meta.modified().ok()?))
    };
    [of(&home.database()), of(&home.write_ahead_log())]
}

/// One object per line, whenever it is another one, for as long as somebody reads them.
fn print_changes(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut looks = Looks::new(&scope.env);
    let mut last = String::new();
    loop {
        // A look that failed is made again: whoever reads this is told of the next change.
        if let Some(Ok(mut seats)) = looks.again(&scope_of_now()?) {
            seats.retain(|seat| fits(seat, arguments));
            let object = object(&seats);
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

/// Whether the reader went away: asked for nothing, a pipe tells only that.
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
    use towline_core::session::State;
    use towline_core::time::Timestamp;

    pub fn seat(key: &str, state: State) -> Shown {
        Shown {
            session: Some(format!("agent:{key}")),
            state,
            seen: false,
            project: Some("app".into()),
            prompt: Some("do it".into()),
            ..Shown::at(key, "agent", Timestamp(1))
        }
    }
}
