//! The actions of the tools of OpenCode and Kilo.
//!
//! Never guesses about tools that are not listed here: MCP tools do not declare what they do.

use crate::call::{find_string_at_any_depth, text};
use crate::codex::tool_action::patched;
use crate::plan::replaced;
use towline_core::deed::ToolAction;

pub(crate) fn tool_action<'a>(tool: &str, input: &'a str) -> ToolAction<'a> {
    known(tool, input).unwrap_or(ToolAction::Other)
}

/// `None` if the input lacks the tool's main argument.
fn known<'a>(tool: &str, input: &'a str) -> Option<ToolAction<'a>> {
    let given = |keys: &[&str]| text(input, keys);
    Some(match tool {
        "read" => ToolAction::Read { path: given(&["filePath"])? },
        "write" | "edit" => ToolAction::Changed { paths: vec![given(&["filePath"])?] },
        "apply_patch" => patched(given(&["patchText"])?)?,
        "todowrite" => ToolAction::Planned(replaced(input, "todos", "content")),
        "bash" => ToolAction::Ran { command: given(&["command"])? },
        "grep" | "glob" => ToolAction::Searched { what: given(&["pattern"])? },
        "websearch" | "codesearch" => ToolAction::Searched { what: given(&["query"])? },
        "webfetch" => ToolAction::Fetched { address: given(&["url"])? },
        "task" => ToolAction::Delegated { task: given(&["description", "prompt"])? },
        "question" => ToolAction::Asked { question: find_string_at_any_depth(input, "question")? },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::work::{PlanChange, PlanStatus};

    #[track_caller]
    fn check(tool: &str, input: &str, expected: &ToolAction<'_>) {
        assert_eq!(&tool_action(tool, input), expected, "{tool} {input}");
    }

    #[test]
    fn tools_map_to_their_actions() {
        let path = || "/p/a.rs".into();
        check("read", r#"{"filePath":"/p/a.rs"}"#, &ToolAction::Read { path: path() });
        for tool in ["write", "edit"] {
            let input = r#"{"content":"\"filePath\":\"no\"","filePath":"/p/a.rs"}"#;
            check(tool, input, &ToolAction::Changed { paths: vec![path()] });
        }
        let patch = r#"{"patchText":"*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** End Patch"}"#;
        check("apply_patch", patch, &ToolAction::Changed { paths: vec!["a.rs".into()] });
        let list = vec![("paint".into(), PlanStatus::InProgress)];
        let todos = r#"{"todos":[{"content":"paint","status":"in_progress","priority":"high"}]}"#;
        check("todowrite", todos, &ToolAction::Planned(PlanChange::Replaced(list)));
        let ran = ToolAction::Ran { command: "cargo test".into() };
        check("bash", r#"{"command":"cargo test","description":"d"}"#, &ran);
        check("grep", r#"{"pattern":"fn"}"#, &ToolAction::Searched { what: "fn".into() });
        let task = ToolAction::Delegated { task: "short".into() };
        check("task", r#"{"prompt":"long","description":"short","subagent_type":"x"}"#, &task);
        check("towline_search", r#"{"query":"x"}"#, &ToolAction::Other);
    }

    #[test]
    fn an_input_without_the_main_argument_is_another_action() {
        for input in ["", "{}", "null", "{\"command\":null}", "[1", "plain"] {
            check("bash", input, &ToolAction::Other);
            check("edit", input, &ToolAction::Other);
        }
    }
}
