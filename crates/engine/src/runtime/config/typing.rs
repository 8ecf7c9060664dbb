//! The `typing` section: whether Towline types into the user's terminal, and how carefully.
//!
//! Pure. Off until the user enables it; a fact no terminal reports is unsafe unless the user waives it.

use super::values::{Key, Values, key};
use towline_core::typing::TerminalAbility;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    pub enabled: bool,
    /// How long the user must not have typed in the seat.
    pub quiet_ms: i64,
    /// How long a text waits for a chance to be typed.
    pub limit_ms: i64,
    /// How long the agent has to confirm the prompt.
    pub confirm_ms: i64,
    /// The abilities the user waives.
    pub without: Vec<TerminalAbility>,
}

impl Typing {
    pub(super) fn read(values: &Values) -> Typing {
        let ms = |key: Key| values.number::<i64>(key) * 1000;
        let without = values.list(key!("typing.without"));
        Typing {
            enabled: values.is_on(key!("typing.enabled")),
            quiet_ms: ms(key!("typing.quiet_s")),
            limit_ms: ms(key!("typing.limit_s")),
            confirm_ms: ms(key!("typing.confirm_s")),
            without: without.iter().filter_map(|name| TerminalAbility::named(name)).collect(),
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
            "[typing]\nenabled = true\nquiet_s = 0\nlimit_s = 5\nconfirm_s = 7\nwithout = ['mode', 'activity']",
        );
        let without = vec![TerminalAbility::Mode, TerminalAbility::Activity];
        assert_eq!(found.mistakes, []);
        assert_eq!(
            found.config.typing,
            Typing { enabled: true, quiet_ms: 0, limit_ms: 5_000, confirm_ms: 7_000, without }
        );
    }

    #[test]
    fn what_makes_no_sense_is_named_and_leaves_typing_off() {
        let check = |user: &str, expected: &str| {
            let found = layered(&format!("[typing]\n{user}"));
            let mistakes: Vec<String> = found.mistakes.iter().map(ToString::to_string).collect();
            assert_eq!(mistakes, [format!("line 2: {expected}")]);
            assert_eq!(found.config.typing, Config::compiled_in().typing);
        };
        check("enabled = 'yes'", "`typing.enabled` must be a boolean and is a string");
        check("quiet_s = -1", "`typing.quiet_s` must be from 0 to 3600");
        check("limit_s = 0", "`typing.limit_s` must be from 1 to 3600");
        check("confirm_s = 601", "`typing.confirm_s` must be from 1 to 600");
        check(
            "without = ['eyes']",
            "`typing.without` must be made of identity, foreground, screen, mode, activity",
        );
    }
}
