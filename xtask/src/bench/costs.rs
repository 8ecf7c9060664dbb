//! The cost table: one row per case, the baselines first.
//!
//! Counts instructions after all rounds, so that no timing is disturbed. Contains no bounds.

use crate::outcome::Failure;

use super::baseline::{self, Baseline};
use super::instructions;
use super::report::Table;
use super::rounds::{self, Case};
use super::statistics::Summary;

/// One row of the table.
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
pub fn measured<C: Case>(cases: &[C], rounds: usize) -> Result<Costs, Failure> {
    let series = rounds::run(rounds, cases)?;
    let mut baselines = Vec::new();
    for baseline in baseline::ALL {
        baselines.push(of_baseline(baseline, series.summary_of_baseline(baseline))?);
    }
    let mut rows = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let instructions = Some(case.instructions(rounds::after_last(rounds))?);
        rows.push(Row { name: case.name(), summary: series.summary_of_case(number), instructions });
    }
    Ok(Costs { baselines, cases: rows })
}

fn of_baseline(baseline: Baseline, summary: Summary) -> Result<Row, Failure> {
    let instructions = baseline.counted().then(|| instructions::of(&baseline.command(), b"")).transpose()?;
    Ok(Row { name: baseline.name().to_owned(), summary, instructions })
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
        let row = |baseline: Baseline, summary, instructions| Row {
            name: baseline.name().to_owned(),
            summary,
            instructions,
        };
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
