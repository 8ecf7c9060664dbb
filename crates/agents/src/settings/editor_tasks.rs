//! The task that runs our monitor, in the `tasks.json` of an editor's folder.
//!
//! Written only on request. Never changes comments, commas and foreign tasks; in a task of ours that the user has
//! adapted, only the program's path is updated.

use std::path::{Path, PathBuf};

use super::apply::RetryPace;
use super::change::{Containers, EditPlan, EntryChange, NextEdit, edited, without_if_empty};
use super::edit::{self, Addition};
use super::json::{self, ByteSpan, Element, ValueKind};
use super::jsonc::Commented;
use super::layout::{Layout, Node};
use super::ours::is_tow;
use super::refusal::{EditRefusal, RefusalCause};
use super::subject::ManagedContent;
use super::target::absolute_command;

const KEY: &str = "tasks";
const VERB: &str = "monitor";
const LABEL: &str = "tow monitor";
const RUN_OPTIONS: &str = "runOptions";

/// A new file, as the editor would create it.
const EMPTY: &str = "{\n    \"version\": \"2.0.0\"\n}\n";

/// Our task in the file of one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorTasks {
    file: PathBuf,
    command: String,
    start: TaskStart,
}

/// When the editor runs the task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskStart {
    #[default]
    ByHand,
    /// Whenever the folder is opened; the editor asks the user once.
    FolderOpen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    Missing,
    Right,
    /// It has another path of the program.
    Outdated,
}

impl EditorTasks {
    /// The task in a folder that an editor opens, run by the program `tow`.
    pub fn in_folder(folder: &Path, tow: &Path) -> Result<Self, EditRefusal> {
        let file = folder.join(".vscode").join("tasks.json");
        let command = absolute_command(&file, tow)?;
        Ok(Self { file, command, start: TaskStart::ByHand })
    }

    /// The same task, started so. One that is there already keeps its own start unless this is asked for.
    #[must_use]
    pub fn started(self, start: TaskStart) -> Self {
        Self { start, ..self }
    }

    pub fn inspect_file(&self, pace: RetryPace) -> Result<TaskState, EditRefusal> {
        Ok(match self.preview(pace)?.changes.first() {
            None => TaskState::Right,
            Some(EntryChange::Added { .. }) => TaskState::Missing,
            Some(EntryChange::Upgraded { .. } | EntryChange::Removed { .. }) => TaskState::Outdated,
        })
    }

    fn opened(&self, existing: Option<&[u8]>) -> Result<Commented, EditRefusal> {
        self.commented(existing).map_err(|cause| self.refuse(cause))
    }

    fn commented(&self, existing: Option<&[u8]>) -> Result<Commented, RefusalCause> {
        let text = std::str::from_utf8(existing.unwrap_or_default());
        let text = text.map_err(|error| RefusalCause::NotText { at: error.valid_up_to() })?;
        let opened = Commented::object(if json::is_blank(text) { EMPTY } else { text })?;
        match tasks(opened.strict()) {
            Some(list) if json::kind(opened.strict(), &list.value) != ValueKind::Array => {
                Err(RefusalCause::TasksNotArray)
            }
            Some(_) | None => Ok(opened),
        }
    }

    /// The next edit towards the wanted task.
    fn step(&self, opened: &Commented) -> NextEdit<Commented, RefusalCause> {
        let strict = opened.strict();
        let layout = Layout::of(strict);
        let added =
            |edited: String| Ok(Some((opened.follow(&edited)?, EntryChange::Added { event: event() })));
        let Some(list) = tasks(strict) else {
            let list = Node::Array(vec![self.entry()]);
            return added(edit::append(strict, &json::root(strict), &Addition::Member(KEY, &list), &layout));
        };
        let Some((_, task)) = ours(strict, &list.value) else {
            return added(edit::append(strict, &list.value, &Addition::Item(&self.entry()), &layout));
        };
        let Some(command) = json::member(strict, &task.value, "command") else { return Ok(None) };
        let edited = if json::value(strict, &command.value) != self.command.as_str() {
            edit::replace(strict, &command.value, &Node::Text(self.command.clone()), &layout)
        } else if self.start == TaskStart::FolderOpen
            && json::member(strict, &task.value, RUN_OPTIONS).is_none()
        {
            edit::append(strict, &task.value, &Addition::Member(RUN_OPTIONS, &on_open()), &layout)
        } else {
            return Ok(None);
        };
        let was = strict[task.value.clone()].to_owned();
        Ok(Some((opened.follow(&edited)?, EntryChange::Upgraded { event: event(), was })))
    }

    fn removed(opened: &Commented, kept: &Containers) -> NextEdit<Commented, RefusalCause> {
        let strict = opened.strict();
        let Some((index, list)) = tasks(strict).and_then(|list| Some((ours(strict, &list.value)?.0, list)))
        else {
            return Ok(None);
        };
        let was = strict[json::elements(strict, &list.value)[index].value.clone()].to_owned();
        let without = opened.follow(&edit::remove(strict, &list.value, index))?;
        let strict = without.strict().to_owned();
        let without = if kept.has(KEY) {
            without
        } else {
            without.follow(&without_if_empty(strict.clone(), &json::root(&strict), KEY))?
        };
        Ok(Some((without, EntryChange::Removed { event: event(), was })))
    }

    fn entry(&self) -> Node {
        let text = |text: &str| Node::Text(text.to_owned());
        let presentation = vec![("reveal", text("always")), ("panel", text("dedicated"))];
        let mut fields = vec![
            ("label", text(LABEL)),
            ("type", text("process")),
            ("command", text(&self.command)),
            ("args", Node::Array(vec![text(VERB)])),
            ("presentation", Node::Object(presentation)),
            ("problemMatcher", Node::Array(vec![])),
        ];
        if self.start == TaskStart::FolderOpen {
            fields.push((RUN_OPTIONS, on_open()));
        }
        Node::Object(fields)
    }
}

impl ManagedContent for EditorTasks {
    fn owner(&self) -> &'static str {
        "vscode"
    }

    fn file(&self) -> &Path {
        &self.file
    }

    /// A writer that truncates the file first leaves it empty for a moment.
    fn is_whole(&self, bytes: &[u8]) -> bool {
        !bytes.trim_ascii().is_empty() && self.opened(Some(bytes)).is_ok()
    }

    /// The file is part of a project, and readable like its other files.
    fn new_mode(&self) -> u32 {
        0o644
    }

    fn is_ours_to_keep(&self) -> bool {
        false
    }

    fn plan(&self, existing: Option<&[u8]>) -> Result<EditPlan, EditRefusal> {
        let steps = edited(self.opened(existing)?, |opened| self.step(opened));
        let (opened, changes) = steps.map_err(|cause| self.refuse(cause))?;
        Ok(EditPlan::new(&self.file, existing, opened.into_text(), changes))
    }

    fn plan_removal(&self, existing: Option<&[u8]>, kept: &Containers) -> Result<EditPlan, EditRefusal> {
        let opened = self.opened(existing)?;
        let removed = Self::removed(&opened, kept).map_err(|cause| self.refuse(cause))?;
        let (opened, changes) = removed.map_or((opened, vec![]), |(edited, change)| (edited, vec![change]));
        Ok(EditPlan::new(&self.file, existing, opened.into_text(), changes))
    }

    fn containers_without_us(&self, existing: Option<&[u8]>) -> Result<Containers, EditRefusal> {
        let opened = self.opened(existing)?;
        let strict = opened.strict();
        let is_theirs = |list: &Element| {
            let all = json::elements(strict, &list.value);
            all.is_empty() || all.iter().any(|task| !is_ours(strict, &task.value))
        };
        Ok(Containers::of_lists(tasks(strict).filter(is_theirs).map(|_| KEY.to_owned())))
    }
}

fn on_open() -> Node {
    Node::Object(vec![("runOn", Node::Text("folderOpen".to_owned()))])
}

fn event() -> String {
    format!("{KEY}.{LABEL}")
}

fn tasks(text: &str) -> Option<Element> {
    json::member(text, &json::root(text), KEY)
}

/// Our task and its index in the list.
fn ours(text: &str, list: &ByteSpan) -> Option<(usize, Element)> {
    json::elements(text, list).into_iter().enumerate().find(|(_, task)| is_ours(text, &task.value))
}

fn is_ours(text: &str, task: &ByteSpan) -> bool {
    let task = json::value(text, task);
    task["command"].as_str().is_some_and(is_tow) && task["args"][0] == VERB
}

#[cfg(test)]
mod tests {
    use super::super::archive::OriginalsArchive;
    use super::*;
    use std::fs;

    fn task(tow: &str) -> EditorTasks {
        EditorTasks::in_folder(Path::new("/project"), Path::new(tow)).unwrap()
    }

    fn installed(text: Option<&str>) -> String {
        let plan = task("/opt/tow").plan(text.map(str::as_bytes)).unwrap();
        let after = plan.after.unwrap();
        assert!(task("/opt/tow").plan(Some(&after)).unwrap().is_empty(), "a second run changes nothing");
        String::from_utf8(after).unwrap()
    }

    fn given_back(text: &str, before: &str) -> String {
        let kept = task("/opt/tow").containers_without_us(Some(before.as_bytes())).unwrap();
        let plan = task("/opt/tow").plan_removal(Some(text.as_bytes()), &kept).unwrap();
        String::from_utf8(plan.after.unwrap()).unwrap()
    }

    #[test]
    fn a_file_that_was_not_there_is_made_as_the_editor_would() {
        assert_eq!(
            installed(None),
            "{\n    \"version\": \"2.0.0\",\n    \"tasks\": [\n        {\n            \"label\": \"tow monitor\",\n            \
             \"type\": \"process\",\n            \"command\": \"/opt/tow\",\n            \"args\": [\n                \
             \"monitor\"\n            ],\n            \"presentation\": {\n                \"reveal\": \"always\",\n                \
             \"panel\": \"dedicated\"\n            },\n            \"problemMatcher\": []\n        }\n    ]\n}\n"
        );
    }

    #[test]
    fn comments_commas_and_indentation_of_others_stay_and_come_back() {
        for before in [
            "// mine\n{\n  \"version\": \"2.0.0\", // keep\n  \"tasks\": [\n    { \"label\": \"build\", }, // é\n    /* end */\n  ],\n}\n",
            "{\r\n\t\"tasks\": [\r\n\t\t{\r\n\t\t\t\"label\": \"a\"\r\n\t\t}\r\n\t]\r\n}",
            "{\"version\": \"2.0.0\", \"tasks\": [{\"label\": \"//\"}]}",
            "{\n  // nothing yet\n  \"version\": \"2.0.0\"\n}\n",
            "{ \"tasks\": [] }",
        ] {
            let after = installed(Some(before));
            assert!(after.contains("tow monitor"), "{after}");
            for comment in ["// mine", "// keep", "// é", "/* end */", "// nothing yet"] {
                assert_eq!(after.contains(comment), before.contains(comment), "{after}");
            }
            assert_eq!(given_back(&after, before), before);
        }
        let crowded = installed(Some("{\n  \"tasks\": [\n    // none yet\n  ]\n}\n"));
        assert!(crowded.contains("// none yet") && crowded.contains("tow monitor"), "{crowded}");
    }

    #[test]
    fn a_program_that_moved_is_found_at_its_new_place_and_the_rest_of_the_task_is_theirs() {
        let old = r#"{"tasks": [{"label": "my monitor", /* mine */ "command": "/old/tow", "args": ["monitor", "--once"]}]}"#;
        assert_eq!(installed(Some(old)), old.replace("/old/tow", "/opt/tow"));
    }

    #[test]
    fn an_invalid_task_list_is_refused_and_left_alone() {
        for (text, wanted) in
            [("{\"tasks\": {}}", "is not an array"), ("[]", "no JSON object"), ("{,", "not valid JSON")]
        {
            let refused = task("/opt/tow").plan(Some(text.as_bytes())).unwrap_err();
            assert!(refused.cause.to_string().contains(wanted), "{text}: {}", refused.cause);
        }
    }

    #[test]
    fn what_was_written_is_given_back_byte_for_byte_and_a_folder_of_ours_goes() {
        let (folder, keeping) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let archive = OriginalsArchive::new(keeping.path());
        let tasks = EditorTasks::in_folder(folder.path(), Path::new("/opt/tow")).unwrap();
        assert_eq!(tasks.inspect_file(RetryPace::USUAL).unwrap(), TaskState::Missing);
        tasks.apply(&archive, RetryPace::USUAL).unwrap();
        assert_eq!(tasks.inspect_file(RetryPace::USUAL).unwrap(), TaskState::Right);
        tasks.remove(&archive, RetryPace::USUAL).unwrap();
        assert!(!folder.path().join(".vscode").exists());
        let before = "{\n  \"tasks\": [\n    // none yet\n  ]\n}\n";
        fs::create_dir(folder.path().join(".vscode")).unwrap();
        fs::write(tasks.file(), before).unwrap();
        tasks.apply(&archive, RetryPace::USUAL).unwrap();
        let moved = EditorTasks::in_folder(folder.path(), Path::new("/new/tow")).unwrap();
        assert_eq!(moved.inspect_file(RetryPace::USUAL).unwrap(), TaskState::Outdated);
        moved.apply(&archive, RetryPace::USUAL).unwrap();
        moved.remove(&archive, RetryPace::USUAL).unwrap();
        assert_eq!(fs::read_to_string(tasks.file()).unwrap(), before);
    }
}
