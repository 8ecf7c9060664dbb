//! The seats as they are now: folded up to date, looked at for what no hook told, one list for every surface.
//!
//! Decides nothing: what is shown of a seat and in which order is `core`'s, and what an agent is doing is `step`'s. What
//! was seen goes through the journal like everything else.

use crate::handoff::bookmarks::Bookmarked;
use crate::ingest::effects;
use crate::runtime::config::settings;
use crate::runtime::env::Env;
use crate::runtime::failure::Failure;
use crate::runtime::record::{accept, event};
use crate::runtime::spawn;
use crate::status::cache;
use crate::status::cache::Watch;
use crate::status::probe;
use crate::status::push;
use crate::status::scan;
pub use crate::status::seats::{Glance, seats_of, show};
use crate::status::seats::{Seated, places, seated, shown, sitting};
use std::io;
use std::time::Duration;
use towline_core::arbiter::judge;
use towline_core::effect::Effect;
use towline_core::event::{Happening, Observed};
use towline_core::meter::Source;
use towline_core::seat::Place;
use towline_core::session::Session;
use towline_core::shown::{Shown, by_urgency};
use towline_core::time::Timestamp;
use towline_store::journal::{self, Record};
use towline_store::lock::{FoldLock, pauses};
use towline_store::{Pace, Store, StoreError};

/// How long a person waits for a fold that somebody else is doing, before they are shown what is there.
const PATIENCE: Duration = Duration::from_millis(300);

/// What is so now.
pub struct Live {
    /// What needs a person first.
    pub seats: Vec<Shown>,
    /// What the next refresh holds against the world.
    pub watch: Watch,
}

/// All seats in which an agent sits, what needs a person first.
pub fn seats(env: &Env, glance: Glance) -> Result<Vec<Shown>, Failure> {
    Ok(look(env, glance)?.seats)
}

/// The seats, and what would tell that they have changed.
pub fn look(env: &Env, glance: Glance) -> Result<Live, Failure> {
    let (sitting, watch) = match open(env, glance)? {
        Some((store, watch)) => (sitting(&store).map_err(failed)?, watch),
        None => (vec![], cache::watch(&env.home, &[])),
    };
    let places = places(&sitting);
    let strays = match glance {
        Glance::Cheap => scan::recent(env, &places),
        Glance::Thorough => scan::now(env, &places),
    };
    let mut shown = shown(&sitting, &strays);
    if glance == Glance::Thorough {
        // Those of sessions come first, in their order.
        shown
            .iter_mut()
            .zip(&sitting)
            .for_each(|(seat, (session, _))| seat.context_percent = context_of(session));
    }
    by_urgency(&mut shown);
    Ok(Live { seats: shown, watch })
}

fn context_of(session: &Session) -> Option<u8> {
    // A guess would look like a number here.
    let (fill, _) = probe::fill(session).filter(|(fill, _)| fill.source != Source::Length)?;
    Some(fill.percent())
}

/// The same as they were folded last: nothing is folded, no process asked, no lock taken.
pub fn glance(env: &Env) -> Result<Vec<Shown>, Failure> {
    let store = Store::read(&env.home, PATIENCE).map_err(failed)?;
    store.map_or_else(|| Ok(vec![]), |store| seats_of(&store).map_err(failed))
}

/// Tells tmux what is shown now. Whether every server was told.
pub fn push(env: &Env) -> Result<bool, Failure> {
    let read = || {
        let store = Store::read(&env.home, PATIENCE)?;
        store.map_or_else(|| Ok(vec![]), |store| seats_of(&store))
    };
    push::push(env, PATIENCE, &read).map_err(failed)
}

/// The session that sits in this seat, and the place as it was found.
pub fn sitting_at(env: &Env, seat: &str) -> Result<(Session, Place), Failure> {
    let found = sitting_now(env)?.into_iter().find(|(_, place)| place.key == seat);
    found.ok_or_else(|| Failure::input(format!("nobody sits at {seat} any more")).hint("Run `tow status`."))
}

/// The sessions that sit somewhere, and where.
pub fn sitting_now(env: &Env) -> Result<Vec<(Session, Place)>, Failure> {
    let opened = open(env, Glance::Thorough)?;
    Ok(opened.map(|(store, _)| sitting(&store)).transpose().map_err(failed)?.unwrap_or_default())
}

/// The store with everything folded and looked at; `None` if nothing was ever recorded.
pub fn store(env: &Env) -> Result<Option<Store>, Failure> {
    Ok(open(env, Glance::Cheap)?.map(|(store, _)| store))
}

/// The store with everything folded and looked at, and what was watched for it; `None` if nothing was ever recorded.
/// Nothing is looked at under the lock: a world that does not answer must not hold up hooks.
fn open(env: &Env, glance: Glance) -> Result<Option<(Store, Watch)>, Failure> {
    let Some(store) = fold(env)? else { return Ok(None) };
    let seated = seated(&store).map_err(failed)?;
    let watch = cache::watch(&env.home, &seated.sitting);
    if !observe(env, &seated, glance)? {
        return Ok(Some((store, watch)));
    }
    Ok(fold(env)?.map(|store| (store, watch)))
}

/// How often the journal is looked at again before the rest is left to the next hook.
const ROUNDS: usize = 3;

/// Folds what is in the journal. Hooks leave their events to whoever has the lock: so it is looked at again after the
/// lock is let go. What somebody else is folding can be shown as it is.
pub fn fold(env: &Env) -> Result<Option<Store>, Failure> {
    let home = &env.home;
    if !home.journal().exists() {
        return Ok(None);
    }
    let has_time = || env.elapsed() < PATIENCE;
    let pace = Pace { has_time: &has_time, now: env.now, new_machine: env.uid(), patience: PATIENCE };
    for _ in 0..ROUNDS {
        let Some(lock) =
            FoldLock::take_within(home, pauses(PATIENCE)).map_err(|error| unusable(env, &error))?
        else {
            break;
        };
        let seen = journal::unsealed_bytes(home);
        let store = match Store::open_and_fold(home, &lock, &pace) {
            Err(StoreError::Newer { .. } | StoreError::Busy { .. }) => break,
            Err(error) => return Err(failed(error)),
            Ok((store, folded)) => {
                carry_out(env, &store, &folded.effects).map_err(failed)?;
                store
            }
        };
        drop(lock);
        if journal::unsealed_bytes(home) == seen {
            return Ok(Some(store));
        }
    }
    Store::read(home, PATIENCE).map_err(failed)
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

fn unusable(env: &Env, error: &io::Error) -> Failure {
    Failure::about(format!("could not use {}", env.home.folder().display()), error).hint("Run `tow doctor`.")
}

/// Looks at every seat for what no hook told, and accepts it as events. Whether there was anything.
fn observe(env: &Env, seated: &Seated, glance: Glance) -> Result<bool, Failure> {
    let sights = probe::all(&seated.sitting, env, glance);
    let verdicts = seated.sitting.iter().zip(sights).filter_map(|((session, _), sights)| {
        let verdict = judge(session, &sights);
        Some((session, verdict.observed?, verdict.until))
    });
    let displaced = seated.displaced.iter().map(|session| (session, Observed::Gone, None));
    let record = |(session, what, until): (&Session, Observed, Option<Timestamp>)| {
        let happening = Happening::Observed { what, as_of: session.last_event_at, until };
        Record::Event(event(env, session.key.clone(), happening))
    };
    let records: Vec<Record> = verdicts.chain(displaced).map(record).collect();
    accept(env, &records)?;
    Ok(!records.is_empty())
}

fn failed(error: StoreError) -> Failure {
    Failure::new(&error).hint("Run `tow doctor`.")
}
