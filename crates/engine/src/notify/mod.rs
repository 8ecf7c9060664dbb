//! Notifications about state changes: user commands and the terminal at once, desktop and phone later.
//!
//! Waits for no child process, and reads and starts nothing without configuration. A session without a seat
//! is never announced, because no user sits in front of it.

mod alerts;
mod desktop;
mod errand;
mod plan;

pub use alerts::{NO_DESKTOP, errand, nudge, steps, wake_alert_process};
pub use desktop::desktop;
pub use errand::{Errand, Outcome, Voice};
pub use plan::Step;

use crate::runtime::config::{Commands, Notify};
use crate::runtime::env::find_in_path;
use crate::runtime::{Config, Env, faults, settings};
use crate::status::tmux::options::Options;
use crate::status::{push, seats};
use std::collections::BTreeMap;
use std::time::Duration;
use towline_core::effect::{ChangeCause, Effect};
use towline_core::event::{Event, EventKind};
use towline_core::fault::FaultKind;
use towline_core::id::SessionKey;
use towline_core::session::SessionState;
use towline_core::shown::SeatView;
use towline_core::telling::{Notification, TerminalSignal};
use towline_core::time::Timestamp;
use towline_store::told::{self, LastNotification, NotificationTopic, NotifyChannel};
use towline_store::{Store, StoreError};

/// Events applied later than this are no longer news: a rebuild replays months of journal.
const FRESH_MS: i64 = 60_000;

/// Whether a change has to be announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Novelty {
    New,
    /// The same state was announced a moment ago.
    Repeated,
}

/// Announces the state changes among these effects, as configured.
pub fn changes(env: &Env, config: &Config, store: &Store, effects: &[Effect]) -> Result<(), StoreError> {
    let mut notifier = Notifier { env, notify: &config.notify, store, options: BTreeMap::new() };
    let mut is_worth_telling = false;
    for change in effects.iter().filter_map(|effect| change(effect, env.now)) {
        let was_told = notifier.tell(&change)?;
        is_worth_telling |= was_told && config.notify.notifies_on(change.to);
    }
    if is_worth_telling && config.notify.escalates() {
        wake_alert_process(&env.home);
    }
    for effect in effects {
        notifier.tell_look(effect)?;
        notifier.tell_hop(effect)?;
    }
    Ok(())
}

/// The escape sequence for the agent's terminal after this event was applied. Empty if the event changed
/// nothing or terminal signs are off.
pub fn terminal(notify: &Notify, store: &Store, event: &Event) -> Result<String, StoreError> {
    if !notify.speaks_by_terminal() {
        return Ok(String::new());
    }
    // A bookmark marker leaves the session's state as it was; only the title has to be restored.
    let is_end = matches!(event.happening, EventKind::TurnEnded { .. });
    let Some(seat) = seat_of(store, &event.session)?.filter(|seat| seat.since == event.at || is_end) else {
        return Ok(String::new());
    };
    if notify.is_muted(seat.project.as_deref()) {
        return Ok(String::new());
    }
    let telling = Notification::of(&seat, None, seat.state);
    let title = if notify.title { telling.title() } else { String::new() };
    let topic =
        NotificationTopic { session: event.session.clone(), state: seat.state, way: NotifyChannel::AtOnce };
    let is_told = notify.notifies_on(seat.state)
        && told::last(store.home(), &topic).is_some_and(|told| told.since == event.at);
    Ok(title + &telling.terminal_sequence(if is_told { notify.terminal } else { TerminalSignal::Off }))
}

/// Looks the seat up in the store: it may come from a later event than the state change.
fn seat_of(store: &Store, session: &SessionKey) -> Result<Option<SeatView>, StoreError> {
    let Some(session) = store.session(session)? else { return Ok(None) };
    let seat = session.seat.as_deref().map(|key| store.seat(key)).transpose()?.flatten();
    Ok(seat.map(|seat| seats::show(&session, &seat.place)))
}

/// Restarts the alert process if notifications are pending: the last one may have been killed.
pub fn catch_up(env: &Env, seats: &[SeatView]) {
    let may_wait =
        |seat: &SeatView| !seat.seen && !matches!(seat.state, SessionState::Idle | SessionState::Working);
    if !seats.iter().any(may_wait) {
        return;
    }
    let notify = settings(env).notify;
    if notify.escalates() && !steps(env, &notify, seats).is_empty() {
        wake_alert_process(&env.home);
    }
}

/// Records a fault for `tow doctor`.
pub fn fault(env: &Env, detail: String) {
    faults::record_here(env, FaultKind::Notify, detail);
}

struct StateChange<'a> {
    session: &'a SessionKey,
    seat: Option<&'a str>,
    from: Option<SessionState>,
    to: SessionState,
    at: Timestamp,
    about: ChangeCause,
}

/// Returns a state change that is still news. The place to drop stops that Towline itself continues from.
fn change(effect: &Effect, now: Timestamp) -> Option<StateChange<'_>> {
    let Effect::StateChanged { session, seat, from, to, at, about } = effect else { return None };
    let begins = from.is_none() && *to == SessionState::Idle;
    let is_news = !begins && now.since_ms(*at) <= FRESH_MS;
    is_news.then_some(StateChange {
        session,
        seat: seat.as_deref(),
        from: *from,
        to: *to,
        at: *at,
        about: *about,
    })
}

struct Notifier<'a> {
    env: &'a Env,
    notify: &'a Notify,
    store: &'a Store,
    /// The commands of each tmux server seen so far, by its process id.
    options: BTreeMap<String, Commands>,
}

impl Notifier<'_> {
    /// Returns whether the change is to be announced at all.
    fn tell(&mut self, change: &StateChange<'_>) -> Result<bool, StoreError> {
        let of_tmux = self.tmux_commands(change.seat);
        if !self.concerns(change.to, &of_tmux) {
            return Ok(false);
        }
        let Some(seat) = seat_of(self.store, change.session)? else { return Ok(false) };
        if self.notify.is_muted(seat.project.as_deref()) {
            return Ok(false);
        }
        let Some(novelty) = self.remember(change) else { return Ok(false) };
        let telling = Notification::of(&seat, change.from, change.to);
        self.run(change.to, novelty, &of_tmux, &telling);
        Ok(true)
    }

    /// A look at a session that had stopped is a change of its light, not of its state: only `transition` runs.
    fn tell_look(&mut self, effect: &Effect) -> Result<(), StoreError> {
        let Effect::Seen { session, state, at } = effect else { return Ok(()) };
        if self.env.now.since_ms(*at) > FRESH_MS {
            return Ok(());
        }
        let Some(seat) = seat_of(self.store, session)? else { return Ok(()) };
        if !self.notify.is_muted(seat.project.as_deref()) {
            let of_tmux = self.tmux_commands(Some(&seat.seat));
            let telling = Notification::of_look(&seat, *state);
            self.run(*state, Novelty::Repeated, &of_tmux, &telling);
        }
        Ok(())
    }

    fn run(&self, to: SessionState, novelty: Novelty, of_tmux: &Commands, telling: &Notification) {
        let books = [("notify.on_", &self.notify.commands), ("@towline-on-", of_tmux)];
        for (name, words) in commands(to, novelty, books) {
            self.start(&Errand::new(name, words, telling));
        }
    }

    /// Announces a failed automatic continuation on desktop and phone at once: no user was there to see it.
    fn tell_hop(&self, effect: &Effect) -> Result<(), StoreError> {
        let Effect::HopEnded { session, why, at, .. } = effect else { return Ok(()) };
        if self.env.now.since_ms(*at) > FRESH_MS || !self.notify.escalates() {
            return Ok(());
        }
        let Some(seat) = seat_of(self.store, session)? else { return Ok(()) };
        if self.notify.is_muted(seat.project.as_deref()) {
            return Ok(());
        }
        let prompt = Some(format!("does not go on by itself: {why}"));
        let telling = Notification::of(&SeatView { prompt, ..seat.clone() }, None, seat.state);
        let is_there = |name: &str| find_in_path(name).is_some();
        let desktop = self.notify.desktop_after.and_then(|_| desktop(&telling, &is_there));
        let phone = self.notify.phone_after.filter(|_| !self.notify.phone.is_empty());
        let phone = phone.map(|_| Errand::new("notify.phone", &self.notify.phone, &telling));
        desktop.iter().chain(&phone).for_each(|errand| self.start(errand));
        Ok(())
    }

    /// Reads the cached options of each server at most once: a hook never queries tmux.
    fn tmux_commands(&mut self, seat: Option<&str>) -> Commands {
        let Some(server) = seat.and_then(push::server_of) else { return Commands::new() };
        let home = &self.env.home;
        let known = self.options.entry(server.pid.clone());
        known.or_insert_with(|| Options::remembered(home, &server).commands).clone()
    }

    fn concerns(&self, to: SessionState, of_tmux: &Commands) -> bool {
        let runs = |book: &Commands| book.contains_key(to.name()) || book.contains_key("transition");
        let signs = self.notify.terminal != TerminalSignal::Off || self.notify.escalates();
        runs(&self.notify.commands) || runs(of_tmux) || (signs && self.notify.notifies_on(to))
    }

    /// Changes caused by a bookmark marker run only the `transition` commands: the user asked for nothing.
    fn remember(&self, change: &StateChange<'_>) -> Option<Novelty> {
        if change.about == ChangeCause::Marker {
            return Some(Novelty::Repeated);
        }
        let topic = NotificationTopic {
            session: change.session.clone(),
            state: change.to,
            way: NotifyChannel::AtOnce,
        };
        let last = told::last(&self.env.home, &topic);
        let novelty = novelty(last, change.at, self.notify.debounce)?;
        if novelty == Novelty::New {
            // If this fails, the change is announced twice at worst.
            let _ = told::remember(
                &self.env.home,
                &topic,
                LastNotification { since: change.at, at: self.env.now },
            );
        }
        Some(novelty)
    }

    fn start(&self, errand: &Errand) {
        if let Err(error) = errand.start() {
            fault(self.env, format!("`{}` could not start `{}`: {error}", errand.name, errand.program));
        }
    }
}

/// Compares a change with the last announcement of the same state. `None` if this change was announced
/// already: events may be applied twice.
fn novelty(last: Option<LastNotification>, at: Timestamp, debounce: Duration) -> Option<Novelty> {
    let Some(last) = last else { return Some(Novelty::New) };
    if at == last.since {
        return None;
    }
    let is_soon = at > last.since && at.since_ms(last.since).unsigned_abs() < debounce.as_secs() * 1000;
    Some(if is_soon { Novelty::Repeated } else { Novelty::New })
}

/// The commands for a change: first those of its state, then `transition`. A repeated state skips its own
/// commands, but `transition` runs on every change.
fn commands<'a>(
    to: SessionState,
    novelty: Novelty,
    books: [(&str, &'a Commands); 2],
) -> Vec<(String, &'a Vec<String>)> {
    let occasions: &[&str] = match novelty {
        Novelty::New => &[to.name(), "transition"],
        Novelty::Repeated => &["transition"],
    };
    let named = |occasion: &&str| {
        books.map(|(prefix, book)| Some((format!("{prefix}{occasion}"), book.get(*occasion)?)))
    };
    occasions.iter().flat_map(named).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::event::BlockReason;

    const BLOCKED: SessionState = SessionState::Blocked(BlockReason::Permission);

    fn effect(from: Option<SessionState>, to: SessionState, at: i64) -> Effect {
        let session = SessionKey::parse("agent:id").unwrap();
        let (seat, at) = (Some("s".into()), Timestamp(at));
        Effect::StateChanged { session, seat, from, to, at, about: ChangeCause::Work }
    }

    #[test]
    fn a_session_that_begins_is_no_change_and_an_old_change_is_no_news() {
        let is_news = |from, to, now| change(&effect(from, to, 1000), Timestamp(now)).is_some();
        assert!(!is_news(None, SessionState::Idle, 1000));
        assert!(
            is_news(None, SessionState::Working, 1000)
                && is_news(Some(SessionState::Ended), SessionState::Idle, 1000)
        );
        assert!(is_news(Some(SessionState::Working), BLOCKED, 61_000));
        assert!(!is_news(Some(SessionState::Working), BLOCKED, 61_001));
    }

    #[test]
    fn the_states_own_commands_run_first_and_a_repetition_runs_only_the_catch_all() {
        let book = |names: &[&str]| -> Commands {
            names.iter().map(|name| ((*name).to_owned(), vec![(*name).to_owned()])).collect()
        };
        let (config, tmux) = (book(&["blocked", "idle", "transition"]), book(&["blocked", "transition"]));
        let names = |novelty| -> Vec<String> {
            let books = [("notify.on_", &config), ("@towline-on-", &tmux)];
            commands(BLOCKED, novelty, books).into_iter().map(|(name, _)| name).collect()
        };
        let every = ["notify.on_transition", "@towline-on-transition"];
        assert_eq!(names(Novelty::New), [["notify.on_blocked", "@towline-on-blocked"], every].concat());
        assert_eq!(names(Novelty::Repeated), every);
    }

    #[test]
    fn the_same_again_within_a_moment_is_a_repetition_and_a_fold_repeated_is_nothing() {
        let last = Some(LastNotification { since: Timestamp(100_000), at: Timestamp(100_000) });
        let judged = |at| novelty(last, Timestamp(at), Duration::from_secs(2));
        assert_eq!(novelty(None, Timestamp(5), Duration::ZERO), Some(Novelty::New));
        assert_eq!(judged(100_000), None);
        assert_eq!(judged(99_000), Some(Novelty::New), "the clock was set back a little");
        assert_eq!((judged(101_999), judged(102_000)), (Some(Novelty::Repeated), Some(Novelty::New)));
        assert_eq!(judged(30_000), Some(Novelty::New), "the clock was set back");
    }
}
