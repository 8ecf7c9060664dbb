//! Measures commands beside `/bin/true` and judges each row by its bounds.
//!
//! Knows nothing of the commands: a row is a name, figures and bounds.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use crate::bench::measure::{Cost, ended, forget_own_peak};
use crate::bench::report::{Judgement, Table};
use crate::bench::rounds::{Baseline, Case};
use crate::bench::statistics::median;
use crate::outcome::{Failure, Result};

/// The most that a row may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    CpuMs(f64),
    WallMs(f64),
    PeakMb(f64),
    /// A multiple of the time of `/bin/true`.
    Ratio(f64),
}

/// The cost of one command: medians of its runs, and the largest memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    pub cpu_ms: f64,
    pub wall_ms: f64,
    pub ratio: f64,
    pub peak_mb: f64,
    pub read_mb: f64,
    pub written_mb: f64,
}

impl Figures {
    /// `yardstick` is the time of `/bin/true` in nanoseconds, for each run.
    fn of(runs: &[(Cost, f64)]) -> Figures {
        let figure = |of: &dyn Fn(&Cost) -> f64| median(runs.iter().map(|(cost, _)| of(cost)).collect());
        Figures {
            cpu_ms: figure(&|cost| cost.cpu_us as f64 / 1e3),
            wall_ms: figure(&|cost| cost.wall_ns as f64 / 1e6),
            ratio: median(runs.iter().map(|(cost, yardstick)| cost.wall_ns as f64 / yardstick).collect()),
            peak_mb: runs.iter().map(|(cost, _)| cost.peak_kb as f64 / 1e3).fold(0.0, f64::max),
            read_mb: figure(&|cost| cost.read_bytes as f64 / 1e6),
            written_mb: figure(&|cost| cost.written_bytes as f64 / 1e6),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub figures: Figures,
    pub bounds: Vec<Bound>,
}

impl Row {
    pub fn judgements(&self) -> Vec<Judgement> {
        let judge = |bound: &Bound| {
            let (name, figures) = (&self.name, &self.figures);
            match *bound {
                Bound::CpuMs(most) => Judgement::at_most(name, figures.cpu_ms, most, " ms CPU"),
                Bound::WallMs(most) => Judgement::at_most(name, figures.wall_ms, most, " ms"),
                Bound::PeakMb(most) => Judgement::at_most(name, figures.peak_mb, most, " MB of memory"),
                Bound::Ratio(most) => Judgement::at_most(name, figures.ratio, most, " × /bin/true"),
            }
        };
        self.bounds.iter().map(judge).collect()
    }

    fn cells(&self) -> Vec<String> {
        let Figures { cpu_ms, wall_ms, ratio, peak_mb, read_mb, written_mb } = self.figures;
        let figures = [cpu_ms, wall_ms, ratio, peak_mb, read_mb, written_mb].map(short);
        let bounds = self.bounds.iter().zip(self.judgements());
        let bounds =
            bounds.map(|(bound, judged)| format!("{}{bound}", if judged.holds { "" } else { "FAILS " }));
        let bounds = bounds.collect::<Vec<_>>().join(", ");
        let bounds = if bounds.is_empty() { "–".to_owned() } else { bounds };
        [vec![self.name.clone()], figures.to_vec(), vec![bounds]].concat()
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bound::CpuMs(most) => write!(f, "{most} ms CPU"),
            Bound::WallMs(most) => write!(f, "{most} ms wall"),
            Bound::PeakMb(most) => write!(f, "{most} MB"),
            Bound::Ratio(most) => write!(f, "{most} × true"),
        }
    }
}

const COLUMNS: [&str; 8] =
    ["command", "cpu ms", "wall ms", "× true", "peak MB", "read MB", "written MB", "at most"];

pub fn table(title: &str, rows: &[Row]) -> Table {
    Table::new(title, &COLUMNS, rows.iter().map(Row::cells).collect())
}

/// A figure with three digits that matter.
pub fn short(figure: f64) -> String {
    match figure {
        large if large >= 100.0 => format!("{large:.0}"),
        medium if medium >= 10.0 => format!("{medium:.1}"),
        small => format!("{small:.2}"),
    }
}

/// Which ends of a command are its usual ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    Well,
    /// A check that found something exits with 1.
    WithFindings,
}

/// Runs a command once, between two runs of `/bin/true`.
pub fn once(command: &mut Command, stdout: Stdio, ends: Ends) -> Result<Figures> {
    let mut yardstick = vec![nothing()?, nothing()?];
    let cost = cost_of(command, &[], stdout, ends)?;
    yardstick.extend([nothing()?, nothing()?]);
    Ok(Figures::of(&[(cost, median(yardstick))]))
}

/// Runs every case once per round, each beside `/bin/true`. The first round does not count: files are not cached yet.
pub fn rounds(cases: &[(&dyn Case, Ends)], rounds: usize) -> Result<Vec<Figures>> {
    let mut costs = vec![Vec::new(); cases.len()];
    let mut yardsticks = BTreeMap::new();
    for round in 0..=rounds {
        let mut yardstick = Vec::new();
        for (number, (case, ends)) in cases.iter().enumerate() {
            yardstick.push(nothing()?);
            let (mut command, stdin) = case.process(round)?;
            let cost = cost_of(&mut command, &stdin, Stdio::null(), *ends)?;
            case.finish()?;
            costs[number].push((round, cost));
        }
        yardsticks.insert(round, median(yardstick));
    }
    let compared = |runs: &Vec<(usize, Cost)>| {
        let counted = runs.iter().filter(|(round, _)| *round > 0 || rounds == 0);
        let runs: Vec<_> = counted.map(|(round, cost)| (*cost, yardsticks[round])).collect();
        Figures::of(&runs)
    };
    Ok(costs.iter().map(compared).collect())
}

/// The time of `/bin/true`, in nanoseconds.
pub fn nothing() -> Result<f64> {
    let (mut command, stdin) = Baseline::True.process(0)?;
    Ok(cost_of(&mut command, &stdin, Stdio::null(), Ends::Well)?.wall_ns as f64)
}

fn cost_of(command: &mut Command, stdin: &[u8], stdout: Stdio, ends: Ends) -> Result<Cost> {
    forget_own_peak();
    let (status, cost) = ended(command, stdin, stdout)?;
    let is_usual = status == 0 || (ends == Ends::WithFindings && status == 0x100);
    let program = || format!("{:?}", command.get_args().collect::<Vec<_>>());
    let complaint = || format!("wait status {status:#x}");
    if is_usual { Ok(cost) } else { Err(Failure::Failed { program: program(), complaint: complaint() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_the_bound_that_does_not_hold() {
        let figures = Figures { cpu_ms: 31.0, peak_mb: 20.0, ..Figures::default() };
        let row =
            Row { name: "search".to_owned(), figures, bounds: vec![Bound::CpuMs(30.0), Bound::PeakMb(60.0)] };
        assert_eq!(row.cells()[7], "FAILS 30 ms CPU, 60 MB");
        assert_eq!(row.judgements().iter().map(|one| one.holds).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn a_check_that_found_something_ended_well() {
        assert!(once(&mut Command::new("/bin/false"), Stdio::null(), Ends::WithFindings).is_ok());
        assert!(once(&mut Command::new("/bin/false"), Stdio::null(), Ends::Well).is_err());
    }

    #[test]
    fn figures_keep_three_digits() {
        assert_eq!([0.456, 12.34, 1234.5].map(short), ["0.46", "12.3", "1234"]);
    }
}
