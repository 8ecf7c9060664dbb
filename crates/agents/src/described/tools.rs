//! What the tools of a described agent do, by their names.
//!
//! A tool that no rule names does something unknown: nothing is guessed from its name.

use crate::call::text;
use towline_core::deed::ToolAction;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolRule {
    pub names: Vec<String>,
    pub does: ToolVerb,
    /// The keys of the argument that says on what; the first that is there counts.
    pub arguments: Vec<String>,
}

towline_core::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum ToolVerb as named {
        Reads = "read",
        Changes = "change",
        Runs = "run",
        Searches = "search",
        Fetches = "fetch",
        Delegates = "delegate",
        Asks = "ask",
    }
}

pub(super) fn action<'a>(rules: &[ToolRule], tool: &str, input: &'a str) -> ToolAction<'a> {
    let Some(rule) = rules.iter().find(|rule| rule.names.iter().any(|name| name == tool)) else {
        return ToolAction::Other;
    };
    let keys: Vec<&str> = rule.arguments.iter().map(String::as_str).collect();
    let Some(on) = text(input, &keys) else { return ToolAction::Other };
    match rule.does {
        ToolVerb::Reads => ToolAction::Read { path: on },
        ToolVerb::Changes => ToolAction::Changed { paths: vec![on] },
        ToolVerb::Runs => ToolAction::Ran { command: on },
        ToolVerb::Searches => ToolAction::Searched { what: on },
        ToolVerb::Fetches => ToolAction::Fetched { address: on },
        ToolVerb::Delegates => ToolAction::Delegated { task: on },
        ToolVerb::Asks => ToolAction::Asked { question: on },
    }
}
