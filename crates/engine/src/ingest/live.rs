//! The current seats: journal applied, and probed for what no hook reports; one list for every surface.
//!
//! Decides nothing: `core` decides display and order, `step` an agent's state. Observations go through the
//! journal.

use crate::handoff::bookmarks::Bookmarked;
use crate::ingest::effects;
use crate::runtime::record::{accept, event};
use crate::runtime::{Env, Failure, settings, spawn};
use crate::status::cache::Watch;
pub use crate::status::seats::{Glance, seats_of, show};
use crate::status::seats::{Seated, places, seated, shown, sitting};
use crate::status::{cache, probe, push, scan};
use std::time::Duration;
use towline_core::arbiter::resolve_state;
use towline_core::effect::Effect;
use towline_core::event::{Event, EventKind, ObservedChange};
use towline_core::id::SessionKey;
use towline_core::meter::UsageSource;
use towline_core::seat::SeatLocation;
use towline_core::session::Session;
use towline_core::shown::{SeatView, by_urgency};
use towline_core::time::Timestamp;
use towline_store::journal;
use towline_store::lock::{ProjectionLock, pauses};
use towline_store::{ProjectionLimits, Store, StoreError};

/// How long a user waits for another process that is applying the journal before the current rows are shown.
const PATIENCE: Duration = Duration::from_millis(300);

/// The seats, and the watch that detects changes to them.
pub struct Live {
    /// Sorted by urgency.
    pub seats: Vec<SeatView>,
    /// Compared with the outside world by the next refresh.
    pub watch: Watch,
}

/// All seats with an agent, sorted by urgency.
pub fn seats(env: &Env, glance: Glance) -> Result<Vec<SeatView>, Failure> {
    Ok(look(env, glance)?.seats)
}

/// The seats, and the watch that detects changes to them.
pub fn look(env: &Env, glance: Glance) -> Result<Live, Failure> {
    let (sitting, watch) = match open(env, glance)? {
        Some((store, watch)) => (sitting(&store)?, watch),
        None => (vec![], cache::watch(env, &[])),
    };
    let places = places(&sitting);
    let strays = match glance {
        Glance::Cheap => scan::recent(env, &places),
        Glance::Thorough => scan::now(env, &places),
    };
    let mut shown = shown(&sitting, &strays);
    if glance == Glance::Thorough {
        // `shown` lists the seats of sessions first, in the order of `sitting`.
        shown
            .iter_mut()
            .zip(&sitting)
            .for_each(|(seat, (session, _))| seat.context_percent = context_of(session));
    }
    by_urgency(&mut shown);
    Ok(Live { seats: shown, watch })
}

fn context_of(session: &Session) -> Option<u8> {
    // Skip estimates: they would look like measured numbers here.
    let (fill, _) = probe::fill(session).filter(|(fill, _)| fill.source != UsageSource::Length)?;
    Some(fill.percent())
}

/// The seats as last applied: applies nothing, probes no process, takes no lock.
pub fn last_seats(env: &Env) -> Result<Vec<SeatView>, Failure> {
    Ok(stored_seats(env)?)
}

fn stored_seats(env: &Env) -> Result<Vec<SeatView>, StoreError> {
    let store = Store::read(&env.home, PATIENCE)?;
    store.map_or_else(|| Ok(vec![]), |store| seats_of(&store))
}

/// Pushes the seats to tmux. Returns whether every server was updated.
pub fn push(env: &Env) -> Result<bool, Failure> {
    push::push(env, PATIENCE, &|| stored_seats(env)).map_err(Failure::from)
}

/// The session in this seat, and its place.
pub fn session_in_seat(env: &Env, seat: &str) -> Result<(Session, SeatLocation), Failure> {
    let found = seated_sessions(env)?.into_iter().find(|(_, place)| place.key == seat);
    found.ok_or_else(|| Failure::input(format!("nobody sits at {seat} any more")).hint("Run `tow status`."))
}

/// Records an event of the session, and applies it.
pub fn record(env: &Env, session: &SessionKey, happening: EventKind) -> Result<(), Failure> {
    accept(env, [event(env, session, happening)])?;
    store(env).map(drop)
}

/// All sessions that have a seat, with their places.
pub fn seated_sessions(env: &Env) -> Result<Vec<(Session, SeatLocation)>, Failure> {
    let opened = open(env, Glance::Thorough)?;
    Ok(opened.map(|(store, _)| sitting(&store)).transpose()?.unwrap_or_default())
}

/// The store after applying and probing; `None` if nothing was ever recorded.
pub fn store(env: &Env) -> Result<Option<Store>, Failure> {
    Ok(open(env, Glance::Cheap)?.map(|(store, _)| store))
}

/// The store after applying and probing, and its watch; `None` if nothing was ever recorded.
/// Probes without the lock: a process or terminal that does not answer must not delay hooks.
fn open(env: &Env, glance: Glance) -> Result<Option<(Store, Watch)>, Failure> {
    let Some(store) = apply(env)? else { return Ok(None) };
    let seated = seated(&store)?;
    let watch = cache::watch(env, &seated.sitting);
    if !observe(env, &seated, glance)? {
        return Ok(Some((store, watch)));
    }
    Ok(apply(env)?.map(|store| (store, watch)))
}

/// How often the journal is checked again before the rest is left to the next hook.
const ROUNDS: usize = 3;

/// Applies the journal. Hooks leave their events to the lock holder, so it checks the journal again after
/// releasing the lock. If another process is applying, the current rows are returned.
pub fn apply(env: &Env) -> Result<Option<Store>, Failure> {
    let home = &env.home;
    if !home.journal().exists() {
        return Ok(None);
    }
    let has_time = || env.elapsed() < PATIENCE;
    let limits =
        ProjectionLimits { has_time: &has_time, now: env.now, new_machine: env.uid(), patience: PATIENCE };
    for _ in 0..ROUNDS {
        let Some(lock) = ProjectionLock::take_within(home, pauses(PATIENCE))
            .map_err(|error| Failure::unusable(home.folder(), &error))?
        else {
            break;
        };
        let seen = journal::unsealed_bytes(home);
        let store = match Store::open_and_apply(home, &lock, &limits) {
            Err(StoreError::Newer { .. } | StoreError::Busy { .. }) => break,
            Err(error) => return Err(error.into()),
            Ok((store, projected)) => {
                carry_out(env, &store, &projected.effects)?;
                store
            }
        };
        drop(lock);
        if journal::unsealed_bytes(home) == seen {
            return Ok(Some(store));
        }
    }
    Store::read(home, PATIENCE).map_err(Failure::from)
}

fn carry_out(env: &Env, store: &Store, effects: &[Effect]) -> Result<(), StoreError> {
    if effects.is_empty() {
        return Ok(());
    }
    if effects::settle(env, &settings(env), store, effects)? == Bookmarked::Something {
        spawn::place_detached();
    }
    Ok(())
}

/// Probes every seat for changes that no hook reported and accepts them as events. Returns whether any.
fn observe(env: &Env, seated: &Seated, glance: Glance) -> Result<bool, Failure> {
    let sights = probe::all(&seated.sitting, env, glance);
    let verdicts = seated.sitting.iter().zip(sights).filter_map(|((session, _), sights)| {
        let verdict = resolve_state(session, &sights);
        Some((session, verdict.observed?, verdict.until))
    });
    let displaced = seated.displaced.iter().map(|session| (session, ObservedChange::Gone, None));
    let observed = |(session, what, until): (&Session, ObservedChange, Option<Timestamp>)| {
        let happening = EventKind::Observed { what, as_of: session.last_event_at, until };
        event(env, &session.key, happening)
    };
    let events: Vec<Event> = verdicts.chain(displaced).map(observed).collect();
    let is_any = !events.is_empty();
    accept(env, events)?;
    Ok(is_any)
}
