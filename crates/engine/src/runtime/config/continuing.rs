//! The `continue` section: when and how often work continues in a fresh session; `guard` decides whether.
//!
//! Pure. Off until the user enables it, and always limited.

use super::values::{Values, key};
use towline_core::continuing::{HandoffMethod, HopLimits};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continuing {
    pub at_percent: u8,
    pub written: HandoffMethod,
    pub limits: HopLimits,
}

impl Continuing {
    pub(super) fn read(values: &Values) -> Continuing {
        Continuing {
            at_percent: values.number(key!("continue.at_percent")),
            written: HandoffMethod::named(&values.text(key!("continue.handoff")))
                .unwrap_or(HandoffMethod::Asked),
            limits: HopLimits {
                most_hops: values.number(key!("continue.most_hops")),
                per_hour: values.number(key!("continue.per_hour")),
                per_day: values.number(key!("continue.per_day")),
                cooldown_ms: values.number::<i64>(key!("continue.cooldown_s")) * 1000,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, layered};
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
            assert_eq!(found.config.continuing, Config::compiled_in().continuing);
        };
        check("at_percent = 0", "`continue.at_percent` must be from 1 to 100");
        check("handoff = 'guess'", "`continue.handoff` must be one of ask, mechanical");
        check("cooldown_s = -1", "`continue.cooldown_s` must be from 0 to 86400");
    }
}
