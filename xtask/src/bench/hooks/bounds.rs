//! The bounds on a hook's cost, as data, and the check against them.
//!
//! Bounds are ratios to `/bin/true`, so that they hold on slow and fast machines alike.

use super::case::{KB, Situation, Subject, USUAL_HISTORY, USUAL_SIZE};
use super::hub::Hub;
use crate::bench::report::Judgement;
use crate::bench::statistics;

/// The maximum cost of an event with the usual history.
struct Bound {
    event: &'static str,
    bytes: Option<usize>,
    at_most: f64,
}

const BOUNDS: [Bound; 5] = [
    Bound { event: "PostToolUse", bytes: Some(USUAL_SIZE), at_most: 0.7 },
    Bound { event: "PostToolUse", bytes: Some(2048 * KB), at_most: 6.0 },
    Bound { event: "UserPromptSubmit", bytes: None, at_most: 2.5 },
    Bound { event: "Stop", bytes: None, at_most: 2.5 },
    Bound { event: "PermissionRequest", bytes: None, at_most: 2.5 },
];

/// Maximum difference in cost between the smallest and the largest history.
const MOVES_LESS_THAN_PERCENT: f64 = 10.0;

/// The measurement of one subject.
pub struct Measured {
    pub subject: Subject,
    /// Its time divided by that of `/bin/true`.
    pub ratio: f64,
    pub instructions: f64,
}

/// Judges all subjects with a bound. A subject measured in several groups is judged by the first.
pub fn judge(all: &[Measured]) -> Vec<Judgement> {
    let mut measured: Vec<&Measured> = Vec::new();
    for one in all {
        if measured.iter().all(|known| known.subject != one.subject) {
            measured.push(one);
        }
    }
    let of_bounds = measured.iter().filter_map(|one| against_bound(&one.subject, one.ratio));
    of_bounds.chain(movements(&measured)).chain(with_hubs(&measured)).collect()
}

/// Compares each subject with an unresponsive hub to the same subject without one.
fn with_hubs(measured: &[&Measured]) -> Vec<Judgement> {
    let beside_one = |one: &&&Measured| !matches!(one.subject.hub, Hub::Unset | Hub::None);
    let judged = measured.iter().filter(beside_one).filter_map(|after| {
        let without = Subject { hub: Hub::None, ..after.subject.clone() };
        let before = measured.iter().find(|one| one.subject == without)?;
        Some(moved(before, after, &after.subject.to_string()))
    });
    judged.collect()
}

fn against_bound(subject: &Subject, ratio: f64) -> Option<Judgement> {
    let at_most = bound_of(subject)?;
    let text = format!("{subject}: {ratio:.2} × /bin/true (at most {at_most})");
    Some(Judgement { holds: ratio <= at_most, text })
}

/// The maximum of `× true`. Sessions without a seat have the same bounds as those with one; the first event of an unknown
/// session is applied, whatever it is.
pub fn bound_of(subject: &Subject) -> Option<f64> {
    if subject.situation == Situation::New && subject.event == "PostToolUse" {
        return bound_of(&Subject { event: "Stop".to_owned(), bytes: None, ..subject.clone() });
    }
    let fits = |bound: &&Bound| bound.event == subject.event && bound.bytes == subject.bytes;
    let is_usual = subject.history == USUAL_HISTORY
        && subject.situation != Situation::Blocked
        && subject.hub == Hub::Unset;
    BOUNDS.iter().find(fits).filter(|_| is_usual).map(|bound| bound.at_most)
}

/// Compares each subject at its smallest history with the same at its largest.
fn movements(measured: &[&Measured]) -> Vec<Judgement> {
    let smallest = measured.iter().map(|one| one.subject.history).min().unwrap_or_default();
    let largest = measured.iter().map(|one| one.subject.history).max().unwrap_or_default();
    if smallest == largest {
        return Vec::new();
    }
    let at_smallest = measured.iter().filter(|one| one.subject.history == smallest);
    at_smallest
        .filter_map(|before| {
            let grown = Subject { history: largest, ..before.subject.clone() };
            let after = measured.iter().find(|one| one.subject == grown)?;
            Some(moved(before, after, &format!("{} → {}", before.subject, statistics::count(largest))))
        })
        .collect()
}

/// Checks that `after` costs as much as `before`.
fn moved(before: &Measured, after: &Measured, what: &str) -> Judgement {
    let percent = (after.ratio / before.ratio - 1.0) * 100.0;
    let instructions = (after.instructions / before.instructions - 1.0) * 100.0;
    let text = format!(
        "{what}: {percent:+.1} %, {instructions:+.1} % instructions (less than {MOVES_LESS_THAN_PERCENT} %)"
    );
    Judgement { holds: percent.abs() < MOVES_LESS_THAN_PERCENT, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::hooks::case::Surroundings;
    use towline_agents::Agent;

    fn measured(event: &str, bytes: Option<usize>, history: u64, ratio: f64) -> Measured {
        let subject = Subject {
            agent: Agent::Claude,
            event: event.to_owned(),
            situation: Situation::Working,
            bytes,
            history,
            hub: Hub::Unset,
            surroundings: Surroundings::Agent,
        };
        Measured { subject, ratio, instructions: 1.0 }
    }

    fn lines(all: Vec<Measured>) -> Vec<String> {
        judge(&all).iter().map(Judgement::to_string).collect()
    }

    #[test]
    fn event_within_its_bound_passes() {
        assert_eq!(
            lines(vec![
                measured("PostToolUse", Some(11 * KB), 100_000, 0.7),
                measured("Stop", None, 100_000, 2.51)
            ]),
            [
                "PASS  claude PostToolUse 11 KB, 100 k events: 0.70 × /bin/true (at most 0.7)",
                "FAIL  claude Stop, 100 k events: 2.51 × /bin/true (at most 2.5)",
            ]
        );
    }

    #[test]
    fn session_without_a_seat_has_the_same_bound() {
        let mut bare = measured("UserPromptSubmit", None, 100_000, 4.5);
        bare.subject.surroundings = Surroundings::Bare;
        assert_eq!(bound_of(&bare.subject), Some(2.5));
        bare.subject.situation = Situation::New;
        assert_eq!(
            lines(vec![bare]),
            [
                "FAIL  claude UserPromptSubmit, 100 k events, new session without seat: 4.50 × /bin/true (at most 2.5)"
            ]
        );
    }

    #[test]
    fn a_hub_that_does_not_answer_must_cost_what_none_costs() {
        let beside = |hub, ratio| {
            let mut one = measured("Stop", None, 100_000, ratio);
            one.subject.hub = hub;
            one
        };
        assert_eq!(
            lines(vec![beside(Hub::None, 4.0), beside(Hub::Down, 4.1), beside(Hub::Silent, 5.0)]),
            [
                "PASS  claude Stop, 100 k events, a hub that is down: +2.5 %, +0.0 % instructions (less than 10 %)",
                "FAIL  claude Stop, 100 k events, a hub that never answers: +25.0 %, +0.0 % instructions (less than 10 %)",
            ]
        );
    }

    #[test]
    fn bound_is_for_the_usual_history_and_size_alone() {
        assert_eq!(
            lines(vec![
                measured("PostToolUse", Some(KB), 100_000, 9.0),
                measured("SessionStart", None, 100_000, 9.0)
            ]),
            [""; 0]
        );
    }

    #[test]
    fn movement_is_judged_either_way() {
        let all = vec![
            measured("Stop", None, 1_000, 2.0),
            measured("Stop", None, 1_000_000, 2.1),
            measured("SessionEnd", None, 1_000, 2.0),
            measured("SessionEnd", None, 1_000_000, 1.6),
        ];
        assert_eq!(
            lines(all),
            [
                "PASS  claude Stop, 1 k events → 1 M: +5.0 %, +0.0 % instructions (less than 10 %)",
                "FAIL  claude SessionEnd, 1 k events → 1 M: -20.0 %, +0.0 % instructions (less than 10 %)",
            ]
        );
    }

    #[test]
    fn unmeasured_ratio_does_not_pass() {
        assert!(lines(vec![measured("Stop", None, 100_000, f64::NAN)])[0].starts_with("FAIL"));
    }

    #[test]
    fn subject_of_two_groups_is_judged_by_the_first() {
        let all = vec![measured("Stop", None, 100_000, 1.0), measured("Stop", None, 100_000, 9.0)];
        assert_eq!(lines(all).len(), 1);
    }
}
