//! The routes of the API, each said once: the server routes by this table, the description is made from it, and the tests
//! walk it.
//!
//! Decides nothing but what may be asked in which form.

/// What is asked for, one for each thing that can be. Several routes may ask for the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Health,
    Seats,
    Goto,
    Sessions,
    Session,
    Turns,
    Turn,
    Detail,
    Memories,
    Memory,
    MemoryBatch,
    MemoriesByFile,
    Remember,
    Edit,
    Pin,
    Unpin,
    Supersede,
    Hold,
    Release,
    Forget,
    Undo,
    Summaries,
    Search,
    Timeline,
    Context,
    Bookmarks,
    Jobs,
    RetryJob,
    DropJob,
    Faults,
    Projects,
    Stats,
    Report,
    Usage,
    Config,
    Stream,
    OpenApi,
    Events,
    HostContext,
    HostBegin,
    HostTool,
    HostSummarise,
    HostEnd,
    HostProcessing,
    HostBatch,
    HostSearch,
    HostTimeline,
}

/// The method of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Patch,
    Delete,
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever has the viewer's token.
    Read,
    /// The same, if the server was started with `--write`.
    Write,
    /// Programs with the token for events; no browser.
    Events,
    /// What programs with the token for events may read, too.
    Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    Path,
    Query,
    /// A field of the JSON object that is the body.
    Body,
    /// The body itself, as it is.
    Payload,
}

/// What a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// At most so many bytes.
    Text(usize),
    Number {
        least: i64,
        most: i64,
    },
    Flag,
    OneOf(&'static [&'static str]),
    /// At most so many short texts.
    Texts(usize),
    /// Any JSON.
    Anything,
}

#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub position: Position,
    pub kind: Kind,
    pub is_needed: bool,
    pub says: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub operation: Operation,
    pub verb: Verb,
    pub path: &'static str,
    pub access: Access,
    pub says: &'static str,
    pub parameters: &'static [Parameter],
}

impl Kind {
    /// What a value must be, for who sent another one.
    pub fn words(self) -> String {
        match self {
            Kind::Text(longest) => format!("a text of at most {longest} bytes"),
            Kind::Number { least, most } => format!("a whole number from {least} to {most}"),
            Kind::Flag => "true or false".to_owned(),
            Kind::OneOf(names) => format!("one of {}", names.join(", ")),
            Kind::Texts(most) => format!("a list of at most {most} texts"),
            Kind::Anything => "JSON".to_owned(),
        }
    }
}

impl Verb {
    pub fn name(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
        }
    }
}

const fn get(
    operation: Operation,
    path: &'static str,
    parameters: &'static [Parameter],
    says: &'static str,
) -> Route {
    Route { operation, verb: Verb::Get, path, access: Access::Read, says, parameters }
}

const fn write(
    operation: Operation,
    path: &'static str,
    parameters: &'static [Parameter],
    says: &'static str,
) -> Route {
    Route { operation, verb: Verb::Post, path, access: Access::Write, says, parameters }
}

/// For hosts, by the events' token.
const fn host(
    operation: Operation,
    path: &'static str,
    parameters: &'static [Parameter],
    says: &'static str,
) -> Route {
    Route { operation, verb: Verb::Post, path, access: Access::Events, says, parameters }
}

/// The same, only read.
const fn host_get(
    operation: Operation,
    path: &'static str,
    parameters: &'static [Parameter],
    says: &'static str,
) -> Route {
    Route { operation, verb: Verb::Get, path, access: Access::Host, says, parameters }
}

const fn in_path(name: &'static str, says: &'static str) -> Parameter {
    Parameter { name, position: Position::Path, kind: Kind::Text(300), is_needed: true, says }
}

const fn query(name: &'static str, kind: Kind, says: &'static str) -> Parameter {
    Parameter { name, position: Position::Query, kind, is_needed: false, says }
}

const fn needed_query(name: &'static str, kind: Kind, says: &'static str) -> Parameter {
    Parameter { name, position: Position::Query, kind, is_needed: true, says }
}

const fn body(name: &'static str, kind: Kind, says: &'static str) -> Parameter {
    Parameter { name, position: Position::Body, kind, is_needed: false, says }
}

const fn needed_body(name: &'static str, kind: Kind, says: &'static str) -> Parameter {
    Parameter { name, position: Position::Body, kind, is_needed: true, says }
}

const WORD: Kind = Kind::Text(300);
const LONG_TEXT: Kind = Kind::Text(256 << 10);
/// No page is longer.
const PAGE: Kind = Kind::Number { least: 1, most: 200 };
const DEPTH: Kind = Kind::Number { least: 0, most: 200 };
const FACTS: Kind = Kind::Texts(100);

const PROJECT: Parameter =
    query("project", WORD, "Only this project, by name or by a folder in it; without it, all");
const AGENT: Parameter = query("agent", WORD, "Only this agent");
const LIMIT: Parameter = query("limit", PAGE, "At most so many");
const MEMORY_ID: Parameter = in_path("id", "A memory, such as m12");
const SINCE: Parameter = query("from", WORD, "Only since this time");
const UNTIL: Parameter = query("to", WORD, "Only before this time");
const HOST_SESSION: [Parameter; 3] = [
    body("claudeSessionId", WORD, "The host's own name of the session"),
    body("contentSessionId", WORD, "The same, by its later name"),
    body("sessionId", WORD, "The same, by its first name"),
];
const FOLDER: Parameter = body("cwd", Kind::Text(4_096), "The folder that the host works in");
const HOST_AGENT: Parameter =
    body("agent", WORD, "As whose session it is kept; the first known agent if not given");

/// What a tool did.
const TOOL: &[Parameter] = &[
    HOST_SESSION[0],
    HOST_SESSION[1],
    HOST_SESSION[2],
    FOLDER,
    HOST_AGENT,
    needed_body("tool_name", WORD, "What the tool is called"),
    body("tool_input", Kind::Anything, "What it was given"),
    body("tool_response", Kind::Anything, "What it gave"),
    body("tool_use_id", WORD, "The host's own name of the call"),
];
const SUMMARY: &[Parameter] = &[
    HOST_SESSION[0],
    HOST_SESSION[1],
    HOST_SESSION[2],
    FOLDER,
    HOST_AGENT,
    body("last_user_message", Kind::Anything, "What was asked last"),
    body("last_assistant_message", Kind::Anything, "What was answered last"),
];
const END: &[Parameter] = &[
    HOST_SESSION[0],
    HOST_SESSION[1],
    HOST_SESSION[2],
    FOLDER,
    HOST_AGENT,
    body("reason", WORD, "exit, clear, logout, prompt_input_exit or other"),
];
const BEGIN: &[Parameter] = &[
    HOST_SESSION[0],
    HOST_SESSION[1],
    HOST_SESSION[2],
    FOLDER,
    HOST_AGENT,
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

pub const ROUTES: &[Route] = &[
    get(Operation::Health, "/v1/health", &[], "What this server is, and whether it may change anything"),
    get(Operation::OpenApi, "/v1/openapi.json", &[], "This description"),
    get(
        Operation::Stream,
        "/v1/stream",
        &[],
        "What changes, as it changes: server-sent events that Last-Event-ID resumes",
    ),
    get(Operation::Seats, "/v1/seats", &[], "What every agent is doing: `tow status --json`"),
    write(
        Operation::Goto,
        "/v1/seats/{session}/goto",
        &[in_path("session", "A session or a pane")],
        "Bring a seat before the person",
    ),
    get(
        Operation::Sessions,
        "/v1/sessions",
        &[PROJECT, AGENT, SINCE, query("before", WORD, "The `next` of the page before"), LIMIT],
        "Sessions, the latest first: `tow sessions --json`",
    ),
    get(
        Operation::Session,
        "/v1/sessions/{id}",
        &[in_path("id", "A session, by its id or the end of it")],
        "One session with its summary, figures, bookmarks, inheritance and context growth",
    ),
    get(
        Operation::Turns,
        "/v1/sessions/{id}/turns",
        &[
            in_path("id", "A session, by its id or the end of it"),
            query("before", WORD, "Turns before this one: the `next` of the page before"),
            query("after", WORD, "The first turns after this one"),
            query("all", Kind::Flag, "Bookmarks, notifications and turns that were taken back, too"),
            LIMIT,
        ],
        "Turns with what was said and headings of details: `tow turns --json`",
    ),
    get(
        Operation::Turn,
        "/v1/turns/{id}",
        &[in_path("id", "A turn, such as 1a2b3c4d#12")],
        "One turn: `tow show --json`",
    ),
    get(
        Operation::Detail,
        "/v1/details/{id}",
        &[in_path("id", "A detail, such as 1a2b3c4d#12.3")],
        "One detail, whole: `tow show --json`",
    ),
    get(
        Operation::Memories,
        "/v1/memories",
        &[
            PROJECT,
            query("type", WORD, "Only of this type"),
            query("concept", WORD, "Only about this"),
            query("file", Kind::Text(4_096), "Only about this file: its path, or the end of it"),
            query("session", WORD, "Only from this session"),
            SINCE,
            UNTIL,
            query("pinned", Kind::Flag, "Only pinned ones"),
            query("held", Kind::Flag, "Only those that are held back from models"),
            query("all", Kind::Flag, "Those that were replaced or are held back, too"),
            query("before", WORD, "The `next` of the page before"),
            LIMIT,
        ],
        "Memories, the newest first: `tow memories --json`",
    ),
    get(
        Operation::MemoriesByFile,
        "/v1/memories/by-file",
        &[needed_query("path", Kind::Text(4_096), "A path, or the end of one"), PROJECT, LIMIT],
        "Memories about a file",
    ),
    get(
        Operation::Memory,
        "/v1/memories/{id}",
        &[MEMORY_ID],
        "One memory with its trace and its chain: `tow show --json`",
    ),
    Route {
        access: Access::Read,
        ..write(
            Operation::MemoryBatch,
            "/v1/memories/batch",
            &[needed_body("ids", Kind::Texts(100), "Memories")],
            "Several memories",
        )
    },
    write(
        Operation::Remember,
        "/v1/memories",
        &[
            needed_body("text", Kind::Text(20_000), "What to remember; its first line is the title"),
            body("title", WORD, "A heading"),
            body("type", WORD, "decision, preference, gotcha, discovery or another word"),
            body("files", FACTS, "Files that it is about"),
            body("concepts", FACTS, "What it is about"),
            body("project", WORD, "Of this project"),
            body("pin", Kind::Flag, "Give it to every session"),
        ],
        "Remember something: `tow remember --json`",
    ),
    Route {
        verb: Verb::Patch,
        ..write(
            Operation::Edit,
            "/v1/memories/{id}",
            &[
                MEMORY_ID,
                body("title", WORD, "Another title"),
                body("subtitle", Kind::Text(2_000), "Another subtitle"),
                body("narrative", Kind::Text(20_000), "Another narrative"),
                body("type", WORD, "Another type"),
                body("facts", FACTS, "In the place of all facts"),
                body("concepts", FACTS, "In the place of all concepts"),
            ],
            "Other words for a memory: `tow edit --json`",
        )
    },
    Route {
        verb: Verb::Delete,
        ..write(
            Operation::Forget,
            "/v1/memories/{id}",
            &[MEMORY_ID],
            "Erase a memory for good: `tow forget --json`",
        )
    },
    write(Operation::Pin, "/v1/memories/{id}/pin", &[MEMORY_ID], "Give a memory to every session"),
    write(Operation::Unpin, "/v1/memories/{id}/unpin", &[MEMORY_ID], "Take the pin out"),
    write(
        Operation::Supersede,
        "/v1/memories/{id}/supersede",
        &[
            MEMORY_ID,
            body("by", WORD, "The memory that holds instead"),
            body("because", Kind::Text(2_000), "Why"),
        ],
        "A memory no longer holds: `tow supersede --json`",
    ),
    write(
        Operation::Hold,
        "/v1/memories/{id}/hold",
        &[MEMORY_ID, body("because", Kind::Text(2_000), "Why")],
        "Hold a memory back from models: a veto",
    ),
    write(Operation::Release, "/v1/memories/{id}/release", &[MEMORY_ID], "Let models have it again"),
    write(
        Operation::Undo,
        "/v1/undo",
        &[needed_body("id", WORD, "A memory")],
        "Take the last change of a memory back: `tow undo --json`",
    ),
    get(Operation::Summaries, "/v1/summaries", &[PROJECT, LIMIT], "What the latest sessions were about"),
    get(
        Operation::Search,
        "/v1/search",
        &[
            needed_query("q", Kind::Text(2_000), "Words, an error text, a path, part of a name"),
            query("kind", WORD, "memory, summary, body, detail or bookmark; several by commas"),
            query("type", WORD, "Only memories of this type"),
            query("concept", WORD, "Only memories about this"),
            query("file", Kind::Text(4_096), "Only about this file"),
            PROJECT,
            AGENT,
            query("branch", WORD, "Only of this branch"),
            query("session", WORD, "Only of this session"),
            SINCE,
            UNTIL,
            LIMIT,
        ],
        "Find by words, best first: `tow search --json`",
    ),
    get(
        Operation::Timeline,
        "/v1/timeline",
        &[
            query("anchor", WORD, "A memory, a turn, a session or a time; now if not given"),
            query("q", Kind::Text(2_000), "Words to search for instead"),
            query("before", DEPTH, "At most so many before it"),
            query("after", DEPTH, "At most so many after it"),
            PROJECT,
        ],
        "What happened around a point in time: `tow timeline --json`",
    ),
    get(
        Operation::Context,
        "/v1/context",
        &[
            PROJECT,
            AGENT,
            query("session", WORD, "The session whose work would go on"),
            query("prompt", Kind::Text(2_000), "As if this were asked first"),
        ],
        "What a session would be given, part by part: `tow context --json`",
    ),
    get(
        Operation::Bookmarks,
        "/v1/bookmarks",
        &[
            PROJECT,
            query("session", WORD, "Only of this session"),
            query("search", WORD, "Only those that hold this text"),
            LIMIT,
        ],
        "Bookmarks, the newest first: `tow bookmarks --json`",
    ),
    get(
        Operation::Jobs,
        "/v1/jobs",
        &[query("dead", Kind::Flag, "Only those that failed too often"), LIMIT],
        "Work for later: `tow jobs --json`",
    ),
    write(
        Operation::RetryJob,
        "/v1/jobs/{id}/retry",
        &[in_path("id", "A job's number")],
        "Have a job tried again",
    ),
    write(Operation::DropJob, "/v1/jobs/{id}/drop", &[in_path("id", "A job's number")], "Leave a job"),
    get(Operation::Faults, "/v1/faults", &[], "What went wrong, the latest first"),
    get(Operation::Projects, "/v1/projects", &[], "Projects with what is known of each"),
    get(Operation::Stats, "/v1/stats", &[], "How much is kept, and how large it is"),
    get(
        Operation::Report,
        "/v1/report",
        &[
            query("days", Kind::Number { least: 1, most: 366 }, "So many days, today included"),
            PROJECT,
            AGENT,
        ],
        "How long agents waited for the person: `tow report --json`",
    ),
    get(
        Operation::Usage,
        "/v1/usage",
        &[
            query(
                "by",
                Kind::OneOf(&["day", "model", "project", "session", "agent"]),
                "What is added up together; day if not given",
            ),
            SINCE,
            PROJECT,
            AGENT,
        ],
        "Tokens and what they cost: `tow usage --json`",
    ),
    get(Operation::Config, "/v1/config", &[], "The settings in force: `tow config --json`"),
    host(
        Operation::Events,
        "/v1/events",
        &[
            needed_query("agent", WORD, "Whose payload it is"),
            Parameter {
                name: "payload",
                position: Position::Payload,
                kind: Kind::Text(8 << 20),
                is_needed: true,
                says: "What the agent's hook would be given",
            },
        ],
        "What `tow hook` takes, answered by what it would print",
    ),
    host_get(
        Operation::HostContext,
        "/api/context/inject",
        &[
            query("project", WORD, "By name or by a folder"),
            query("projects", WORD, "The same, by its later name"),
            AGENT,
        ],
        "What a new session would be given, as text",
    ),
    host(Operation::HostBegin, "/sessions/init", BEGIN, "Something was asked in a session of a host"),
    host(Operation::HostBegin, "/sessions/{id}/init", BEGIN_NAMED, "The same, with the session in the path"),
    host(Operation::HostBegin, "/api/sessions/init", BEGIN, "The same, by its later path"),
    host(Operation::HostTool, "/sessions/observations", TOOL, "A tool was used in a session of a host"),
    host(Operation::HostTool, "/api/sessions/observations", TOOL, "The same, by its later path"),
    host(
        Operation::HostSummarise,
        "/sessions/summarize",
        SUMMARY,
        "An answer is complete in a session of a host",
    ),
    host(Operation::HostSummarise, "/api/sessions/summarize", SUMMARY, "The same, by its later path"),
    host(Operation::HostEnd, "/sessions/complete", END, "A session of a host is over"),
    host(Operation::HostEnd, "/api/sessions/complete", END, "The same, by its later path"),
    host(Operation::HostEnd, "/api/sessions/session-end", END, "The same, by its latest path"),
    host(
        Operation::HostProcessing,
        "/api/processing",
        &[body("isProcessing", Kind::Flag, "Whether the host's spinner turns")],
        "Taken note of; nothing here needs it",
    ),
    Route {
        access: Access::Host,
        ..host(
            Operation::HostBatch,
            "/api/observations/batch",
            &[
                needed_body("ids", Kind::Anything, "Memories, by number or id"),
                body("limit", PAGE, "At most so many"),
                body("orderBy", WORD, "date_desc or date_asc"),
                body("project", WORD, "Only this project"),
            ],
            "Several memories",
        )
    },
    host_get(Operation::HostSearch, "/api/search", HOST_SEARCH, "Find by words"),
    host_get(Operation::HostTimeline, "/api/timeline", HOST_TIMELINE, "What happened around a point in time"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_are_the_same_route_and_every_name_in_a_path_is_a_parameter() {
        for (at, route) in ROUTES.iter().enumerate() {
            assert!(
                ROUTES[..at].iter().all(|other| (other.verb, other.path) != (route.verb, route.path)),
                "{}",
                route.path
            );
            let named: Vec<&str> =
                route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            let known = route.parameters.iter().filter(|known| known.position == Position::Path);
            assert_eq!(named, known.map(|known| known.name).collect::<Vec<_>>(), "{}", route.path);
        }
    }

    #[test]
    fn only_what_is_got_or_read_by_its_ids_needs_no_permission_to_write() {
        for route in ROUTES.iter().filter(|route| route.verb != Verb::Get) {
            let reads = matches!(route.operation, Operation::MemoryBatch | Operation::HostBatch);
            assert_eq!(matches!(route.access, Access::Write | Access::Events), !reads, "{}", route.path);
        }
    }
}
