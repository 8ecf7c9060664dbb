//! The actions of Qwen Code's tools.
//!
//! Never guesses about tools that are not listed here: MCP tools do not declare what they do.

use crate::call::{find_string_at_any_depth, own, text, texts};
use crate::plan::replaced;
use towline_core::deed::ToolAction;
use towline_core::work::PlanChange;

pub(crate) fn tool_action<'a>(tool: &str, input: &'a str) -> ToolAction<'a> {
    known(tool, input).unwrap_or(ToolAction::Other)
}

/// `None` if the input lacks the tool's main argument.
fn known<'a>(tool: &str, input: &'a str) -> Option<ToolAction<'a>> {
    let given = |keys: &[&str]| text(input, keys);
    Some(match tool {
        "read_file" => ToolAction::Read { path: given(&["file_path", "absolute_path"])? },
        "read_many_files" => ToolAction::Read { path: texts(own(input, "paths")?).into_iter().next()? },
        "list_directory" => ToolAction::Read { path: given(&["path"])? },
        "edit" | "write_file" | "notebook_edit" => {
            ToolAction::Changed { paths: vec![given(&["file_path", "notebook_path"])?] }
        }
        "run_shell_command" => ToolAction::Ran { command: given(&["command"])? },
        "task_stop" | "monitor" | "send_message" => ToolAction::Waited,
        "grep_search" | "glob" => ToolAction::Searched { what: given(&["pattern"])? },
        "web_search" => ToolAction::Searched { what: given(&["query"])? },
        "web_fetch" => ToolAction::Fetched { address: given(&["url"])? },
        "agent" | "task" => ToolAction::Delegated { task: given(&["description", "prompt"])? },
        "ask_user_question" => ToolAction::Asked { question: find_string_at_any_depth(input, "question")? },
        "todo_write" => ToolAction::Planned(replaced(input, "todos", "content")),
        "exit_plan_mode" => ToolAction::Planned(PlanChange::None),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tool: &str, input: &str, expected: &ToolAction<'_>) {
        assert_eq!(&tool_action(tool, input), expected, "{tool}");
    }

    #[test]
    fn tools_map_to_their_actions() {
        check("read_file", r#"{"file_path":"/p/a"}"#, &ToolAction::Read { path: "/p/a".into() });
        check(
            "write_file",
            r#"{"file_path":"/p/a","content":"x"}"#,
            &ToolAction::Changed { paths: vec!["/p/a".into()] },
        );
        check(
            "run_shell_command",
            r#"{"command":"make","is_background":false}"#,
            &ToolAction::Ran { command: "make".into() },
        );
        check(
            "agent",
            r#"{"description":"sub","prompt":"long"}"#,
            &ToolAction::Delegated { task: "sub".into() },
        );
        check("mcp__tiny__echo", r#"{"file_path":"/p/a"}"#, &ToolAction::Other);
        check("edit", "{}", &ToolAction::Other);
    }
}
