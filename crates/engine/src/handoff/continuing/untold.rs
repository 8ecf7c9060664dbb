//! Notices to the user about work that did not continue by itself: at the next opportunity, once.
//!
//! Changes only two things: it marks hops as announced, and fails hops that are overdue.

use crate::runtime::{Env, record};
use towline_core::continuing::{Hop, HopStage, is_overdue};
use towline_core::event::{Event, EventKind};
use towline_core::reply::Reply;
use towline_store::{Store, StoreError};

/// The open hops, and the ended ones that the user has not been notified about.
#[derive(Default)]
pub struct Afoot {
    pub open: Vec<Hop>,
    untold: Vec<Hop>,
}

impl Afoot {
    /// Loads them at events that can show a notice. Usually there are none, and one query shows that.
    pub fn at(env: &Env, store: &Store, event: &Event) -> Result<Afoot, StoreError> {
        let is_heard = matches!(
            event.happening,
            EventKind::SessionStarted { .. }
                | EventKind::PromptSubmitted { .. }
                | EventKind::TurnEnded { .. }
        );
        if !is_heard || event.subagent.is_some() || !store.has_active_hops()? {
            return Ok(Afoot::default());
        }
        Ok(Afoot { open: overdue(env, store.open_hops()?), untold: store.unreported_hops()? })
    }
}

/// The notices due in the seat of this event's session.
pub fn pending_notices(env: &Env, store: &Store, afoot: &Afoot, event: &Event) -> Result<Reply, StoreError> {
    let hops = &afoot.untold;
    if hops.is_empty() {
        return Ok(Reply::default());
    }
    let seat = store.session(&event.session)?.and_then(|session| session.seat);
    let is_here = |hop: &&Hop| hop.session == event.session || Some(&hop.asking.seat) == seat.as_ref();
    let here: Vec<&Hop> = hops.iter().filter(is_here).collect();
    let told = here.iter().map(|hop| EventKind::HopTold { hop: hop.uid });
    record::append_or_fault(env, told.map(|told| record::event(env, &event.session, told)));
    Ok(Reply { notices: here.iter().map(|hop| failure_line(hop)).collect(), ..Reply::default() })
}

/// Fails the overdue hops and returns the others.
pub fn overdue(env: &Env, open: Vec<Hop>) -> Vec<Hop> {
    let (late, open): (Vec<Hop>, Vec<Hop>) = open.into_iter().partition(|hop| is_overdue(hop, env.now));
    let why = || Some("nothing was heard of it any more".to_owned());
    let failed =
        |hop: &Hop| EventKind::HopMoved { hop: hop.uid, to: HopStage::Failed, why: why(), typed: None };
    record::append_or_fault(env, late.iter().map(|hop| record::event(env, &hop.session, failed(hop))));
    open
}

/// One line about a failed hop, with the next command.
pub fn failure_line(hop: &Hop) -> String {
    let why = hop.why.as_deref().unwrap_or("it was stopped");
    let (short, session) = (hop.short(), hop.session.short());
    let next = if hop.text().is_some() {
        format!(
            " Its handoff is kept: `tow session handoff send {short}` sends it, `tow session handoff show {short}` shows it."
        )
    } else {
        String::new()
    };
    format!("towline: the work of {session} does not go on by itself: {why}.{next}")
}
