//! Three machines of two people and one hub, by chance: changes everywhere, ways that are cut, processes and servers that are
//! killed, clocks an hour apart. Whatever happened, all come to the same state in the end.
//!
//! A schedule is told by its seed, which is printed where one fails: `TOWLINE_SCHEDULE=SEED` plays it alone, and
//! `TOWLINE_SCHEDULES=200` plays so many, as `cargo xtask schedules` does.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "how many are played is told from outside; what each step took is told"
)]

mod world;

use world::{Figures, World};

/// Changes and exchanges of one schedule.
const STEPS: usize = 24;

/// As many as a suite has time for.
const USUAL: u64 = 3;

/// What is compared grows with every schedule: after so many, all begins anew.
const IN_ONE_WORLD: usize = 20;

#[test]
fn whatever_happens_three_machines_and_the_hub_come_to_the_same_state() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seeds = match number("TOWLINE_SCHEDULE") {
        Some(seed) => seed..seed + 1,
        None => 1..1 + number("TOWLINE_SCHEDULES").unwrap_or(USUAL),
    };
    let count = seeds.end - seeds.start;
    let mut figures = Figures::default();
    let seeds: Vec<u64> = seeds.collect();
    for seeds in seeds.chunks(IN_ONE_WORLD) {
        figures = figures.plus(played(seeds));
    }
    println!("{count} schedules: {figures}");
}

/// Plays schedules one after the other, each in the world that the one before has left.
fn played(seeds: &[u64]) -> Figures {
    let mut world = World::new();
    for seed in seeds {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.play(*seed, STEPS)));
        if let Err(cause) = outcome {
            println!("schedule {seed} failed; TOWLINE_SCHEDULE={seed} plays it alone");
            println!("{}", world.told());
            std::panic::resume_unwind(cause);
        }
    }
    println!("up to seed {}: {}", seeds.last().copied().unwrap_or(0), world.figures());
    world.figures()
}
