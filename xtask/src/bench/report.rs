//! The tables, as text for the terminal and as a Markdown file.
//!
//! The machine is described by what matters to the figures; its name and its user's are left out.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::failure::Failure;

use super::baseline::Baseline;
use super::bounds::{self, Judgement};
use super::case::Subject;
use super::statistics::Summary;

/// One line of a table.
pub struct Row {
    name: String,
    /// `None` for a baseline.
    pub subject: Option<Subject>,
    pub summary: Summary,
    pub instructions: Option<u64>,
}

impl Row {
    pub fn baseline(baseline: Baseline, summary: Summary, instructions: Option<u64>) -> Row {
        Row { name: baseline.name().to_owned(), subject: None, summary, instructions }
    }

    pub fn subject(subject: Subject, summary: Summary, instructions: u64) -> Row {
        Row { name: subject.to_string(), subject: Some(subject), summary, instructions: Some(instructions) }
    }

    fn cells(&self) -> [String; COLUMNS.len()] {
        let Summary { p10, p50, p90, p99, ratio, cpu, faults } = self.summary;
        let [p10, p50, p90, p99, cpu, faults] =
            [p10, p50, p90, p99, cpu, faults].map(|figure| format!("{figure:.0}"));
        let thousands =
            self.instructions.map_or_else(|| "–".to_owned(), |number| (number / 1000).to_string());
        [self.name.clone(), format!("{ratio:.2}"), p10, p50, p90, p99, cpu, faults, thousands]
    }
}

const COLUMNS: [&str; 9] =
    ["case", "× true", "p10 µs", "p50 µs", "p90 µs", "p99 µs", "cpu µs", "faults", "k instr."];

/// The rows of one group.
pub struct Table {
    pub title: &'static str,
    pub rows: Vec<Row>,
}

impl Table {
    /// Lines with columns of equal width, the first to the left and the figures to the right.
    fn lines(&self) -> Vec<String> {
        let cells: Vec<_> =
            std::iter::once(COLUMNS.map(str::to_owned)).chain(self.rows.iter().map(Row::cells)).collect();
        let widths: Vec<usize> = (0..COLUMNS.len())
            .map(|column| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        cells.iter().map(|row| aligned(row, &widths)).collect()
    }
}

fn aligned(cells: &[String], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
        0 => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    });
    padded.collect::<Vec<_>>().join(" | ")
}

/// All that a run of the benchmark found out.
pub struct Report {
    date: String,
    command: String,
    pub tables: Vec<Table>,
}

impl Report {
    /// `command` is what made it, as one would type it.
    pub fn new(command: String, date: Option<String>) -> Report {
        Report { date: date.unwrap_or_else(today), command, tables: Vec::new() }
    }

    pub fn holds(&self) -> bool {
        self.judgements().iter().all(|judgement| judgement.holds)
    }

    fn judgements(&self) -> Vec<Judgement> {
        bounds::judge(&self.tables)
    }

    pub fn print(&self, out: &mut impl Write) -> Result<(), Failure> {
        for table in &self.tables {
            writeln!(out, "\n{}\n{}", table.title, table.lines().join("\n"))?;
        }
        writeln!(out)?;
        for judgement in self.judgements() {
            writeln!(out, "{judgement}")?;
        }
        Ok(())
    }

    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# Benchmarks\n\n\
             Made by `{}` on {}, {}.\n\n\
             A hook is measured from before its process is forked until it is reaped. `× true` is the median, \
             over the rounds, of its time by that of `/bin/true` in the same round; that column compares between \
             machines, the microseconds do not. `cpu` is user and system time, `faults` are page faults, \
             `k instr.` are thousands of instructions in user code, counted by callgrind.\n",
            self.command,
            self.date,
            machine(),
        );
        for table in &self.tables {
            text.push_str(&format!("\n## {}\n\n", table.title));
            let mut lines = table.lines().into_iter().map(|line| format!("| {line} |\n"));
            text.extend(lines.next());
            text.push_str(&format!("|---|{}\n", "---:|".repeat(COLUMNS.len() - 1)));
            text.extend(lines);
        }
        text.push_str("\n## Bounds\n\n```text\n");
        text.extend(self.judgements().iter().map(|judgement| format!("{judgement}\n")));
        text.push_str("```\n");
        text
    }
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores, {} {}, {}", std::env::consts::OS, kernel(&release), std::env::consts::ARCH)
}

/// The first two numbers of a kernel's release; the rest may name the one who built it.
fn kernel(release: &str) -> String {
    release.split('.').take(2).collect::<Vec<_>>().join(".")
}

fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    civil(since.as_secs() / 86_400)
}

/// Writes the day that many days after 1970-01-01.
fn civil(mut days: u64) -> String {
    let mut year = 1970;
    while days >= year_length(year) {
        days -= year_length(year);
        year += 1;
    }
    let february = year_length(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

fn year_length(year: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    365 + u64::from(is_leap)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let summary =
            Summary { p10: 90.0, p50: 100.4, p90: 120.0, p99: 300.0, ratio: 1.0, cpu: 80.0, faults: 42.0 };
        let rows = vec![
            Row::baseline(Baseline::True, summary, Some(126_559)),
            Row::baseline(Baseline::Node, Summary { p99: 40_000.0, ratio: 51.25, ..summary }, None),
        ];
        let mut report = Report::new("cargo xtask bench hooks".to_owned(), Some("2026-11-15".to_owned()));
        report.tables.push(Table { title: "Every event", rows });
        report
    }

    #[test]
    fn columns_are_aligned() {
        let lines = report().tables[0].lines();
        assert_eq!(
            lines[0],
            "case      | × true | p10 µs | p50 µs | p90 µs | p99 µs | cpu µs | faults | k instr."
        );
        assert_eq!(
            lines[1],
            "/bin/true |   1.00 |     90 |    100 |    120 |    300 |     80 |     42 |      126"
        );
        assert_eq!(
            lines[2],
            "node -e 0 |  51.25 |     90 |    100 |    120 |  40000 |     80 |     42 |        –"
        );
    }

    #[test]
    fn markdown_names_the_command_and_the_date() {
        let markdown = report().markdown();
        assert!(markdown.contains("Made by `cargo xtask bench hooks` on 2026-11-15, "));
        assert!(markdown.contains("\n| case      | × true |"));
        assert!(markdown.contains("\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n| /bin/true |"));
    }

    #[test]
    fn days_are_dates() {
        assert_eq!(civil(0), "1970-01-01");
        assert_eq!(civil(11_016), "2000-02-29");
        assert_eq!(civil(20_772), "2026-11-15");
        assert_eq!(civil(20_818), "2026-12-31");
    }

    #[test]
    fn kernel_is_named_by_its_numbers() {
        assert_eq!(kernel("6.1.0-18-amd64\n"), "6.1");
    }
}
