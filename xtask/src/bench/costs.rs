//! The cost table: one row per case, the baselines first.
//!
//! Counts instructions after all rounds, so that no timing is disturbed. Contains no bounds.

use crate::outcome::Result;

use super::instructions;
use super::report::Table;
use super::rounds::{self, BASELINES, Case, WARM_UP};
use super::statistics::Summary;

#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub summary: Summary,
    pub instructions: Option<u64>,
}

/// The measurements of a group of cases.
pub struct Costs {
    baselines: Vec<Row>,
    /// In the order of the cases.
    pub cases: Vec<Row>,
}

/// Measures cases and baselines, interleaved.
pub fn measured<C: Case>(cases: &[C], rounds: usize) -> Result<Costs> {
    let baselines = BASELINES.iter().map(|baseline| baseline as &dyn Case);
    let all: Vec<&dyn Case> = baselines.chain(cases.iter().map(|case| case as &dyn Case)).collect();
    let mut rows = Vec::new();
    for (case, summary) in all.iter().zip(rounds::run(rounds, &all)?) {
        // A round number that no measured round had.
        let count = || {
            rounds::measured(*case, WARM_UP + rounds + 1, |command, stdin| instructions::of(command, stdin))
        };
        let instructions = case.is_counted().then(count).transpose()?;
        rows.push(Row { name: case.name(), summary, instructions });
    }
    let cases = rows.split_off(BASELINES.len());
    Ok(Costs { baselines: rows, cases })
}

const COLUMNS: [&str; 10] =
    ["case", "× true", "p95 × true", "p10 µs", "p50 µs", "p90 µs", "p99 µs", "cpu µs", "faults", "k instr."];

impl Costs {
    pub fn table(&self, title: &str) -> Table {
        let rows = self.baselines.iter().chain(&self.cases).map(cells).collect();
        Table::new(title, &COLUMNS, rows)
    }
}

fn cells(row: &Row) -> Vec<String> {
    let Summary { p10, p50, p90, p99, ratio, ratio_p95, cpu, faults } = row.summary;
    let [p10, p50, p90, p99, cpu, faults] =
        [p10, p50, p90, p99, cpu, faults].map(|figure| format!("{figure:.0}"));
    let thousands = row.instructions.map_or_else(|| "–".to_owned(), |number| (number / 1000).to_string());
    let [ratio, ratio_p95] = [ratio, ratio_p95].map(|ratio| format!("{ratio:.2}"));
    vec![row.name.clone(), ratio, ratio_p95, p10, p50, p90, p99, cpu, faults, thousands]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rounds::Baseline;

    #[test]
    fn columns_are_aligned() {
        let summary = Summary {
            p10: 90.0,
            p50: 100.4,
            p90: 120.0,
            p99: 300.0,
            ratio: 1.0,
            ratio_p95: 1.3,
            cpu: 80.0,
            faults: 42.0,
        };
        let row =
            |baseline: Baseline, summary, instructions| Row { name: baseline.name(), summary, instructions };
        let slow = Summary { p99: 40_000.0, ratio: 51.25, ..summary };
        let baselines = vec![row(Baseline::True, summary, Some(126_559)), row(Baseline::Node, slow, None)];
        let lines = Costs { baselines, cases: Vec::new() }.table("Every event").lines();
        assert_eq!(
            lines,
            [
                "case      | × true | p95 × true | p10 µs | p50 µs | p90 µs | p99 µs | cpu µs | faults | k instr.",
                "/bin/true |   1.00 |       1.30 |     90 |    100 |    120 |    300 |     80 |     42 |      126",
                "node -e 0 |  51.25 |       1.30 |     90 |    100 |    120 |  40000 |     80 |     42 |        –",
            ]
        );
    }
}
