-- What teams share, who may see it, and in which order it came.
--
-- Nobody but the owner writes a table: members call the functions below, which act for `session_user`. What a member reads
-- is decided by policies that ask `session_user`, too; nothing depends on a setting of the session, so that a pool that
-- gives every transaction another connection does no harm. Times are told, never compared to decide anything.

create table towline.teams (
    id uuid primary key,
    name text not null unique check (name <> ''),
    -- Counts changes of the team's rows. Whoever raises it holds the row until commit: numbers come in the order of commits.
    seq bigint not null default 0,
    -- The model that the team's vectors are of: those of two models are never compared. None while there is no vector.
    model text
);

create table towline.members (
    team uuid not null references towline.teams,
    id uuid not null,
    name text collate "C" not null check (name <> ''),
    -- The login in this database.
    role text not null,
    is_admin boolean not null,
    revoked_at bigint,
    primary key (team, id),
    unique (team, name),
    unique (team, role)
);
create index members_by_role on towline.members (role);

create table towline.machines (
    team uuid not null,
    id uuid not null,
    member uuid not null,
    name text not null,
    joined_at bigint not null,
    seen_at bigint not null,
    primary key (team, id),
    foreign key (team, member) references towline.members
);

create table towline.projects (
    team uuid not null references towline.teams,
    id uuid not null,
    key text not null,
    name text not null,
    -- Who shared it first.
    sharer uuid not null,
    -- Whether all of the team see it, or only those in `project_members`.
    is_open boolean not null,
    primary key (team, id),
    unique (team, key),
    foreign key (team, sharer) references towline.members
);

create table towline.project_members (
    team uuid not null,
    project uuid not null,
    member uuid not null,
    primary key (team, project, member),
    foreign key (team, project) references towline.projects on delete cascade,
    foreign key (team, member) references towline.members
);

-- One row that travels: where it came from, then its registers, each with the stamp of its last writing (none: never
-- written). A row that was forgotten has nothing left but that.
create table towline.rows (
    team uuid not null,
    uid uuid not null,
    project uuid not null,
    machine uuid not null,
    seq bigint not null,
    made_at bigint not null,
    found bigint not null,
    turn bigint,
    pin bigint,
    replaced_at bigint,
    replaced_by uuid,
    forgotten_at bigint,
    is_withdrawn boolean not null,
    kind text not null,
    person text collate "C" not null,
    session text collate "C",
    words text collate "C",
    words_stamp bytea,
    pin_stamp bytea,
    replaced_why text collate "C",
    standing_stamp bytea,
    hold text collate "C",
    hold_stamp bytea,
    presence_stamp bytea,
    forgotten_by text collate "C",
    primary key (team, uid)
) partition by hash (team);
create index rows_by_seq on towline.rows (team, project, seq);

-- What searching reads. An index cannot serve `@@` below a policy, so it is out of every member's reach, and only `find`
-- looks into it.
create table towline.finds (
    team uuid not null,
    uid uuid not null,
    project uuid not null,
    made_at bigint not null,
    kind text not null,
    terms tsvector not null,
    primary key (team, uid)
) partition by hash (team);
-- A word that is nearly everywhere is looked for in what is newest.
create index finds_by_time on towline.finds (team, project, made_at);

-- The words of a team as they are spelt, so that one that is spelt differently is known for it; out of every member's
-- reach, too. Words of rows that are gone go with them, although others may have them, too: those come again.
create table towline.vocabulary (
    team uuid not null,
    word text collate "C" not null,
    -- As `finds` has it.
    stem text collate "C" not null,
    primary key (team, word)
) partition by hash (team);
create index vocabulary_by_stem on towline.vocabulary (team, stem);

create table towline.seats (
    team uuid not null,
    machine uuid not null,
    seat text not null,
    member uuid not null,
    state text not null,
    since bigint not null,
    agent text not null,
    session text,
    project text,
    prompt text,
    context_percent bigint,
    model text,
    at bigint not null,
    primary key (team, machine, seat),
    foreign key (team, machine) references towline.machines on delete cascade
);

do $$
declare
    pieces int := (select value::int from towline.facts where name = 'partitions');
begin
    for piece in 0 .. pieces - 1 loop
        execute format('create table towline.rows_%s partition of towline.rows for values with (modulus %s, remainder %s)',
            piece, pieces, piece);
        execute format('create table towline.finds_%s partition of towline.finds for values with (modulus %s, remainder %s)',
            piece, pieces, piece);
        execute format('create table towline.vocabulary_%s partition of towline.vocabulary for values with (modulus %s, '
            'remainder %s)', piece, pieces, piece);
    end loop;
end $$;

-- Who is asking -----------------------------------------------------------------------------------------------------

create function towline.now_ms() returns bigint language sql volatile set search_path = pg_catalog, pg_temp
    as $$ select (extract(epoch from clock_timestamp()) * 1000)::bigint $$;

create function towline.my_memberships() returns setof towline.members
    language sql stable security definer set search_path = pg_catalog, pg_temp
    as $$ select * from towline.members where role = session_user::text and revoked_at is null $$;

-- The projects whose rows the caller may see and change.
create function towline.my_projects() returns table (team uuid, project uuid)
    language sql stable security definer set search_path = pg_catalog, pg_temp
    as $$
        select p.team, p.id
        from towline.members m join towline.projects p on p.team = m.team
        where m.role = session_user::text and m.revoked_at is null
            and (p.is_open or exists (
                select from towline.project_members a where a.team = p.team and a.project = p.id and a.member = m.id))
    $$;

create function towline.sees(a_team uuid, a_project uuid) returns boolean
    language sql stable security definer set search_path = pg_catalog, pg_temp
    as $$ select exists (select from towline.my_projects() v where v.team = a_team and v.project = a_project) $$;

-- The caller as a member, or no further.
create function towline.me(a_team uuid) returns towline.members
    language plpgsql stable security definer set search_path = pg_catalog, pg_temp
    as $$
    declare me towline.members;
    begin
        select * into me from towline.members
        where team = a_team and role = session_user::text and revoked_at is null;
        if not found then
            raise exception 'login % is no member of this team', session_user using errcode = 'TW001';
        end if;
        return me;
    end $$;

create function towline.my_admin(a_team uuid) returns towline.members
    language plpgsql stable security definer set search_path = pg_catalog, pg_temp
    as $$
    declare me towline.members := towline.me(a_team);
    begin
        if not me.is_admin then
            raise exception 'only an administrator of the team may do that' using errcode = 'TW002';
        end if;
        return me;
    end $$;

-- Refuses a client that is too old to write what this schema holds.
create function towline.admit_client(a_client int) returns void
    language plpgsql stable security definer set search_path = pg_catalog, pg_temp
    as $$
    begin
        if a_client < (select value::int from towline.facts where name = 'writable_by') then
            raise exception 'this hub is written by newer clients only' using errcode = 'TW010';
        end if;
    end $$;

-- What a login needs to be a member; given when it becomes one, taken when it is none any more. -----------------------

create function towline.admit(a_role text) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    declare it text;
    begin
        execute format('grant usage on schema towline to %I', a_role);
        foreach it in array array['facts', 'teams', 'members', 'machines', 'projects', 'project_members', 'rows', 'seats']
        loop
            execute format('grant select on towline.%I to %I', it, a_role);
        end loop;
        for it in
            select p.oid::regprocedure::text from pg_proc p
            where p.pronamespace = 'towline'::regnamespace and p.proname = any (array[
                'my_memberships', 'my_projects', 'sees', 'join_team', 'leave_team', 'share', 'unshare', 'set_reach',
                'allow', 'disallow', 'add_member', 'revoke_member', 'push', 'find', 'near', 'unmeant', 'put_vectors',
                'adopt_model', 'put_seats'])
        loop
            execute format('grant execute on function %s to %I', it, a_role);
        end loop;
    end $$;

create function towline.expel(a_role text) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    begin
        if to_regrole(quote_ident(a_role)) is null
            or a_role = (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'towline')
            or exists (select from towline.members where role = a_role and revoked_at is null) then
            return;
        end if;
        execute format('revoke all on all tables in schema towline from %I', a_role);
        execute format('revoke all on all functions in schema towline from %I', a_role);
        execute format('revoke all on schema towline from %I', a_role);
    end $$;

-- Teams, members, machines, projects ----------------------------------------------------------------------------------

create function towline.found_team(a_name text, a_person text) returns uuid
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    declare made uuid := gen_random_uuid();
    begin
        if session_user <> current_user then
            raise exception 'only % may found a team', current_user using errcode = 'TW002';
        end if;
        insert into towline.teams (id, name) values (made, a_name);
        insert into towline.members values (made, gen_random_uuid(), a_person, session_user::text, true, null);
        return made;
    end $$;

create function towline.add_member(a_team uuid, a_name text, a_role text, be_admin boolean) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    begin
        perform towline.my_admin(a_team);
        if to_regrole(quote_ident(a_role)) is null then
            raise exception 'there is no login % in this database', a_role using errcode = 'TW003';
        end if;
        -- A name stays with its login: what the team reads under it is one person's.
        insert into towline.members values (a_team, gen_random_uuid(), a_name, a_role, be_admin, null)
        on conflict (team, name) do update set is_admin = excluded.is_admin, revoked_at = null
            where members.role = excluded.role;
        if not found then
            raise exception '% is the name of another login', a_name using errcode = 'TW003';
        end if;
        perform towline.admit(a_role);
    exception when unique_violation then
        raise exception 'login % is a member under another name', a_role using errcode = 'TW003';
    end $$;

create function towline.revoke_member(a_team uuid, a_name text) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    declare me towline.members := towline.my_admin(a_team); gone text;
    begin
        if me.name = a_name then
            raise exception 'an administrator is revoked by another one' using errcode = 'TW002';
        end if;
        update towline.members set revoked_at = coalesce(revoked_at, towline.now_ms())
        where team = a_team and name = a_name returning role into gone;
        if gone is null then
            raise exception 'no member is called %', a_name using errcode = 'TW003';
        end if;
        delete from towline.seats s using towline.members m
        where m.team = a_team and m.name = a_name and s.team = m.team and s.member = m.id;
        perform towline.expel(gone);
    end $$;

create function towline.join_team(a_name text, a_machine uuid, a_machine_name text)
    returns table (team uuid, member uuid, person text, is_admin boolean)
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    #variable_conflict use_column
    declare me towline.members;
    begin
        select m.* into me from towline.members m join towline.teams t on t.id = m.team
        where t.name = a_name and m.role = session_user::text and m.revoked_at is null;
        if not found then
            raise exception 'login % is no member of a team %', session_user, a_name using errcode = 'TW001';
        end if;
        insert into towline.machines values (me.team, a_machine, me.id, a_machine_name, towline.now_ms(), towline.now_ms())
        on conflict (team, id) do update set name = excluded.name, seen_at = excluded.seen_at
            where machines.member = me.id;
        if not found then
            raise exception 'this machine is another member''s' using errcode = 'TW002';
        end if;
        return query select me.team, me.id, me.name::text, me.is_admin;
    end $$;

create function towline.leave_team(a_team uuid, a_machine uuid) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    declare me towline.members := towline.me(a_team);
    begin
        delete from towline.machines where team = a_team and id = a_machine and member = me.id;
    end $$;

-- Makes the project known to the team; one that is known stays as it is, and must be seen by the caller.
create function towline.share(a_team uuid, a_project uuid, a_key text, a_name text, be_open boolean) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    declare me towline.members := towline.me(a_team);
    begin
        insert into towline.projects values (a_team, a_project, a_key, a_name, me.id, be_open) on conflict do nothing;
        if found then
            insert into towline.project_members values (a_team, a_project, me.id);
        elsif not towline.sees(a_team, a_project) then
            raise exception 'project % is shared with chosen members only', a_key using errcode = 'TW002';
        end if;
    end $$;

-- Takes the caller off the project; a project without rows goes.
create function towline.unshare(a_team uuid, a_project uuid) returns bigint
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    declare me towline.members := towline.me(a_team); remaining bigint;
    begin
        if not towline.sees(a_team, a_project) then
            return 0;
        end if;
        select count(*) into remaining from (
            select from towline.rows where team = a_team and project = a_project limit 100000) counted;
        delete from towline.project_members where team = a_team and project = a_project and member = me.id;
        if remaining = 0 then
            delete from towline.projects where team = a_team and id = a_project;
        end if;
        return remaining;
    end $$;

create function towline.my_project(a_team uuid, a_project uuid) returns void
    language plpgsql stable security definer set search_path = pg_catalog, pg_temp
    as $$
    declare me towline.members := towline.me(a_team);
    begin
        if not me.is_admin and not exists (
            select from towline.projects where team = a_team and id = a_project and sharer = me.id) then
            raise exception 'only who shared the project, or an administrator of the team, may do that'
                using errcode = 'TW002';
        end if;
    end $$;

create function towline.set_reach(a_team uuid, a_project uuid, be_open boolean) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    begin
        perform towline.my_project(a_team, a_project);
        update towline.projects set is_open = be_open where team = a_team and id = a_project;
    end $$;

create function towline.allow(a_team uuid, a_project uuid, a_name text) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    begin
        perform towline.my_project(a_team, a_project);
        if not exists (select from towline.members where team = a_team and name = a_name and revoked_at is null) then
            raise exception 'no member is called %', a_name using errcode = 'TW003';
        end if;
        insert into towline.project_members
        select a_team, a_project, id from towline.members where team = a_team and name = a_name
        on conflict do nothing;
    end $$;

create function towline.disallow(a_team uuid, a_project uuid, a_name text) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    begin
        perform towline.my_project(a_team, a_project);
        delete from towline.project_members p using towline.members m
        where p.team = a_team and p.project = a_project and m.team = a_team and m.name = a_name and p.member = m.id;
    end $$;

-- Rows ------------------------------------------------------------------------------------------------------------------

-- Gives numbers in the order of commits: the team's row is locked until then.
create function towline.advance(a_team uuid, a_count bigint) returns bigint
    language sql volatile security definer set search_path = pg_catalog, pg_temp
    as $$ update towline.teams set seq = seq + a_count where id = a_team returning seq - a_count $$;

-- A text with spaces between its words, apart from how programmers join them.
create function towline.spaced(a_text text) returns text
    language sql immutable parallel safe set search_path = pg_catalog, pg_temp
    as $$
        select regexp_replace(
            regexp_replace(left(a_text, 100000), '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g'),
            '[^[:alnum:]]+', ' ', 'g')
    $$;

create function towline.terms(a_text text) returns tsvector
    language sql immutable parallel safe set search_path = pg_catalog, pg_temp
    as $$ select to_tsvector('pg_catalog.english', towline.spaced(a_text)) $$;

-- Adds words to the team's vocabulary: no numbers, no hashes, nothing very short.
create function towline.spell(a_team uuid, words text[]) returns void
    language sql volatile set search_path = pg_catalog, pg_temp
    as $$
        insert into towline.vocabulary (team, word, stem)
        select a_team, n.word, n.stem
        from (
            select w.word, (ts_lexize('pg_catalog.english_stem', w.word))[1] as stem from unnest(words) w (word)
            where length(w.word) between 4 and 30 and translate(w.word, '0123456789', '') = w.word
                and not exists (select from towline.vocabulary v where v.team = a_team and v.word = w.word)) n
        where n.stem is not null
        on conflict do nothing
    $$;

-- Takes a batch in, register by register: the higher stamp holds, and under one stamp the greater value; what was forgotten
-- stays so. Must agree with the merging of `towline-core`. Only the caller's own rows may be new here.
create function towline.push(
    a_team uuid, a_client int, a_machine uuid,
    uids uuid[], projects uuid[], kinds text[], persons text[], machines uuid[], sessions text[], turns bigint[],
    times bigint[], founds bigint[], words text[], words_stamps bytea[], pins bigint[], pin_stamps bytea[],
    replaced_ats bigint[], replaced_bys uuid[], replaced_whys text[], standing_stamps bytea[],
    holds text[], hold_stamps bytea[], withdrawns boolean[], presence_stamps bytea[],
    forgotten_ats bigint[], forgotten_bys text[], texts text[])
    returns table (seq bigint, changed bigint)
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    #variable_conflict use_column
    declare
        base bigint := towline.advance(a_team, cardinality(uids));
        me towline.members := towline.me(a_team);
        hidden uuid;
        count bigint;
        spelt text[];
        -- What is known of these rows already, to tell which words are gone.
        before text[] := array(
            select distinct w from towline.finds f, unnest(tsvector_to_array(f.terms)) w
            where f.team = a_team and f.uid = any (uids));
    begin
        perform towline.admit_client(a_client);
        select p into hidden from unnest(projects) p
        where p not in (select v.project from towline.my_projects() v where v.team = a_team) limit 1;
        if hidden is not null then
            raise exception 'project % is not shared with this login', hidden using errcode = 'TW002';
        end if;
        update towline.machines m set seen_at = towline.now_ms()
        where m.team = a_team and m.id = a_machine and m.member = me.id;
        with b as materialized (
            select
                b.uid, b.project, b.kind, b.person collate "C" as person, b.machine, b.session collate "C" as session,
                b.turn, b.made_at, b.found, b.words collate "C" as words, b.words_stamp, b.pin, b.pin_stamp,
                b.replaced_at, b.replaced_by, b.replaced_why collate "C" as replaced_why, b.standing_stamp,
                b.hold collate "C" as hold, b.hold_stamp, b.is_withdrawn, b.presence_stamp,
                b.forgotten_at, b.forgotten_by collate "C" as forgotten_by, b.body, base + b.place as seq
            from unnest(uids, projects, kinds, persons, machines, sessions, turns, times, founds, words, words_stamps,
                pins, pin_stamps, replaced_ats, replaced_bys, replaced_whys, standing_stamps, holds, hold_stamps,
                withdrawns, presence_stamps, forgotten_ats, forgotten_bys, texts) with ordinality
                as b (uid, project, kind, person, machine, session, turn, made_at, found, words, words_stamp,
                pin, pin_stamp, replaced_at, replaced_by, replaced_why, standing_stamp, hold, hold_stamp,
                is_withdrawn, presence_stamp, forgotten_at, forgotten_by, body, place)
        ), fresh as (
            insert into towline.rows (
                team, uid, project, kind, person, machine, session, turn, made_at, seq, found, words, words_stamp,
                pin, pin_stamp, replaced_at, replaced_by, replaced_why, standing_stamp, hold, hold_stamp,
                is_withdrawn, presence_stamp, forgotten_at, forgotten_by)
            select
                a_team, b.uid, b.project, b.kind, b.person, b.machine, b.session, b.turn, b.made_at, b.seq, b.found,
                b.words, b.words_stamp, b.pin, b.pin_stamp, b.replaced_at, b.replaced_by, b.replaced_why,
                b.standing_stamp, b.hold, b.hold_stamp, b.is_withdrawn, b.presence_stamp, b.forgotten_at, b.forgotten_by
            from b where b.person = me.name
            on conflict do nothing
            returning uid, words, is_withdrawn, forgotten_at
        ), compared as (
            select
                r.uid, b.seq,
                -- Where a row came from is told by its person alone.
                r.person = me.name and b.person = me.name and (b.machine, b.session is not null,
                    split_part(coalesce(b.session, ''), ':', 1), split_part(coalesce(b.session, ''), ':', 2),
                    b.turn is not null, coalesce(b.turn, 0), b.made_at)
                    < (r.machine, r.session is not null, split_part(coalesce(r.session, ''), ':', 1),
                    split_part(coalesce(r.session, ''), ':', 2), r.turn is not null, coalesce(r.turn, 0), r.made_at)
                    as has_origin,
                b.forgotten_at is not null and (r.forgotten_at is null
                    or (b.forgotten_at, b.forgotten_by) < (r.forgotten_at, r.forgotten_by)) as has_end,
                r.forgotten_at is null and b.forgotten_at is null as lives,
                (coalesce(b.words_stamp, ''), coalesce(b.words, ''))
                    > (coalesce(r.words_stamp, ''), coalesce(r.words, '')) as has_words,
                (coalesce(b.pin_stamp, ''), b.pin is not null, coalesce(b.pin, 0))
                    > (coalesce(r.pin_stamp, ''), r.pin is not null, coalesce(r.pin, 0)) as has_pin,
                (coalesce(b.standing_stamp, ''), b.replaced_at is not null, b.replaced_by is not null,
                    coalesce(b.replaced_by, '00000000-0000-0000-0000-000000000000'), coalesce(b.replaced_at, 0),
                    coalesce(b.replaced_why, ''))
                    > (coalesce(r.standing_stamp, ''), r.replaced_at is not null, r.replaced_by is not null,
                    coalesce(r.replaced_by, '00000000-0000-0000-0000-000000000000'), coalesce(r.replaced_at, 0),
                    coalesce(r.replaced_why, '')) as has_standing,
                (coalesce(b.hold_stamp, ''), b.hold is not null, coalesce(b.hold, ''))
                    > (coalesce(r.hold_stamp, ''), r.hold is not null, coalesce(r.hold, '')) as has_hold,
                (coalesce(b.presence_stamp, ''), b.is_withdrawn)
                    > (coalesce(r.presence_stamp, ''), r.is_withdrawn) as has_presence,
                b.found > r.found as has_found
            from b join towline.rows r on r.team = a_team and r.uid = b.uid and r.project = b.project
        ), newer as (
            update towline.rows r set
                seq = b.seq,
                machine = case when c.has_origin then b.machine else r.machine end,
                session = case when c.has_origin then b.session else r.session end,
                turn = case when c.has_origin then b.turn else r.turn end,
                made_at = case when c.has_origin then b.made_at else r.made_at end,
                forgotten_at = case when c.has_end then b.forgotten_at else r.forgotten_at end,
                forgotten_by = case when c.has_end then b.forgotten_by else r.forgotten_by end,
                found = case when not c.lives then 0 else greatest(r.found, b.found) end,
                words = case when not c.lives then null when c.has_words then b.words else r.words end,
                words_stamp = case when not c.lives then null when c.has_words then b.words_stamp else r.words_stamp end,
                pin = case when not c.lives then null when c.has_pin then b.pin else r.pin end,
                pin_stamp = case when not c.lives then null when c.has_pin then b.pin_stamp else r.pin_stamp end,
                replaced_at = case when not c.lives then null when c.has_standing then b.replaced_at else r.replaced_at end,
                replaced_by = case when not c.lives then null when c.has_standing then b.replaced_by else r.replaced_by end,
                replaced_why = case when not c.lives then null when c.has_standing then b.replaced_why
                    else r.replaced_why end,
                standing_stamp = case when not c.lives then null when c.has_standing then b.standing_stamp
                    else r.standing_stamp end,
                hold = case when not c.lives then null when c.has_hold then b.hold else r.hold end,
                hold_stamp = case when not c.lives then null when c.has_hold then b.hold_stamp else r.hold_stamp end,
                is_withdrawn = c.lives and case when c.has_presence then b.is_withdrawn else r.is_withdrawn end,
                presence_stamp = case when not c.lives then null when c.has_presence then b.presence_stamp
                    else r.presence_stamp end
            from b join compared c on c.uid = b.uid
            where r.team = a_team and r.uid = b.uid
                and (c.has_origin or c.has_end or (c.lives and (c.has_words or c.has_pin or c.has_standing or c.has_hold
                    or c.has_presence or c.has_found)))
            returning r.uid, r.words, r.is_withdrawn, r.forgotten_at
        ), touched as (
            select * from fresh union all select * from newer
        ), told as materialized (
            -- Where another's words hold, their letters must do: the text came with the words that lost.
            select b.uid, b.project, b.made_at, b.kind, towline.spaced(case
                when t.is_withdrawn or t.forgotten_at is not null then ''
                when t.words is not distinct from b.words then b.body
                else coalesce(t.words, '') end) as body
            from touched t join b on b.uid = t.uid
        ), lost as (
            delete from towline.finds f using told t where f.team = a_team and f.uid = t.uid and t.body = ''
        ), kept as (
            insert into towline.finds (team, uid, project, made_at, kind, terms)
            select a_team, t.uid, t.project, t.made_at, t.kind, to_tsvector('pg_catalog.english', t.body)
            from told t where t.body <> ''
            on conflict (team, uid) do update set terms = excluded.terms where finds.terms <> excluded.terms
        )
        select (select count(*) from told),
            array(select distinct w.word from told t, unnest(string_to_array(lower(t.body), ' ')) w (word))
            into count, spelt;
        if cardinality(before) > 0 then
            delete from towline.vocabulary v
            where v.team = a_team and v.stem = any (before) and v.stem not in (
                select w from towline.finds f, unnest(tsvector_to_array(f.terms)) w
                where f.team = a_team and f.uid = any (uids));
        end if;
        perform towline.spell(a_team, spelt);
        return query select base + cardinality(uids), count;
    end $$;

-- Refuses what no honest client does, should somebody be granted more than `admit` grants.
create function towline.refuse_dishonest() returns trigger
    language plpgsql set search_path = pg_catalog, pg_temp
    as $$
    begin
        if (new.team, new.uid, new.project, new.kind, new.person) is distinct from
            (old.team, old.uid, old.project, old.kind, old.person) then
            raise exception 'where a row came from does not change' using errcode = 'TW004';
        end if;
        if old.forgotten_at is not null and (new.forgotten_at is null or new.forgotten_at > old.forgotten_at) then
            raise exception 'what was forgotten stays forgotten' using errcode = 'TW004';
        end if;
        if new.forgotten_at is not null and coalesce(new.words, new.hold, new.replaced_why) is not null then
            raise exception 'nothing is left of what was forgotten' using errcode = 'TW004';
        end if;
        if new.forgotten_at is null and (coalesce(new.words_stamp, '') < coalesce(old.words_stamp, '')
            or coalesce(new.pin_stamp, '') < coalesce(old.pin_stamp, '')
            or coalesce(new.standing_stamp, '') < coalesce(old.standing_stamp, '')
            or coalesce(new.hold_stamp, '') < coalesce(old.hold_stamp, '')
            or coalesce(new.presence_stamp, '') < coalesce(old.presence_stamp, '')
            or new.found < old.found) then
            raise exception 'a stamp does not go back' using errcode = 'TW004';
        end if;
        if new.seq <= old.seq or new.seq > (select seq from towline.teams where id = new.team) then
            raise exception 'a change takes the next number of its team' using errcode = 'TW004';
        end if;
        return new;
    end $$;
create trigger refuse_dishonest before update on towline.rows
    for each row execute function towline.refuse_dishonest();

-- All seats of one machine, in place of those before.
create function towline.put_seats(
    a_team uuid, a_machine uuid, seats text[], states text[], sinces bigint[], agents text[], sessions text[],
    projects text[], prompts text[], percents bigint[], models text[])
    returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    declare me towline.members := towline.me(a_team);
    begin
        update towline.machines set seen_at = towline.now_ms() where team = a_team and id = a_machine and member = me.id;
        if not found then
            raise exception 'this machine has not joined the team' using errcode = 'TW001';
        end if;
        delete from towline.seats where team = a_team and machine = a_machine;
        insert into towline.seats (
            team, machine, member, at, seat, state, since, agent, session, project, prompt, context_percent, model)
        select a_team, a_machine, me.id, towline.now_ms(), s.*
        from unnest(seats, states, sinces, agents, sessions, projects, prompts, percents, models) s;
    end $$;

-- Who sees what -----------------------------------------------------------------------------------------------------------
-- The owner's functions read who is a member, and keep what searching reads; rows and seats are by membership for the
-- owner, too.

do $$
declare it text;
begin
    foreach it in array array[
        'facts', 'teams', 'members', 'machines', 'projects', 'project_members', 'rows', 'finds', 'vocabulary', 'seats']
        -- Parts, too, which nobody asks by their own names.
        || array(select c.relname::text from pg_class c where c.relnamespace = 'towline'::regnamespace and c.relispartition
            and c.relkind = 'r')
    loop
        execute format('alter table towline.%I enable row level security', it);
        execute format('alter table towline.%I force row level security', it);
    end loop;
    foreach it in array array[
        'facts', 'teams', 'members', 'machines', 'projects', 'project_members', 'finds', 'vocabulary']
    loop
        execute format('create policy of_owner on towline.%I to %I using (true)', it, current_user);
    end loop;
end $$;

create policy of_all on towline.facts for select using (true);
create policy of_members on towline.teams for select using (id in (select team from towline.my_memberships()));
create policy of_members on towline.members for select using (team in (select team from towline.my_memberships()));
create policy of_members on towline.machines for select using (team in (select team from towline.my_memberships()));
create policy of_members on towline.projects for select using (
    (team, id) in (select team, project from towline.my_projects())
    or team in (select team from towline.my_memberships() where is_admin));
create policy of_members on towline.project_members for select using (
    (team, project) in (select team, project from towline.my_projects())
    or team in (select team from towline.my_memberships() where is_admin));
create policy of_project on towline.rows for select using (
    (team, project) in (select team, project from towline.my_projects()));
create policy of_person on towline.rows for insert with check (
    (team, project) in (select team, project from towline.my_projects())
    and (team, person) in (select team, name from towline.my_memberships()));
create policy of_project_change on towline.rows for update using (
    (team, project) in (select team, project from towline.my_projects()));
create policy of_person on towline.seats using ((team, member) in (select team, id from towline.my_memberships()));
