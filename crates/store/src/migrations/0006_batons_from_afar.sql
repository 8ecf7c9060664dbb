-- Batons of this person's other machines wait beside those that were passed here: those have a session here, these only the
-- name of one (`far`), what their machine is called, and when they were first heard of. `heir` is whoever took one
-- elsewhere; a baton of another machine is `withdrawn` while its session asks for a fresh start.
create table batons_anew (
    uid blob primary key,
    machine blob not null,
    revision integer not null,
    session integer references sessions (id),
    far text,
    called text,
    came_at integer,
    withdrawn integer not null default 0,
    seat text,
    project integer references projects (id),
    passed_at integer not null,
    taken_by integer references sessions (id),
    heir text,
    taken_at integer,
    dropped_at integer
) strict, without rowid;
insert into batons_anew (uid, machine, revision, session, seat, project, passed_at, taken_by, taken_at, dropped_at)
    select uid, machine, revision, session, seat, project, passed_at, taken_by, taken_at, dropped_at from batons;
drop table batons;
alter table batons_anew rename to batons;
create index open_batons on batons (passed_at) where taken_at is null and dropped_at is null;
create index batons_by_session on batons (session);

-- Whose work it is, and on which machine, where that session is not one of this.
alter table inheritances add column far text;
alter table inheritances add column far_machine text;
