//! Gives a handoff to the successor: at its first prompt, once, before everything else it inherits.
//!
//! Does not decide who inherits. A handoff is void once the old session was prompted again.

use crate::handoff::past;
use crate::runtime::{Env, record};
use towline_core::compose::ComposeInput;
use towline_core::continuing::{Hop, form};
use towline_core::event::EventKind;
use towline_core::id::SessionKey;
use towline_store::{Store, StoreError};

/// The session's last hop with a handoff, unless that was given or the session was prompted since.
pub fn handoff_of(store: &Store, from: &SessionKey) -> Result<Option<Hop>, StoreError> {
    let hop = store.last_hop_of(from)?.filter(|hop| hop.given.is_none() && hop.text().is_some());
    let Some(hop) = hop else { return Ok(None) };
    let prompted = store.session(from)?.and_then(|session| session.prompted_at);
    Ok(Some(hop).filter(|hop| prompted.is_none_or(|at| at < hop.began_at)))
}

/// Puts the handoff into the material and removes it from the quoted turns, so that it appears once.
pub fn insert_handoff(material: &mut ComposeInput, hop: &Hop) {
    let (Some(past), Some(text)) = (&mut material.past, hop.text()) else { return };
    past.handoff = Some(form::parts(text));
    let is_it = |text: &str| text.contains(form::OPENING);
    for words in past.turns.iter_mut().flat_map(|turn| &mut turn.words).filter(|words| is_it(&words.text)) {
        words.text = form::without(&words.text);
    }
    past.turns.iter_mut().for_each(|turn| turn.words.retain(|words| !words.text.is_empty()));
    past.answer_heard = past.answer_heard.take().filter(|answer| !is_it(answer));
}

/// The handoff alone, for a successor whose user wants no other inheritance.
pub fn handoff_only(
    env: &Env,
    store: &Store,
    successor: &SessionKey,
    open: &[Hop],
) -> Result<Option<(Hop, ComposeInput)>, StoreError> {
    let led_here = open.iter().rfind(|hop| hop.successor.as_ref() == Some(successor));
    let Some(hop) = led_here.map(|hop| handoff_of(store, &hop.session)).transpose()?.flatten() else {
        return Ok(None);
    };
    let mut material = past::material(None, Some(store), &hop.session, "its handoff".to_owned(), env.now)?;
    insert_handoff(&mut material, &hop);
    Ok(Some((hop, material)))
}

/// Records which session received the handoff.
pub fn mark_given(env: &Env, hop: &Hop, heir: &SessionKey) {
    let given = record::event(env, heir, EventKind::HandoffGiven { hop: hop.uid });
    record::append_or_fault(env, [given]);
}
