//! How the cost of each command grows with the number of sessions.
//!
//! Pure: compares the rows of several sizes. An exponent of 0 is a constant cost, 1 one that grows as the history does.

use super::background::PerTurn;
use super::meter::{Row, short};
use crate::bench::report::Table;
use crate::bench::statistics::count;
use crate::corpus::Written;

/// The rows of one size.
pub struct Size {
    pub written: Written,
    pub rows: Vec<Row>,
    pub per_turn: PerTurn,
}

/// CPU time of each command by size, and the exponent of its growth over all sizes and over the last step.
pub fn table(sizes: &[Size]) -> Table {
    let sessions: Vec<String> =
        sizes.iter().map(|size| format!("{} sessions", count(size.written.sessions))).collect();
    let mut columns = vec!["command, cpu ms"];
    columns.extend(sessions.iter().map(String::as_str));
    columns.extend(["exponent", "last step"]);
    let names = sizes.first().map(|size| size.rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>());
    let mut rows: Vec<Vec<String>> = vec![];
    for (number, name) in names.unwrap_or_default().into_iter().enumerate() {
        let costs: Vec<f64> =
            sizes.iter().filter_map(|size| Some(size.rows.get(number)?.figures.cpu_ms)).collect();
        rows.push(cells(name, sizes, &costs));
    }
    let of_turns = |figure: fn(&PerTurn) -> f64| -> Vec<f64> {
        sizes.iter().map(|size| figure(&size.per_turn)).collect()
    };
    let (processes, work) = (of_turns(|turn| turn.processes), of_turns(|turn| turn.cpu_ms));
    rows.push(cells("background processes per turn (number)".to_owned(), sizes, &processes));
    rows.push(cells("background work per turn".to_owned(), sizes, &work));
    Table::new("Growth", &columns, rows)
}

fn cells(name: String, sizes: &[Size], costs: &[f64]) -> Vec<String> {
    let sessions: Vec<f64> = sizes.iter().map(|size| size.written.sessions as f64).collect();
    let exponents =
        [(0, costs.len().saturating_sub(1)), (costs.len().saturating_sub(2), costs.len().saturating_sub(1))]
            .map(|(from, to)| match (costs.get(from), costs.get(to)) {
                (Some(before), Some(after)) if from < to => {
                    format!("{:.2}", exponent((sessions[from], *before), (sessions[to], *after)))
                }
                _ => "–".to_owned(),
            });
    let costs = costs.iter().map(|cost| short(*cost));
    std::iter::once(name).chain(costs).chain(exponents).collect()
}

fn exponent(before: (f64, f64), after: (f64, f64)) -> f64 {
    (after.1 / before.1).ln() / (after.0 / before.0).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_grows_as_the_history_does_has_the_exponent_one() {
        assert!((exponent((10.0, 3.0), (1000.0, 300.0)) - 1.0).abs() < 1e-9);
        assert!(exponent((10.0, 3.0), (1000.0, 3.0)).abs() < 1e-9);
    }
}
