//! A benchmark's results, as text for the terminal and as a Markdown file.
//!
//! Describes the machine only as far as it matters to the figures; host and user names are left out.

use std::fmt;
use std::io::Write;

use crate::outcome::Result;

use super::host::now;

/// Figures of one kind, one row per case.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    title: String,
    columns: Vec<String>,
    /// As many cells as columns; the first is the case's name.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(title: &str, columns: &[&str], rows: Vec<Vec<String>>) -> Table {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        Table { title: title.to_owned(), columns, rows }
    }

    /// Adds a last column; rows before those of `cells` get a dash.
    pub fn with_column(mut self, name: &str, cells: Vec<String>) -> Table {
        self.columns.push(name.to_owned());
        let dashes = self.rows.len().saturating_sub(cells.len());
        let cells = std::iter::repeat_n("–".to_owned(), dashes).chain(cells);
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        self
    }

    /// Rows with aligned columns, the first to the left and the figures to the right.
    pub fn lines(&self) -> Vec<String> {
        let cells: Vec<&Vec<String>> = std::iter::once(&self.columns).chain(&self.rows).collect();
        let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        cells.iter().map(|row| aligned(row, &widths)).collect()
    }

    fn markdown(&self) -> String {
        let mut lines = self.lines().into_iter().map(|line| format!("| {line} |\n"));
        let head = lines.next().unwrap_or_default();
        let rule = "---:|".repeat(self.columns.len() - 1);
        format!("\n## {}\n\n{head}|---|{rule}\n{}", self.title, lines.collect::<String>())
    }
}

fn aligned(cells: &[String], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
        0 => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    });
    padded.collect::<Vec<_>>().join(" | ")
}

/// Whether a bound holds.
#[derive(Debug, PartialEq)]
pub struct Judgement {
    pub holds: bool,
    pub text: String,
}

impl Judgement {
    pub fn at_most(what: &str, figure: f64, bound: f64, unit: &str) -> Judgement {
        let text = format!("{what}: {figure:.2}{unit} (at most {bound}{unit})");
        Judgement { holds: figure <= bound, text }
    }

    pub fn at_least(what: &str, figure: f64, bound: f64, unit: &str) -> Judgement {
        let text = format!("{what}: {figure:.1}{unit} (at least {bound}{unit})");
        Judgement { holds: figure >= bound, text }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.holds { "PASS" } else { "FAIL" };
        write!(f, "{word}  {}", self.text)
    }
}

/// The results of a benchmark run.
pub struct Report {
    pub title: &'static str,
    /// How to read the figures.
    pub legend: &'static str,
    pub tables: Vec<Table>,
    /// Conclusions from the tables that have no bound.
    pub remarks: Vec<String>,
    pub judgements: Vec<Judgement>,
}

impl Report {
    pub fn holds(&self) -> bool {
        self.judgements.iter().all(|judgement| judgement.holds)
    }

    pub fn print(&self, out: &mut impl Write) -> Result<()> {
        for table in &self.tables {
            writeln!(out, "\n{}\n{}", table.title, table.lines().join("\n"))?;
        }
        Ok(writeln!(out, "\n{}", self.conclusions())?)
    }

    /// `made_by` is the command line that made the report.
    pub fn markdown(&self, made_by: &str, date: Option<&str>) -> String {
        let date = date.map_or_else(|| now().to_utc()[..10].to_owned(), str::to_owned);
        let tables: String = self.tables.iter().map(Table::markdown).collect();
        format!(
            "# {}\n\nMade by `{made_by}` on {date}, {}.\n\n{}\n{tables}\n## Bounds\n\n```text\n{}```\n",
            self.title,
            machine(),
            self.legend,
            self.conclusions(),
        )
    }

    fn conclusions(&self) -> String {
        let remarks = self.remarks.iter().map(|remark| format!("      {remark}\n"));
        let judgements = self.judgements.iter().map(|judgement| format!("{judgement}\n"));
        remarks.chain(judgements).collect()
    }
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores, {} {}, {}", std::env::consts::OS, kernel(&release), std::env::consts::ARCH)
}

/// The first two numbers of the kernel release; the rest may name the user who built it.
fn kernel(release: &str) -> String {
    release.split('.').take(2).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let rows = vec![vec!["/bin/true".to_owned(), "1.00".to_owned()]];
        let table = Table::new("Every event", &["case", "× true"], rows);
        Report {
            title: "Benchmarks",
            legend: "How to read it.",
            tables: vec![table],
            remarks: vec!["a remark".to_owned()],
            judgements: vec![Judgement { holds: false, text: "too slow".to_owned() }],
        }
    }

    #[test]
    fn markdown_names_the_command_and_the_date() {
        let markdown = report().markdown("cargo xtask bench hooks", Some("2026-11-15"));
        assert!(markdown.starts_with("# Benchmarks\n\nMade by `cargo xtask bench hooks` on 2026-11-15, "));
        assert!(
            markdown
                .contains("\n## Every event\n\n| case      | × true |\n|---|---:|\n| /bin/true |   1.00 |\n")
        );
        assert!(markdown.ends_with("```text\n      a remark\nFAIL  too slow\n```\n"));
    }

    #[test]
    fn one_broken_bound_breaks_the_report() {
        assert!(!report().holds());
        assert!(Report { judgements: Vec::new(), ..report() }.holds());
    }

    #[test]
    fn kernel_is_named_by_its_numbers() {
        assert_eq!(kernel("6.1.0-18-amd64\n"), "6.1");
    }
}
