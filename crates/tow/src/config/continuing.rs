//! The part of the configuration that says what is done about a context that is nearly full.
//!
//! Pure. Nothing goes on by itself until the user asks for it, and never without limits.

use super::layer::one_of;
use std::collections::BTreeMap;
use toml_edit::Value;
use towline_core::continuing::{Limits, Strategy, Written};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continuing {
    pub strategy: Strategy,
    pub at_percent: u8,
    pub written: Written,
    pub limits: Limits,
    /// By the names of projects.
    pub projects: BTreeMap<String, Strategy>,
}

impl Continuing {
    pub fn compiled_in() -> Continuing {
        Continuing {
            strategy: Strategy::Notify,
            at_percent: 70,
            written: Written::Asked,
            limits: Limits { most_hops: 5, per_hour: 4, per_day: 20, cooldown_ms: 60_000 },
            projects: BTreeMap::new(),
        }
    }

    /// Reads values that were checked.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Continuing {
        let number = |key: &str| value(key).and_then(|value| value.as_integer()).unwrap_or(0);
        let count = |key: &str| u32::try_from(number(key)).unwrap_or(0);
        let word =
            |key: &str| value(key).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
        let projects = value("continue.projects");
        let projects = projects.as_ref().and_then(Value::as_inline_table).into_iter().flatten();
        Continuing {
            strategy: Strategy::named(&word("continue.strategy")).unwrap_or(Strategy::Notify),
            at_percent: u8::try_from(number("continue.at_percent")).unwrap_or(100),
            written: Written::named(&word("continue.handoff")).unwrap_or(Written::Asked),
            limits: Limits {
                most_hops: count("continue.most_hops"),
                per_hour: count("continue.per_hour"),
                per_day: count("continue.per_day"),
                cooldown_ms: number("continue.cooldown_s") * 1000,
            },
            projects: projects
                .filter_map(|(name, value)| Some((name.to_owned(), Strategy::named(value.as_str()?)?)))
                .collect(),
        }
    }

    pub fn strategy_in(&self, project: Option<&str>) -> Strategy {
        project.and_then(|name| self.projects.get(name)).copied().unwrap_or(self.strategy)
    }

    /// Whether anything is typed because of it in any project.
    pub fn types(&self) -> bool {
        self.strategy.types() || self.projects.values().any(|strategy| strategy.types())
    }
}

/// What a value of the right type must still satisfy.
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    let within = |from: i64, to: i64| match value.as_integer() {
        Some(number) if !(from..=to).contains(&number) => Err(format!("from {from} to {to}")),
        Some(_) | None => Ok(()),
    };
    let strategies = Strategy::ALL.map(Strategy::name);
    match key {
        "continue.strategy" => one_of(value, &strategies),
        "continue.handoff" => one_of(value, &Written::ALL.map(Written::name)),
        "continue.at_percent" => within(1, 100),
        "continue.most_hops" | "continue.per_hour" | "continue.per_day" => within(0, 1_000),
        "continue.cooldown_s" => within(0, 86_400),
        "continue.projects" => {
            let mut all = value.as_inline_table().into_iter().flatten();
            let is_known = |value: &Value| value.as_str().and_then(Strategy::named).is_some();
            let fine = all.all(|(_, value)| is_known(value));
            if fine { Ok(()) } else { Err(format!("names with one of {}", strategies.join(", "))) }
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::layered;
    use super::*;

    #[test]
    fn everything_can_be_set_and_a_project_has_its_own_way() {
        let found = layered(
            "[continue]\nstrategy = 'handoff'\nat_percent = 60\nhandoff = 'mechanical'\nmost_hops = 2\nper_hour = 3\n\
             per_day = 4\ncooldown_s = 5\nprojects = { App = 'off' }",
        );
        assert_eq!(found.mistakes, []);
        let found = found.config.continuing;
        let limits = Limits { most_hops: 2, per_hour: 3, per_day: 4, cooldown_ms: 5_000 };
        assert_eq!((found.at_percent, found.written, found.limits), (60, Written::Mechanically, limits));
        let strategies = [None, Some("App"), Some("Other")].map(|name| found.strategy_in(name));
        assert_eq!(strategies, [Strategy::Handoff, Strategy::Off, Strategy::Handoff]);
    }

    #[test]
    fn what_makes_no_sense_is_named_and_nothing_goes_on_by_itself() {
        let check = |user: &str, expected: &str| {
            let found = layered(&format!("[continue]\n{user}"));
            let mistakes: Vec<String> = found.mistakes.iter().map(ToString::to_string).collect();
            assert_eq!(mistakes, [format!("line 2: {expected}")]);
            assert!(!found.config.continuing.types());
        };
        check("strategy = 'jump'", "`continue.strategy` must be one of off, notify, compact, handoff");
        check("at_percent = 0", "`continue.at_percent` must be from 1 to 100");
        check("handoff = 'guess'", "`continue.handoff` must be one of ask, mechanical");
        check("cooldown_s = -1", "`continue.cooldown_s` must be from 0 to 86400");
        check(
            "projects = { A = 1 }",
            "`continue.projects` must be names with one of off, notify, compact, handoff",
        );
    }
}
