-- What hooks told of turns. The turns of a conversation, as its transcript has them, are in the archive.
alter table turns rename to heard_turns;

-- The last answer that a turn's end told, for as long as the transcript lags behind; when the agent was last asked for
-- something; how far the session is with what it inherits, on which wishes of the user; since when whoever comes next is to
-- know nothing of it.
alter table sessions add column answer text;
alter table sessions add column prompted_at integer;
alter table sessions add column inheriting text not null default 'nothing';
alter table sessions add column on_clear text not null default 'always';
alter table sessions add column fallback text not null default 'on';
alter table sessions add column fresh_at integer;
update sessions set prompted_at = last_event_at where prompt is not null;
create index sessions_by_project on sessions (project, last_event_at);

-- A session's work that waits for the next one. Taken once, by one heir.
create table batons (
    uid blob primary key,
    machine blob not null,
    revision integer not null,
    session integer not null references sessions (id),
    seat text,
    project integer references projects (id),
    passed_at integer not null,
    taken_by integer references sessions (id),
    taken_at integer,
    dropped_at integer
) strict, without rowid;
create index open_batons on batons (passed_at) where taken_by is null and dropped_at is null;
create index batons_by_session on batons (session);

-- One row for each decision whose work a session goes on with. `given_at` is when it reached the session or, where a
-- person is to choose, that person.
create table inheritances (
    uid blob primary key,
    machine blob not null,
    revision integer not null,
    heir integer not null references sessions (id),
    from_session integer references sessions (id),
    way text not null,
    reason text not null,
    candidates text not null,
    decided_at integer not null,
    given_at integer
) strict, without rowid;
create index inheritances_by_heir on inheritances (heir, decided_at);
create index inheritances_by_predecessor on inheritances (from_session, decided_at) where from_session is not null;
create index inheritances_by_time on inheritances (decided_at);
