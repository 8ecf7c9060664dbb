//! The actions of Claude Code's tools.
//!
//! Never guesses about tools that are not listed here: MCP tools do not declare what they do.

use crate::call::{find_string_at_any_depth, text};
use crate::plan::{replaced, updated};
use towline_core::deed::ToolAction;
use towline_core::work::PlanChange;

pub(crate) fn tool_action<'a>(tool: &str, input: &'a str) -> ToolAction<'a> {
    known(tool, input).unwrap_or(ToolAction::Other)
}

/// `None` if the input lacks the tool's main argument.
fn known<'a>(tool: &str, input: &'a str) -> Option<ToolAction<'a>> {
    let given = |keys: &[&str]| text(input, keys);
    Some(match tool {
        "Read" | "NotebookRead" => ToolAction::Read { path: given(&["file_path", "notebook_path"])? },
        "LS" => ToolAction::Read { path: given(&["path"])? },
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => {
            ToolAction::Changed { paths: vec![given(&["file_path", "notebook_path"])?] }
        }
        "Bash" | "PowerShell" => ToolAction::Ran { command: given(&["command"])? },
        "BashOutput" | "TaskOutput" | "AgentOutput" | "KillShell" | "KillBash" | "TaskStop" => {
            ToolAction::Waited
        }
        "Grep" | "Glob" => ToolAction::Searched { what: given(&["pattern"])? },
        "WebSearch" => ToolAction::Searched { what: given(&["query"])? },
        "WebFetch" => ToolAction::Fetched { address: given(&["url"])? },
        "Task" | "Agent" => ToolAction::Delegated { task: given(&["description", "prompt"])? },
        "AskUserQuestion" => ToolAction::Asked { question: find_string_at_any_depth(input, "question")? },
        "TodoWrite" => ToolAction::Planned(replaced(input, "todos", "content")),
        "TaskCreate" => ToolAction::Planned(PlanChange::Added(given(&["subject"])?)),
        "TaskUpdate" => ToolAction::Planned(updated(input, "taskId", "subject")),
        "TodoRead" | "TaskList" | "TaskGet" | "EnterPlanMode" | "ExitPlanMode" => {
            ToolAction::Planned(PlanChange::None)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;
    use towline_core::work::PlanStatus;

    #[track_caller]
    fn check(tool: &str, input: &str, expected: &ToolAction<'_>) {
        assert_eq!(&tool_action(tool, input), expected, "{tool}");
    }

    #[test]
    fn tools_map_to_their_actions() {
        let path = || Cow::Borrowed("/p/a.rs");
        check("Read", r#"{"file_path":"/p/a.rs","limit":5}"#, &ToolAction::Read { path: path() });
        check("LS", r#"{"path":"/p/a.rs"}"#, &ToolAction::Read { path: path() });
        for tool in ["Edit", "MultiEdit", "Write"] {
            let input =
                r#"{"content":"\"file_path\":\"no\"","edits":[{"file_path":"no"}],"file_path":"/p/a.rs"}"#;
            check(tool, input, &ToolAction::Changed { paths: vec![path()] });
        }
        check("NotebookEdit", r#"{"notebook_path":"/p/a.rs"}"#, &ToolAction::Changed { paths: vec![path()] });
        check(
            "Bash",
            r#"{"command":"cargo test","description":"d"}"#,
            &ToolAction::Ran { command: "cargo test".into() },
        );
        check("BashOutput", r#"{"bash_id":"1"}"#, &ToolAction::Waited);
        check(
            "Grep",
            r#"{"pattern":"fn \\w+","path":"src"}"#,
            &ToolAction::Searched { what: r"fn \w+".into() },
        );
        check("Glob", r#"{"pattern":"**/*.rs"}"#, &ToolAction::Searched { what: "**/*.rs".into() });
        check("WebSearch", r#"{"query":"rust"}"#, &ToolAction::Searched { what: "rust".into() });
        check(
            "WebFetch",
            r#"{"url":"https://a.b/c","prompt":"p"}"#,
            &ToolAction::Fetched { address: "https://a.b/c".into() },
        );
        check(
            "Task",
            r#"{"prompt":"long","description":"short"}"#,
            &ToolAction::Delegated { task: "short".into() },
        );
        check("Agent", r#"{"prompt":"long"}"#, &ToolAction::Delegated { task: "long".into() });
        let question = r#"{"questions":[{"header":"h","question":"Which one?"}]}"#;
        check("AskUserQuestion", question, &ToolAction::Asked { question: "Which one?".into() });
        let todos = r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}"#;
        let list = vec![("a".into(), PlanStatus::Done), ("b".into(), PlanStatus::Open)];
        check("TodoWrite", todos, &ToolAction::Planned(PlanChange::Replaced(list)));
        check("TodoWrite", r#"{"todos":[{"conte"#, &ToolAction::Planned(PlanChange::None));
        check("TaskUpdate", "{}", &ToolAction::Planned(PlanChange::None));
        let change = PlanChange::Updated { id: "2".into(), text: None, status: Some(PlanStatus::InProgress) };
        check("TaskUpdate", r#"{"taskId":"2","status":"in_progress"}"#, &ToolAction::Planned(change));
        let added = ToolAction::Planned(PlanChange::Added("paint".into()));
        check("TaskCreate", r#"{"description":"the mast","subject":"paint"}"#, &added);
        check("mcp__files__read", r#"{"file_path":"/p/a.rs"}"#, &ToolAction::Other);
    }

    #[test]
    fn an_input_without_the_main_argument_is_another_action() {
        for input in ["", "{}", "null", "{\"command\":null}", "[1", "plain"] {
            check("Bash", input, &ToolAction::Other);
            check("Edit", input, &ToolAction::Other);
        }
    }

    #[test]
    fn a_redacted_call_keeps_its_action() {
        let input = r#"{"command":"API_KEY=[redacted:named] cargo run"#;
        check("Bash", input, &ToolAction::Ran { command: "API_KEY=[redacted:named] cargo run".into() });
    }
}
