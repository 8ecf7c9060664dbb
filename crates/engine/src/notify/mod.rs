//! Telling somebody that a seat changed: the user's commands and the agent's terminal at once, desktop and phone later.
//!
//! Called by whoever folded. Nothing here is waited for, and where nothing is configured nothing is read, asked or
//! started. A session without a seat tells nothing: nobody sits before it.

mod alerts;
mod desktop;
mod errand;
mod plan;

pub use alerts::{NO_DESKTOP, errand, nudge, rouse, steps};
pub use desktop::desktop;
pub use errand::{Errand, Outcome, Voice};
pub use plan::Step;

use crate::runtime::config::Commands;
use crate::runtime::config::Config;
use crate::runtime::config::Notify;
use crate::runtime::config::settings;
use crate::runtime::env::Env;
use crate::runtime::env::on_path;
use crate::runtime::faults;
use crate::status::push;
use crate::status::seats;
use crate::status::tmux::options::Options;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;
use towline_core::effect::{About, Effect};
use towline_core::event::{Event, Happening};
use towline_core::fault::{Fault, FaultKind};
use towline_core::id::SessionKey;
use towline_core::session::State;
use towline_core::shown::Shown;
use towline_core::telling::{Sign, Telling};
use towline_core::time::Timestamp;
use towline_store::told::{self, Told, Topic, Way};
use towline_store::{Store, StoreError};

/// What is folded later than this after it happened is no news any more: a database may be rebuilt from months.
const FRESH_MS: i64 = 60_000;

/// Whether somebody has to hear of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Novelty {
    New,
    /// The same was told a moment ago.
    Repeated,
}

/// Tells of the changes that a fold made, as far as the user wants to be told.
pub fn changes(env: &Env, config: &Config, store: &Store, effects: &[Effect]) -> Result<(), StoreError> {
    let mut teller = Teller { env, notify: &config.notify, store, options: BTreeMap::new() };
    let mut is_worth_telling = false;
    for change in effects.iter().filter_map(|effect| change(effect, env.now)) {
        let was_told = teller.tell(&change)?;
        is_worth_telling |= was_told && config.notify.tells(change.to);
    }
    if is_worth_telling && config.notify.escalates() {
        rouse(&env.home);
    }
    for effect in effects {
        teller.tell_hop(effect)?;
    }
    Ok(())
}

/// What the agent's terminal is to be told of an event of its session, if that event made a change: whoever folded it.
/// Empty for nothing.
pub fn terminal(notify: &Notify, store: &Store, event: &Event) -> Result<String, StoreError> {
    if !notify.speaks_by_terminal() {
        return Ok(String::new());
    }
    // A session that has answered a marker is what it was before: only its title was another meanwhile.
    let is_end = matches!(event.happening, Happening::TurnEnded { .. });
    let Some(seat) = seat_of(store, &event.session)?.filter(|seat| seat.since == event.at || is_end) else {
        return Ok(String::new());
    };
    if notify.mutes(seat.project.as_deref()) {
        return Ok(String::new());
    }
    let telling = Telling::of(&seat, None, seat.state);
    let title = if notify.title { telling.title() } else { String::new() };
    let topic = Topic { session: event.session.clone(), state: seat.state, way: Way::AtOnce };
    let is_told = notify.tells(seat.state)
        && told::last(store.home(), &topic).is_some_and(|told| told.since == event.at);
    Ok(title + &telling.sign(if is_told { notify.terminal } else { Sign::Off }))
}

/// By the session as it is saved: where it sits may have been found by a later event than the one that changed it.
fn seat_of(store: &Store, session: &SessionKey) -> Result<Option<Shown>, StoreError> {
    let Some(session) = store.session(session)? else { return Ok(None) };
    let seat = session.seat.as_deref().map(|key| store.seat(key)).transpose()?.flatten();
    Ok(seat.map(|seat| seats::show(&session, &seat.place)))
}

/// Makes up for an alert that was killed: if something that waits is still to be told, somebody is there to tell it.
pub fn catch_up(env: &Env, seats: &[Shown]) {
    let may_wait = |seat: &Shown| !seat.seen && !matches!(seat.state, State::Idle | State::Working);
    if !seats.iter().any(may_wait) {
        return;
    }
    let notify = settings(env).notify;
    if notify.escalates() && !steps(env, &notify, seats).is_empty() {
        rouse(&env.home);
    }
}

/// Leaves a trace for `tow doctor`.
pub fn fault(env: &Env, detail: String) {
    faults::record_here(env, Fault { at: env.now, kind: FaultKind::Notify, detail });
}

struct Change<'a> {
    session: &'a SessionKey,
    seat: Option<&'a str>,
    from: Option<State>,
    to: State,
    at: Timestamp,
    about: About,
}

/// Whether an effect is news. The place to leave out a stop that Towline is about to go on from by itself.
fn change(effect: &Effect, now: Timestamp) -> Option<Change<'_>> {
    let (session, seat, from, to, (at, about)) = match effect {
        Effect::StateChanged { session, seat, from, to, at, about } => (session, seat, from, to, (at, about)),
        Effect::SeatTaken { .. }
        | Effect::HopEnded { .. }
        | Effect::PointReached(_)
        | Effect::BookmarkMade { .. }
        | Effect::MarkerWanted { .. } => return None,
    };
    let begins = from.is_none() && *to == State::Idle;
    let is_news = !begins && now.since_ms(*at) <= FRESH_MS;
    is_news.then_some(Change { session, seat: seat.as_deref(), from: *from, to: *to, at: *at, about: *about })
}

struct Teller<'a> {
    env: &'a Env,
    notify: &'a Notify,
    store: &'a Store,
    /// The commands of each tmux server that was met, by its process.
    options: BTreeMap<String, Commands>,
}

impl Teller<'_> {
    /// Whether somebody was to be told at all.
    fn tell(&mut self, change: &Change<'_>) -> Result<bool, StoreError> {
        let of_tmux = self.tmux_commands(change.seat);
        if !self.concerns(change.to, &of_tmux) {
            return Ok(false);
        }
        let Some(seat) = seat_of(self.store, change.session)? else { return Ok(false) };
        if self.notify.mutes(seat.project.as_deref()) {
            return Ok(false);
        }
        let Some(novelty) = self.remember(change) else { return Ok(false) };
        let telling = Telling::of(&seat, change.from, change.to);
        let books = [("notify.on_", &self.notify.commands), ("@towline-on-", &of_tmux)];
        for (name, words) in commands(change.to, novelty, books) {
            self.start(&Errand::new(name, words, &telling));
        }
        Ok(true)
    }

    /// Work that was to go on by itself and did not: at once, by whatever tells of things that wait. Nobody is there who
    /// could have seen it.
    fn tell_hop(&self, effect: &Effect) -> Result<(), StoreError> {
        let Effect::HopEnded { session, why, at, .. } = effect else { return Ok(()) };
        if self.env.now.since_ms(*at) > FRESH_MS || !self.notify.escalates() {
            return Ok(());
        }
        let Some(seat) = seat_of(self.store, session)? else { return Ok(()) };
        if self.notify.mutes(seat.project.as_deref()) {
            return Ok(());
        }
        let prompt = Some(format!("does not go on by itself: {why}"));
        let telling = Telling::of(&Shown { prompt, ..seat.clone() }, None, seat.state);
        let is_there = |name: &str| on_path(name).is_some();
        let desktop = self.notify.desktop_after.and_then(|_| desktop(&telling, &is_there));
        let phone = self.notify.phone_after.filter(|_| !self.notify.phone.is_empty());
        let phone = phone.map(|_| Errand::new("notify.phone", &self.notify.phone, &telling));
        desktop.iter().chain(&phone).for_each(|errand| self.start(errand));
        Ok(())
    }

    /// Read at most once, from what is remembered of the server: a hook does not ask tmux.
    fn tmux_commands(&mut self, seat: Option<&str>) -> Commands {
        let Some(server) = seat.and_then(push::server_of) else { return Commands::new() };
        let home = &self.env.home;
        let known = self.options.entry(server.pid.clone());
        known.or_insert_with(|| Options::remembered(home, &server).commands).clone()
    }

    fn concerns(&self, to: State, of_tmux: &Commands) -> bool {
        let runs = |book: &Commands| book.contains_key(to.name()) || book.contains_key("transition");
        let signs = self.notify.terminal != Sign::Off || self.notify.escalates();
        runs(&self.notify.commands) || runs(of_tmux) || (signs && self.notify.tells(to))
    }

    /// What a marker and its answer change is followed, and not told: nobody asked for anything.
    fn remember(&self, change: &Change<'_>) -> Option<Novelty> {
        if change.about == About::Marker {
            return Some(Novelty::Repeated);
        }
        let topic = Topic { session: change.session.clone(), state: change.to, way: Way::AtOnce };
        let last = told::last(&self.env.home, &topic);
        let novelty = novelty(last, change.at, self.notify.debounce)?;
        if novelty == Novelty::New {
            // What is not remembered is told once more at worst.
            let _ = told::remember(&self.env.home, &topic, Told { since: change.at, at: self.env.now });
        }
        Some(novelty)
    }

    fn start(&self, errand: &Errand) {
        if let Err(error) = errand.start() {
            fault(self.env, not_started(errand, &error));
        }
    }
}

fn not_started(errand: &Errand, error: &io::Error) -> String {
    format!("`{}` could not start `{}`: {error}", errand.name, errand.program)
}

/// Whether a change is new, given when the session was last told to have entered the same state. `None` for one that
/// was told already: a fold may be repeated.
fn novelty(last: Option<Told>, at: Timestamp, debounce: Duration) -> Option<Novelty> {
    let Some(last) = last else { return Some(Novelty::New) };
    if at == last.since {
        return None;
    }
    let is_soon = at > last.since && at.since_ms(last.since).unsigned_abs() < debounce.as_secs() * 1000;
    Some(if is_soon { Novelty::Repeated } else { Novelty::New })
}

/// The commands that a change runs, in their order: those of the state, then those of every change. What was just told
/// is not told again, but what follows every change must not miss one.
fn commands<'a>(
    to: State,
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
    use towline_core::event::Reason;

    const BLOCKED: State = State::Blocked(Reason::Permission);

    fn effect(from: Option<State>, to: State, at: i64) -> Effect {
        let session = SessionKey::parse("agent:id").unwrap();
        let (seat, at) = (Some("s".into()), Timestamp(at));
        Effect::StateChanged { session, seat, from, to, at, about: About::Work }
    }

    #[test]
    fn a_session_that_begins_is_no_change_and_an_old_change_is_no_news() {
        let is_news = |from, to, now| change(&effect(from, to, 1000), Timestamp(now)).is_some();
        assert!(!is_news(None, State::Idle, 1000));
        assert!(is_news(None, State::Working, 1000) && is_news(Some(State::Ended), State::Idle, 1000));
        assert!(is_news(Some(State::Working), BLOCKED, 61_000));
        assert!(!is_news(Some(State::Working), BLOCKED, 61_001));
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
        let last = Some(Told { since: Timestamp(100_000), at: Timestamp(100_000) });
        let judged = |at| novelty(last, Timestamp(at), Duration::from_secs(2));
        assert_eq!(novelty(None, Timestamp(5), Duration::ZERO), Some(Novelty::New));
        assert_eq!(judged(100_000), None);
        assert_eq!(judged(99_000), Some(Novelty::New), "the clock was set back a little");
        assert_eq!((judged(101_999), judged(102_000)), (Some(Novelty::Repeated), Some(Novelty::New)));
        assert_eq!(judged(30_000), Some(Novelty::New), "the clock was set back");
    }
}
