//! Whose work a session goes on with: the one decision that is made about it, as a pure function of what is known.
//!
//! Falls at the session's first real prompt and is never made twice. Where more than one session could be meant, none is
//! taken. It reads no clock: all times are those of events, so a database that is rebuilt from the journal decides alike.

use crate::event::{EndedBy, Presence, StartedBy};
use crate::id::{SessionKey, Uid};
use crate::project::ProjectTraces;
use crate::session::{Session, State};
use crate::text::Kept;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// How long a baton waits for its heir, and how long ago a session may have been heard of to be one's predecessor
/// though nothing else ties the two together.
pub const HOUR_MS: i64 = 3_600_000;

/// How many sessions that were cleared before anything was asked of them are looked behind.
pub const DEEPEST_CHAIN: usize = 10;

/// What the user wants a session to inherit, as it was when the session started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wishes {
    pub on_clear: OnClear,
    pub fallback: Fallback,
}

impl Wishes {
    pub fn are_the_usual(&self) -> bool {
        *self == Wishes::default()
    }
}

/// Whether a session that was started by clearing another goes on with that one's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnClear {
    #[default]
    Always,
    /// Only when a person says so.
    Ask,
    Never,
}

impl OnClear {
    pub const ALL: [OnClear; 3] = [OnClear::Always, OnClear::Ask, OnClear::Never];

    pub fn name(self) -> &'static str {
        match self {
            OnClear::Always => "always",
            OnClear::Ask => "ask",
            OnClear::Never => "never",
        }
    }

    pub fn parse(name: &str) -> Option<OnClear> {
        OnClear::ALL.into_iter().find(|wish| wish.name() == name)
    }
}

/// Whether a cleared session that no seat ties to another may look for its predecessor by what else is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    #[default]
    On,
    Off,
}

impl Fallback {
    pub fn name(self) -> &'static str {
        match self {
            Fallback::On => "on",
            Fallback::Off => "off",
        }
    }

    pub fn parse(name: &str) -> Option<Fallback> {
        [Fallback::On, Fallback::Off].into_iter().find(|wish| wish.name() == name)
    }
}

/// How far a session is with what it inherits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inheriting {
    /// It did not start afresh: there is nothing to decide.
    Nothing,
    /// It started afresh, and nothing was asked of it yet.
    Undecided,
    /// Something was asked of it before anybody knew where it sits.
    Prompted,
    /// It is decided, and is to be given or told at the next prompt.
    Due,
    Settled,
}

impl Inheriting {
    const ALL: [Inheriting; 5] = [
        Inheriting::Nothing,
        Inheriting::Undecided,
        Inheriting::Prompted,
        Inheriting::Due,
        Inheriting::Settled,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Inheriting::Nothing => "nothing",
            Inheriting::Undecided => "undecided",
            Inheriting::Prompted => "prompted",
            Inheriting::Due => "due",
            Inheriting::Settled => "settled",
        }
    }

    pub fn parse(name: &str) -> Option<Inheriting> {
        Inheriting::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// By which rule it was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// The predecessor passed it on.
    Baton,
    /// The predecessor was cleared in the same seat.
    Clear,
    /// The only session that can have been cleared.
    Fallback,
    /// A person chose it.
    Taken,
    /// A fresh start was asked for.
    Fresh,
    /// A person is to be asked first.
    Asked,
    /// Several could be meant.
    Ambiguous,
    /// The user turned it off.
    Off,
    None,
}

impl Way {
    const ALL: [Way; 9] = [
        Way::Baton,
        Way::Clear,
        Way::Fallback,
        Way::Taken,
        Way::Fresh,
        Way::Asked,
        Way::Ambiguous,
        Way::Off,
        Way::None,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Way::Baton => "baton",
            Way::Clear => "clear",
            Way::Fallback => "fallback",
            Way::Taken => "taken",
            Way::Fresh => "fresh",
            Way::Asked => "asked",
            Way::Ambiguous => "ambiguous",
            Way::Off => "off",
            Way::None => "none",
        }
    }

    pub fn parse(name: &str) -> Option<Way> {
        Way::ALL.into_iter().find(|way| way.name() == name)
    }

    /// Whether somebody is to hear of it: the model of what it inherits, the person of what they may choose.
    pub fn is_to_be_given(self) -> bool {
        match self {
            Way::Baton | Way::Clear | Way::Fallback | Way::Taken | Way::Asked | Way::Ambiguous => true,
            Way::Fresh | Way::Off | Way::None => false,
        }
    }
}

/// Everything that is known when a session asks whose work it goes on with.
#[derive(Clone, Debug)]
pub struct Situation<'a> {
    pub heir: &'a Session,
    /// Those that sat in its seat before it, latest first: as many as `is_looked_behind`, and the one behind them.
    pub chain: Vec<Candidate>,
    /// Batons that nobody has taken, of its seat or its project.
    pub batons: Vec<Baton>,
    /// Sessions of its project that were heard of lately; needed only where it was cleared and has no chain.
    pub nearby: Vec<Candidate>,
}

/// A session that might be the predecessor.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub session: Session,
    /// The last that went on with its work without a baton, and when that was decided.
    pub heir: Option<(SessionKey, Timestamp)>,
    pub sitting: Sitting,
}

/// Whether a person has a session before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sitting {
    /// In a terminal, for all that is known.
    InTerminal,
    /// Nowhere; or in an editor, which tells nobody when it lets go of a session.
    Unknown,
}

/// A baton that nobody has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baton {
    pub uid: Uid,
    pub session: SessionKey,
    pub seat: Option<String>,
    pub reach: Reach,
    /// By the clock of the machine where it was passed.
    pub passed_at: Timestamp,
    /// Whether its session asked for a fresh start since.
    pub is_withdrawn: bool,
    /// Where it was passed, if on another machine of this person.
    pub afar: Option<Afar>,
}

/// Another machine of this person, and when its baton was first heard of here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Afar {
    pub machine: String,
    pub came_at: Timestamp,
}

impl Baton {
    /// When its hour begins. A clock that is ahead elsewhere gives it no longer life: it is no younger than its coming.
    pub fn alive_from(&self) -> Timestamp {
        self.afar.as_ref().map_or(self.passed_at, |afar| self.passed_at.min(afar.came_at))
    }

    /// Its session, and the machine if it is another one.
    fn whose(&self) -> String {
        match &self.afar {
            Some(afar) => format!("{} on {}", self.session, afar.machine),
            None => self.session.to_string(),
        }
    }
}

/// A baton of another machine of this person, as it was told here: the journal has it like any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarBaton {
    pub baton: Uid,
    pub machine: Uid,
    /// What that machine is called.
    pub called: Kept,
    /// The project as it is found on this machine.
    pub project: ProjectTraces,
    /// By the clock of that machine.
    pub passed_at: Timestamp,
    /// How often it was written there.
    pub count: u64,
    pub fate: BatonFate,
}

/// What has become of a baton of another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatonFate {
    Waits,
    /// Its session asked for a fresh start since; that may be taken back.
    Withdrawn,
    /// Somebody goes on with it elsewhere.
    Taken {
        by: Option<SessionKey>,
    },
    Dropped,
}

impl BatonFate {
    /// Whether nobody can take it any more.
    pub fn is_over(&self) -> bool {
        match self {
            BatonFate::Waits | BatonFate::Withdrawn => false,
            BatonFate::Taken { .. } | BatonFate::Dropped => true,
        }
    }
}

/// Whether a baton was passed in the heir's project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    SameProject,
    OtherProject,
}

/// What was decided, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision that is not kept is made again"]
pub struct Decision {
    pub way: Way,
    /// Whose work it goes on with.
    pub from: Option<SessionKey>,
    /// The baton that is taken by it.
    pub baton: Option<Uid>,
    /// The machine that session ran on, if not on this one.
    pub machine: Option<String>,
    /// In words, for a person.
    pub reason: String,
    /// Those that were considered and not taken.
    pub candidates: Vec<SessionKey>,
}

impl Decision {
    /// Nothing is kept of a session that simply began something new.
    pub fn is_worth_keeping(&self) -> bool {
        self.way != Way::None || !self.reason.is_empty()
    }
}

/// Whether it is time to decide: something was asked of the session, and it is known where it sits, if it can sit
/// anywhere. `before` is how far it was before the event at hand: by the next one, whoever looked for the seat has told
/// what was found.
pub fn is_time(before: Inheriting, session: &Session) -> bool {
    let is_placed = session.seat.is_some() || session.presence == Presence::Headless;
    session.inheriting == Inheriting::Prompted && (is_placed || before == Inheriting::Prompted)
}

/// What becomes of the session by the decision.
pub fn settle(session: &mut Session, decision: &Decision) {
    session.inheriting = if decision.way.is_to_be_given() { Inheriting::Due } else { Inheriting::Settled };
    // A wish that was obeyed is not handed on to whoever comes next.
    session.fresh_at = None;
}

/// Whether a session has anything that another could go on with, and a person who could pass it on.
pub fn has_work(session: &Session) -> bool {
    session.presence != Presence::Headless && session.inheriting != Inheriting::Undecided
}

/// Whether the session before this one counts in its place: it was cleared before anything was asked of it.
pub fn is_looked_behind(session: &Session) -> bool {
    session.inheriting == Inheriting::Undecided && session.started_by == StartedBy::Clear
}

/// Whether sessions that nothing but their project ties to this one matter: it was cleared, and its seat does not tell
/// whom it followed.
pub fn looks_nearby(heir: &Session, chain: &[Candidate]) -> bool {
    heir.started_by == StartedBy::Clear && (heir.seat.is_none() || pair(heir, chain).is_none())
}

/// Decides. The order of the rules is the order of what a person meant most explicitly.
pub fn decide(situation: &Situation<'_>) -> Decision {
    if situation.heir.presence == Presence::Headless {
        return decision(Way::None, String::new());
    }
    fresh(situation)
        .or_else(|| baton_of_seat(situation))
        .or_else(|| cleared(situation))
        .or_else(|| baton_of_project(situation))
        .or_else(|| fallback(situation))
        .unwrap_or_else(|| refused(situation))
}

/// The person's own choice. A session goes on with the work of an older one only: so no two can inherit from each other.
pub fn taken(heir: &Session, from: &Session) -> Option<Decision> {
    let is_older = (from.started_at, from.uid) < (heir.started_at, heir.uid);
    (is_older && from.key != heir.key).then(|| Decision {
        from: Some(from.key.clone()),
        ..decision(Way::Taken, "a person chose it".to_owned())
    })
}

/// The same for a session of another machine, which is known here by its baton alone.
pub fn taken_from_afar(heir: &Session, baton: &Baton) -> Option<Decision> {
    let afar = baton.afar.as_ref().filter(|_| baton.session != heir.key)?;
    Some(Decision {
        from: Some(baton.session.clone()),
        baton: Some(baton.uid),
        machine: Some(afar.machine.clone()),
        ..decision(Way::Taken, "a person chose it".to_owned())
    })
}

/// A wish for a fresh start, in the session before or, where that was cleared already, in the heir itself. For a session
/// that was not started by clearing it is as old as a baton may be.
fn fresh(situation: &Situation<'_>) -> Option<Decision> {
    let heir = situation.heir;
    let counts = |session: &&Session| {
        let is_recent = |at: Timestamp| heir.started_at.since_ms(at) <= HOUR_MS;
        session.fresh_at.is_some_and(|at| heir.started_by == StartedBy::Clear || is_recent(at))
    };
    let asked = [heir].into_iter().chain(situation.chain.iter().map(|candidate| &candidate.session));
    let asked = asked.into_iter().find(counts)?;
    Some(decision(Way::Fresh, format!("a fresh start was asked for in {}", asked.key)))
}

fn baton_of_seat(situation: &Situation<'_>) -> Option<Decision> {
    let seat = situation.heir.seat.as_deref()?;
    let of_seat = open_batons(situation).filter(|baton| baton.seat.as_deref() == Some(seat));
    of_seat.max_by_key(|baton| (baton.passed_at, baton.uid)).map(|baton| take(baton, "in the same seat"))
}

fn baton_of_project(situation: &Situation<'_>) -> Option<Decision> {
    let of_project: Vec<&Baton> =
        open_batons(situation).filter(|baton| baton.reach == Reach::SameProject).collect();
    match of_project.as_slice() {
        [] => None,
        [baton] => Some(take(baton, "in the same project")),
        several => {
            let candidates = several.iter().map(|baton| baton.session.clone()).collect();
            let afar = several.iter().filter(|baton| baton.afar.is_some());
            let afar: Vec<String> = afar.map(|baton| format!(", {}", baton.whose())).collect();
            let reason = format!("several sessions of the project passed their batons{}", afar.concat());
            Some(ambiguous(&reason, candidates))
        }
    }
}

fn take(baton: &Baton, place: &str) -> Decision {
    let reason = format!("{} passed the baton {place} at {}", baton.whose(), baton.passed_at.to_utc());
    Decision {
        from: Some(baton.session.clone()),
        baton: Some(baton.uid),
        machine: baton.afar.as_ref().map(|afar| afar.machine.clone()),
        ..decision(Way::Baton, reason)
    }
}

/// The batons that this session may take: passed before it was born, and not too long before.
fn open_batons<'a>(situation: &'a Situation<'_>) -> impl Iterator<Item = &'a Baton> {
    let heir = situation.heir;
    situation.batons.iter().filter(move |baton| {
        let age_ms = heir.started_at.0.saturating_sub(baton.alive_from().0);
        (0..=HOUR_MS).contains(&age_ms) && !baton.is_withdrawn && baton.session != heir.key
    })
}

/// The pair that clearing makes: the session before and this one, in one seat.
fn cleared(situation: &Situation<'_>) -> Option<Decision> {
    let before = pair(situation.heir, &situation.chain)
        .filter(|before| has_work(&before.session) && !is_given_away(before))?;
    let key = &before.session.key;
    let reason = format!("{key} was cleared in the same seat");
    Some(as_wished(situation, Way::Clear, key, reason))
}

/// The session that was cleared for this one, as far as the seat tells. One that its user left by its own exit, or
/// another agent's, was not: what sat there in between was not heard of.
fn pair<'a>(heir: &Session, chain: &'a [Candidate]) -> Option<&'a Candidate> {
    let before = chain.last()?;
    let was_cleared = heir.started_by == StartedBy::Clear;
    (was_cleared && can_be_cleared(&before.session, heir)).then_some(before)
}

fn can_be_cleared(session: &Session, heir: &Session) -> bool {
    let was_left = session.ended.is_some_and(|(_, by)| by == EndedBy::Exit);
    session.key.agent == heir.key.agent && session.key != heir.key && !was_left
}

/// Whether somebody went on with its work already. Not if it has gone on by itself since.
fn is_given_away(candidate: &Candidate) -> bool {
    let prompted_at = candidate.session.prompted_at.unwrap_or_default();
    candidate.heir.as_ref().is_some_and(|(_, decided_at)| *decided_at >= prompted_at)
}

/// A cleared session without a pair: editors and desktop programs give each a place of its own.
fn fallback(situation: &Situation<'_>) -> Option<Decision> {
    let heir = situation.heir;
    if !looks_nearby(heir, &situation.chain) {
        return None;
    }
    let able: Vec<&Candidate> =
        situation.nearby.iter().filter(|candidate| can_fall_to(candidate, heir)).collect();
    if let Some(asked) = able.iter().find(|candidate| candidate.session.fresh_at.is_some()) {
        return Some(decision(Way::Fresh, format!("a fresh start was asked for in {}", asked.session.key)));
    }
    let of_seat = |candidate: &&&Candidate| heir.seat.is_some() && candidate.session.seat == heir.seat;
    let newest = able.iter().filter(of_seat).max_by_key(|candidate| candidate.session.last_event_at);
    match (newest, able.as_slice()) {
        (Some(before), _) => Some(fall_to(situation, &[before], "the last session in the same seat")),
        (None, []) => None,
        (None, [before]) => {
            Some(fall_to(situation, &[before], "the only session of the project that can have been cleared"))
        }
        (None, several) => Some(fall_to(situation, several, "one of several")),
    }
}

fn can_fall_to(candidate: &Candidate, heir: &Session) -> bool {
    let session = &candidate.session;
    let is_quiet = !matches!(session.state, State::Working | State::Blocked(_));
    let is_elsewhere = candidate.sitting == Sitting::InTerminal && session.seat != heir.seat;
    let quiet_for_ms = heir.started_at.0.saturating_sub(session.last_event_at.0);
    has_work(session)
        && can_be_cleared(session, heir)
        && is_quiet
        && !is_elsewhere
        && !is_given_away(candidate)
        && (0..=HOUR_MS).contains(&quiet_for_ms)
}

/// Goes on with the only one, if the user lets it; of several, with none.
fn fall_to(situation: &Situation<'_>, able: &[&Candidate], why: &str) -> Decision {
    let candidates: Vec<SessionKey> = able.iter().map(|candidate| candidate.session.key.clone()).collect();
    let wishes = situation.heir.wishes;
    match (able, wishes.fallback, wishes.on_clear) {
        (_, Fallback::Off, _) => {
            Decision { candidates, ..decision(Way::Off, "TOWLINE_NO_AUTO_INHERIT is set".to_owned()) }
        }
        ([before], Fallback::On, _) => {
            let key = &before.session.key;
            as_wished(situation, Way::Fallback, key, format!("{key} is {why}"))
        }
        (_, Fallback::On, OnClear::Never) => {
            Decision { candidates, ..decision(Way::Off, "inherit.on_clear is `never`".to_owned()) }
        }
        (_, Fallback::On, OnClear::Always | OnClear::Ask) => {
            ambiguous("several sessions of the project can have been cleared", candidates)
        }
    }
}

/// What clearing gives, if the user wants it to.
fn as_wished(situation: &Situation<'_>, way: Way, key: &SessionKey, reason: String) -> Decision {
    let candidates = vec![key.clone()];
    match situation.heir.wishes.on_clear {
        OnClear::Always => Decision { from: Some(key.clone()), ..decision(way, reason) },
        OnClear::Ask => {
            Decision { candidates, ..decision(Way::Asked, format!("{reason}; inherit.on_clear is `ask`")) }
        }
        OnClear::Never => {
            Decision { candidates, ..decision(Way::Off, format!("{reason}; inherit.on_clear is `never`")) }
        }
    }
}

/// Nothing is inherited; what could have been is said.
fn refused(situation: &Situation<'_>) -> Decision {
    let given_away = pair(situation.heir, &situation.chain).filter(|before| is_given_away(before));
    if let Some((before, (heir, _))) = given_away.and_then(|before| Some((before, before.heir.as_ref()?))) {
        let key = &before.session.key;
        let reason = format!("{heir} already goes on with the work of {key}");
        return Decision { candidates: vec![key.clone()], ..decision(Way::None, reason) };
    }
    let birth = situation.heir.started_at;
    let expired = situation.batons.iter().filter(|baton| birth.since_ms(baton.alive_from()) > HOUR_MS);
    let Some(baton) = expired.max_by_key(|baton| baton.alive_from()) else {
        return decision(Way::None, String::new());
    };
    let reason =
        format!("the baton of {} had expired: it was passed at {}", baton.whose(), baton.passed_at.to_utc());
    Decision { candidates: vec![baton.session.clone()], ..decision(Way::None, reason) }
}

fn ambiguous(reason: &str, candidates: Vec<SessionKey>) -> Decision {
    Decision { candidates, ..decision(Way::Ambiguous, reason.to_owned()) }
}

fn decision(way: Way, reason: String) -> Decision {
    Decision { way, from: None, baton: None, machine: None, reason, candidates: vec![] }
}

#[cfg(test)]
mod tests;
