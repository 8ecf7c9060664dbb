//! Typing one intent: wait until it may be typed, type, see that it stands there, press Enter, wait for the agent to tell.
//!
//! Every step forward is in the journal before it is taken, but for the last one. Nothing is tried twice, and nothing is
//! typed or pressed once anything is not as it should be.

use super::hands::NotDone;
use super::patience::Patience;
use super::sight::{Sight, World};
use crate::handoff::bookmarks::instead_of_marker;
use crate::handoff::typing::{accept, accept_move, moved};
use crate::runtime::failure::Failure;
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;
use towline_core::typing::{Intent, Stage, Verdict, Why};

/// An agent draws what was typed in less than this.
const DRAWN_WITHIN_MS: i64 = 5_000;

/// How an intent ended that was not confirmed.
pub(super) struct End {
    to: Stage,
    why: String,
}

impl End {
    fn refused(why: impl ToString) -> End {
        End { to: Stage::Refused, why: why.to_string() }
    }

    pub(super) fn expired(why: impl ToString) -> End {
        End { to: Stage::Expired, why: why.to_string() }
    }

    /// Keys were pressed before it ended.
    fn with_text_left(self) -> End {
        End {
            why: format!("{}; Enter was not pressed, what was typed may still stand there", self.why),
            ..self
        }
    }
}

/// Types an intent that waits, if that can be done until then.
pub(super) fn attempt(world: &mut World<'_>, intent: &Intent, until: Timestamp) -> Result<(), Failure> {
    let into = match ready(world, intent, until)? {
        Ok(into) => into,
        Err(end) => return finish(world, intent, (&intent.session, end)),
    };
    accept_move(&world.env(), &into, (intent, Stage::Typing), None)?;
    match type_and_press(world, intent)? {
        Err(end) => finish(world, intent, (&into, end)),
        Ok(()) => accept_move(&world.env(), &into, (intent, Stage::Typed), None),
    }
}

/// Waits for the agent to tell that it was done; the fold that hears of it confirms. Whatever else happens, it expires.
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
            return finish(world, intent, (into, End::expired(why)));
        }
    }
}

/// The session to type into, once it may be done.
fn ready(
    world: &mut World<'_>,
    intent: &Intent,
    until: Timestamp,
) -> Result<Result<SessionKey, End>, Failure> {
    let mut patience = Patience::until(until);
    let mut last = None;
    loop {
        let sight = world.see(intent.uid)?;
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

/// That its time is over says nothing; what kept it from being typed does.
fn late(last: Option<&Why>) -> End {
    match last {
        Some(why) => End::expired(format!("it could not be typed in time: {why}")),
        None => End::expired(Why::TooLate),
    }
}

enum Judged {
    Ready(SessionKey),
    Wait(Why),
    Late,
    End(End),
    Over,
}

fn judged(sight: &Sight) -> Judged {
    match (sight.may_type(), &sight.blind) {
        _ if sight.intent.stage.is_over() => Judged::Over,
        (Verdict::Refused(Why::TooLate), _) => Judged::Late,
        // A refusal that is about the user's wishes says more than that nobody could look.
        (Verdict::Refused(why @ (Why::Off | Why::Paused(_))), _) => Judged::End(End::refused(why)),
        (_, Some(blind)) => Judged::End(End::refused(blind)),
        (Verdict::Refused(why), None) => Judged::End(End::refused(why)),
        (Verdict::NotYet(why), None) => Judged::Wait(why),
        (Verdict::Ready, None) => Judged::Ready(sight.session()),
    }
}

/// The row says that typing has begun: from here on there is no second try.
fn type_and_press(world: &mut World<'_>, intent: &Intent) -> Result<Result<(), End>, Failure> {
    let Some(sight) = world.see(intent.uid)? else {
        return Ok(Err(End::refused("what happened is not known right now")));
    };
    let hands = match (judged(&sight), &sight.hands) {
        (Judged::Ready(_), Some(hands)) if sight.intent.stage == Stage::Typing => hands,
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

/// Presses Enter once the line holds exactly the text and all else is still as it was.
fn press(world: &mut World<'_>, intent: &Intent, typed_on: &Sight) -> Result<Result<(), End>, Failure> {
    let mut patience = Patience::until(world.env().now.plus_ms(DRAWN_WITHIN_MS));
    let mut last = "what happened is not known right now".to_owned();
    loop {
        if let Some(sight) = world.see(intent.uid)? {
            // Where our own typing counts as somebody's, only what stands in the line tells whether it was alone.
            let is_deafened = sight.hands.as_ref().is_some_and(|hands| hands.counts_own_keys());
            let quiet_since = if is_deafened { &sight.look } else { &typed_on.look };
            match (sight.may_press(quiet_since), &sight.hands) {
                (Verdict::Ready, Some(hands)) => {
                    return Ok(hands.press_enter().map_err(unpressed));
                }
                (Verdict::Refused(why), _) => return Ok(Err(End::refused(why))),
                (Verdict::NotYet(why), _) => last = why.to_string(),
                (Verdict::Ready, None) => {}
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

/// Says how it ended, unless that is known already, and keeps what it was for where that can be had otherwise: in one write.
pub(super) fn finish(
    world: &mut World<'_>,
    intent: &Intent,
    (session, end): (&SessionKey, End),
) -> Result<(), Failure> {
    if world.intent(intent.uid)?.is_some_and(|known| known.stage.is_over()) {
        return Ok(());
    }
    let env = world.env();
    let failed = |error| Failure::new(&error).hint("Run `tow doctor`.");
    let instead = world.store()?.map(|store| instead_of_marker(&env, store, intent)).transpose();
    let moved = moved(&env, session, (intent, end.to), Some(end.why));
    accept(&env, [Some(moved), instead.map_err(failed)?.flatten()].into_iter().flatten())?;
    world.store().map(drop)
}
