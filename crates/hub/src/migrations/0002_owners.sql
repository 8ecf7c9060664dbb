-- Rows are changed by their person, or by an administrator of the team. Anything else that a batch asks for is left out, and
-- the rest of it is taken: older clients still offer changes of teammates' rows.

-- The member who first shared a row of a session: nobody else adds rows to it. Out of every member's reach.
create table towline.sessions (
    team uuid not null references towline.teams,
    session text collate "C" not null,
    person text collate "C" not null,
    primary key (team, session)
);
-- Policies show the owner the rows of its own projects alone. Where two have rows of one session, it is whose rows are more.
alter table towline.rows no force row level security;
insert into towline.sessions (team, session, person)
select distinct on (r.team, r.session) r.team, r.session, r.person
from (select team, session, person, count(*) as rows, min(seq) as first from towline.rows
    where session is not null group by team, session, person) r
order by r.team, r.session, r.rows desc, r.first;
alter table towline.rows force row level security;
alter table towline.sessions enable row level security;
alter table towline.sessions force row level security;
do $$ begin
    execute format('create policy of_owner on towline.sessions to %I using (true)', current_user);
end $$;

-- The machines of a member, or those of all others.
create function towline.machines_of(a_team uuid, a_member uuid, be_own boolean) returns uuid[]
    language sql stable security definer set search_path = pg_catalog, pg_temp
    as $$ select array(select id from towline.machines where team = a_team and (member = a_member) = be_own) $$;

-- Whether a register with this stamp is taken: it is none at all, or its machine is among (or not among) those named, and its
-- count is at most twice the largest step of a client (2^40) above the last one. Counts that were higher before this rule
-- have no bound: their person goes on from there.
create function towline.takes(a_stamp bytea, known bytea, named uuid[], be_named boolean) returns boolean
    language sql immutable set search_path = pg_catalog, pg_temp
    as $$
        select a_stamp is null or case when length(a_stamp) <> 24 then false else
            (encode(substr(a_stamp, 9), 'hex')::uuid = any (named)) = be_named
            and (substr(a_stamp, 1, 8) <= int8send(2199023255552) or substr(known, 1, 1) >= '\x40'::bytea
                or substr(a_stamp, 1, 8) <= int8send(
                    ('x' || encode(substr(known, 1, 8), 'hex'))::bit(64)::bigint + 2199023255552)) is true
            end
    $$;

-- A member takes itself off the project; who shared it, or an administrator, takes one without rows off the hub.
create or replace function towline.unshare(a_team uuid, a_project uuid) returns bigint
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
            delete from towline.projects where team = a_team and id = a_project and (sharer = me.id or me.is_admin);
        end if;
        return remaining;
    end $$;

-- Takes a batch in as before, of rows that are new or the caller's to change. Own rows take stamps of every machine that is no
-- other member's, or that made the row: one that has left may be joined by another. Rows of others take those of the
-- administrator's machines alone. No time is later than tomorrow.
create or replace function towline.push(
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
        latest bigint := towline.now_ms() + 86400000;
        mine uuid[] := towline.machines_of(a_team, me.id, true);
        others uuid[] := towline.machines_of(a_team, me.id, false);
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
        insert into towline.sessions (team, session, person)
        select distinct a_team, s.session collate "C", me.name
        from unnest(sessions, persons) s (session, person) where s.session is not null and s.person = me.name
        on conflict do nothing;
        with b as materialized (
            select
                b.uid, b.project, b.kind, b.person collate "C" as person, b.machine, b.session collate "C" as session,
                b.turn, least(b.made_at, latest) as made_at, b.found, b.words collate "C" as words, b.words_stamp,
                case when b.pin > latest then latest else b.pin end as pin, b.pin_stamp,
                case when b.replaced_at > latest then latest else b.replaced_at end as replaced_at, b.replaced_by,
                b.replaced_why collate "C" as replaced_why, b.standing_stamp,
                b.hold collate "C" as hold, b.hold_stamp, b.is_withdrawn, b.presence_stamp,
                case when b.forgotten_at > latest then latest else b.forgotten_at end as forgotten_at,
                b.forgotten_by collate "C" as forgotten_by, b.body, base + b.place as seq,
                b.session is null or exists (
                    select from towline.sessions s
                    where s.team = a_team and s.session = b.session collate "C" and s.person = me.name) as has_session
            from unnest(uids, projects, kinds, persons, machines, sessions, turns, times, founds, words, words_stamps,
                pins, pin_stamps, replaced_ats, replaced_bys, replaced_whys, standing_stamps, holds, hold_stamps,
                withdrawns, presence_stamps, forgotten_ats, forgotten_bys, texts) with ordinality
                as b (uid, project, kind, person, machine, session, turn, made_at, found, words, words_stamp,
                pin, pin_stamp, replaced_at, replaced_by, replaced_why, standing_stamp, hold, hold_stamp,
                is_withdrawn, presence_stamp, forgotten_at, forgotten_by, body, place)
        ), allowed as materialized (
            -- A row that is new, or the caller's to change, and which of its registers are taken.
            select
                b.uid,
                towline.takes(b.words_stamp, r.words_stamp, n.machines, n.wanted) as takes_words,
                towline.takes(b.pin_stamp, r.pin_stamp, n.machines, n.wanted) as takes_pin,
                towline.takes(b.standing_stamp, r.standing_stamp, n.machines, n.wanted) as takes_standing,
                towline.takes(b.hold_stamp, r.hold_stamp, n.machines, n.wanted) as takes_hold,
                towline.takes(b.presence_stamp, r.presence_stamp, n.machines, n.wanted) as takes_presence
            from b left join towline.rows r on r.team = a_team and r.uid = b.uid,
                lateral (select coalesce(r.person, me.name) = me.name as is_own) o,
                lateral (select
                    case when o.is_own then array_remove(others, r.machine) else mine end as machines,
                    not o.is_own as wanted) n
            where o.is_own or me.is_admin
        ), fresh as (
            insert into towline.rows (
                team, uid, project, kind, person, machine, session, turn, made_at, seq, found, words, words_stamp,
                pin, pin_stamp, replaced_at, replaced_by, replaced_why, standing_stamp, hold, hold_stamp,
                is_withdrawn, presence_stamp, forgotten_at, forgotten_by)
            select
                a_team, b.uid, b.project, b.kind, b.person, b.machine, b.session, b.turn, b.made_at, b.seq, b.found,
                b.words, b.words_stamp,
                case when a.takes_pin then b.pin end, case when a.takes_pin then b.pin_stamp end,
                case when a.takes_standing then b.replaced_at end, case when a.takes_standing then b.replaced_by end,
                case when a.takes_standing then b.replaced_why end, case when a.takes_standing then b.standing_stamp end,
                case when a.takes_hold then b.hold end, case when a.takes_hold then b.hold_stamp end,
                a.takes_presence and b.is_withdrawn, case when a.takes_presence then b.presence_stamp end,
                b.forgotten_at, b.forgotten_by
            from b join allowed a on a.uid = b.uid where b.person = me.name and b.has_session and a.takes_words
            on conflict do nothing
            returning uid, words, is_withdrawn, forgotten_at
        ), compared as (
            select
                r.uid, b.seq,
                -- Where a row came from is told by its person alone.
                r.person = me.name and b.person = me.name and b.has_session and (b.machine, b.session is not null,
                    split_part(coalesce(b.session, ''), ':', 1), split_part(coalesce(b.session, ''), ':', 2),
                    b.turn is not null, coalesce(b.turn, 0), b.made_at)
                    < (r.machine, r.session is not null, split_part(coalesce(r.session, ''), ':', 1),
                    split_part(coalesce(r.session, ''), ':', 2), r.turn is not null, coalesce(r.turn, 0), r.made_at)
                    as has_origin,
                b.forgotten_at is not null and (r.forgotten_at is null
                    or (b.forgotten_at, b.forgotten_by) < (r.forgotten_at, r.forgotten_by)) as has_end,
                r.forgotten_at is null and b.forgotten_at is null as lives,
                a.takes_words and (coalesce(b.words_stamp, ''), coalesce(b.words, ''))
                    > (coalesce(r.words_stamp, ''), coalesce(r.words, '')) as has_words,
                a.takes_pin and (coalesce(b.pin_stamp, ''), b.pin is not null, coalesce(b.pin, 0))
                    > (coalesce(r.pin_stamp, ''), r.pin is not null, coalesce(r.pin, 0)) as has_pin,
                a.takes_standing and (coalesce(b.standing_stamp, ''), b.replaced_at is not null, b.replaced_by is not null,
                    coalesce(b.replaced_by, '00000000-0000-0000-0000-000000000000'), coalesce(b.replaced_at, 0),
                    coalesce(b.replaced_why, ''))
                    > (coalesce(r.standing_stamp, ''), r.replaced_at is not null, r.replaced_by is not null,
                    coalesce(r.replaced_by, '00000000-0000-0000-0000-000000000000'), coalesce(r.replaced_at, 0),
                    coalesce(r.replaced_why, '')) as has_standing,
                a.takes_hold and (coalesce(b.hold_stamp, ''), b.hold is not null, coalesce(b.hold, ''))
                    > (coalesce(r.hold_stamp, ''), r.hold is not null, coalesce(r.hold, '')) as has_hold,
                a.takes_presence and (coalesce(b.presence_stamp, ''), b.is_withdrawn)
                    > (coalesce(r.presence_stamp, ''), r.is_withdrawn) as has_presence,
                b.found > r.found as has_found
            from b join allowed a on a.uid = b.uid
                join towline.rows r on r.team = a_team and r.uid = b.uid and r.project = b.project
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

-- Refuses the same to who may write tables, as far as it knows who that is.
create or replace function towline.refuse_dishonest() returns trigger
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $$
    declare
        me towline.members;
        latest bigint := towline.now_ms() + 86400000;
    begin
        if tg_op = 'INSERT' then
            if exists (select from towline.sessions s
                where s.team = new.team and s.session = new.session and s.person <> new.person) then
                raise exception 'the session is another member''s' using errcode = 'TW004';
            end if;
            return new;
        end if;
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
        -- A login that is no member gets here only past the policies, as a superuser.
        select * into me from towline.members m
        where m.team = new.team and m.role = session_user::text and m.revoked_at is null;
        if found and old.person <> me.name and not me.is_admin then
            raise exception 'only its person, or an administrator of the team, changes a row' using errcode = 'TW004';
        end if;
        if new.made_at > greatest(old.made_at, latest) or new.pin > greatest(old.pin, latest)
            or new.replaced_at > greatest(old.replaced_at, latest)
            or new.forgotten_at > greatest(old.forgotten_at, latest) then
            raise exception 'a time is later than tomorrow' using errcode = 'TW004';
        end if;
        if found and exists (
            select from (values (new.words_stamp, old.words_stamp), (new.pin_stamp, old.pin_stamp),
                (new.standing_stamp, old.standing_stamp), (new.hold_stamp, old.hold_stamp),
                (new.presence_stamp, old.presence_stamp)) v (stamp, known)
            where v.stamp is distinct from v.known and not towline.takes(v.stamp, v.known,
                array_remove(towline.machines_of(new.team, me.id, old.person <> me.name),
                    case when old.person = me.name then old.machine end),
                old.person <> me.name)) then
            raise exception 'a stamp names a machine of its writer, and counts on from the last one' using errcode = 'TW004';
        end if;
        return new;
    end $$;
drop trigger refuse_dishonest on towline.rows;
create trigger refuse_dishonest before insert or update on towline.rows
    for each row execute function towline.refuse_dishonest();
