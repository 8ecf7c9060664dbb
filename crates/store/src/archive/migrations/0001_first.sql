-- What was captured from the agents' transcripts. Every text in here went through redaction before it was written.
-- Times are milliseconds since the Unix epoch; a mark is 64 bits of an agent's own name for a thing.

create table facts (
    name text primary key,
    value text not null
) strict, without rowid;

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

-- One for each session that said something. `base`: the session it was forked from, and the place up to which it shares
-- that one's turns. `short`: the last letters of the session's id, by which people and models call it.
create table conversations (
    id integer primary key,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    agent text not null,
    session text not null,
    short text not null,
    folder text,
    project integer references projects (id),
    branch text,
    base text,
    base_before integer,
    first_at integer not null,
    last_at integer not null,
    turns integer not null,
    -- What retention has taken away: nothing, thinking, or all details.
    expired text not null default '',
    unique (agent, session)
) strict;
create index conversations_by_short on conversations (short);
create index conversations_by_time on conversations (last_at);
create index conversations_by_project on conversations (project, last_at);

-- The files that were read: how far, by which reader, and what their bytes were, so that a file that was replaced is
-- known for it. `turn`: in which turn of its session a helper began whose file it is.
-- Changed in the same transaction as what was read.
create table sources (
    path text primary key,
    agent text not null,
    conversation integer references conversations (id),
    offset integer not null,
    head integer not null,
    head_bytes integer not null,
    tail integer not null,
    modified integer not null,
    turn integer,
    state text not null,
    read_at integer not null
) strict, without rowid;

create table turns (
    id integer primary key,
    uid blob not null,
    machine blob not null,
    revision integer not null,
    conversation integer not null references conversations (id),
    ordinal integer not null,
    mark integer not null,
    place integer not null,
    at integer not null,
    until integer not null,
    origin text not null,
    agent_turn text,
    stopped text,
    tools integer not null,
    failures integer not null,
    line text not null,
    reverted integer not null,
    unique (conversation, ordinal),
    unique (conversation, mark)
) strict;
-- With the end in it: which turns were under way at a time is told by the index alone.
create index turns_by_time on turns (at, until, conversation);
-- Few turns last for more than an hour: those that began long before a time and lasted into it are found among them.
create index long_turns on turns (at, until, conversation) where until - at > 3600000;

create table bodies (
    id integer primary key,
    conversation integer not null references conversations (id),
    turn integer not null,
    mark integer not null,
    message text not null,
    place integer not null,
    at integer not null,
    speaker text not null,
    cut integer not null,
    text text not null,
    unique (conversation, mark)
) strict;
create index bodies_by_turn on bodies (conversation, turn, place);

-- `size` is that of the text as it is kept, `cut` what was left out of it; packed content is compressed.
create table details (
    id integer primary key,
    conversation integer not null references conversations (id),
    turn integer not null,
    mark integer not null,
    place integer not null,
    at integer not null,
    kind text not null,
    subagent text,
    tool text,
    call integer,
    outcome text,
    size integer not null,
    cut integer not null,
    packed integer not null,
    content blob not null,
    unique (conversation, mark)
) strict;
create index details_by_turn on details (conversation, turn, place);
create index details_adrift on details (conversation) where subagent is not null and turn = 0;

create table usage (
    conversation integer not null references conversations (id),
    message text not null,
    turn integer not null,
    at integer not null,
    subagent text,
    model text,
    input integer not null,
    cache_read integer not null,
    cache_write integer not null,
    output integer not null,
    primary key (conversation, message)
) strict, without rowid;

create table files (
    conversation integer not null references conversations (id),
    turn integer not null,
    path text not null,
    how text not null,
    primary key (conversation, turn, path, how)
) strict, without rowid;
create index files_by_path on files (path);

create table commits (
    conversation integer not null references conversations (id),
    turn integer not null,
    hash text not null,
    subject text not null,
    primary key (conversation, turn, hash)
) strict, without rowid;

-- Kept since a file that tells of going back may be read before the one with the turns that were taken back.
create table reverts (
    conversation integer not null references conversations (id),
    from_place integer not null,
    at integer not null,
    primary key (conversation, from_place, at)
) strict, without rowid;
