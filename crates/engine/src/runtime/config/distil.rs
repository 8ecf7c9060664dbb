//! The `distil` section: how captured turns become memories.
//!
//! Pure. Tool patterns have the syntax of `privacy.exclude_tools`.

use super::fits;
use toml_edit::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distil {
    /// Extraction by rules, without a model.
    pub rules: bool,
    pub skip_tools: Vec<String>,
}

impl Distil {
    pub fn compiled_in() -> Distil {
        let skipped = [
            "ListMcpResourcesTool",
            "SlashCommand",
            "Skill",
            "TodoWrite",
            "AskUserQuestion",
            "ToolSearch",
            "update_plan",
            "request_user_input",
        ];
        Distil { rules: true, skip_tools: skipped.map(str::to_owned).to_vec() }
    }

    /// Builds the section from validated values.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Distil {
        let usual = Distil::compiled_in();
        let tools = value("distil.skip_tools").and_then(|value| {
            let names = value.as_array()?.iter().filter_map(|name| name.as_str().map(str::to_owned));
            Some(names.collect())
        });
        Distil {
            rules: value("distil.rules").and_then(|value| value.as_bool()).unwrap_or(usual.rules),
            skip_tools: tools.unwrap_or(usual.skip_tools),
        }
    }

    /// Whether actions of this tool are excluded from memories.
    pub fn skips(&self, tool: &str) -> bool {
        self.skip_tools.iter().any(|pattern| fits(pattern, tool))
    }
}

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    let is_name = |item: &Value| item.as_str().is_some_and(|text| !text.trim().is_empty());
    let all = value.as_array().into_iter().flatten().all(is_name);
    if key != "distil.skip_tools" || all { Ok(()) } else { Err("made of names in quotes".into()) }
}

#[cfg(test)]
mod tests {
    use super::super::layered;

    #[test]
    fn tools_are_skipped_by_name_and_by_pattern() {
        let distil = layered("[distil]\nskip_tools = ['mcp__chat__*', 'Skill']").config.distil;
        let skipped = ["mcp__chat__post", "Skill", "Skills", "TodoWrite"].map(|tool| distil.skips(tool));
        assert_eq!((distil.rules, skipped), (true, [true, true, false, false]));
        assert!(!layered("[distil]\nrules = false").config.distil.rules);
        assert_eq!(layered("[distil]\nskip_tools = ['']").mistakes.len(), 1);
    }
}
