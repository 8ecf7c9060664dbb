//! Folding at the end of a hook, and what the fold makes the hook say.
//!
//! Whoever finds the lock taken leaves its event to the holder, who looks again after letting go: so no event waits
//! for longer than one fold, and no hook waits for another unless its agent needs the answer.

use super::{Call, scene};
use crate::handoff::bookmarks::Bookmarked;
use crate::handoff::bookmarks::reply_to_marker;
use crate::handoff::continuing;
use crate::handoff::continuing::Afoot;
use crate::handoff::continuing::Known;
use crate::handoff::continuing::Stop;
use crate::handoff::guard;
use crate::handoff::guard::Gauge;
use crate::handoff::inherit;
use crate::handoff::inherit::Giver;
use crate::ingest::effects;
use crate::memory::enrich;
use crate::notify;
use crate::runtime::failure::chain;
use crate::runtime::spawn;
use std::borrow::Cow;
use std::io;
use std::time::Duration;
use towline_core::effect::Effect;
use towline_core::event::{Event, Happening, Presence, StartedBy, Urgency};
use towline_core::fault::FaultKind;
use towline_core::inherit::Inheriting;
use towline_core::reply::Reply;
use towline_core::session::State;
use towline_store::lock::{FoldLock, pauses};
use towline_store::{Folded, Pace, Store, StoreError, journal, upkeep};

/// How often a holder looks again before it leaves the rest to the next hook.
const ROUNDS: usize = 3;

/// Folds, and returns what is to be said about it.
pub(super) fn fold(call: &Call, (told, urgency): (&Stop<'_>, Urgency)) -> (Reply, Bookmarked) {
    let event = told.event;
    let (mut reply, mut bookmarked) = (Reply::default(), Bookmarked::Nothing);
    let mut rest = Asked::Nothing;
    for round in 0..ROUNDS {
        // The agent is answered once; later rounds are for what others left to us.
        let asked = if round == 0 { Asked::All(told) } else { rest };
        let lock = match take_lock(call, urgency, asked) {
            Ok(Some(lock)) => lock,
            Ok(None) => break,
            Err(error) => {
                call.fault(FaultKind::Store, format!("could not take the fold lock: {error}"));
                break;
            }
        };
        let seen = journal::unsealed_bytes(&call.env.home);
        let done = match fold_once(call, asked, &lock) {
            Ok(done) => done,
            Err(error) => {
                report(call, &error);
                break;
            }
        };
        drop(lock);
        rest = Asked::Nothing;
        if look_for_missing_seat(call, event, done.missing) == Decided::Later {
            rest = Asked::Inheritance(event);
        }
        reply = reply.merge(done.reply);
        if done.refolded.is_some() {
            bookmarked = Bookmarked::Something;
        }
        if journal::unsealed_bytes(&call.env.home) == done.refolded.unwrap_or(seen) {
            break;
        }
    }
    (reply, bookmarked)
}

/// What one fold leaves to be done without the lock.
struct Done {
    reply: Reply,
    missing: Missing,
    /// The size of the journal when it was folded again, for what the first fold made us tell it.
    refolded: Option<u64>,
}

/// What is not known of where the session sits that prompted us.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Nothing,
    Seat,
    /// And it cannot be decided before what the session inherits.
    SeatToDecideBy,
}

/// What a fold is to answer.
#[derive(Clone, Copy)]
enum Asked<'a> {
    Nothing,
    All(&'a Stop<'a>),
    /// What the session inherits: it could not be decided before its seat was looked for.
    Inheritance(&'a Event),
}

/// When it is decided what a session inherits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decided {
    Already,
    /// By the event that tells of the seat.
    Later,
}

/// A newer schema is no fault: the newer version folds what we journal, and the doctor says so.
fn report(call: &Call, error: &StoreError) {
    if !matches!(error, StoreError::Newer { .. }) {
        call.fault(FaultKind::Store, chain(error));
    }
}

/// Only an agent that waits for an answer waits for the lock: for most events only if its terminal is to be told of them.
fn take_lock(call: &Call, urgency: Urgency, asked: Asked<'_>) -> io::Result<Option<FoldLock>> {
    let patience = match (asked, urgency) {
        (Asked::Nothing, _) => Duration::ZERO,
        (Asked::Inheritance(_), _) | (Asked::All(_), Urgency::Answered) => patience(call),
        (Asked::All(told), Urgency::Shown) if is_answered(call, told.event) => patience(call),
        (Asked::All(_), Urgency::Shown | Urgency::UnlessWorking | Urgency::Whenever) => Duration::ZERO,
    };
    FoldLock::take_within(&call.env.home, pauses(patience))
}

/// Whether the agent may be told something that only the fold knows.
fn is_answered(call: &Call, event: &Event) -> bool {
    let may_go_on = matches!(event.happening, Happening::TurnEnded { .. }) && call.config.guard.types();
    call.config.notify.speaks_by_terminal() || may_go_on
}

fn fold_once(call: &Call, asked: Asked<'_>, lock: &FoldLock) -> Result<Done, StoreError> {
    let patience = patience(call);
    let has_time = || call.env.elapsed() < patience;
    let new_machine = call.env.uid();
    let pace = Pace { has_time: &has_time, now: call.env.now, new_machine, patience };
    let (store, folded) = Store::open_and_fold(&call.env.home, lock, &pace)?;
    let known = known(call, asked, &store, &folded)?;
    let missing = known.as_ref().map_or(Missing::Nothing, |known| missing(known, asked));
    let went_on = match (asked, &known) {
        (Asked::All(told), Some(known)) => {
            continuing::at_turns_end(&call.env, &call.config, &store, (told, known))?
        }
        _ => continuing::Outcome::default(),
    };
    let news = news(&folded.effects, asked, &went_on);
    let refolded = match effects::settle(&call.env, &call.config, &store, &news)? {
        Bookmarked::Nothing => None,
        Bookmarked::Something => Some(fold_again(call, &store, &pace)?),
    };
    let reply = match (asked, known) {
        (Asked::All(Stop { event, .. }), Some(known)) => reply_to(call, event, &store, &known.afoot)?
            .merge(went_on.reply)
            .merge(inherited(call, event, &store, &known)?)
            .merge(guarded(call, event, known.gauge)),
        (Asked::Inheritance(event), Some(known)) => inherited(call, event, &store, &known)?,
        _ => Reply::default(),
    };
    upkeep::shrink_if_huge(&store)?;
    if upkeep::is_due(&store, call.env.now)? {
        spawn::start_detached();
    }
    store.leave();
    Ok(Done { reply, missing, refolded })
}

/// Folds what we told the journal ourselves, on the connection that is open: a round of its own would cost more.
fn fold_again(call: &Call, store: &Store, pace: &Pace<'_>) -> Result<u64, StoreError> {
    let seen = journal::unsealed_bytes(&call.env.home);
    let folded = store.fold(pace)?;
    effects::carry_out(&call.env, &call.config, store, &folded.effects)?;
    Ok(seen)
}

/// Told by the session's row, and not by what this fold did: whoever folded the prompt before us, and was not its hook,
/// could not look.
fn missing(known: &Known, asked: Asked<'_>) -> Missing {
    let (Asked::All(Stop { event, .. }), Some(gauge)) = (asked, &known.gauge) else {
        return Missing::Nothing;
    };
    let is_prompt = matches!(event.happening, Happening::PromptSubmitted { .. });
    match gauge.session.inheriting {
        _ if !is_prompt => Missing::Nothing,
        Inheriting::Prompted => Missing::SeatToDecideBy,
        _ if gauge.session.seat.is_none() => Missing::Seat,
        Inheriting::Nothing | Inheriting::Undecided | Inheriting::Due | Inheriting::Settled => {
            Missing::Nothing
        }
    }
}

/// Everything that an answer needs to know, asked for once.
fn known(call: &Call, asked: Asked<'_>, store: &Store, folded: &Folded) -> Result<Option<Known>, StoreError> {
    let (event, measures) = match asked {
        Asked::Nothing => return Ok(None),
        Asked::All(Stop { event, .. }) => (*event, folded.caught_up),
        Asked::Inheritance(event) => (event, false),
    };
    let afoot = Afoot::at(&call.env, store, event)?;
    let mut gauge = Gauge::at(store, event)?;
    if let Some(gauge) = gauge.as_mut().filter(|_| measures) {
        gauge.read(&call.env);
    }
    Ok(Some(Known { afoot, gauge }))
}

fn guarded(call: &Call, event: &Event, gauge: Option<Gauge>) -> Reply {
    gauge.map_or_else(Reply::default, |gauge| guard::reply(&call.env, &call.config, gauge, event))
}

/// A stop that the work goes on from by itself is no news: it is neither shown nor told.
fn news<'e>(effects: &'e [Effect], asked: Asked<'_>, went_on: &continuing::Outcome) -> Cow<'e, [Effect]> {
    let (Asked::All(Stop { event, .. }), true) = (asked, went_on.goes_on) else {
        return Cow::Borrowed(effects);
    };
    let is_it = |effect: &Effect| matches!(effect, Effect::StateChanged { session, to: State::Completed, .. } if *session == event.session);
    effects.iter().filter(|effect| !is_it(effect)).cloned().collect()
}

/// Never more than half of what is left until the deadline ends everything.
fn patience(call: &Call) -> Duration {
    let left = call.config.deadline_ms.saturating_sub(call.env.elapsed_ms());
    Duration::from_millis(call.config.patience_ms.min(left / 2))
}

/// A session that was met in the middle sat down unseen: a prompt is the time to look. What is found goes through the
/// journal like everything else, and is folded in the next round. Where a decision waits for it, that nothing was found
/// is worth as much.
fn look_for_missing_seat(call: &Call, event: &Event, missing: Missing) -> Decided {
    let is_missing = missing != Missing::Nothing;
    let Some(scene) = event.scene.as_ref().filter(|_| is_missing) else { return Decided::Already };
    let place = scene::own_seat(call, scene.presence);
    let is_waited_for = missing == Missing::SeatToDecideBy;
    if place.is_some() || is_waited_for {
        call.accept_seat(event, place);
    }
    if is_waited_for { Decided::Later } else { Decided::Already }
}

/// What the session inherits is given with the first prompt that finds it due, and with it what is remembered. Most find
/// nothing, and pay for no look.
fn inherited(call: &Call, event: &Event, store: &Store, known: &Known) -> Result<Reply, StoreError> {
    let is_asked = event.subagent.is_none() && event.happening.is_real_prompt();
    let gauge = known.gauge.as_ref().filter(|_| is_asked);
    let Some(session) = gauge.map(|gauge| &gauge.session) else { return Ok(Reply::default()) };
    let giver = Giver { env: &call.env, config: &call.config, store, session, open: &known.afoot.open };
    match session.inheriting {
        Inheriting::Due => giver.inherited(),
        // Its seat is looked for first.
        Inheriting::Prompted => Ok(Reply::default()),
        Inheriting::Nothing | Inheriting::Undecided | Inheriting::Settled => giver.remembered(),
    }
}

/// The one place where capabilities add what a hook says.
fn reply_to(call: &Call, event: &Event, store: &Store, afoot: &Afoot) -> Result<Reply, StoreError> {
    let terminal = notify::terminal(&call.config.notify, store, event)?;
    let reply = Reply { terminal, ..Reply::default() };
    let reply = reply.merge(continuing::untold(&call.env, store, afoot, event)?);
    if let Happening::PromptSubmitted { own: Some(own), .. } = event.happening {
        return Ok(reply.merge(inherit::acknowledged(own, &event.session, store)?));
    }
    if event.happening.is_marker() && event.subagent.is_none() {
        return Ok(reply.merge(reply_to_marker()));
    }
    if let Happening::SessionStarted { by: StartedBy::Compact, .. } = event.happening {
        let wanted = call.config.after_compaction;
        return if wanted {
            Ok(reply.merge(inherit::offered_back(&call.env, store, &event.session)?))
        } else {
            Ok(reply)
        };
    }
    if let Happening::SessionStarted { .. } = event.happening {
        upkeep::plan_expiry(store, call.env.uid(), call.env.now)?;
        let attended = event.scene.as_ref().is_some_and(|scene| scene.presence != Presence::Headless);
        let told = || -> Result<Reply, StoreError> {
            Ok(tell_faults(call, store)?.merge(enrich::told_at_start(&call.env)))
        };
        return Ok(if attended { reply.merge(told()?) } else { reply });
    }
    Ok(reply)
}

/// A new session that a person sits before is where they are told what went wrong while nobody was to be disturbed.
fn tell_faults(call: &Call, store: &Store) -> Result<Reply, StoreError> {
    let untold = store.tell_faults(call.env.now)?;
    let notices = match untold.as_slice() {
        [] => vec![],
        [fault, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
            vec![format!("towline: {}{more}. Run `tow doctor`.", fault.detail)]
        }
    };
    Ok(Reply { notices, ..Reply::default() })
}
