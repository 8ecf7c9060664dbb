//! The actions of Gemini CLI's tools.
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
        "read_many_files" => ToolAction::Read { path: texts(own(input, "include")?).into_iter().next()? },
        "list_directory" => ToolAction::Read { path: given(&["dir_path", "path"])? },
        "write_file" | "replace" => ToolAction::Changed { paths: vec![given(&["file_path"])?] },
        "run_shell_command" => ToolAction::Ran { command: given(&["command"])? },
        "glob" | "grep_search" | "search_file_content" => ToolAction::Searched { what: given(&["pattern"])? },
        "google_web_search" => ToolAction::Searched { what: given(&["query"])? },
        "web_fetch" => ToolAction::Fetched { address: given(&["url", "prompt"])? },
        "invoke_agent" => ToolAction::Delegated { task: given(&["prompt", "objective", "agent_name"])? },
        "ask_user" => ToolAction::Asked { question: find_string_at_any_depth(input, "question")? },
        "write_todos" => ToolAction::Planned(replaced(input, "todos", "description")),
        "enter_plan_mode" | "exit_plan_mode" | "update_topic" => ToolAction::Planned(PlanChange::None),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::work::PlanStatus;

    #[track_caller]
    fn check(tool: &str, input: &str, expected: &ToolAction<'_>) {
        assert_eq!(&tool_action(tool, input), expected, "{tool} {input}");
    }

    #[test]
    fn tools_map_to_their_actions() {
        check("read_file", r#"{"file_path":"a.txt"}"#, &ToolAction::Read { path: "a.txt".into() });
        check("read_many_files", r#"{"include":["a.txt","b"]}"#, &ToolAction::Read { path: "a.txt".into() });
        check("list_directory", r#"{"dir_path":"src"}"#, &ToolAction::Read { path: "src".into() });
        for tool in ["write_file", "replace"] {
            let input = r#"{"content":"\"file_path\":\"no\"","file_path":"b.txt"}"#;
            check(tool, input, &ToolAction::Changed { paths: vec!["b.txt".into()] });
        }
        let ran = ToolAction::Ran { command: "cargo test".into() };
        check("run_shell_command", r#"{"command":"cargo test","description":"d"}"#, &ran);
        check("grep_search", r#"{"pattern":"x+"}"#, &ToolAction::Searched { what: "x+".into() });
        check("google_web_search", r#"{"query":"rust"}"#, &ToolAction::Searched { what: "rust".into() });
        check(
            "web_fetch",
            r#"{"prompt":"read https://a.b"}"#,
            &ToolAction::Fetched { address: "read https://a.b".into() },
        );
        let question = r#"{"questions":[{"question":"Which?","header":"h"}]}"#;
        check("ask_user", question, &ToolAction::Asked { question: "Which?".into() });
        let todos = r#"{"todos":[{"description":"one","status":"in_progress"}]}"#;
        let list = vec![("one".into(), PlanStatus::InProgress)];
        check("write_todos", todos, &ToolAction::Planned(PlanChange::Replaced(list)));
        let task = r#"{"agent_name":"generalist","prompt":"count them"}"#;
        check("invoke_agent", task, &ToolAction::Delegated { task: "count them".into() });
        check("mcp_files_read_file", r#"{"file_path":"a"}"#, &ToolAction::Other);
    }

    #[test]
    fn an_input_without_the_main_argument_is_another_action() {
        for input in ["", "{}", "null", "{\"command\":null}", "[1", "plain"] {
            for tool in ["run_shell_command", "read_file", "read_many_files", "replace", "invoke_agent"] {
                check(tool, input, &ToolAction::Other);
            }
        }
    }
}
