//! Decides which earlier session a new session continues, as a pure function of the projected state.
//!
//! The decision is made once, at the session's first real prompt. If several sessions qualify, none is inherited. Reads
//! no clock: all times come from events, so a database rebuilt from the journal decides the same.

mod record;

use crate::event::{EndedBy, SessionPresence, StartedBy};
use crate::id::{SessionKey, Uid};
use crate::session::{Session, SessionState};
use crate::time::Timestamp;

pub use record::{BatonFate, Fallback, InheritRule, InheritSettings, InheritState, OnClear, RemoteBaton};

/// How long a baton stays valid, and the maximum age of a session's last event for it to be a fallback predecessor.
pub const HOUR_MS: i64 = 3_600_000;

/// How many sessions cleared before their first prompt are skipped when walking back the chain.
pub const DEEPEST_CHAIN: usize = 10;

/// The input of `decide`.
#[derive(Clone, Debug)]
pub struct InheritInput<'a> {
    pub heir: &'a Session,
    /// Earlier sessions of its seat, latest first: those that `is_skipped` skips and the first it does not.
    pub chain: Vec<Predecessor>,
    /// Untaken batons of its seat or its project.
    pub batons: Vec<Baton>,
    /// Sessions of its project with recent events; needed only if the heir was started by `/clear` and has no chain.
    pub nearby: Vec<Predecessor>,
}

/// A session that might be the predecessor.
#[derive(Clone, Debug)]
pub struct Predecessor {
    pub session: Session,
    /// The last session that continued this one without a baton, and when that was decided.
    pub heir: Option<(SessionKey, Timestamp)>,
    pub sitting: OpenState,
}

/// Whether a session is open in front of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenState {
    /// In a terminal, as far as we know.
    InTerminal,
    /// Nowhere, or in an editor: editors do not report when they close a session.
    Unknown,
}

/// A baton that no session has taken yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baton {
    pub uid: Uid,
    pub session: SessionKey,
    pub seat: Option<String>,
    pub reach: BatonScope,
    /// By the clock of the machine where it was passed.
    pub passed_at: Timestamp,
    /// Whether its session asked for a fresh start since.
    pub is_withdrawn: bool,
    /// The machine it was passed on, if that is another machine of this user.
    pub afar: Option<RemoteOrigin>,
}

/// Another machine of this user, and when its baton first arrived here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteOrigin {
    pub machine: String,
    pub came_at: Timestamp,
}

impl Baton {
    /// The start of its validity. Capped at its arrival here, so a remote clock that runs ahead does not extend it.
    pub fn valid_from(&self) -> Timestamp {
        self.afar.as_ref().map_or(self.passed_at, |afar| self.passed_at.min(afar.came_at))
    }

    /// The session, with the machine if it is another one: `a:1 on desk`.
    fn label(&self) -> String {
        match &self.afar {
            Some(afar) => format!("{} on {}", self.session, afar.machine),
            None => self.session.to_string(),
        }
    }
}

/// Whether a baton was passed inside the heir's project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatonScope {
    SameProject,
    OtherProject,
}

/// The result of `decide`, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision that is not kept is made again"]
pub struct InheritDecision {
    pub way: InheritRule,
    /// The session it continues.
    pub from: Option<SessionKey>,
    /// The baton it takes.
    pub baton: Option<Uid>,
    /// The machine of `from`, if not this one.
    pub machine: Option<String>,
    /// Readable by the user.
    pub reason: String,
    /// Sessions that were considered and not inherited from.
    pub candidates: Vec<SessionKey>,
}

impl InheritDecision {
    /// False for a session that simply began something new: no row is stored for it.
    pub fn is_worth_keeping(&self) -> bool {
        self.way != InheritRule::None || !self.reason.is_empty()
    }
}

/// Whether to decide now: the session was prompted and its seat is known, or it cannot have one. `before` is the state
/// before the current event: by the event after the prompt, the seat probe has reported its result.
pub fn is_time(before: InheritState, session: &Session) -> bool {
    let is_placed = session.seat.is_some() || session.presence == SessionPresence::Headless;
    session.inheriting == InheritState::Prompted && (is_placed || before == InheritState::Prompted)
}

/// Applies the decision to the session.
pub fn settle(session: &mut Session, decision: &InheritDecision) {
    session.inheriting =
        if decision.way.is_to_be_given() { InheritState::Due } else { InheritState::Settled };
    // The request is used up: the next session of the chain must not see it.
    session.fresh_at = None;
}

/// Whether a session has work to continue, and a user who could pass it on.
pub fn has_work(session: &Session) -> bool {
    session.presence != SessionPresence::Headless && session.inheriting != InheritState::Undecided
}

/// Whether to skip this session and look at the one before it: it was cleared before its first prompt.
pub fn is_skipped(session: &Session) -> bool {
    session.inheriting == InheritState::Undecided && session.started_by == StartedBy::Clear
}

/// Whether other sessions of the project are considered: the heir was started by `/clear`, and its seat does not show
/// its predecessor.
pub fn considers_other_sessions(heir: &Session, chain: &[Predecessor]) -> bool {
    heir.started_by == StartedBy::Clear && (heir.seat.is_none() || predecessor(heir, chain).is_none())
}

/// Decides. The rules are ordered by how explicitly the user expressed the intent.
pub fn decide(situation: &InheritInput<'_>) -> InheritDecision {
    if situation.heir.presence == SessionPresence::Headless {
        return decision(InheritRule::None, String::new());
    }
    fresh(situation)
        .or_else(|| baton_of_seat(situation))
        .or_else(|| after_clear(situation))
        .or_else(|| baton_of_project(situation))
        .or_else(|| fallback(situation))
        .unwrap_or_else(|| no_inheritance(situation))
}

/// The user's own choice. Only an older session can be chosen, so no two sessions can inherit from each other.
pub fn taken(heir: &Session, from: &Session) -> Option<InheritDecision> {
    let is_older = (from.started_at, from.uid) < (heir.started_at, heir.uid);
    (is_older && from.key != heir.key).then(|| InheritDecision {
        from: Some(from.key.clone()),
        ..decision(InheritRule::Taken, "a person chose it".to_owned())
    })
}

/// As `taken`, for a session of another machine, which is known here only by its baton.
pub fn take_remote_baton(heir: &Session, baton: &Baton) -> Option<InheritDecision> {
    let afar = baton.afar.as_ref().filter(|_| baton.session != heir.key)?;
    Some(InheritDecision {
        from: Some(baton.session.clone()),
        baton: Some(baton.uid),
        machine: Some(afar.machine.clone()),
        ..decision(InheritRule::Taken, "a person chose it".to_owned())
    })
}

/// A request for a fresh start, in the session before or, after a `/clear`, in the heir itself. For a session that was
/// not started by `/clear`, the request expires like a baton.
fn fresh(situation: &InheritInput<'_>) -> Option<InheritDecision> {
    let heir = situation.heir;
    let counts = |session: &&Session| {
        let is_recent = |at: Timestamp| heir.started_at.since_ms(at) <= HOUR_MS;
        session.fresh_at.is_some_and(|at| heir.started_by == StartedBy::Clear || is_recent(at))
    };
    let mut sessions = [heir].into_iter().chain(situation.chain.iter().map(|candidate| &candidate.session));
    let asker = sessions.find(counts)?;
    Some(decision(InheritRule::Fresh, format!("a fresh start was asked for in {}", asker.key)))
}

fn baton_of_seat(situation: &InheritInput<'_>) -> Option<InheritDecision> {
    let seat = situation.heir.seat.as_deref()?;
    let of_seat = open_batons(situation).filter(|baton| baton.seat.as_deref() == Some(seat));
    of_seat.max_by_key(|baton| (baton.passed_at, baton.uid)).map(|baton| take(baton, "in the same pane"))
}

fn baton_of_project(situation: &InheritInput<'_>) -> Option<InheritDecision> {
    let of_project: Vec<&Baton> =
        open_batons(situation).filter(|baton| baton.reach == BatonScope::SameProject).collect();
    match of_project.as_slice() {
        [] => None,
        [baton] => Some(take(baton, "in the same project")),
        several => {
            let candidates = several.iter().map(|baton| baton.session.clone()).collect();
            let afar = several.iter().filter(|baton| baton.afar.is_some());
            let afar: Vec<String> = afar.map(|baton| format!(", {}", baton.label())).collect();
            let reason = format!("several sessions of the project passed their batons{}", afar.concat());
            Some(nothing_from(candidates, InheritRule::Ambiguous, &reason))
        }
    }
}

fn take(baton: &Baton, scope: &str) -> InheritDecision {
    let reason = format!("{} passed the baton {scope} at {}", baton.label(), baton.passed_at.to_utc());
    InheritDecision {
        from: Some(baton.session.clone()),
        baton: Some(baton.uid),
        machine: baton.afar.as_ref().map(|afar| afar.machine.clone()),
        ..decision(InheritRule::Baton, reason)
    }
}

/// The batons the heir may take: passed before it started, and not expired by then.
fn open_batons<'a>(situation: &'a InheritInput<'_>) -> impl Iterator<Item = &'a Baton> {
    let heir = situation.heir;
    situation.batons.iter().filter(move |baton| {
        let age_ms = heir.started_at.0.saturating_sub(baton.valid_from().0);
        (0..=HOUR_MS).contains(&age_ms) && !baton.is_withdrawn && baton.session != heir.key
    })
}

/// Inheritance after `/clear`: from the session before in the same seat.
fn after_clear(situation: &InheritInput<'_>) -> Option<InheritDecision> {
    let before = predecessor(situation.heir, &situation.chain)
        .filter(|before| has_work(&before.session) && !is_continued(before))?;
    let key = &before.session.key;
    let reason = format!("{key} was cleared in the same pane");
    Some(apply_on_clear(situation, InheritRule::Clear, key, reason))
}

/// The session of the same seat that was cleared for this one. A session that ended by exit, or another agent's,
/// cannot have been: then an unreported session ran in between.
fn predecessor<'a>(heir: &Session, chain: &'a [Predecessor]) -> Option<&'a Predecessor> {
    let before = chain.last()?;
    let was_cleared = heir.started_by == StartedBy::Clear;
    (was_cleared && can_be_cleared(&before.session, heir)).then_some(before)
}

fn can_be_cleared(session: &Session, heir: &Session) -> bool {
    let exited = session.ended.is_some_and(|(_, by)| by == EndedBy::Exit);
    session.key.agent == heir.key.agent && session.key != heir.key && !exited
}

/// Whether another session already continued its work; not if it was itself prompted since.
fn is_continued(candidate: &Predecessor) -> bool {
    let prompted_at = candidate.session.prompted_at.unwrap_or_default();
    candidate.heir.as_ref().is_some_and(|(_, decided_at)| *decided_at >= prompted_at)
}

/// Inheritance after `/clear` without a predecessor in the seat: editors give each session its own seat.
fn fallback(situation: &InheritInput<'_>) -> Option<InheritDecision> {
    let heir = situation.heir;
    if !considers_other_sessions(heir, &situation.chain) {
        return None;
    }
    let eligible: Vec<&Predecessor> =
        situation.nearby.iter().filter(|candidate| is_eligible(candidate, heir)).collect();
    if let Some(asker) = eligible.iter().find(|candidate| candidate.session.fresh_at.is_some()) {
        return Some(decision(
            InheritRule::Fresh,
            format!("a fresh start was asked for in {}", asker.session.key),
        ));
    }
    let of_seat = |candidate: &&&Predecessor| heir.seat.is_some() && candidate.session.seat == heir.seat;
    let newest = eligible.iter().filter(of_seat).max_by_key(|candidate| candidate.session.last_event_at);
    match (newest, eligible.as_slice()) {
        (Some(before), _) => Some(inherit(situation, &[before], "the last session in the same pane")),
        (None, []) => None,
        (None, [before]) => {
            Some(inherit(situation, &[before], "the only session of the project that can have been cleared"))
        }
        (None, several) => Some(inherit(situation, several, "one of several")),
    }
}

fn is_eligible(candidate: &Predecessor, heir: &Session) -> bool {
    let session = &candidate.session;
    let is_quiet = !matches!(session.state, SessionState::Working | SessionState::Blocked(_));
    let is_elsewhere = candidate.sitting == OpenState::InTerminal && session.seat != heir.seat;
    let quiet_for_ms = heir.started_at.0.saturating_sub(session.last_event_at.0);
    has_work(session)
        && can_be_cleared(session, heir)
        && is_quiet
        && !is_elsewhere
        && !is_continued(candidate)
        && (0..=HOUR_MS).contains(&quiet_for_ms)
}

/// Inherits from a single eligible session if the settings allow it; from none if there are several.
fn inherit(situation: &InheritInput<'_>, eligible: &[&Predecessor], why: &str) -> InheritDecision {
    let candidates: Vec<SessionKey> =
        eligible.iter().map(|candidate| candidate.session.key.clone()).collect();
    let wishes = situation.heir.wishes;
    match (eligible, wishes.fallback, wishes.on_clear) {
        (_, Fallback::Off, _) => nothing_from(candidates, InheritRule::Off, "TOWLINE_NO_AUTO_INHERIT is set"),
        ([before], Fallback::On, _) => {
            let key = &before.session.key;
            apply_on_clear(situation, InheritRule::Fallback, key, format!("{key} is {why}"))
        }
        (_, Fallback::On, OnClear::Never) => {
            nothing_from(candidates, InheritRule::Off, "inherit.on_clear is `never`")
        }
        (_, Fallback::On, OnClear::Always | OnClear::Ask) => {
            let reason = "several sessions of the project can have been cleared";
            nothing_from(candidates, InheritRule::Ambiguous, reason)
        }
    }
}

/// Applies the `on_clear` setting to an inheritance from `key`.
fn apply_on_clear(
    situation: &InheritInput<'_>,
    way: InheritRule,
    key: &SessionKey,
    reason: String,
) -> InheritDecision {
    let candidates = vec![key.clone()];
    match situation.heir.wishes.on_clear {
        OnClear::Always => InheritDecision { from: Some(key.clone()), ..decision(way, reason) },
        OnClear::Ask => {
            nothing_from(candidates, InheritRule::Asked, &format!("{reason}; inherit.on_clear is `ask`"))
        }
        OnClear::Never => {
            nothing_from(candidates, InheritRule::Off, &format!("{reason}; inherit.on_clear is `never`"))
        }
    }
}

/// Inherits nothing, and names the session that could have been inherited from.
fn no_inheritance(situation: &InheritInput<'_>) -> InheritDecision {
    let continued = predecessor(situation.heir, &situation.chain).filter(|before| is_continued(before));
    if let Some((before, (heir, _))) = continued.and_then(|before| Some((before, before.heir.as_ref()?))) {
        let key = &before.session.key;
        let reason = format!("{heir} already goes on with the work of {key}");
        return nothing_from(vec![key.clone()], InheritRule::None, &reason);
    }
    let started_at = situation.heir.started_at;
    let expired = situation.batons.iter().filter(|baton| started_at.since_ms(baton.valid_from()) > HOUR_MS);
    let Some(baton) = expired.max_by_key(|baton| baton.valid_from()) else {
        return decision(InheritRule::None, String::new());
    };
    let reason =
        format!("the baton of {} had expired: it was passed at {}", baton.label(), baton.passed_at.to_utc());
    nothing_from(vec![baton.session.clone()], InheritRule::None, &reason)
}

/// Considers these sessions and inherits from none.
fn nothing_from(candidates: Vec<SessionKey>, way: InheritRule, reason: &str) -> InheritDecision {
    InheritDecision { candidates, ..decision(way, reason.to_owned()) }
}

fn decision(way: InheritRule, reason: String) -> InheritDecision {
    InheritDecision { way, from: None, baton: None, machine: None, reason, candidates: vec![] }
}

#[cfg(test)]
mod tests;
