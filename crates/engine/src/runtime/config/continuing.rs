//! The `continue` section: when and how often work continues in a fresh session; `guard` decides whether.
//!
//! Pure. Off until the user enables it, and always limited.

use super::layer::one_of;
use toml_edit::Value;
use towline_core::continuing::{HandoffMethod, HopLimits};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continuing {
    pub at_percent: u8,
    pub written: HandoffMethod,
    pub limits: HopLimits,
}

impl Continuing {
    pub fn compiled_in() -> Continuing {
        Continuing {
            at_percent: 70,
            written: HandoffMethod::Asked,
            limits: HopLimits { most_hops: 5, per_hour: 4, per_day: 20, cooldown_ms: 60_000 },
        }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Continuing {
        let number = |key: &str| value(key).and_then(|value| value.as_integer()).unwrap_or(0);
        let count = |key: &str| u32::try_from(number(key)).unwrap_or(0);
        let word =
            |key: &str| value(key).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
        Continuing {
            at_percent: u8::try_from(number("continue.at_percent")).unwrap_or(100),
            written: HandoffMethod::named(&word("continue.handoff")).unwrap_or(HandoffMethod::Asked),
            limits: HopLimits {
                most_hops: count("continue.most_hops"),
                per_hour: count("continue.per_hour"),
                per_day: count("continue.per_day"),
                cooldown_ms: number("continue.cooldown_s") * 1000,
            },
        }
    }
}

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    let within = |from: i64, to: i64| match value.as_integer() {
        Some(number) if !(from..=to).contains(&number) => Err(format!("from {from} to {to}")),
        Some(_) | None => Ok(()),
    };
    match key {
        "continue.handoff" => one_of(value, &HandoffMethod::ALL.map(HandoffMethod::name)),
        "continue.at_percent" => within(1, 100),
        "continue.most_hops" | "continue.per_hour" | "continue.per_day" => within(0, 1_000),
        "continue.cooldown_s" => within(0, 86_400),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::layered;
    use super::*;

    #[test]
    fn everything_can_be_set() {
        let found = layered(
            "[continue]\nat_percent = 60\nhandoff = 'mechanical'\nmost_hops = 2\nper_hour = 3\n\
             per_day = 4\ncooldown_s = 5",
        );
        assert_eq!(found.mistakes, []);
        let found = found.config.continuing;
        let limits = HopLimits { most_hops: 2, per_hour: 3, per_day: 4, cooldown_ms: 5_000 };
        assert_eq!(
            (found.at_percent, found.written, found.limits),
            (60, HandoffMethod::Mechanically, limits)
        );
    }

    #[test]
    fn what_makes_no_sense_is_named_and_the_usual_holds() {
        let check = |user: &str, expected: &str| {
            let found = layered(&format!("[continue]\n{user}"));
            let mistakes: Vec<String> = found.mistakes.iter().map(ToString::to_string).collect();
            assert_eq!(mistakes, [format!("line 2: {expected}")]);
            assert_eq!(found.config.continuing, Continuing::compiled_in());
        };
        check("at_percent = 0", "`continue.at_percent` must be from 1 to 100");
        check("handoff = 'guess'", "`continue.handoff` must be one of ask, mechanical");
        check("cooldown_s = -1", "`continue.cooldown_s` must be from 0 to 86400");
    }
}
