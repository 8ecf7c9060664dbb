//! Types one intent: waits until allowed, types, checks the input line, presses Enter, awaits the event.
//!
//! Every step but the last is journaled before it is taken. No step is tried twice, and no key is sent once a
//! check fails.

use super::hands::NotDone;
use super::patience::Patience;
use super::sight::{Sight, World};
use crate::handoff::bookmarks::silent_bookmark;
use crate::handoff::typing::accept_move;
use crate::runtime::Failure;
use crate::runtime::record::{accept, event};
use towline_core::event::EventKind;
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;
use towline_core::typing::{Intent, IntentStage, TypingObstacle, TypingVerdict};

/// Agents draw typed text faster than this.
const DRAWN_WITHIN_MS: i64 = 5_000;

/// Final stage and reason of an intent that was not confirmed.
pub(super) struct End {
    to: IntentStage,
    why: String,
}

impl End {
    fn refused(why: impl ToString) -> End {
        End { to: IntentStage::Refused, why: why.to_string() }
    }

    pub(super) fn expired(why: impl ToString) -> End {
        End { to: IntentStage::Expired, why: why.to_string() }
    }

    /// For an end after keys were sent.
    fn with_text_left(self) -> End {
        End {
            why: format!("{}; Enter was not pressed, what was typed may still stand there", self.why),
            ..self
        }
    }
}

/// Types a waiting intent, if that becomes possible before `until`.
pub(super) fn attempt(world: &mut World<'_>, intent: &Intent, until: Timestamp) -> Result<(), Failure> {
    let into = match ready(world, intent, until)? {
        Ok(into) => into,
        Err(end) => return finish(world, intent, &intent.session, end),
    };
    accept_move(&world.env(), &into, intent, IntentStage::Typing, None)?;
    match type_and_press(world, intent)? {
        Err(end) => finish(world, intent, &into, end),
        Ok(()) => accept_move(&world.env(), &into, intent, IntentStage::Typed, None),
    }
}

/// Waits for the agent's event; applying it confirms the intent. Otherwise the intent expires.
pub(super) fn await_confirmation(
    world: &mut World<'_>,
    intent: &Intent,
    until: Timestamp,
) -> Result<(), Failure> {
    let into = intent.into.as_ref().unwrap_or(&intent.session);
    let mut patience = Patience::until(until);
    loop {
        match world.intent(intent.uid)? {
            Some(known) if known.stage.is_over() => return Ok(()),
            Some(_) | None => {}
        }
        if !patience.waits(world.env().now) {
            let hoped = intent.wish.purpose.confirmation();
            let why = format!("it was typed, but nothing told that {hoped}; it is not typed again");
            return finish(world, intent, into, End::expired(why));
        }
    }
}

/// Waits until the intent may be typed; returns the session to type into.
fn ready(
    world: &mut World<'_>,
    intent: &Intent,
    until: Timestamp,
) -> Result<Result<SessionKey, End>, Failure> {
    let mut patience = Patience::until(until);
    let mut last = None;
    loop {
        let sight = world.probe_seat(intent.uid)?;
        match sight.as_ref().map(judged) {
            Some(Judged::Over) => return Ok(Err(End::refused("it was taken back"))),
            Some(Judged::Late) => return Ok(Err(late(last.as_ref()))),
            Some(Judged::End(end)) => return Ok(Err(end)),
            Some(Judged::Wait(why)) => last = Some(why),
            Some(Judged::Ready(into)) => return Ok(Ok(into)),
            None => {}
        }
        if !patience.waits(world.env().now) {
            return Ok(Err(late(last.as_ref())));
        }
    }
}

/// Reports the last obstacle, which says more than that time ran out.
fn late(last: Option<&TypingObstacle>) -> End {
    match last {
        Some(why) => End::expired(format!("it could not be typed in time: {why}")),
        None => End::expired(TypingObstacle::TooLate),
    }
}

enum Judged {
    Ready(SessionKey),
    Wait(TypingObstacle),
    Late,
    End(End),
    Over,
}

fn judged(sight: &Sight) -> Judged {
    match (sight.may_type(), &sight.blind) {
        _ if sight.intent.stage.is_over() => Judged::Over,
        (TypingVerdict::Refused(TypingObstacle::TooLate), _) => Judged::Late,
        // A refusal by the user's settings says more than that the seat could not be probed.
        (TypingVerdict::Refused(why @ (TypingObstacle::Off | TypingObstacle::Paused(_))), _) => {
            Judged::End(End::refused(why))
        }
        (_, Some(blind)) => Judged::End(End::refused(blind)),
        (TypingVerdict::Refused(why), None) => Judged::End(End::refused(why)),
        (TypingVerdict::NotYet(why), None) => Judged::Wait(why),
        (TypingVerdict::Ready, None) => Judged::Ready(sight.session()),
    }
}

/// The row says that typing has begun: from here on there is no second try.
fn type_and_press(world: &mut World<'_>, intent: &Intent) -> Result<Result<(), End>, Failure> {
    let Some(sight) = world.probe_seat(intent.uid)? else {
        return Ok(Err(End::refused("what happened is not known right now")));
    };
    let hands = match (judged(&sight), &sight.hands) {
        (Judged::Ready(_), Some(hands)) if sight.intent.stage == IntentStage::Typing => hands,
        (Judged::Wait(why), _) => return Ok(Err(End::refused(format!("at the last moment: {why}")))),
        (Judged::Late, _) => return Ok(Err(late(None))),
        (Judged::End(end), _) => return Ok(Err(end)),
        (Judged::Ready(_) | Judged::Over, _) => return Ok(Err(End::refused("it was taken back"))),
    };
    let untyped = |why| End::refused(format!("it could not be typed: {why}"));
    match hands.type_in(intent.wish.text.as_str()) {
        Ok(()) => {}
        Err(NotDone::Surely(why)) => return Ok(Err(untyped(why))),
        Err(NotDone::Perhaps(why)) => return Ok(Err(untyped(why).with_text_left())),
    }
    let pressed = press(world, intent, &sight)?;
    Ok(pressed.map_err(End::with_text_left))
}

/// Presses Enter once the line holds exactly the text and all else is unchanged.
fn press(world: &mut World<'_>, intent: &Intent, typed_on: &Sight) -> Result<Result<(), End>, Failure> {
    let mut patience = Patience::until(world.env().now.plus_ms(DRAWN_WITHIN_MS));
    let mut last = "what happened is not known right now".to_owned();
    loop {
        if let Some(sight) = world.probe_seat(intent.uid)? {
            // If our own keys count as input, only the line's content shows whether the user typed too.
            let is_deafened = sight.hands.as_ref().is_some_and(|hands| hands.counts_own_keys());
            let quiet_since = if is_deafened { &sight.look } else { &typed_on.look };
            match (sight.may_press(quiet_since), &sight.hands) {
                (TypingVerdict::Ready, Some(hands)) => {
                    return Ok(hands.press_enter().map_err(unpressed));
                }
                (TypingVerdict::Refused(why), _) => return Ok(Err(End::refused(why))),
                (TypingVerdict::NotYet(why), _) => last = why.to_string(),
                (TypingVerdict::Ready, None) => {}
            }
        }
        if !patience.waits(world.env().now) {
            return Ok(Err(End::refused(last)));
        }
    }
}

fn unpressed(error: NotDone) -> End {
    let (NotDone::Surely(why) | NotDone::Perhaps(why)) = error;
    End::refused(format!("Enter could not be pressed: {why}"))
}

/// Records the end, unless one is known, and in the same write the substitute for a marker if there is one.
pub(super) fn finish(
    world: &mut World<'_>,
    intent: &Intent,
    session: &SessionKey,
    end: End,
) -> Result<(), Failure> {
    if world.intent(intent.uid)?.is_some_and(|known| known.stage.is_over()) {
        return Ok(());
    }
    let env = world.env();
    let instead = world.store()?.map(|store| silent_bookmark(&env, store, intent)).transpose();
    let ended = EventKind::IntentMoved { intent: intent.uid, to: end.to, why: Some(end.why) };
    let moved = event(&env, session, ended);
    accept(&env, [Some(moved), instead?.flatten()].into_iter().flatten())?;
    world.store().map(drop)
}
