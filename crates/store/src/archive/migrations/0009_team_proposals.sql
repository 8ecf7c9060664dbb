-- Changes of memories that team members propose who do not own them. `person` is the proposer and `owner` the member who
-- decides, each null for this user; an owner that is null is looked up by the memory. `change` is JSON, empty once the
-- text is no longer needed. `fate`: `accepted`, `rejected` or `withdrawn`, null while it is open. `answer` is the global id
-- of this user's own answer. `told`: the hub knows, or need not. Numbers are never used again: a user answers by number.
create table proposals (
    id integer primary key autoincrement,
    uid blob not null unique,
    project integer not null references projects (id),
    person text,
    owner text,
    machine blob not null,
    memory blob not null,
    change text not null,
    made_at integer not null,
    fate text,
    fate_at integer,
    answer blob,
    told integer not null
) strict;
create index proposals_by_memory on proposals (memory);
create index proposals_untold on proposals (id) where told = 0;
