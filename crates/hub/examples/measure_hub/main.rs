//! The program behind `cargo xtask bench hub`: the cost of a hub of any size on a real server.
//!
//! Each figure is printed as `table, row, column, figure` separated by tabs, one per line. It judges nothing, but
//! checks that the bulk-loaded rows equal pushed ones.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a program by itself, started by the bench"
)]

mod asking;
mod chance;
mod checking;
mod database;
mod holding;
mod laying;
mod plain;
mod texts;
mod travelling;
mod world;

use std::path::Path;
use std::time::Instant;

use world::BenchWorld;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [folder, rows, pushed, questions] => {
            let sizes = rows.split(',').map(|size| size.parse().unwrap()).collect();
            let amounts = Amounts { sizes, pushed: number(pushed), questions: number(questions) };
            measure(Path::new(folder), &amounts);
        }
        _ => println!("measure FOLDER ROWS[,ROWS...] PUSHED QUESTIONS"),
    }
}

/// The amounts to measure.
struct Amounts {
    /// Numbers of rows in the hub, ascending.
    sizes: Vec<u64>,
    /// Rows pushed at each size.
    pushed: usize,
    /// Queries of each kind.
    questions: usize,
}

fn measure(folder: &Path, amounts: &Amounts) {
    let mut world = BenchWorld::start(folder);
    holding::settings(&mut world);
    let mut clock = ProgressClock::start();
    travelling::measure(&mut world, "empty", amounts.pushed);
    // Before bulk loading, which takes memory that no client needs.
    figure(
        "Memory, MB",
        "the client at most, and the rows that it pushed",
        "empty",
        format!("{:.1}", holding::peak_mb()),
    );
    holding::sizes(&mut world, "as pushed");
    clock.tell("an empty hub");
    for size in &amounts.sizes {
        laying::up_to(&mut world, *size);
        clock.tell(&format!("{size} rows"));
        checking::check(&mut world);
        clock.tell("as pushed: checked");
        let name = short(*size);
        holding::sizes(&mut world, &name);
        travelling::measure(&mut world, &name, amounts.pushed);
        clock.tell("pushed and pulled");
        asking::measure(&mut world, &name, amounts.questions);
        clock.tell("searched");
        holding::memory(&mut world, &name);
    }
}

/// Prints one figure.
fn figure(table: &str, row: &str, column: &str, figure: impl std::fmt::Display) {
    println!("{table}\t{row}\t{column}\t{figure}");
}

/// Reports progress: a run takes minutes.
struct ProgressClock(Instant);

impl ProgressClock {
    fn start() -> ProgressClock {
        ProgressClock(Instant::now())
    }

    fn tell(&mut self, stage: &str) {
        eprintln!("{stage}: {:.0} s", self.0.elapsed().as_secs_f64());
        self.0 = Instant::now();
    }
}

fn number(digits: &str) -> usize {
    digits.parse().unwrap()
}

/// A rounded count.
fn short(count: u64) -> String {
    match count {
        1_000_000.. => format!("{} M", count / 1_000_000),
        1_000.. => format!("{} k", count / 1_000),
        _ => count.to_string(),
    }
}
