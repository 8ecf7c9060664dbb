-- A hook that begins a turn wrote ten pages, three of them for indexes that it did not need, and every hook that applies
-- events parses this schema. Now it writes seven pages and parses seven indexes fewer.

-- Found by its session and its place there, and stored in that order, without a second and a third tree.
create table turns_anew (
    uid,
    machine,
    revision,
    session integer,
    ordinal,
    turn,
    origin,
    prompt,
    started_at,
    ended_at,
    outcome,
    tool_calls,
    tool_failures,
    steered,
    primary key (session, ordinal)
) without rowid;
insert into turns_anew select uid, machine, revision, session, ordinal, turn, origin, prompt, started_at, ended_at, outcome,
    tool_calls, tool_failures, steered from heard_turns order by session, ordinal;
drop table heard_turns;
alter table turns_anew rename to heard_turns;

-- `active_hour` is the hour of `last_event_at`: an index of it changes once an hour, and not with every event.
create table sessions_anew (
    id integer primary key,
    uid,
    machine,
    revision,
    agent,
    session,
    state,
    reason,
    since,
    seen,
    started_at,
    started_by,
    last_event_at,
    ended_at,
    ended_by,
    presence,
    folder,
    transcript,
    model,
    branch,
    project integer,
    seat,
    previous,
    prompt,
    subagents,
    background,
    context_tokens,
    compactions,
    turns,
    asked_tool,
    asked_subagent,
    asked_at,
    limited_until,
    tasks,
    answer,
    prompted_at,
    inheriting,
    on_clear,
    fallback,
    fresh_at,
    since_bookmark,
    context_window,
    context_exact,
    context_source,
    context_at,
    told_model,
    told_person,
    compacted_at,
    compacted_percent,
    recalled_at,
    active_hour,
    unique (agent, session)
);
insert into sessions_anew select *, last_event_at / 3600000 from sessions;
drop table sessions;
alter table sessions_anew rename to sessions;
create index live_sessions on sessions (active_hour) where ended_at is null and seat is not null;
create index sessions_by_project on sessions (project, active_hour);

-- Nobody looks for these by their uid.
create table projects_anew (
    id integer primary key,
    uid,
    machine,
    revision,
    root unique,
    remote unique,
    name,
    first_seen
);
insert into projects_anew select * from projects;
drop table projects;
alter table projects_anew rename to projects;

create table seats_anew (
    id integer primary key,
    uid,
    machine,
    revision,
    key unique,
    kind,
    pane,
    server,
    tty,
    pid,
    started,
    program,
    proof,
    current,
    first_seen,
    last_seen
);
insert into seats_anew select * from seats;
drop table seats;
alter table seats_anew rename to seats;

create table jobs_anew (
    id integer primary key,
    kind,
    subject,
    due_at,
    leased_until,
    attempts,
    last_error,
    unique (kind, subject)
);
insert into jobs_anew select id, kind, subject, due_at, leased_until, attempts, last_error from jobs;
drop table jobs;
alter table jobs_anew rename to jobs;

-- Open continuations and those that the user was not told of.
drop index open_hops;
drop index untold_hops;
create index hops_by_stage on hops (stage, told_at);

-- Row ids of other tables have their type again. Without it SQLite cannot know that an index holds integers only, and a join
-- by a row id read the whole table: all events for those of one session. The values are integers already.
pragma writable_schema = on;
update sqlite_schema set sql = replace(replace(sql, char(10) || '    ', ''), char(10), '') where type = 'table';
update sqlite_schema set sql = replace(sql, '(session,uid,at', '(session integer,uid,at') where name = 'events';
update sqlite_schema set sql = replace(sql, ',session,', ',session integer,')
where name in ('waits', 'intents', 'bookmarks', 'hops', 'batons');
update sqlite_schema set sql = replace(sql, ',heir,from_session,', ',heir integer,from_session integer,')
where name = 'inheritances';
update sqlite_schema set sql = replace(sql, ',successor,given_to,', ',successor integer,given_to integer,')
where name = 'hops';
update sqlite_schema set sql = replace(sql, ',project,passed_at,', ',project integer,passed_at,') where name = 'batons';
pragma writable_schema = reset;
