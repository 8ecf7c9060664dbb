//! Applies the journal at the end of a hook, and collects the reply that results from it.
//!
//! A hook that finds the lock taken leaves its event to the holder, which looks again after releasing it: no
//! event waits longer than one pass, and no hook waits for another unless its agent needs the reply. Context for the
//! model is composed after the lock is released, and without it if another process applied the prompt.

use super::{HookCall, LATE, PayloadSource, scene};
use crate::handoff::bookmarks::{Bookmarked, reply_to_marker};
use crate::handoff::continuing::{Afoot, AppliedEvent, Known};
use crate::handoff::guard::Gauge;
use crate::handoff::inherit::Giver;
use crate::handoff::{continuing, guard, inherit};
use crate::ingest::effects;
use crate::memory::enrich;
use crate::notify;
use crate::runtime::chain;
use std::borrow::Cow;
use std::io;
use std::time::Duration;
use towline_core::continuing::Hop;
use towline_core::effect::Effect;
use towline_core::event::{Event, EventKind, SessionPresence, StartedBy, Urgency};
use towline_core::fault::FaultKind;
use towline_core::inherit::InheritState;
use towline_core::reply::Reply;
use towline_core::session::{Session, SessionState};
use towline_store::lock::{ProjectionLock, pauses};
use towline_store::{Projected, ProjectionLimits, Store, StoreError, journal, upkeep};

/// Time that composing may take, in milliseconds: nothing is waited for any more when this is left.
const COMPOSING_MS: u64 = 1000;

/// The least time between two looks at the database without the lock.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How often a lock holder checks the journal again before it leaves the rest to the next hook.
const ROUNDS: usize = 3;

/// The prompts of a session at which a missing seat is looked for: an agent that has none at its first prompts gets none, and
/// the walk over its processes costs a tenth of a prompt.
const LOOKS_FOR_SEAT: u32 = 3;

/// What applying leaves to the hook.
#[derive(Default)]
pub(super) struct Applied {
    pub reply: Reply,
    pub bookmarked: Bookmarked,
    pub upkeep: Upkeep,
}

/// Whether `tow data work` is due. It is started after the agent has its reply: it takes the lock at once, and a first prompt
/// that applied a second time waited 10 ms for it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Upkeep {
    #[default]
    NotDue,
    Due,
}

/// Applies the journal and returns the reply to the agent. Not inlined: most hooks only append, and its locals would
/// cost each of them pages of stack.
#[inline(never)]
pub(super) fn apply(call: &HookCall, applied: &AppliedEvent<'_>, urgency: Urgency) -> Applied {
    let event = applied.event;
    let mut all = Applied::default();
    let mut rest = ReplyScope::Nothing;
    for round in 0..ROUNDS {
        // Only the first round answers the agent; later rounds apply events that other hooks left to us.
        let is_asked = round == 0 && call.source == PayloadSource::Agent;
        let asked = if is_asked { ReplyScope::All(applied) } else { rest };
        let lock = match take_lock(call, urgency, asked) {
            Ok(RoundStart::Apply(lock)) => lock,
            // Another process applies the prompt, or has; for the record of what was given see `PassOutcome::recorded`.
            Ok(RoundStart::Read(context)) => {
                all.reply = all.reply.merge(context);
                break;
            }
            Ok(RoundStart::Leave) => break,
            Err(error) => {
                call.fault(FaultKind::Store, format!("could not take the apply lock: {error}"));
                break;
            }
        };
        let seen = journal::unsealed_bytes(&call.env.home);
        let done = match apply_once(call, asked, lock) {
            Ok(done) => done,
            Err(error) => {
                report(call, &error);
                break;
            }
        };
        rest = ReplyScope::Nothing;
        if look_for_missing_seat(call, event, done.missing) == Decided::Later {
            rest = ReplyScope::Inheritance(event);
        }
        all.reply = all.reply.merge(done.reply);
        if done.bookmarked == Bookmarked::Something {
            all.bookmarked = Bookmarked::Something;
        }
        if done.upkeep == Upkeep::Due {
            all.upkeep = Upkeep::Due;
        }
        if journal::unsealed_bytes(&call.env.home) == done.reapplied.unwrap_or(seen) + done.recorded {
            break;
        }
    }
    all
}

/// How a round begins.
enum RoundStart {
    Apply(ProjectionLock),
    /// Another process applied the event; this is what its agent is due.
    Read(Reply),
    /// The holder of the lock applies the event.
    Leave,
}

/// Work that one pass leaves for after the lock is released.
struct PassOutcome {
    reply: Reply,
    missing: Missing,
    bookmarked: Bookmarked,
    upkeep: Upkeep,
    /// Journal size when the events that the first pass caused were applied in turn.
    reapplied: Option<u64>,
    /// By how much the journal grew while the context was composed. The lock is free then, so other hooks apply their own events.
    /// The record that the context was given is applied with the next event; every query applies the journal first. Applying it
    /// here took a tenth of a first prompt.
    recorded: u64,
}

/// Whether the seat of the prompting session is unknown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Nothing,
    Seat,
    /// And its inheritance cannot be decided without it.
    SeatToDecideBy,
}

/// Which reply a pass computes.
#[derive(Clone, Copy)]
enum ReplyScope<'a> {
    Nothing,
    All(&'a AppliedEvent<'a>),
    /// The session's inheritance, deferred until its seat was looked for.
    Inheritance(&'a Event),
}

/// Whether the session's inheritance is decided.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decided {
    Already,
    /// By the `SeatFound` event.
    Later,
}

/// A newer schema is no fault: the newer version applies our journal records, and the doctor reports it.
fn report(call: &HookCall, error: &StoreError) {
    if !matches!(error, StoreError::Newer { .. }) {
        call.fault(FaultKind::Store, chain(error));
    }
}

/// Only an agent that needs a reply waits for the lock. For an event that is merely shown: only if a notice goes to
/// the agent's terminal, or the turn may be continued.
fn take_lock(call: &HookCall, urgency: Urgency, asked: ReplyScope<'_>) -> io::Result<RoundStart> {
    let patience = match (asked, urgency) {
        (ReplyScope::Nothing, _) => Duration::ZERO,
        (ReplyScope::Inheritance(_), _) | (ReplyScope::All(_), Urgency::Answered) => patience(call),
        (ReplyScope::All(applied), Urgency::Shown) if is_answered(call, applied.event) => patience(call),
        (ReplyScope::All(_), Urgency::Shown | Urgency::UnlessWorking | Urgency::Whenever) => Duration::ZERO,
    };
    let waiting =
        event_of(asked).filter(|event| event.subagent.is_none() && call.carries_context(&event.happening));
    let patience = if waiting.is_some() { patience.max(BETWEEN_LOOKS) } else { patience };
    loop {
        if let Some(lock) = ProjectionLock::take_within(&call.env.home, pauses(patience))? {
            return Ok(RoundStart::Apply(lock));
        }
        let Some(event) = waiting else { return Ok(RoundStart::Leave) };
        match context_by_reading(call, event) {
            Ok(Some(context)) => return Ok(RoundStart::Read(context)),
            Ok(None) if call.left_ms() > COMPOSING_MS => {}
            Ok(None) => return Ok(RoundStart::Read(too_late(call, event))),
            Err(error) => {
                report(call, &error);
                return Ok(RoundStart::Read(too_late(call, event)));
            }
        }
    }
}

/// The context that a prompt is due, without the lock. `None` while the prompt is not applied.
fn context_by_reading(call: &HookCall, event: &Event) -> Result<Option<Reply>, StoreError> {
    let Some(store) = Store::read(&call.env.home, patience(call))? else { return Ok(None) };
    let Some(session) = store.session(&event.session)? else { return Ok(None) };
    let is_settled = matches!(session.inheriting, InheritState::Nothing | InheritState::Settled);
    if is_settled && session.memories_given_at.is_some() {
        return Ok(Some(Reply::default()));
    }
    if !store.has_event(&event.session, event.uid)? {
        return Ok(None);
    }
    if session.inheriting == InheritState::Prompted {
        look_for_missing_seat(call, event, Missing::SeatToDecideBy);
        return Ok(None);
    }
    let afoot = Afoot::at(&call.env, &store, event)?;
    inherited(call, &store, &session, &afoot.open).map(Some)
}

fn event_of<'a>(asked: ReplyScope<'a>) -> Option<&'a Event> {
    match asked {
        ReplyScope::All(applied) => Some(applied.event),
        ReplyScope::Inheritance(event) => Some(event),
        ReplyScope::Nothing => None,
    }
}

/// Tells user and doctor that nothing was carried over yet.
fn too_late(call: &HookCall, event: &Event) -> Reply {
    let waited = call.env.elapsed_ms();
    let detail = format!("the first prompt of {} waited {waited} ms and got no context", event.session);
    call.fault(FaultKind::Deadline, detail);
    Reply { notices: vec![LATE.to_owned()], ..Reply::default() }
}

/// Whether the reply may depend on the applied state.
fn is_answered(call: &HookCall, event: &Event) -> bool {
    let may_go_on = matches!(event.happening, EventKind::TurnEnded { .. }) && call.config.guard.types();
    call.config.notify.speaks_by_terminal() || may_go_on
}

fn apply_once(
    call: &HookCall,
    asked: ReplyScope<'_>,
    lock: ProjectionLock,
) -> Result<PassOutcome, StoreError> {
    let patience = patience(call);
    let has_time = || call.env.elapsed() < patience;
    let new_machine = call.env.uid();
    let limits = ProjectionLimits { has_time: &has_time, now: call.env.now, new_machine, patience };
    let (store, projected) = Store::open_and_apply(&call.env.home, &lock, &limits)?;
    let known = known(call, asked, &store, &projected)?;
    let mut missing = known.as_ref().map_or(Missing::Nothing, |known| missing(known, asked));
    let went_on = match (asked, &known) {
        (ReplyScope::All(applied), Some(known)) => {
            continuing::at_turns_end(&call.env, &call.config, &store, applied, known)?
        }
        _ => continuing::Outcome::default(),
    };
    let news = news(&projected.effects, asked, &went_on);
    let bookmarked = effects::settle(&call.env, &call.config, &store, &news)?;
    let mut reapplied = match bookmarked {
        Bookmarked::Nothing => None,
        Bookmarked::Something => Some(apply_again(call, &store, &limits)?),
    };
    let mut heir = known.as_ref().zip(event_of(asked)).and_then(|(known, event)| heir(known, event));
    let (mut reply, mut measured, mut open) = (Reply::default(), Reply::default(), vec![]);
    if let Some(known) = known {
        if let ReplyScope::All(AppliedEvent { event, .. }) = asked {
            reply = reply_to(call, event, &store, &known.afoot)?.merge(went_on.reply);
            let guarded = |gauge| guard::reply(&call.env, &call.config, gauge, event);
            measured = known.gauge.map(guarded).unwrap_or_default();
        }
        open = known.afoot.open;
    }
    upkeep::shrink_if_huge(&store)?;
    let upkeep = upkeep_due(call, asked, &store)?;
    drop(lock);
    if let (Missing::SeatToDecideBy, Some(event)) = (missing, event_of(asked)) {
        look_for_missing_seat(call, event, missing);
        if let Ok(Some(_lock)) = ProjectionLock::take_within(&call.env.home, pauses(patience)) {
            reapplied = Some(apply_again(call, &store, &limits)?);
            let decided = |session: &Session| session.inheriting != InheritState::Prompted;
            (missing, heir) = (Missing::Nothing, store.session(&event.session)?.filter(decided));
        }
    }
    // Composing takes longer than applying, and only reads.
    let mut recorded = 0;
    if let Some(heir) = heir {
        let before = journal::unsealed_bytes(&call.env.home);
        reply = reply.merge(inherited(call, &store, &heir, &open)?);
        recorded = journal::unsealed_bytes(&call.env.home).saturating_sub(before);
    }
    let reply = reply.merge(measured);
    store.exit_without_close();
    Ok(PassOutcome { reply, missing, bookmarked, upkeep, reapplied, recorded })
}

/// A prompt does not look for jobs: they are due every few hours, and its turn ends soon.
fn upkeep_due(call: &HookCall, asked: ReplyScope<'_>, store: &Store) -> Result<Upkeep, StoreError> {
    let is_prompt = |event: &Event| matches!(event.happening, EventKind::PromptSubmitted { .. });
    let is_due = if event_of(asked).is_some_and(is_prompt) {
        upkeep::is_large(store.home())
    } else {
        upkeep::is_due(store, call.env.now)?
    };
    Ok(if is_due { Upkeep::Due } else { Upkeep::NotDue })
}

/// Applies the records that we appended ourselves, on the open connection: another round would cost more.
fn apply_again(call: &HookCall, store: &Store, limits: &ProjectionLimits<'_>) -> Result<u64, StoreError> {
    let seen = journal::unsealed_bytes(&call.env.home);
    let projected = store.apply_journal(limits)?;
    effects::carry_out(&call.env, &call.config, store, &projected.effects)?;
    Ok(seen)
}

/// Decided by the session's row, not by the effects of this pass: another process may have applied the prompt
/// without being able to look for the seat.
fn missing(known: &Known, asked: ReplyScope<'_>) -> Missing {
    let (ReplyScope::All(AppliedEvent { event, .. }), Some(gauge)) = (asked, &known.gauge) else {
        return Missing::Nothing;
    };
    let is_prompt = matches!(event.happening, EventKind::PromptSubmitted { .. });
    match gauge.session.inheriting {
        _ if !is_prompt => Missing::Nothing,
        InheritState::Prompted => Missing::SeatToDecideBy,
        _ if gauge.session.seat.is_none() && gauge.session.turns <= LOOKS_FOR_SEAT => Missing::Seat,
        InheritState::Nothing | InheritState::Undecided | InheritState::Due | InheritState::Settled => {
            Missing::Nothing
        }
    }
}

/// Everything that a reply needs, read once.
fn known(
    call: &HookCall,
    asked: ReplyScope<'_>,
    store: &Store,
    projected: &Projected,
) -> Result<Option<Known>, StoreError> {
    let (event, measures) = match asked {
        ReplyScope::Nothing => return Ok(None),
        ReplyScope::All(AppliedEvent { event, .. }) => (*event, projected.caught_up),
        ReplyScope::Inheritance(event) => (event, false),
    };
    // Asking again would take four more system calls.
    let afoot =
        if projected.is_without_hops { Afoot::default() } else { Afoot::at(&call.env, store, event)? };
    let mut gauge = Gauge::at(store, event, projected.sessions.get(&event.session))?;
    if let Some(gauge) = gauge.as_mut().filter(|_| measures) {
        gauge.read(&call.env);
    }
    Ok(Some(Known { afoot, gauge }))
}

/// Drops the completion of a turn that continues by itself: it is neither shown nor notified.
fn news<'e>(
    effects: &'e [Effect],
    asked: ReplyScope<'_>,
    went_on: &continuing::Outcome,
) -> Cow<'e, [Effect]> {
    let (ReplyScope::All(AppliedEvent { event, .. }), true) = (asked, went_on.goes_on) else {
        return Cow::Borrowed(effects);
    };
    let is_it = |effect: &Effect| matches!(effect, Effect::StateChanged { session, to: SessionState::Completed, .. } if *session == event.session);
    effects.iter().filter(|effect| !is_it(effect)).cloned().collect()
}

/// At most half of the time left until the deadline.
fn patience(call: &HookCall) -> Duration {
    Duration::from_millis(call.config.patience_ms.min(call.left_ms() / 2))
}

/// A session first seen in the middle has no recorded seat: a prompt is the time to look. The finding goes
/// through the journal and is applied in the next round. If a decision waits for it, "not found" is recorded
/// too.
fn look_for_missing_seat(call: &HookCall, event: &Event, missing: Missing) -> Decided {
    let is_missing = missing != Missing::Nothing;
    let Some(scene) = event.scene.as_ref().filter(|_| is_missing) else { return Decided::Already };
    let place = scene::own_seat(call, scene.presence);
    let is_waited_for = missing == Missing::SeatToDecideBy;
    if place.is_some() || is_waited_for {
        call.accept_seat(event, place);
    }
    if is_waited_for { Decided::Later } else { Decided::Already }
}

/// The prompted session, if it may be due something. Most prompts are due nothing.
fn heir(known: &Known, event: &Event) -> Option<Session> {
    let is_asked = event.subagent.is_none() && event.happening.is_real_prompt();
    let session = known.gauge.as_ref().map(|gauge| &gauge.session).filter(|_| is_asked)?;
    let is_due = session.inheriting == InheritState::Due
        || session.memories_given_at.is_none()
        || !known.afoot.open.is_empty();
    // Prompted: the seat is looked for first.
    (is_due && session.inheriting != InheritState::Prompted).then(|| session.clone())
}

/// The inheritance at the first prompt at which it is due, with the memories.
fn inherited(call: &HookCall, store: &Store, heir: &Session, open: &[Hop]) -> Result<Reply, StoreError> {
    let giver = Giver { env: &call.env, config: &call.config, store, session: heir, open };
    if heir.inheriting == InheritState::Due { giver.inherited() } else { giver.remembered() }
}

/// Merges the features' notices and answers; `apply_once` adds the continuation, the inheritance and the context guard.
fn reply_to(call: &HookCall, event: &Event, store: &Store, afoot: &Afoot) -> Result<Reply, StoreError> {
    let terminal = notify::terminal(&call.config.notify, store, event)?;
    let reply = Reply { terminal, ..Reply::default() };
    let reply = reply.merge(continuing::pending_notices(&call.env, store, afoot, event)?);
    if let EventKind::PromptSubmitted { own: Some(own), .. } = event.happening {
        return Ok(reply.merge(inherit::acknowledged(own, &event.session, store)?));
    }
    if event.happening.is_marker() && event.subagent.is_none() {
        return Ok(reply.merge(reply_to_marker()));
    }
    if let EventKind::SessionStarted { by: StartedBy::Compact, .. } = event.happening {
        let wanted = call.config.after_compaction;
        return if wanted {
            Ok(reply.merge(inherit::offer_lost_turns(&call.env, store, &event.session)?))
        } else {
            Ok(reply)
        };
    }
    if let EventKind::SessionStarted { .. } = event.happening {
        upkeep::plan_expiry(store, call.env.now)?;
        let attended = event.scene.as_ref().is_some_and(|scene| scene.presence != SessionPresence::Headless);
        let told = || -> Result<Reply, StoreError> {
            Ok(tell_faults(call, store)?.merge(enrich::session_start_notice(&call.env)))
        };
        return Ok(if attended { reply.merge(told()?) } else { reply });
    }
    Ok(reply)
}

/// Reports pending faults when a user starts a session, since they were recorded without disturbing anyone.
fn tell_faults(call: &HookCall, store: &Store) -> Result<Reply, StoreError> {
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
