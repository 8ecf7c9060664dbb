//! The `distil` section: how captured turns become memories.
//!
//! Pure. Tool patterns have the syntax of `privacy.exclude_tools`.

use super::patterns::fits;
use super::values::{Values, key};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distil {
    /// Extraction by rules, without a model.
    pub rules: bool,
    pub skip_tools: Vec<String>,
}

impl Distil {
    pub(super) fn read(values: &Values) -> Distil {
        Distil {
            rules: values.is_on(key!("distil.rules")),
            skip_tools: values.list(key!("distil.skip_tools")),
        }
    }

    /// Whether actions of this tool are excluded from memories.
    pub fn skips(&self, tool: &str) -> bool {
        self.skip_tools.iter().any(|pattern| fits(pattern, tool))
    }
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
