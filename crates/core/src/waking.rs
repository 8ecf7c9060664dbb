//! Decides which session stopped by a usage limit resumes next, and when.
//!
//! One at a time, in the order in which their limits end. A session whose limit has no known end is never woken, and no
//! session is woken twice for the same limit, or soon after the last time.

use crate::session::{Session, SessionState};
use crate::time::Timestamp;

/// Agents report the end of a limit to the minute, and servers are a little late.
pub const GRACE_MS: i64 = 10_000;

/// Minimum interval for one session: it may hit its limit again at once.
pub const APART_MS: i64 = 15 * 60_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextWake<'s> {
    Nothing,
    /// No session is due before this time.
    Wait(Timestamp),
    Wake(&'s Session),
}

/// The next action. `woken_at` returns when a session was last woken.
pub fn next<'s>(
    sessions: &'s [Session],
    woken_at: &dyn Fn(&Session) -> Option<Timestamp>,
    now: Timestamp,
) -> NextWake<'s> {
    let due = |session: &'s Session| Some((due_at(session, woken_at(session))?, session));
    match sessions.iter().filter_map(due).min_by_key(|(at, session)| (*at, session.key.clone())) {
        None => NextWake::Nothing,
        Some((at, session)) if at <= now => NextWake::Wake(session),
        Some((at, _)) => NextWake::Wait(at),
    }
}

/// When a session is due; `None` if it does not resume by itself.
fn due_at(session: &Session, woken_at: Option<Timestamp>) -> Option<Timestamp> {
    let is_stopped =
        session.state == SessionState::Limited && session.seat.is_some() && session.ended.is_none();
    let until = session.limited_until.filter(|_| is_stopped)?;
    let due = until.plus_ms(GRACE_MS);
    match woken_at {
        Some(woken) if woken >= session.since => None,
        Some(woken) => Some(due.max(woken.plus_ms(APART_MS))),
        None => Some(due),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, EventKind, TurnFailure};
    use crate::id::{SessionKey, Uid};
    use crate::step::{StepInput, step};
    use proptest::prelude::*;

    const NEVER: &dyn Fn(&Session) -> Option<Timestamp> = &|_| None;

    fn limited(id: &str, since: i64, until: Option<i64>) -> Session {
        let failed = EventKind::TurnFailed { failure: TurnFailure::UsageLimit, until: until.map(Timestamp) };
        let event = Event {
            uid: Uid([0; 16]),
            at: Timestamp(since),
            session: SessionKey::parse(&format!("agent:{id}")).unwrap(),
            subagent: None,
            turn: None,
            happening: failed,
            scene: None,
        };
        let session = step(StepInput::default(), &event).session.unwrap();
        Session { seat: Some(format!("tmux:1:%{id}")), ..session }
    }

    fn key(next: NextWake<'_>) -> Option<String> {
        let NextWake::Wake(session) = next else { return None };
        Some(session.key.to_string())
    }

    #[test]
    fn the_one_whose_limit_ends_first_goes_on_first_and_not_before() {
        let all = [limited("b", 0, Some(60_000)), limited("a", 0, Some(30_000)), limited("c", 0, None)];
        assert_eq!(next(&all, NEVER, Timestamp(39_999)), NextWake::Wait(Timestamp(40_000)));
        assert_eq!(key(next(&all, NEVER, Timestamp(40_000))).as_deref(), Some("agent:a"));
        assert_eq!(key(next(&all[..1], NEVER, Timestamp(90_000))).as_deref(), Some("agent:b"));
        assert_eq!(
            next(&all[2..], NEVER, Timestamp(i64::MAX / 2)),
            NextWake::Nothing,
            "nobody knows its end"
        );
    }

    #[test]
    fn no_session_is_woken_twice_for_one_limit_or_soon_after_the_last_time() {
        let all = [limited("a", 1_000_000, Some(1_060_000))];
        assert_eq!(next(&all, &|_| Some(Timestamp(1_000_000)), Timestamp(i64::MAX / 2)), NextWake::Nothing);
        let before = &|_: &Session| Some(Timestamp(999_000));
        assert_eq!(next(&all, before, Timestamp(1_100_000)), NextWake::Wait(Timestamp(999_000 + APART_MS)));
    }

    #[test]
    fn sessions_without_a_seat_or_at_work_are_not_woken() {
        let session = limited("a", 0, Some(1));
        let gone = Session { seat: None, ..session.clone() };
        let working = Session { state: SessionState::Working, ..session };
        assert_eq!(next(&[gone, working], NEVER, Timestamp(i64::MAX / 2)), NextWake::Nothing);
    }

    proptest! {
        #[test]
        fn repeated_limits_keep_wakings_apart(limits in prop::collection::vec(0_i64..5_000_000, 1..40)) {
            let (mut now, mut woken): (i64, Vec<i64>) = (0, vec![]);
            for length in limits {
                let all = [limited("a", now, Some(now + length))];
                let last = woken.last().copied().map(Timestamp);
                now = match next(&all, &|_| last, Timestamp(now)) {
                    NextWake::Wait(at) => at.0,
                    NextWake::Wake(_) => now,
                    NextWake::Nothing => { now += 1; continue }
                };
                woken.push(now);
                now += 1;
            }
            prop_assert!(woken.windows(2).all(|pair| pair[1] - pair[0] >= APART_MS));
        }
    }
}
