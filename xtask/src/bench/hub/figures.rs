//! Parses the figures that the measuring program prints, and builds tables from them.
//!
//! Tables, rows and columns keep the order of their first occurrence. Knows nothing about their meaning.

use crate::bench::report::Table;
use crate::outcome::{Failure, Result};

/// One line: table, row, column, figure.
type Figure = [String; 4];

pub struct Figures(Vec<Figure>);

impl Figures {
    pub fn parse(text: &str) -> Result<Figures> {
        let figures = text.lines().map(|line| {
            let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
            Figure::try_from(cells).map_err(|_| Failure::malformed("a line of the measuring program", line))
        });
        figures.collect::<Result<_, _>>().map(Figures)
    }

    /// NaN if the figure is missing.
    pub fn number(&self, table: &str, row: &str, column: &str) -> f64 {
        self.cell(table, row, column).parse().unwrap_or(f64::NAN)
    }

    pub fn tables(&self) -> Vec<Table> {
        distinct(self.0.iter().map(|[table, ..]| table.as_str()))
            .into_iter()
            .map(|it| self.table(it))
            .collect()
    }

    fn table(&self, title: &str) -> Table {
        let of_table = || self.0.iter().filter(|[table, ..]| table == title);
        let columns = distinct(of_table().map(|[_, _, column, _]| column.as_str()));
        let rows = distinct(of_table().map(|[_, row, ..]| row.as_str()));
        let cells = |row: &str| {
            let figures = columns.iter().map(|column| self.cell(title, row, column).to_owned());
            std::iter::once(row.to_owned()).chain(figures).collect()
        };
        let rows = rows.into_iter().map(cells).collect();
        let columns: Vec<&str> = std::iter::once("what").chain(columns.iter().copied()).collect();
        Table::new(title, &columns, rows)
    }

    fn cell(&self, table: &str, row: &str, column: &str) -> &str {
        let is_it = |figure: &&Figure| [&figure[0], &figure[1], &figure[2]] == [table, row, column];
        self.0.iter().find(is_it).map_or("–", |figure| figure[3].as_str())
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_tables_in_the_order_in_which_they_were_told() {
        let figures =
            Figures::parse("speed\tb\tx\t1\nsize\ta\tz\t2.5\nspeed\ta\tx\t3\nspeed\ta\ty\t4\n").unwrap();
        let [speed, size] = figures.tables().try_into().unwrap();
        assert_eq!(speed.lines(), ["what | x | y", "b    | 1 | –", "a    | 3 | 4"]);
        assert_eq!(size.lines(), ["what |   z", "a    | 2.5"]);
        assert!(figures.number("size", "a", "z") > 2.4 && figures.number("size", "b", "z").is_nan());
    }

    #[test]
    fn a_line_that_is_no_figure_is_a_failure() {
        assert!(Figures::parse("thread panicked").is_err());
    }
}
