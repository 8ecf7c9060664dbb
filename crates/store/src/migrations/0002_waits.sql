-- What a block waits for, when a usage limit ends, how many tasks were completed since the last prompt.
alter table sessions add column asked_tool text;
alter table sessions add column asked_subagent text;
alter table sessions add column asked_at integer;
alter table sessions add column limited_until integer;
alter table sessions add column tasks integer not null default 0;

-- The ledger of waiting: a row for each time in which an agent could not go on without a person.
create table waits (
    uid blob primary key,
    machine blob not null,
    session integer not null references sessions (id),
    reason text not null,
    began_at integer not null,
    ended_at integer not null
) strict, without rowid;
create index waits_by_end on waits (ended_at);
