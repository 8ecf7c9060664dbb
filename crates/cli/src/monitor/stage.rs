//! The monitor's event loop: draws frames, reads keys, and refreshes the rows after changes.
//!
//! Refreshes at most a few times a second, and hardly ever while nothing changes. The `towline_monitor` crate
//! interprets keys and builds frames; this file only carries out its actions.

use super::canvas::{KeyInput, TerminalCanvas, end_signals, is_popup};
use super::filter::SessionFilter;
use super::gather::{RowGatherer, detail};
use super::keeper::{Keeper, release_keeper};
use super::notify::{Channel, Notifier};
use super::wakes::Wakes;
use crate::output::{Output, complain};
use crate::progress;
use crate::scope::Scope;
use std::io;
use std::os::fd::AsFd;
use std::panic::PanicHookInfo;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use towline_core::bar::{BarStyle, bar};
use towline_core::shown::SeatLight;
use towline_engine::ingest::goto;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::query::background_work;
use towline_engine::runtime::config::warning;
use towline_engine::runtime::{Env, Failure, variable};
use towline_engine::status::push;
use towline_monitor::{
    ColourMode, EndedRows, Frame, KeyPress, MonitorAction, MonitorInput, MonitorModel, pressed, update, view,
};
use towline_render::background_line;

/// Shortest time between two refreshes, however much is written.
const SHORTEST: Duration = Duration::from_millis(250);

/// How often to check transcripts and processes for changes that raise no event.
const PULSE: Duration = Duration::from_millis(500);

/// Interval of thorough refreshes while an agent works or waits: an answered dialog shows only on its screen.
const BUSY_LOOK: Duration = Duration::from_secs(3);

/// Interval of thorough refreshes while all agents are idle.
const IDLE_LOOK: Duration = Duration::from_secs(10);

/// The rows of a monitor, and how the terminal notifies the user.
pub struct MonitorOptions {
    pub filter: SessionFilter,
    pub ended: EndedRows,
    pub channel: Channel,
}

/// Runs the monitor until a key or a signal ends it.
pub fn play(scope: &Scope, options: MonitorOptions) -> Result<ExitCode, Failure> {
    std::panic::set_hook(Box::new(end_with_report));
    let ended_by = end_signals()?;
    let signal = MonitorLoop::new(scope, options)?.until_the_end(&ended_by)?;
    Ok(signal.map_or(ExitCode::SUCCESS, |signal| ExitCode::from(128_u8.saturating_add(signal))))
}

/// The canvas has restored the terminal by now.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "a panic hook has no caller to return to")]
fn end_with_report(panic: &PanicHookInfo<'_>) {
    release_keeper();
    complain(&Failure::input(format!("the monitor panicked: {panic}")).render());
    std::process::exit(1)
}

struct MonitorLoop<'a> {
    /// Measures time since the start of the process.
    begun: &'a Env,
    gatherer: RowGatherer,
    wakes: Wakes,
    model: MonitorModel,
    notifier: Notifier,
    /// The frame on the screen.
    drawn: Option<Frame>,
    looked_at: Duration,
    /// Time of the last thorough refresh.
    looked_closely_at: Option<Duration>,
    /// Data was written since the last refresh.
    has_news: bool,
    /// The user wants to see more, or the result of an action.
    is_wanted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MonitorStep {
    Stay,
    Leave,
}

impl<'a> MonitorLoop<'a> {
    fn new(scope: &'a Scope, options: MonitorOptions) -> Result<MonitorLoop<'a>, Failure> {
        let colours = if variable("NO_COLOR").is_some() { ColourMode::Hidden } else { ColourMode::Shown };
        Ok(MonitorLoop {
            begun: &scope.env,
            gatherer: RowGatherer::new(options.filter),
            wakes: Wakes::on(&scope.env.home)?,
            model: MonitorModel::new(scope.env.now, colours, options.ended),
            notifier: Notifier::new(options.channel),
            drawn: None,
            looked_at: Duration::ZERO,
            looked_closely_at: None,
            has_news: false,
            is_wanted: false,
        })
    }

    /// Returns the signal that ended the loop, if one did.
    fn until_the_end(&mut self, ended_by: &AtomicUsize) -> Result<Option<u8>, Failure> {
        let failed = |error: io::Error| Failure::about("could not use the terminal", &error);
        let own = |end: &dyn AsFd| end.as_fd().try_clone_to_owned().map_err(failed);
        // Dropped in reverse order: the canvas restores the terminal, then the keeper is dismissed.
        let _held = progress::hold();
        let _keeper = Keeper::start(own(&io::stdout())?);
        let mut canvas = TerminalCanvas::enter(own(&io::stdin())?, own(&io::stdout())?).map_err(failed)?;
        loop {
            // A failed write means that the terminal is gone.
            if self.draw(&mut canvas).is_err() {
                return Ok(None);
            }
            break_for_tests();
            let typed = canvas.typed(&self.wakes.ends(), self.patience());
            self.has_news |= self.wakes.take();
            if let Ok(signal @ 1..) = u8::try_from(ended_by.load(Ordering::Relaxed)) {
                return Ok(Some(signal));
            }
            match typed {
                KeyInput::Gone => return Ok(None),
                KeyInput::Bytes(bytes) => {
                    if pressed(&bytes).into_iter().any(|key| self.press(key) == MonitorStep::Leave) {
                        return Ok(None);
                    }
                }
                KeyInput::Nothing => {}
            }
            self.look_again();
        }
    }

    fn tell(&mut self, input: MonitorInput) {
        let _nothing_follows = update(&mut self.model, input);
    }

    fn draw(&mut self, canvas: &mut TerminalCanvas) -> io::Result<()> {
        let size = canvas.size();
        self.tell(MonitorInput::Size(size));
        if let Some(scope) = scope_of_now() {
            self.tell(MonitorInput::Now(scope.env.now));
        }
        let frame = view(&self.model, size);
        canvas.send(&frame.over(self.drawn.as_ref()))?;
        self.drawn = Some(frame);
        canvas.name(&title(&self.model))?;
        canvas.send(&self.notifier.take())
    }

    /// Time until a displayed value changes or a refresh is due.
    fn patience(&self) -> Duration {
        if self.looked_closely_at.is_none() {
            return Duration::ZERO;
        }
        if self.has_news {
            return SHORTEST.saturating_sub(self.begun.elapsed().saturating_sub(self.looked_at));
        }
        let tick = self.model.next_tick_ms().and_then(|ms| u64::try_from(ms).ok());
        tick.map_or(PULSE, |ms| Duration::from_millis(ms.max(20)).min(PULSE))
    }

    fn press(&mut self, key: KeyPress) -> MonitorStep {
        match update(&mut self.model, MonitorInput::Key(key)) {
            MonitorAction::Nothing => MonitorStep::Stay,
            MonitorAction::Quit => MonitorStep::Leave,
            MonitorAction::Look => {
                self.is_wanted = true;
                MonitorStep::Stay
            }
            MonitorAction::Go(key) => self.go(&key),
        }
    }

    /// Jumps to a session's pane. A popup would cover the pane, so it closes.
    fn go(&mut self, key: &str) -> MonitorStep {
        let (Some(row), Some(scope)) = (self.model.row(key), scope_of_now()) else {
            return MonitorStep::Stay;
        };
        match goto::go(&scope.env, &row.shown) {
            Ok(_) if is_popup() => return MonitorStep::Leave,
            Ok(_) => self.is_wanted = true,
            Err(failure) => self.tell(MonitorInput::Refused(failure.what)),
        }
        MonitorStep::Stay
    }

    /// Refreshes the rows if due. A failed refresh keeps the old rows and reports the error.
    fn look_again(&mut self) {
        let Some(glance) = self.due() else { return self.look_closely() };
        let Some(scope) = scope_of_now() else { return };
        let now = self.begun.elapsed();
        self.looked_at = now;
        (self.has_news, self.is_wanted) = (false, false);
        let ended = if self.model.needs_ended_sessions() { EndedRows::Shown } else { EndedRows::Hidden };
        self.tell(MonitorInput::Warning(warning(&scope.env)));
        self.tell(MonitorInput::Notes(push::notes(&scope.env)));
        // Opens the archive and the index: too much for every event of twenty sessions.
        if matches!(glance, Glance::Thorough) {
            let work = background_work(&scope.env).ok();
            self.tell(MonitorInput::Work(work.and_then(|work| background_line(&work))));
        }
        match self.gatherer.rows(&scope, glance, ended) {
            Ok(rows) => {
                self.tell(MonitorInput::Rows(rows));
                self.notifier.compare(self.model.live_seats());
            }
            Err(failure) => self.tell(MonitorInput::Trouble(failure.what)),
        }
        if glance == Glance::Thorough {
            self.looked_closely_at = Some(now);
            // The next thorough refresh repeats a failed push.
            let _pushed = live::push(&scope.env);
        }
        self.show_closely(&scope);
    }

    /// Which kind of refresh is due now, if any.
    fn due(&self) -> Option<Glance> {
        let now = self.begun.elapsed();
        let Some(closely) = self.looked_closely_at else { return Some(Glance::Thorough) };
        if now.saturating_sub(closely) >= self.rhythm() {
            return Some(Glance::Thorough);
        }
        if self.is_wanted {
            return Some(Glance::Cheap);
        }
        let is_soon = now.saturating_sub(self.looked_at) < SHORTEST;
        let is_due = !is_soon && (self.has_news || !self.gatherer.is_quiet(&self.begun.home));
        is_due.then_some(Glance::Cheap)
    }

    fn rhythm(&self) -> Duration {
        let is_busy =
            self.model.lights().iter().any(|light| matches!(light, SeatLight::Working | SeatLight::Blocked));
        if is_busy { BUSY_LOOK } else { IDLE_LOOK }
    }

    /// The selection may have changed.
    fn look_closely(&mut self) {
        let wanted = self.model.detail_row().map(|row| row.key());
        if wanted.is_some()
            && wanted != self.model.detail_session()
            && let Some(scope) = scope_of_now()
        {
            self.show_closely(&scope);
        }
    }

    fn show_closely(&mut self, scope: &Scope) {
        let Some(key) = self.model.detail_row().map(|row| row.key().to_owned()) else { return };
        match detail(scope, &key) {
            Ok(detail) => self.tell(MonitorInput::Detail(key, detail)),
            Err(failure) => self.tell(MonitorInput::Trouble(failure.what)),
        }
    }
}

/// Every refresh has its own clock and deadline.
fn scope_of_now() -> Option<Scope> {
    Some(Scope { env: Env::new()?, out: Output::new() })
}

fn title(model: &MonitorModel) -> String {
    let counts = bar(&model.live_seats(), model.notes(), &BarStyle::default().without_colours(), model.now());
    if counts.is_empty() { "no agents".to_owned() } else { counts }
}

/// Lets a test provoke a panic.
#[expect(clippy::panic, reason = "a test asked for it by name")]
fn break_for_tests() {
    if variable("TOWLINE_TEST_PANIC").as_deref() == Some("monitor") {
        panic!("as was asked for");
    }
}
