//! The seats as they are now: folded up to date, looked at for what no hook told, one list for every surface.
//!
//! Decides nothing: what is shown of a seat and in which order is `core`'s, and what an agent is doing is `step`'s. What
//! was seen goes through the journal like everything else.

use crate::bookmarks::Bookmarked;
use crate::failure::Failure;
use crate::quiet::{self, Watch};
use crate::scan::{self, Stray};
use crate::scope::Scope;
use crate::{outcome, push, sight, tell, work};
use std::io;
use std::time::Duration;
use towline_core::arbiter::judge;
use towline_core::effect::Effect;
use towline_core::event::{Event, Happening, Observed};
use towline_core::id::SessionKey;
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

/// How closely the world is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glance {
    /// What a refresh every few seconds can afford.
    Cheap,
    /// What a person waits for.
    Thorough,
}

/// What is so now.
pub struct Live {
    /// What needs a person first.
    pub seats: Vec<Shown>,
    /// What the next refresh holds against the world.
    pub watch: Watch,
}

/// All seats in which an agent sits, what needs a person first.
pub fn seats(scope: &Scope, glance: Glance) -> Result<Vec<Shown>, Failure> {
    Ok(look(scope, glance)?.seats)
}

/// The seats, and what would tell that they have changed.
pub fn look(scope: &Scope, glance: Glance) -> Result<Live, Failure> {
    let (sitting, watch) = match open(scope, glance)? {
        Some((store, watch)) => (sitting(&store).map_err(failed)?, watch),
        None => (vec![], quiet::watch(&scope.edge.home, &[])),
    };
    let places = places(&sitting);
    let strays = match glance {
        Glance::Cheap => scan::recent(&scope.edge, &places),
        Glance::Thorough => scan::now(&scope.edge, &places),
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
    let (fill, _) = sight::fill(session).filter(|(fill, _)| fill.source != Source::Length)?;
    Some(fill.percent())
}

/// The same as they were folded last: nothing is folded, no process asked, no lock taken.
pub fn glance(scope: &Scope) -> Result<Vec<Shown>, Failure> {
    let store = Store::read(&scope.edge.home, PATIENCE).map_err(failed)?;
    store.map_or_else(|| Ok(vec![]), |store| seats_of(&store).map_err(failed))
}

/// Tells tmux what is shown now. Whether every server was told.
pub fn push(scope: &Scope) -> Result<bool, Failure> {
    let read = || {
        let store = Store::read(&scope.edge.home, PATIENCE)?;
        store.map_or_else(|| Ok(vec![]), |store| seats_of(&store))
    };
    push::push(&scope.edge, PATIENCE, &read).map_err(failed)
}

/// The same of a store that is open and folded, without a look at the world.
pub fn seats_of(store: &Store) -> Result<Vec<Shown>, StoreError> {
    let sitting = sitting(store)?;
    let strays = scan::remembered(store.home(), &places(&sitting));
    let mut shown = shown(&sitting, &strays);
    by_urgency(&mut shown);
    Ok(shown)
}

fn places(sitting: &[(Session, Place)]) -> Vec<Place> {
    sitting.iter().map(|(_, place)| place.clone()).collect()
}

fn shown(sitting: &[(Session, Place)], strays: &[Stray]) -> Vec<Shown> {
    sitting.iter().map(|(session, place)| show(session, place)).chain(strays.iter().map(scan::show)).collect()
}

/// The session that sits in this seat, and the place as it was found.
pub fn sitting_at(scope: &Scope, seat: &str) -> Result<(Session, Place), Failure> {
    let found = sitting_now(scope)?.into_iter().find(|(_, place)| place.key == seat);
    found.ok_or_else(|| Failure::input(format!("nobody sits at {seat} any more")).hint("Run `tow status`."))
}

/// The sessions that sit somewhere, and where.
pub fn sitting_now(scope: &Scope) -> Result<Vec<(Session, Place)>, Failure> {
    let opened = open(scope, Glance::Thorough)?;
    Ok(opened.map(|(store, _)| sitting(&store)).transpose().map_err(failed)?.unwrap_or_default())
}

/// The store with everything folded and looked at; `None` if nothing was ever recorded.
pub fn store(scope: &Scope) -> Result<Option<Store>, Failure> {
    Ok(open(scope, Glance::Cheap)?.map(|(store, _)| store))
}

/// The store with everything folded and looked at, and what was watched for it; `None` if nothing was ever recorded.
/// Nothing is looked at under the lock: a world that does not answer must not hold up hooks.
fn open(scope: &Scope, glance: Glance) -> Result<Option<(Store, Watch)>, Failure> {
    let Some(store) = fold(scope)? else { return Ok(None) };
    let seated = seated(&store).map_err(failed)?;
    let watch = quiet::watch(&scope.edge.home, &seated.sitting);
    if !observe(scope, &seated, glance)? {
        return Ok(Some((store, watch)));
    }
    Ok(fold(scope)?.map(|store| (store, watch)))
}

/// How often the journal is looked at again before the rest is left to the next hook.
const ROUNDS: usize = 3;

/// Folds what is in the journal. Hooks leave their events to whoever has the lock: so it is looked at again after the
/// lock is let go. What somebody else is folding can be shown as it is.
pub fn fold(scope: &Scope) -> Result<Option<Store>, Failure> {
    let home = &scope.edge.home;
    if !home.journal().exists() {
        return Ok(None);
    }
    let has_time = || scope.edge.elapsed() < PATIENCE;
    let pace =
        Pace { has_time: &has_time, now: scope.edge.now, new_machine: scope.edge.uid(), patience: PATIENCE };
    for _ in 0..ROUNDS {
        let Some(lock) =
            FoldLock::take_within(home, pauses(PATIENCE)).map_err(|error| unusable(scope, &error))?
        else {
            break;
        };
        let seen = journal::unsealed_bytes(home);
        let store = match Store::open_and_fold(home, &lock, &pace) {
            Err(StoreError::Newer { .. } | StoreError::Busy { .. }) => break,
            Err(error) => return Err(failed(error)),
            Ok((store, folded)) => {
                carry_out(scope, &store, &folded.effects).map_err(failed)?;
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

fn carry_out(scope: &Scope, store: &Store, effects: &[Effect]) -> Result<(), StoreError> {
    if effects.is_empty() {
        return Ok(());
    }
    if outcome::settle(&scope.edge, &tell::settings(&scope.edge), store, effects)? == Bookmarked::Something {
        work::place_detached();
    }
    Ok(())
}

fn unusable(scope: &Scope, error: &io::Error) -> Failure {
    Failure::about(format!("could not use {}", scope.edge.home.folder().display()), error)
        .hint("Run `tow doctor`.")
}

/// Looks at every seat for what no hook told, and accepts it as events. Whether there was anything.
fn observe(scope: &Scope, seated: &Seated, glance: Glance) -> Result<bool, Failure> {
    let sights = sight::all(&seated.sitting, &scope.edge, glance);
    let verdicts = seated.sitting.iter().zip(sights).filter_map(|((session, _), sights)| {
        let verdict = judge(session, &sights);
        Some((session, verdict.observed?, verdict.until))
    });
    let displaced = seated.displaced.iter().map(|session| (session, Observed::Gone, None));
    let record = |(session, what, until): (&Session, Observed, Option<Timestamp>)| {
        let happening = Happening::Observed { what, as_of: session.last_event_at, until };
        Record::Event(event(scope, session.key.clone(), happening))
    };
    let records: Vec<Record> = verdicts.chain(displaced).map(record).collect();
    accept(scope, &records)?;
    Ok(!records.is_empty())
}

/// An event that did not come from an agent.
pub fn event(scope: &Scope, session: SessionKey, happening: Happening) -> Event {
    Event {
        uid: scope.edge.uid(),
        at: scope.edge.now,
        session,
        subagent: None,
        turn: None,
        happening,
        scene: None,
    }
}

pub fn accept(scope: &Scope, records: &[Record]) -> Result<(), Failure> {
    if records.is_empty() {
        return Ok(());
    }
    journal::append(&scope.edge.home, records).map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))
}

/// Sessions that have not ended, as far as is known.
#[derive(Default)]
struct Seated {
    sitting: Vec<(Session, Place)>,
    /// Another session sits in their seat: they ended unheard.
    displaced: Vec<Session>,
}

fn sitting(store: &Store) -> Result<Vec<(Session, Place)>, StoreError> {
    Ok(seated(store)?.sitting)
}

fn seated(store: &Store) -> Result<Seated, StoreError> {
    let mut seated = Seated::default();
    for session in store.live_sessions()? {
        let Some(seat) = session.seat.as_deref().map(|key| store.seat(key)).transpose()?.flatten() else {
            continue;
        };
        match seat.current {
            Some(current) if current == session.key => seated.sitting.push((session, seat.place)),
            Some(_) => seated.displaced.push(session),
            None => {}
        }
    }
    Ok(seated)
}

pub fn show(session: &Session, place: &Place) -> Shown {
    let project = session.project.as_ref();
    Shown {
        seat: session.seat.clone().unwrap_or_default(),
        agent: session.key.agent.to_string(),
        session: Some(session.key.to_string()),
        state: session.state,
        since: session.since,
        seen: session.seen,
        project: project.map(|traces| traces.display_name().to_owned()),
        branch: project.and_then(|traces| traces.branch.clone()),
        prompt: session.prompt.as_ref().map(|prompt| prompt.as_str().to_owned()),
        model: session.model.clone(),
        tool: session.asked.as_ref().map(|asked| asked.tool.as_str().to_owned()),
        helpers: session.background.max(u32::try_from(session.subagents.len()).unwrap_or(u32::MAX)),
        tasks: session.tasks,
        until: session.limited_until,
        context_percent: None,
        pane: place.pane.clone(),
        server: place.server.clone(),
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::new(&error).hint("Run `tow doctor`.")
}
