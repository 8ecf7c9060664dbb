//! Routes for hosts without hooks: hook payloads, and the API that another product documents.
//!
//! Names and shapes are that product's. Contains declarations only; the backend handles the requests.

use super::parts::*;
use super::{Kind, Operation, Parameter, Position, Route};

/// Names of the session id field, one for each version of that product's documentation.
pub const SESSION_FIELDS: [&str; 3] = ["claudeSessionId", "contentSessionId", "sessionId"];

const HOST_SESSION: [Parameter; 3] = [
    body(SESSION_FIELDS[0], WORD, "The host's own name of the session"),
    body(SESSION_FIELDS[1], WORD, "The same, by its later name"),
    body(SESSION_FIELDS[2], WORD, "The same, by its first name"),
];
const FOLDER: Parameter = body("cwd", Kind::Text(4_096), "The folder that the host works in");
const HOST_AGENT: Parameter =
    body("agent", WORD, "As whose session it is kept; the first known agent if not given");

const PAYLOAD: Parameter = Parameter {
    name: "payload",
    position: Position::Payload,
    kind: Kind::Text(8 << 20),
    is_needed: true,
    says: "What the agent's hook would be given",
};

/// The parameters of every event in a session, and those of one kind of event.
macro_rules! in_session {
    ($($own:expr),* $(,)?) => {
        &[HOST_SESSION[0], HOST_SESSION[1], HOST_SESSION[2], FOLDER, HOST_AGENT, $($own),*]
    };
}

/// A tool call and its result.
const TOOL: &[Parameter] = in_session![
    needed_body("tool_name", WORD, "What the tool is called"),
    body("tool_input", Kind::Anything, "What it was given"),
    body("tool_response", Kind::Anything, "What it gave"),
    body("tool_use_id", WORD, "The host's own name of the call"),
];
const SUMMARY: &[Parameter] = in_session![
    body("last_user_message", Kind::Anything, "What was asked last"),
    body("last_assistant_message", Kind::Anything, "What was answered last"),
];
const END: &[Parameter] =
    in_session![body("reason", WORD, "exit, clear, logout, prompt_input_exit or other"),];
const BEGIN: &[Parameter] = in_session![
    body("project", WORD, "What the project is called"),
    body("userPrompt", LONG_TEXT, "What was asked"),
    body("prompt", LONG_TEXT, "The same, by its later name"),
    body("promptNumber", Kind::Number { least: 0, most: 1 << 31 }, "Counted by the host"),
];
const BEGIN_NAMED: &[Parameter] = &[
    in_path("id", "The host's own name of the session"),
    FOLDER,
    HOST_AGENT,
    body("project", WORD, "What the project is called"),
    body("userPrompt", LONG_TEXT, "What was asked"),
    body("prompt", LONG_TEXT, "The same, by its later name"),
    body("promptNumber", Kind::Number { least: 0, most: 1 << 31 }, "Counted by the host"),
];
const HOST_SEARCH: &[Parameter] = &[
    needed_query("query", Kind::Text(2_000), "What to look for"),
    query("type", WORD, "observations, sessions or prompts"),
    query("obs_type", WORD, "A memory's type"),
    query("concepts", WORD, "A concept"),
    query("files", WORD, "A path, or the end of one"),
    query("project", WORD, "Only this project"),
    query("dateStart", WORD, "Only since this time"),
    query("dateEnd", WORD, "Only before this time"),
    LIMIT,
];
const HOST_TIMELINE: &[Parameter] = &[
    query("anchor", WORD, "A memory, a turn or a time"),
    query("query", Kind::Text(2_000), "Words to search for instead"),
    query("depth_before", DEPTH, "At most so many before it"),
    query("depth_after", DEPTH, "At most so many after it"),
    query("type", WORD, "Only entries of this kind"),
    query("project", WORD, "Only this project"),
];

routes! {
    host Events "/v1/events" [needed_query("agent", WORD, "Whose payload it is"), PAYLOAD]
        "What `tow hook` takes; answered by {}";
    host_get HostContext "/api/context/inject" [
        query("project", WORD, "By name or by a folder"),
        query("projects", WORD, "The same, by its later name"),
        AGENT,
    ] "What a new session would be given, as text";
    host HostBegin "/sessions/init" (BEGIN) "Something was asked in a session of a host";
    host HostBegin "/sessions/{id}/init" (BEGIN_NAMED) "The same, with the session in the path";
    host HostBegin "/api/sessions/init" (BEGIN) "The same, by its later path";
    host HostTool "/sessions/observations" (TOOL) "A tool was used in a session of a host";
    host HostTool "/api/sessions/observations" (TOOL) "The same, by its later path";
    host HostSummarise "/sessions/summarize" (SUMMARY) "An answer is complete in a session of a host";
    host HostSummarise "/api/sessions/summarize" (SUMMARY) "The same, by its later path";
    host HostEnd "/sessions/complete" (END) "A session of a host is over";
    host HostEnd "/api/sessions/complete" (END) "The same, by its later path";
    host HostEnd "/api/sessions/session-end" (END) "The same, by its latest path";
    host HostProcessing "/api/processing" [body("isProcessing", Kind::Flag, "Whether the host's spinner turns")]
        "Taken note of; nothing here needs it";
    host_read HostBatch "/api/observations/batch" [
        needed_body("ids", Kind::Anything, "Memories, by number or id"),
        body("limit", PAGE, "At most so many"),
        body("orderBy", WORD, "date_desc or date_asc"),
        body("project", WORD, "Only this project"),
    ] "Several memories";
    host_get HostSearch "/api/search" (HOST_SEARCH) "Find by words";
    host_get HostTimeline "/api/timeline" (HOST_TIMELINE) "What happened around a point in time";
}
