//! The actions of Copilot's tools.
//!
//! Never guesses about tools that are not listed here: MCP tools do not declare what they do, and the to-do list is a table
//! that the model changes by SQL.

use crate::call::text;
use towline_core::deed::ToolAction;

pub(crate) fn tool_action<'a>(tool: &str, input: &'a str) -> ToolAction<'a> {
    known(tool, input).unwrap_or(ToolAction::Other)
}

/// `None` if the input lacks the tool's main argument.
fn known<'a>(tool: &str, input: &'a str) -> Option<ToolAction<'a>> {
    let given = |keys: &[&str]| text(input, keys);
    Some(match tool {
        "view" => ToolAction::Read { path: given(&["path"])? },
        "create" | "edit" => ToolAction::Changed { paths: vec![given(&["path"])?] },
        "bash" | "powershell" | "local_shell" => ToolAction::Ran { command: given(&["command"])? },
        "read_bash" | "stop_bash" | "list_bash" | "read_agent" | "list_agents" => ToolAction::Waited,
        "grep" | "glob" => ToolAction::Searched { what: given(&["pattern"])? },
        "web_search" => ToolAction::Searched { what: given(&["query"])? },
        "web_fetch" => ToolAction::Fetched { address: given(&["url"])? },
        "task" => ToolAction::Delegated { task: given(&["description", "prompt"])? },
        "ask_user" => ToolAction::Asked { question: given(&["message", "question"])? },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tool: &str, input: &str, expected: &ToolAction<'_>) {
        assert_eq!(&tool_action(tool, input), expected, "{tool} {input}");
    }

    #[test]
    fn tools_map_to_their_actions() {
        let path = || "/p/a.rs".into();
        check("view", r#"{"path":"/p/a.rs","view_range":[1,9]}"#, &ToolAction::Read { path: path() });
        for tool in ["create", "edit"] {
            let input = r#"{"file_text":"\"path\":\"no\"","path":"/p/a.rs"}"#;
            check(tool, input, &ToolAction::Changed { paths: vec![path()] });
        }
        let ran = ToolAction::Ran { command: "cargo test".into() };
        check("bash", r#"{"command":"cargo test","description":"d"}"#, &ran);
        check("read_bash", r#"{"shellId":"1"}"#, &ToolAction::Waited);
        let searched = ToolAction::Searched { what: "fn".into() };
        check("grep", r#"{"pattern":"fn","paths":["src"]}"#, &searched);
        let task = ToolAction::Delegated { task: "short".into() };
        check("task", r#"{"prompt":"long","description":"short","name":"x"}"#, &task);
        let asked = ToolAction::Asked { question: "Which?".into() };
        check("ask_user", r#"{"message":"Which?","requestedSchema":{}}"#, &asked);
        check("towline-search", r#"{"query":"x"}"#, &ToolAction::Other);
    }

    #[test]
    fn an_input_without_the_main_argument_is_another_action() {
        for input in ["", "{}", "null", "{\"command\":null}", "[1", "plain"] {
            check("bash", input, &ToolAction::Other);
            check("edit", input, &ToolAction::Other);
        }
    }
}
