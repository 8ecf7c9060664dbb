-- What is typed in a person's place, points to come back to, how full contexts are, and what goes on by itself.

-- Something that is meant to be typed into a seat, and what became of it. `typed_into` is the session it was typed into,
-- `led_to` the one whose event confirmed it.
create table intents (
    id integer primary key,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    session integer not null references sessions (id),
    seat text not null,
    purpose text not null,
    text text not null,
    after_intent blob,
    made_at integer not null,
    expires_at integer not null,
    stage text not null,
    moved_at integer not null,
    typing_at integer,
    why text,
    typed_into integer references sessions (id),
    led_to integer references sessions (id)
) strict;
create index open_intents on intents (seat, made_at) where stage in ('waiting', 'typing', 'typed');
create index intents_by_time on intents (made_at);
create index intents_by_session on intents (session);

-- What happened since a session's last bookmark (JSON; empty: nothing), so that the fold can go on counting.
alter table sessions add column since_bookmark text not null default '';

-- Points to come back to. `threshold`, `count` and `counted` say why it was set; `label` is what a person called it.
-- `placed_at` is when the state of code and context was looked at.
create table bookmarks (
    id integer primary key,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    session integer not null references sessions (id),
    at integer not null,
    after_turn integer not null,
    turn text,
    how text not null,
    threshold text,
    count integer,
    counted text,
    label text,
    commit_id text,
    branch text,
    dirty integer,
    context_tokens integer,
    placed_at integer,
    deleted_at integer
) strict;
create index bookmarks_by_session on bookmarks (session, at);

-- How full a context is: what it can hold, whether both numbers are exact, who said so and when; up to which threshold the
-- model and the person were told; when it was last compacted, and how full it was then.
alter table sessions add column context_window integer;
alter table sessions add column context_exact text;
alter table sessions add column context_source text;
alter table sessions add column context_at integer;
alter table sessions add column told_model integer not null default 0;
alter table sessions add column told_person integer not null default 0;
alter table sessions add column compacted_at integer;
alter table sessions add column compacted_percent integer;

-- One continuation: the work of `session` is to go on in a fresh one in the same seat. `text` is the handoff, `successor`
-- the session that began when the agent was cleared, `given_to` the one that was given the handoff.
create table hops (
    id integer primary key,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    session integer not null references sessions (id),
    seat text not null,
    author text not null,
    ordinal integer not null,
    percent integer,
    began_at integer not null,
    stage text not null,
    moved_at integer not null,
    why text,
    text text,
    written_by text,
    written_at integer,
    clear_intent blob,
    continue_intent blob,
    successor integer references sessions (id),
    given_to integer references sessions (id),
    given_at integer,
    told_at integer
) strict;
create index open_hops on hops (seat) where stage in ('asked', 'written', 'clearing', 'continuing');
create index untold_hops on hops (seat) where stage in ('failed', 'stopped') and told_at is null;
create index hops_by_seat on hops (seat, began_at);
create index hops_by_session on hops (session);
create index hops_by_successor on hops (successor);
