//! Each barrier alone, and limits that hold for every sequence of turns.

use super::*;
use crate::continuing::Strategy;
use crate::event::{Event, Happening, Presence, Scene, StartedBy};
use crate::id::{SessionKey, Uid};
use crate::inherit::Wishes;
use crate::step::{Before, step};
use proptest::prelude::{Just, prop_assert, prop_oneof, proptest};
use proptest::strategy::Strategy as Generator;

const LIMITS: Limits = Limits { most_hops: 3, per_hour: 4, per_day: 6, cooldown_ms: 60_000 };
const NOW: Timestamp = Timestamp(1_000_000_000);

/// A session with a seat that was prompted and has ended its turn.
fn session() -> Session {
    let event = Event {
        uid: Uid([1; 16]),
        at: NOW.plus_ms(-1000),
        session: SessionKey::parse("agent:one").unwrap(),
        subagent: None,
        turn: None,
        happening: Happening::SessionStarted { by: StartedBy::Startup, wishes: Wishes::default() },
        scene: Some(Scene {
            presence: Presence::Terminal,
            folder: None,
            transcript: None,
            model: None,
            place: None,
            project: None,
        }),
    };
    let session = step(Before::default(), &event).session.unwrap();
    Session {
        state: State::Completed,
        seat: Some("seat".into()),
        prompted_at: Some(NOW.plus_ms(-500)),
        ..session
    }
}

fn past() -> Past {
    Past { ordinal: 1, last_turn: Some(Origin::Human), ..Past::default() }
}

fn moment<'a>(session: &'a Session, past: &'a Past) -> Moment<'a> {
    Moment {
        now: NOW,
        strategy: Strategy::Handoff,
        written: Written::Asked,
        at_percent: 70,
        percent: Some(70),
        session,
        ending: Ending::ByItself,
        past,
        limits: LIMITS,
    }
}

#[track_caller]
fn check(past: Past, expected: Decision) {
    let session = session();
    assert_eq!(at_turns_end(&moment(&session, &past)), expected, "{past:?}");
}

const ASKED: Decision = Decision::Hop(Author::Agent);

#[test]
fn a_full_context_after_a_finished_turn_begins_a_hop() {
    let (session, past) = (session(), past());
    let at = moment(&session, &past);
    assert_eq!(at_turns_end(&at), ASKED);
    assert_eq!(
        at_turns_end(&Moment { written: Written::Mechanically, ..at }),
        Decision::Hop(Author::Mechanical)
    );
    assert_eq!(at_turns_end(&Moment { strategy: Strategy::Compact, ..at }), Decision::Compact);
    for nothing in [
        Moment { strategy: Strategy::Off, ..at },
        Moment { strategy: Strategy::Notify, ..at },
        Moment { percent: Some(69), ..at },
        Moment { percent: None, ..at },
        Moment { ending: Ending::AfterABlock, ..at },
        Moment { session: &Session { state: State::Working, ..session.clone() }, ..at },
        Moment { session: &Session { seat: None, ..session.clone() }, ..at },
    ] {
        assert_eq!(at_turns_end(&nothing), Decision::Nothing);
    }
}

#[test]
fn the_cooldown_alone_bars() {
    let moved = |ms: i64| Past { last_moved: Some(NOW.plus_ms(-ms)), ..past() };
    check(moved(59_999), Decision::Barred(Barrier::Cooldown));
    check(moved(60_000), ASKED);
}

#[test]
fn each_counter_alone_bars() {
    check(Past { ordinal: 4, ..past() }, Decision::Barred(Barrier::Chain));
    check(Past { ordinal: 3, ..past() }, ASKED);
    let ago = |minutes: &[i64]| minutes.iter().map(|ago| NOW.plus_ms(-ago * 60_000)).collect();
    check(Past { begun: ago(&[5, 10, 20, 59]), ..past() }, Decision::Barred(Barrier::Hour));
    check(Past { begun: ago(&[5, 10, 20, 60]), ..past() }, ASKED);
    check(Past { begun: ago(&[70, 80, 90, 100, 110, 1439]), ..past() }, Decision::Barred(Barrier::Day));
    check(Past { begun: ago(&[70, 80, 90, 100, 110, 1440]), ..past() }, ASKED);
}

#[test]
fn no_prompt_since_our_own_action_alone_bars() {
    let own = Decision::Barred(Barrier::OwnDoing);
    check(Past { last_here: Some(NOW.plus_ms(-500)), ..past() }, own);
    check(Past { last_here: Some(NOW.plus_ms(-501)), ..past() }, ASKED);
    for origin in [None, Some(Origin::Bookmark), Some(Origin::Notification)] {
        check(Past { last_turn: origin, ..past() }, own);
    }
    check(Past { last_turn: Some(Origin::Continuation), ..past() }, ASKED);
}

#[test]
fn a_hop_that_has_not_ended_bars_the_next() {
    check(Past { is_open: true, ..past() }, Decision::Barred(Barrier::Open));
}

/// A step of a generated sequence.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// A prompt is submitted and its turn ends.
    Asked(Origin),
    /// A turn ends without a prompt.
    Bare,
    /// The open hop succeeds or fails.
    Arrives,
    Fails,
}

/// The seat's state as hops change it, in place of the store's rows.
struct Seat {
    now: Timestamp,
    session: Session,
    past: Past,
    blocks: u32,
    row: u32,
    longest_row: u32,
    all: Vec<Timestamp>,
}

impl Seat {
    fn turn(&mut self, turn: Turn) {
        match turn {
            Turn::Asked(origin) => {
                self.past.last_turn = Some(origin);
                if !matches!(origin, Origin::Bookmark | Origin::Notification) {
                    self.session.prompted_at = Some(self.now);
                }
                if matches!(origin, Origin::Human | Origin::Command) {
                    (self.past.ordinal, self.row) = (1, 0);
                }
                self.end();
            }
            Turn::Bare => self.end(),
            Turn::Arrives if self.past.is_open => {
                self.past.is_open = false;
                self.past.last_moved = Some(self.now);
                self.past.ordinal += 1;
                self.row += 1;
                self.longest_row = self.longest_row.max(self.row);
                self.past.last_here = None;
                self.session.prompted_at = Some(self.now);
                self.past.last_turn = Some(Origin::Continuation);
            }
            Turn::Fails if self.past.is_open => {
                self.past.is_open = false;
                self.past.last_moved = Some(self.now);
            }
            Turn::Arrives | Turn::Fails => {}
        }
    }

    fn end(&mut self) {
        let now = self.now.plus_ms(1);
        let moment = Moment { now, ..moment(&self.session, &self.past) };
        if let Decision::Hop(_) = at_turns_end(&moment) {
            self.blocks += 1;
            self.past.begun.push(now);
            self.all.push(now);
            (self.past.last_moved, self.past.last_here) = (Some(now), Some(now));
            self.past.is_open = true;
        }
    }

    fn most_within(&self, ms: i64) -> usize {
        let of = |at: &Timestamp| self.all.iter().filter(|other| (0..ms).contains(&(other.0 - at.0))).count();
        self.all.iter().map(of).max().unwrap_or(0)
    }
}

fn turns() -> impl Generator<Value = Vec<(Turn, i64)>> {
    let origins =
        [Origin::Human, Origin::Command, Origin::Continuation, Origin::Bookmark, Origin::Notification];
    let turn = prop_oneof![
        4 => proptest::sample::select(origins.to_vec()).prop_map(Turn::Asked),
        2 => Just(Turn::Bare),
        3 => Just(Turn::Arrives),
        1 => Just(Turn::Fails),
    ];
    proptest::collection::vec((turn, 1_000i64..1_800_000), 1..200)
}

proptest! {
    #[test]
    fn no_sequence_of_turns_begins_more_hops_than_the_limits_allow(turns in turns()) {
        let mut seat = Seat {
            now: NOW, session: session(), past: past(), blocks: 0, row: 0, longest_row: 0, all: vec![],
        };
        for (turn, pause) in turns {
            let (before, was_open) = (seat.blocks, seat.past.is_open);
            seat.now = seat.now.plus_ms(pause);
            seat.turn(turn);
            prop_assert!(seat.blocks <= before + 1, "one block per end of a turn");
            prop_assert!(!was_open || seat.blocks == before, "none while one is open");
        }
        prop_assert!(seat.longest_row <= LIMITS.most_hops);
        prop_assert!(seat.most_within(HOUR_MS) <= LIMITS.per_hour as usize);
        prop_assert!(seat.most_within(DAY_MS) <= LIMITS.per_day as usize);
    }
}
