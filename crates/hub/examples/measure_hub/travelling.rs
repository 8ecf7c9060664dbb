//! Pushing compared with plain inserts, in alternating rounds, and pulling.
//!
//! Rows are generated before the clock starts.

use std::time::Instant;

use towline_hub::OutgoingRow;

use crate::figure;
use crate::plain::Plain;
use crate::texts::{PROJECTS, project};
use crate::world::BenchWorld;

const ROUNDS: usize = 10;
const BATCH: usize = 1000;
/// A transaction per row is slow enough that fewer rows suffice.
const FEWER: usize = 10;
const PULLED: usize = 50_000;
const PAGE: u32 = 1000;

/// Rows, and the seconds they took.
#[derive(Default)]
struct Rate {
    rows: usize,
    seconds: f64,
}

impl Rate {
    fn time(&mut self, rows: usize, work: impl FnOnce()) {
        let start = Instant::now();
        work();
        self.seconds += start.elapsed().as_secs_f64();
        self.rows += rows;
    }

    fn per_second(&self) -> f64 {
        self.rows as f64 / self.seconds
    }
}

pub fn measure(world: &mut BenchWorld, name: &str, pushed: usize) {
    let mut plain = Plain::new(world);
    let [mut hub, mut single, mut together] = [Rate::default(), Rate::default(), Rate::default()];
    let each = (pushed / ROUNDS).max(1);
    for _ in 0..ROUNDS {
        let rows = rows(world, each);
        hub.time(rows.len(), || rows.chunks(BATCH).for_each(|batch| push(world, batch)));
        let (few, most) = rows.split_at(each.div_ceil(FEWER));
        single.time(few.len(), || plain.one_by_one(few));
        together.time(most.len(), || most.chunks(BATCH).for_each(|batch| plain.together(batch)));
    }
    let mut pulled = Rate::default();
    pull(world, &mut pulled);
    let ratio = |rate: &Rate| hub.per_second() / rate.per_second();
    let report = |column, rate: f64| figure("Rows a second", name, column, format!("{rate:.0}"));
    report("push", hub.per_second());
    report("plain INSERT", single.per_second());
    report("plain, 1000 in a transaction", together.per_second());
    figure("Rows a second", name, "push / plain INSERT", format!("{:.2}", ratio(&single)));
    figure("Rows a second", name, "push / plain, 1000", format!("{:.2}", ratio(&together)));
    report("pull", pulled.per_second());
}

fn rows(world: &mut BenchWorld, count: usize) -> Vec<OutgoingRow> {
    let numbers = world.next..world.next + count as u64;
    world.next = numbers.end;
    numbers.map(|number| world.texts.row(number, 0).outgoing).collect()
}

fn push(world: &mut BenchWorld, batch: &[OutgoingRow]) {
    let pushed = world.hub.push(&world.membership, batch).unwrap();
    assert_eq!(pushed.changed, batch.len() as u64, "every row is new");
}

/// Pulls project by project, the largest first, from the beginning.
fn pull(world: &mut BenchWorld, rate: &mut Rate) {
    for number in 0..PROJECTS {
        let mut after = 0;
        loop {
            let start = Instant::now();
            let pulled = world.hub.pull(&world.membership, project(number), after, PAGE).unwrap();
            rate.seconds += start.elapsed().as_secs_f64();
            rate.rows += pulled.rows.len();
            after = pulled.after;
            if rate.rows >= PULLED {
                return;
            }
            if pulled.is_all {
                break;
            }
        }
    }
}
