//! What a hook may cost, as data, and whether it does.
//!
//! Bounds are ratios to `/bin/true`: they hold on a slow machine as on a fast one.

use std::fmt;

use super::case::{KB, Situation, Subject, USUAL_HISTORY, USUAL_SIZE};
use super::report::Table;
use super::statistics;

/// The most an event may cost with the usual history, and what it should.
struct Bound {
    event: &'static str,
    bytes: Option<usize>,
    at_most: f64,
    aim: Option<f64>,
}

const BOUNDS: [Bound; 5] = [
    Bound { event: "PostToolUse", bytes: Some(USUAL_SIZE), at_most: 1.5, aim: Some(1.0) },
    Bound { event: "PostToolUse", bytes: Some(2048 * KB), at_most: 8.0, aim: None },
    Bound { event: "UserPromptSubmit", bytes: None, at_most: 4.0, aim: Some(2.5) },
    Bound { event: "Stop", bytes: None, at_most: 4.0, aim: Some(2.5) },
    Bound { event: "PermissionRequest", bytes: None, at_most: 4.0, aim: Some(2.5) },
];

/// How far the cost may move between the smallest and the largest history.
const MOVES_LESS_THAN_PERCENT: f64 = 15.0;

/// One line of the verdict.
#[derive(Debug, PartialEq)]
pub struct Judgement {
    pub holds: bool,
    text: String,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.holds { "PASS" } else { "FAIL" };
        write!(f, "{word}  {}", self.text)
    }
}

/// Judges what has a bound. A subject that stands in several tables is judged by the first.
pub fn judge(tables: &[Table]) -> Vec<Judgement> {
    let mut measured: Vec<Measured<'_>> = Vec::new();
    for row in tables.iter().flat_map(|table| &table.rows) {
        let Some(subject) = &row.subject else { continue };
        if measured.iter().all(|known| known.subject != subject) {
            let instructions = row.instructions.unwrap_or_default() as f64;
            measured.push(Measured { subject, ratio: row.summary.ratio, instructions });
        }
    }
    let of_bounds = measured.iter().filter_map(|one| against_bound(one.subject, one.ratio));
    of_bounds.chain(movements(&measured)).collect()
}

struct Measured<'a> {
    subject: &'a Subject,
    ratio: f64,
    instructions: f64,
}

fn against_bound(subject: &Subject, ratio: f64) -> Option<Judgement> {
    let fits = |bound: &&Bound| {
        bound.event == subject.event && bound.bytes == subject.bytes && subject.history == USUAL_HISTORY
    };
    let bound = BOUNDS.iter().find(fits).filter(|_| subject.situation != Situation::Blocked)?;
    let aim = bound.aim.map_or_else(String::new, |aim| format!(", aim {aim}"));
    let text = format!("{subject}: {ratio:.2} × /bin/true (at most {}{aim})", bound.at_most);
    Some(Judgement { holds: ratio <= bound.at_most, text })
}

/// Compares each subject at its smallest history with the same at its largest.
fn movements(measured: &[Measured<'_>]) -> Vec<Judgement> {
    let smallest = measured.iter().map(|one| one.subject.history).min().unwrap_or_default();
    let largest = measured.iter().map(|one| one.subject.history).max().unwrap_or_default();
    if smallest == largest {
        return Vec::new();
    }
    let at_smallest = measured.iter().filter(|one| one.subject.history == smallest);
    at_smallest
        .filter_map(|before| {
            let grown = Subject { history: largest, ..before.subject.clone() };
            Some(movement(before, measured.iter().find(|one| *one.subject == grown)?))
        })
        .collect()
}

fn movement(before: &Measured<'_>, after: &Measured<'_>) -> Judgement {
    let percent = (after.ratio / before.ratio - 1.0) * 100.0;
    let instructions = (after.instructions / before.instructions - 1.0) * 100.0;
    let text = format!(
        "{} → {}: {percent:+.1} %, {instructions:+.1} % instructions (less than {MOVES_LESS_THAN_PERCENT} %)",
        before.subject,
        statistics::count(after.subject.history),
    );
    Judgement { holds: percent.abs() < MOVES_LESS_THAN_PERCENT, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::payload::Agent;
    use crate::bench::report::Row;
    use crate::bench::statistics::Summary;

    fn row(event: &str, bytes: Option<usize>, history: u64, ratio: f64) -> Row {
        let situation = Situation::Working;
        let subject = Subject { agent: Agent::Claude, event: event.to_owned(), situation, bytes, history };
        Row::subject(subject, Summary { ratio, ..Summary::default() }, 1)
    }

    fn lines(rows: Vec<Row>) -> Vec<String> {
        judge(&[Table { title: "", rows }]).iter().map(Judgement::to_string).collect()
    }

    #[test]
    fn event_within_its_bound_passes() {
        assert_eq!(
            lines(vec![row("PostToolUse", Some(11 * KB), 100_000, 1.5), row("Stop", None, 100_000, 4.01)]),
            [
                "PASS  claude PostToolUse 11 KB, 100 k events: 1.50 × /bin/true (at most 1.5, aim 1)",
                "FAIL  claude Stop, 100 k events: 4.01 × /bin/true (at most 4, aim 2.5)",
            ]
        );
    }

    #[test]
    fn bound_is_for_the_usual_history_and_size_alone() {
        assert_eq!(
            lines(vec![row("PostToolUse", Some(KB), 100_000, 9.0), row("SessionStart", None, 100_000, 9.0)]),
            [""; 0]
        );
    }

    #[test]
    fn movement_is_judged_either_way() {
        let rows = vec![
            row("Stop", None, 1_000, 2.0),
            row("Stop", None, 1_000_000, 2.2),
            row("SessionEnd", None, 1_000, 2.0),
            row("SessionEnd", None, 1_000_000, 1.6),
        ];
        assert_eq!(
            lines(rows),
            [
                "PASS  claude Stop, 1 k events → 1 M: +10.0 %, +0.0 % instructions (less than 15 %)",
                "FAIL  claude SessionEnd, 1 k events → 1 M: -20.0 %, +0.0 % instructions (less than 15 %)",
            ]
        );
    }

    #[test]
    fn unmeasured_ratio_does_not_pass() {
        assert!(lines(vec![row("Stop", None, 100_000, f64::NAN)])[0].starts_with("FAIL"));
    }

    #[test]
    fn subject_in_two_tables_is_judged_by_the_first() {
        let rows = vec![row("Stop", None, 100_000, 1.0), row("Stop", None, 100_000, 9.0)];
        assert_eq!(lines(rows).len(), 1);
    }
}
