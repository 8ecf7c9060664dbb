//! A person who types at moments that nobody chose, through a terminal of their own, while something is being typed.

use crate::desk::{Desk, Wanted, World};
use std::thread;
use towline_core::typing::InputLine;
use towline_testkit::{Pane, Tmux, wait};

const TRIALS: usize = 12;

/// Printed when a trial fails, so that it can be had again.
const SEED: u64 = 20_260_801;

/// How long, in looks at the screen, the first key lets wait for itself at most, and each one after it.
const LONGEST_PAUSES: [u64; 4] = [120, 8, 8, 8];

/// Long enough for a quiet second, and for typing after it.
const TIME_MS: i64 = 2_500;

pub fn at_random(desk: &Desk) {
    desk.env.tow(&["config", "set", "typing.quiet_s", "1"]).ok();
    let person = Tmux::named(&desk.env, "outside").attach_to(&desk.tmux);
    desk.tmux.run(&["select-window", "-t", &desk.seat.pane.id]);
    desk.tmux.run(&["select-pane", "-t", &desk.seat.pane.id]);
    let mut chance = Chance(SEED);
    for trial in 0..TRIALS {
        let wanted = desk.next_prompt();
        let before = desk.world();
        let intent = desk.make(&desk.seat, &wanted, TIME_MS);
        let pauses: Vec<u64> = LONGEST_PAUSES.map(|most| chance.below(most)).to_vec();
        let word = thread::scope(|scope| {
            let typing = scope.spawn(|| type_slowly(&person, &pauses));
            assert!(desk.type_in(&desk.seat).wait().unwrap().success());
            typing.join().unwrap()
        });
        let ended = desk.ended(intent);
        let said = format!("seed {SEED}, trial {trial}: {ended:?}");
        check(desk, (&before, &wanted), (&ended.state, &said), word);
        desk.count(&format!("a person types at random moments, {}", ended.state));
    }
    person.keys(&["C-b", "d"]);
    person.wait_end();
    desk.env.tow(&["config", "set", "typing.quiet_s", "0"]).ok();
}

/// One letter after the other, each after some looks at the screen.
fn type_slowly(person: &Pane, pauses: &[u64]) -> &'static str {
    let word = "mine";
    for (letter, pause) in word.chars().zip(pauses) {
        (0..*pause).for_each(|_| drop(person.screen()));
        person.half_type(&letter.to_string());
    }
    word
}

/// Theirs stands there whole and unsent, whatever became of ours.
#[track_caller]
fn check(desk: &Desk, (before, wanted): (&World, &Wanted), (state, said): (&str, &str), word: &str) {
    let seat = &desk.seat;
    let line = seat.wait_line_for(&format!("with {word} ({said})"), |line| match line {
        InputLine::Holds { text } => text.ends_with(word),
        InputLine::Empty | InputLine::Busy | InputLine::Covered | InputLine::Unknown => false,
    });
    let InputLine::Holds { text } = line else { return };
    if state == "confirmed" {
        desk.check_taken(before, wanted, said);
        assert_eq!(text, word, "{said}");
    } else {
        assert_eq!(desk.world(), *before, "{said}");
        let is_behind = text.strip_suffix(word).is_some_and(|ours| ours.is_empty() || ours == wanted.text);
        assert!(is_behind, "{text:?}, {said}");
    }
    wait::until("the turn to be over", wait::PATIENCE, || {
        (desk.listed(seat)["state"] == "completed").then_some(())
    });
    seat.clear();
}

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
