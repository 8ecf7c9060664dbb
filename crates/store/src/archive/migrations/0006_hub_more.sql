-- Projects that are taken back: nothing of them goes or comes any more, and what their person gave leaves the hub.
create table leaving_projects (
    project integer primary key references projects (id),
    id blob not null unique,
    key text not null,
    since integer not null
) strict;

-- Rows of this person that were taken back with their project. They stay where they were made, and go again only when it is
-- shared again.
create table taken_back (
    uid blob primary key,
    project blob not null
) strict, without rowid;
create index taken_back_by_project on taken_back (project);

-- What machines of the team are called, as far as that was told: rows say by their ids which one they came from.
create table machine_names (
    id blob primary key,
    name text not null
) strict, without rowid;
