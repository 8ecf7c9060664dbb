//! Row counts by kind, as `--dry-run` prints them.
//!
//! Only formats: it reads no data.

use serde_json::{Map, Value};
use towline_core::share::RowKind;

/// The number of rows of each kind.
pub struct RowCounts(pub Vec<(RowKind, u64)>);

impl RowCounts {
    pub fn rows(&self) -> u64 {
        self.0.iter().map(|(_, rows)| rows).sum()
    }

    pub fn json(&self) -> Value {
        let kinds = self.0.iter().map(|(kind, rows)| (kind.name().to_owned(), (*rows).into()));
        Value::Object(kinds.collect::<Map<_, _>>())
    }

    /// Suffix for a sentence, such as `: memory 3, line 12`; empty if there are no rows.
    pub fn told(&self) -> String {
        let there = self.0.iter().filter(|(_, rows)| *rows > 0);
        let there: Vec<String> = there.map(|(kind, rows)| format!("{} {rows}", kind.name())).collect();
        if there.is_empty() { String::new() } else { format!(": {}", there.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_without_rows_are_told_to_programs_only() {
        let counted = RowCounts(vec![(RowKind::Memory, 3), (RowKind::Body, 0), (RowKind::Baton, 1)]);
        assert_eq!((counted.rows(), counted.told().as_str()), (4, ": memory 3, baton 1"));
        assert_eq!(counted.json().to_string(), r#"{"baton":1,"body":0,"memory":3}"#);
        assert_eq!(RowCounts(vec![(RowKind::Line, 0)]).told(), "");
    }
}
