//! The `typing` section: whether Towline types into the user's terminal, and how carefully.
//!
//! Pure. Off until the user enables it; a fact no terminal reports is unsafe unless the user waives it.

use toml_edit::Value;
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
    pub fn compiled_in() -> Typing {
        Typing { enabled: false, quiet_ms: 3_000, limit_ms: 60_000, confirm_ms: 20_000, without: vec![] }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Typing {
        let ms = |key: &str| value(key).and_then(|value| value.as_integer()).unwrap_or(0) * 1000;
        let without = value("typing.without");
        let names =
            without.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        Typing {
            enabled: value("typing.enabled").and_then(|value| value.as_bool()).unwrap_or(false),
            quiet_ms: ms("typing.quiet_s"),
            limit_ms: ms("typing.limit_s"),
            confirm_ms: ms("typing.confirm_s"),
            without: names.filter_map(TerminalAbility::named).collect(),
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
        "typing.quiet_s" => within(0, 3_600),
        "typing.limit_s" => within(1, 3_600),
        "typing.confirm_s" => within(1, 600),
        "typing.without" => known_abilities(value),
        _ => Ok(()),
    }
}

fn known_abilities(value: &Value) -> Result<(), String> {
    let is_known = |item: &Value| item.as_str().and_then(TerminalAbility::named).is_some();
    let all = value.as_array().into_iter().flatten().all(is_known);
    let names = TerminalAbility::ALL.map(TerminalAbility::name).join(", ");
    if all { Ok(()) } else { Err(format!("made of {names}")) }
}

#[cfg(test)]
mod tests {
    use super::super::layered;
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
            assert_eq!(found.config.typing, Typing::compiled_in());
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
