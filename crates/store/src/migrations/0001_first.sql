-- Rows that a team may one day share carry uid (UUIDv7), machine (where they were made) and revision (counts changes).
-- Times are milliseconds since the Unix epoch.

create table facts (
    name text primary key,
    value text not null
) strict, without rowid;

-- How far the journal is folded: changed in the same transaction as what was folded.
-- The mark is taken from the segment's first record: another file under the same name has another.
create table folded (
    only_row integer primary key check (only_row = 1),
    segment integer not null,
    offset integer not null,
    mark integer not null
) strict;
insert into folded values (1, 0, 0, 0);

create table projects (
    id integer primary key,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    root text not null unique,
    remote text unique,
    name text not null,
    first_seen integer not null
) strict;

create table seats (
    id integer primary key,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    key text not null unique,
    kind text not null,
    pane text,
    server text,
    tty text,
    pid integer not null,
    started integer not null,
    program text,
    proof text not null,
    current text,
    first_seen integer not null,
    last_seen integer not null
) strict;

create table sessions (
    id integer primary key,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    agent text not null,
    session text not null,
    state text not null,
    reason text,
    since integer not null,
    seen integer not null,
    started_at integer not null,
    started_by text not null,
    last_event_at integer not null,
    ended_at integer,
    ended_by text,
    presence text not null,
    folder text,
    transcript text,
    model text,
    branch text,
    project integer references projects (id),
    seat text,
    previous text,
    prompt text,
    subagents text not null,
    background integer not null,
    context_tokens integer,
    compactions integer not null,
    turns integer not null,
    unique (agent, session)
) strict;

-- What is shown now: few rows, however long the history.
create index live_sessions on sessions (last_event_at) where state <> 'ended' and seat is not null;

create table turns (
    id integer primary key,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    session integer not null references sessions (id),
    ordinal integer not null,
    turn text,
    origin text not null,
    prompt text not null,
    started_at integer not null,
    ended_at integer,
    outcome text,
    tool_calls integer not null,
    tool_failures integer not null,
    steered integer not null,
    unique (session, ordinal)
) strict;

-- Clustered by session and time: what a session did is read in one run, and appending touches one leaf.
create table events (
    session integer not null references sessions (id),
    uid blob not null,
    at integer not null,
    kind text not null,
    tool text,
    subagent text,
    primary key (session, uid)
) strict, without rowid;

create table faults (
    kind text not null,
    detail text not null,
    count integer not null,
    first_at integer not null,
    last_at integer not null,
    told_at integer,
    primary key (kind, detail)
) strict, without rowid;

create table jobs (
    id integer primary key,
    uid blob not null unique,
    kind text not null,
    subject text not null,
    due_at integer not null,
    leased_until integer,
    attempts integer not null,
    last_error text,
    unique (kind, subject)
) strict;
