//! Each barrier alone, and limits that hold for every sequence of turns.

use super::*;
use crate::continuing::ContextStrategy;
use crate::event::{Event, EventKind, EventScene, SessionPresence, StartedBy};
use crate::id::{SessionKey, Uid};
use crate::inherit::InheritSettings;
use crate::step::{StepInput, step};
use proptest::prelude::{Just, prop_assert, prop_oneof, proptest};
use proptest::strategy::Strategy as Generator;

const LIMITS: HopLimits = HopLimits { most_hops: 3, per_hour: 4, per_day: 6, cooldown_ms: 60_000 };
const NOW: Timestamp = Timestamp(1_000_000_000);

/// A session with a seat that was prompted and has ended its turn.
fn session() -> Session {
    let event = Event {
        uid: Uid([1; 16]),
        at: NOW.plus_ms(-1000),
        session: SessionKey::parse("agent:one").unwrap(),
        subagent: None,
        turn: None,
        happening: EventKind::SessionStarted { by: StartedBy::Startup, wishes: InheritSettings::default() },
        scene: Some(EventScene {
            presence: SessionPresence::Terminal,
            folder: None,
            transcript: None,
            model: None,
            place: None,
            project: None,
        }),
    };
    let session = step(StepInput::default(), &event).session.unwrap();
    Session {
        state: SessionState::Completed,
        seat: Some("seat".into()),
        prompted_at: Some(NOW.plus_ms(-500)),
        ..session
    }
}

fn past() -> SeatHistory {
    SeatHistory { ordinal: 1, last_turn: Some(PromptOrigin::Human), ..SeatHistory::default() }
}

fn moment<'a>(session: &'a Session, past: &'a SeatHistory) -> TurnEndInput<'a> {
    TurnEndInput {
        now: NOW,
        strategy: ContextStrategy::Handoff,
        written: HandoffMethod::Asked,
        at_percent: 70,
        percent: Some(70),
        session,
        ending: TurnEnding::ByItself,
        past,
        limits: LIMITS,
    }
}

#[track_caller]
fn check(past: SeatHistory, expected: HopDecision) {
    let session = session();
    assert_eq!(at_turns_end(&moment(&session, &past)), expected, "{past:?}");
}

const ASKED: HopDecision = HopDecision::Hop(HandoffAuthor::Agent);

#[test]
fn a_full_context_after_a_finished_turn_begins_a_hop() {
    let (session, past) = (session(), past());
    let at = moment(&session, &past);
    assert_eq!(at_turns_end(&at), ASKED);
    assert_eq!(
        at_turns_end(&TurnEndInput { written: HandoffMethod::Mechanically, ..at }),
        HopDecision::Hop(HandoffAuthor::Mechanical)
    );
    assert_eq!(
        at_turns_end(&TurnEndInput { strategy: ContextStrategy::Compact, ..at }),
        HopDecision::Compact
    );
    for nothing in [
        TurnEndInput { strategy: ContextStrategy::Off, ..at },
        TurnEndInput { strategy: ContextStrategy::Notify, ..at },
        TurnEndInput { percent: Some(69), ..at },
        TurnEndInput { percent: None, ..at },
        TurnEndInput { ending: TurnEnding::AfterABlock, ..at },
        TurnEndInput { session: &Session { state: SessionState::Working, ..session.clone() }, ..at },
        TurnEndInput { session: &Session { seat: None, ..session.clone() }, ..at },
    ] {
        assert_eq!(at_turns_end(&nothing), HopDecision::Nothing);
    }
}

#[test]
fn the_cooldown_alone_bars() {
    let moved = |ms: i64| SeatHistory { last_moved: Some(NOW.plus_ms(-ms)), ..past() };
    check(moved(59_999), HopDecision::Barred(HopBarrier::Cooldown { left_s: 1 }));
    check(moved(60_000), ASKED);
}

#[test]
fn each_counter_alone_bars() {
    check(SeatHistory { ordinal: 4, ..past() }, HopDecision::Barred(HopBarrier::Chain));
    check(SeatHistory { ordinal: 3, ..past() }, ASKED);
    let ago = |minutes: &[i64]| minutes.iter().map(|ago| NOW.plus_ms(-ago * 60_000)).collect();
    check(SeatHistory { begun: ago(&[5, 10, 20, 59]), ..past() }, HopDecision::Barred(HopBarrier::Hour));
    check(SeatHistory { begun: ago(&[5, 10, 20, 60]), ..past() }, ASKED);
    check(
        SeatHistory { begun: ago(&[70, 80, 90, 100, 110, 1439]), ..past() },
        HopDecision::Barred(HopBarrier::Day),
    );
    check(SeatHistory { begun: ago(&[70, 80, 90, 100, 110, 1440]), ..past() }, ASKED);
}

#[test]
fn no_prompt_since_our_own_action_alone_bars() {
    let own = HopDecision::Barred(HopBarrier::OwnDoing);
    check(SeatHistory { last_here: Some(NOW.plus_ms(-500)), ..past() }, own);
    check(SeatHistory { last_here: Some(NOW.plus_ms(-501)), ..past() }, ASKED);
    for origin in [None, Some(PromptOrigin::Bookmark), Some(PromptOrigin::Notification)] {
        check(SeatHistory { last_turn: origin, ..past() }, own);
    }
    check(SeatHistory { last_turn: Some(PromptOrigin::Continuation), ..past() }, ASKED);
}

#[test]
fn a_hop_that_has_not_ended_bars_the_next() {
    check(SeatHistory { is_open: true, ..past() }, HopDecision::Barred(HopBarrier::Open));
}

/// A step of a generated sequence.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// A prompt is submitted and its turn ends.
    Asked(PromptOrigin),
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
    past: SeatHistory,
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
                if !matches!(origin, PromptOrigin::Bookmark | PromptOrigin::Notification) {
                    self.session.prompted_at = Some(self.now);
                }
                if matches!(origin, PromptOrigin::Human | PromptOrigin::Command) {
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
                self.past.last_turn = Some(PromptOrigin::Continuation);
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
        let moment = TurnEndInput { now, ..moment(&self.session, &self.past) };
        if let HopDecision::Hop(_) = at_turns_end(&moment) {
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
    let origins = [
        PromptOrigin::Human,
        PromptOrigin::Command,
        PromptOrigin::Continuation,
        PromptOrigin::Bookmark,
        PromptOrigin::Notification,
    ];
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
