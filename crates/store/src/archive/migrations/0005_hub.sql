-- What other machines and people have a part in, by way of a hub.

-- Whose it is; null for this person's own. `machine` stays the one it came from.
alter table memories add column person text;
alter table conversations add column person text;
-- What took its place, by its global id: that one may not have come yet, or be gone.
alter table memories add column superseded_uid blob;
-- `shared`, or `private` where its person keeps it to this machine.
alter table memories add column presence text not null default 'shared';
-- How often its words were written.
alter table bodies add column revision integer not null default 1;
alter table details add column revision integer not null default 1;

update memories set superseded_uid = (select b.uid from memories b where b.id = memories.superseded_by)
    where superseded_by is not null;
create index memories_superseded_uid on memories (superseded_uid) where superseded_uid is not null;

-- When a register was last written, where that does not follow from the row: the words of a memory are written first by
-- the machine that it came from, anything else by nobody, or by that machine where it has a value. Other rows have
-- their revision, unless they came from another machine.
create table stamps (
    uid blob not null,
    register text not null,
    count integer not null,
    machine blob not null,
    primary key (uid, register)
) strict, without rowid;

-- The projects that are shared. `id` is the same for all who share it; `cursor`: how far the hub's rows were taken in.
create table shared_projects (
    project integer primary key references projects (id),
    id blob not null unique,
    key text not null,
    extent text not null,
    cursor integer not null,
    since integer not null
) strict;

-- What went from shared projects, without its words. `fate`: `forgotten` for good and everywhere, `away` from here
-- alone, `withdrawn` until it is made again. `told`: the hub knows, or need not.
create table tombs (
    uid blob primary key,
    kind text not null,
    project blob not null,
    person text,
    machine blob not null,
    session text,
    turn integer,
    made_at integer not null,
    at integer not null,
    by text not null,
    fate text not null,
    told integer not null
) strict, without rowid;
create index tombs_untold on tombs (uid) where told = 0;

-- What the hub was offered, and a digest of what it is known to have; null where nobody heard its answer. Without it more
-- travels than must, nothing else.
create table sent (
    uid blob primary key,
    kind text not null,
    project blob not null,
    machine blob not null,
    digest integer,
    count integer not null
) strict, without rowid;
create index sent_by_kind on sent (kind, uid) where kind in ('bookmark', 'baton');

-- Bookmarks and batons of other machines.
create table others_notes (
    uid blob primary key,
    kind text not null,
    project integer not null references projects (id),
    person text,
    machine blob not null,
    session text,
    turn integer,
    made_at integer not null,
    words text not null,
    count integer not null,
    writer blob not null
) strict, without rowid;
create index others_notes_by_project on others_notes (project, kind, made_at);
