-- What was learnt. Every text in here went through redaction before it was written.
-- Lists (facts, concepts) are JSON arrays of strings.

create table memories (
    -- What people and models call it by: never given again to another.
    id integer primary key autoincrement,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    project integer references projects (id),
    -- Where it came from. The conversation may be gone by now; its name stays.
    conversation integer,
    session text,
    turn integer,
    branch text,
    commit_hash text,
    type text not null,
    title text not null,
    subtitle text not null,
    facts text not null,
    narrative text not null,
    concepts text not null,
    maker text not null,
    trust text not null,
    confidence integer not null,
    cost integer not null,
    made_at integer not null,
    changed_at integer not null,
    valid_from integer not null,
    -- The memory that took its place; 0 where nothing did.
    superseded_by integer,
    superseded_at integer,
    superseded_why text,
    pinned_at integer,
    quarantine text,
    found integer not null,
    -- A mark of the words, by which the same is known again.
    fingerprint integer not null
) strict;
create index memories_by_project on memories (project, made_at);
create index memories_by_turn on memories (conversation, turn);
create index memories_by_fingerprint on memories (fingerprint);
create index memories_superseded on memories (superseded_by) where superseded_by is not null;
create index memories_pinned on memories (project) where pinned_at is not null;

create table memory_files (
    memory integer not null references memories (id),
    path text not null,
    how text not null,
    primary key (memory, path, how)
) strict, without rowid;
create index memory_files_by_path on memory_files (path);

create table memory_concepts (
    memory integer not null references memories (id),
    concept text not null,
    primary key (memory, concept)
) strict, without rowid;
create index memory_concepts_by_name on memory_concepts (concept);

-- What became of a memory, and what it was before: enough to take it back.
create table memory_trace (
    id integer primary key,
    memory integer not null references memories (id),
    at integer not null,
    what text not null,
    why text not null,
    -- The row before, as JSON; null where there was none.
    before text,
    undone_at integer
) strict;
create index memory_trace_by_memory on memory_trace (memory, id);

-- What a session did, the newest for each session.
create table summaries (
    id integer primary key,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    conversation integer not null unique,
    -- The last turn that it tells of.
    turn integer not null,
    request text not null,
    investigated text not null,
    learned text not null,
    completed text not null,
    next_steps text not null,
    notes text not null,
    maker text not null,
    trust text not null,
    at integer not null
) strict;

-- What is to be looked at by whoever derives something (the index, the distiller): a conversation from a turn on, or one
-- memory or summary. A number once given is never given again.
create table changes (
    seq integer primary key autoincrement,
    what text not null,
    row integer not null,
    from_turn integer
) strict;

-- What was captured before there was anybody to look.
insert into changes (what, row, from_turn) select 'conversation', id, 0 from conversations;

-- Work for later, leased until done. What failed too often stays as dead until a person retries or drops it; what is done
-- stays too, so that nothing is done twice.
create table jobs (
    id integer primary key,
    uid blob not null unique,
    kind text not null,
    conversation integer references conversations (id),
    turn integer,
    -- Up to when the turn had gone when it was asked for: what goes on much longer is looked at anew.
    covers integer not null,
    made_at integer not null,
    due_at integer not null,
    -- Failures that were its own, and when the first of them was.
    attempts integer not null,
    failed_at integer,
    -- Counts up with every lease: whoever has lost one cannot end it for another.
    lease integer not null,
    leased_until integer,
    -- Tokens that are set aside for the call under way, for as long as the lease lasts.
    reserved integer not null,
    reserved_day text,
    state text not null,
    error text,
    ended_at integer,
    unique (kind, conversation, turn)
) strict;
create index jobs_waiting on jobs (due_at) where state = 'waiting';
create index jobs_reserved on jobs (reserved_day) where reserved > 0;

-- What providers were paid in tokens, by day in UTC. What is set aside for calls under way stands with their jobs.
create table spending (
    day text not null,
    provider text not null,
    calls integer not null,
    input integer not null,
    output integer not null,
    -- Memories that came of it.
    kept integer not null,
    primary key (day, provider)
) strict, without rowid;

-- How each provider is: when it last answered as it should, and what keeps it from that since when.
create table providers (
    name text primary key,
    answered_at integer,
    failing_since integer,
    failed_at integer,
    failures integer not null,
    cause text not null,
    detail text not null,
    -- Not to be asked before.
    again_at integer not null,
    -- The most that a single call has cost.
    dearest integer not null
) strict, without rowid;
