//! Routes that read.
//!
//! No route here may change anything.

use super::parts::*;
use super::{Kind, Operation, Route};

routes! {
    get Health "/v1/health" [] "What this server is, and whether it may change anything";
    get OpenApi "/v1/openapi.json" [] "This description";
    get Stream "/v1/stream" [query("after", WORD, "From this position on: the `place` of /v1/health, or the id of an event")]
        "What changes, as it changes: server-sent events that Last-Event-ID resumes";
    get Seats "/v1/seats" [] "What every agent is doing: `tow status --json`";
    get Sessions "/v1/sessions" [PROJECT, AGENT, SINCE, query("before", WORD, "The `next` of the page before"), LIMIT]
        "Sessions, the latest first: `tow session list --json`";
    get Session "/v1/sessions/{id}" [in_path("id", "A session, by its id or the end of it")]
        "One session with its summary, figures, bookmarks, inheritance and context growth";
    get Turns "/v1/sessions/{id}/turns" [
        in_path("id", "A session, by its id or the end of it"),
        query("before", WORD, "Turns before this one: the `next` of the page before"),
        query("after", WORD, "The first turns after this one"),
        query("all", Kind::Flag, "Bookmarks, notifications and turns that were taken back, too"),
        LIMIT,
    ] "Turns with what was said and headings of details: `tow session turns --json`";
    get Turn "/v1/turns/{id}" [in_path("id", "A turn, such as 1a2b3c4d#12")] "One turn: `tow show --json`";
    get Detail "/v1/details/{id}" [in_path("id", "A detail, such as 1a2b3c4d#12.3")]
        "One detail, whole: `tow show --json`";
    get Memories "/v1/memories" [
        PROJECT,
        query("type", WORD, "Only of this type"),
        query("concept", WORD, "Only about this"),
        query("file", Kind::Text(4_096), "Only about this file: its path, or the end of it"),
        query("session", WORD, "Only from this session"),
        SINCE,
        UNTIL,
        query("pinned", Kind::Flag, "Only pinned ones"),
        query("held", Kind::Flag, "Only those that are held back from models"),
        query("proposed", Kind::Flag, "Only those that an agent proposes to pin"),
        query("all", Kind::Flag, "Those that were replaced or are held back, too"),
        query("before", WORD, "The `next` of the page before"),
        LIMIT,
    ] "Memories, the newest first: `tow memory list --json`";
    get MemoriesByFile "/v1/memories/by-file" [
        needed_query("path", Kind::Text(4_096), "A path, or the end of one"),
        PROJECT,
        LIMIT,
    ] "Memories about a file";
    get Memory "/v1/memories/{id}" [MEMORY_ID] "One memory with its trace and its chain: `tow show --json`";
    get Proposals "/v1/proposals" [PROJECT]
        "What agents propose to pin and teammates to change: `tow memory proposals --json`";
    read_post MemoryBatch "/v1/memories/batch" [needed_body("ids", Kind::Texts(100), "Memories")] "Several memories";
    get Summaries "/v1/summaries" [PROJECT, LIMIT] "What the latest sessions were about";
    get Search "/v1/search" [
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
        query("deep", Kind::Flag, "Read all tool output, newest first, instead of the index"),
        LIMIT,
    ] "Find by words, best first: `tow search --json`";
    get Timeline "/v1/timeline" [
        query("anchor", WORD, "A memory, a turn, a session or a time; now if not given"),
        query("q", Kind::Text(2_000), "Words to search for instead"),
        query("before", DEPTH, "At most so many before it"),
        query("after", DEPTH, "At most so many after it"),
        PROJECT,
    ] "What happened around a point in time: `tow memory timeline --json`";
    get Context "/v1/context" [
        PROJECT,
        AGENT,
        query("session", WORD, "The session whose work would go on"),
        query("prompt", Kind::Text(2_000), "As if this were asked first"),
    ] "What a session would be given, part by part: `tow session context --json`";
    get Bookmarks "/v1/bookmarks" [
        PROJECT,
        query("session", WORD, "Only of this session"),
        query("search", WORD, "Only those that hold this text"),
        LIMIT,
    ] "Bookmarks, the newest first: `tow bookmark list --json`";
    get Jobs "/v1/jobs" [query("dead", Kind::Flag, "Only those that failed too often"), LIMIT]
        "Work for later: `tow data jobs --json`";
    get Faults "/v1/faults" [] "What went wrong, the latest first";
    get Projects "/v1/projects" [] "Projects with what is known of each";
    get Stats "/v1/stats" [] "How much is kept, and how large it is";
    get Report "/v1/report" [
        query("days", Kind::Number { least: 1, most: 366 }, "So many days, today included"),
        PROJECT,
        AGENT,
    ] "How long agents waited for the person: `tow session waits --json`";
    get Usage "/v1/usage" [
        query( "by", Kind::OneOf(&["day", "week", "month", "model", "project", "session", "agent"]), "What is added up together; day if not given"),
        SINCE,
        PROJECT,
        AGENT,
    ] "Tokens and what they cost: `tow usage --json`";
    get Config "/v1/config" [] "The settings in force: `tow config --json`";
}
