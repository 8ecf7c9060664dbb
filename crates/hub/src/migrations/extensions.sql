-- What depends on extensions of this server, made anew whenever the schema is looked after: an extension may have come
-- since. Where one is missing, searching does without.

do $$
begin
    create extension if not exists pg_trgm with schema towline;
exception when others then
    raise notice 'pg_trgm: %', sqlerrm;
end $$;

do $$
begin
    create extension if not exists btree_gin with schema towline;
exception when others then
    raise notice 'btree_gin: %', sqlerrm;
end $$;

do $$
begin
    create extension if not exists vector with schema towline;
exception when others then
    raise notice 'vector: %', sqlerrm;
end $$;

do $outer$
declare
    trigrams text := (select extnamespace::regnamespace::text from pg_extension where extname = 'pg_trgm');
    vectors text := (select extnamespace::regnamespace::text from pg_extension where extname = 'vector');
    nearby text := '';
    iterating text := '';
begin
    -- With the project in the same index, a search in one project reads that project's part of it alone.
    if exists (select from pg_extension where extname = 'btree_gin') then
        create index if not exists finds_by_project_terms on towline.finds using gin (project, terms);
        drop index if exists towline.finds_by_terms;
    elsif to_regclass('towline.finds_by_project_terms') is null then
        create index if not exists finds_by_terms on towline.finds using gin (terms);
    end if;

    if trigrams is null then
        create or replace function towline.similar_words(a_team uuid, a_word text) returns setof text
            language sql stable set search_path = pg_catalog, pg_temp
            as $body$ select null where false $body$;
    else
        execute format('create index if not exists vocabulary_by_letters on towline.vocabulary using gin (word %s.gin_trgm_ops)',
            trigrams);
        -- Its settings are known once it is loaded.
        execute format('select %s.similarity('''', '''')', trigrams);
        -- Two letters swapped in a word of six are as far as that.
        execute format($function$
            create or replace function towline.similar_words(a_team uuid, a_word text) returns setof text
            language sql stable set search_path = pg_catalog, pg_temp
            set pg_trgm.similarity_threshold = 0.25
            as $body$
                select v.stem from towline.vocabulary v
                where v.team = a_team and v.word operator(%1$s.%%) a_word
                order by %1$s.similarity(v.word, a_word) desc, v.word limit 5
            $body$
        $function$, trigrams);
    end if;

    if vectors is not null then
        execute format('alter table towline.finds add column if not exists meaning %s.halfvec(384)', vectors);
        execute format('create index if not exists finds_by_meaning on towline.finds using hnsw (meaning %s.halfvec_cosine_ops)',
            vectors);
        -- A small project is compared whole; what has no vector yet is found without a look at the rest.
        create index if not exists finds_meant on towline.finds (team, project) where meaning is not null;
        create index if not exists finds_unmeant on towline.finds (team, project, uid)
            where meaning is null and kind in ('memory', 'summary', 'line', 'body');
        -- Its settings are known once it is loaded. Newer versions go on where those nearest are of other projects.
        execute format('select ''[1]''::%s.halfvec', vectors);
        if current_setting('hnsw.iterative_scan', true) is not null then
            iterating := ' set hnsw.iterative_scan = relaxed_order';
        end if;
        nearby := format($part$
            if a_vector is not null and a_model = (select t.model from towline.teams t where t.id = a_team) then
                return query
                select f.uid, (1 - (f.meaning operator(%1$s.<=>) a_vector::%1$s.halfvec))::real
                from towline.finds f
                where f.team = a_team and f.project = any (seen) and f.meaning is not null
                    and (a_kinds is null or f.kind = any (a_kinds))
                order by f.meaning operator(%1$s.<=>) a_vector::%1$s.halfvec limit a_most;
            end if;
        $part$, vectors);
        execute $function$
            create or replace function towline.lose_meaning() returns trigger
            language plpgsql set search_path = pg_catalog, pg_temp
            as $body$
            begin
                new.meaning := null;
                return new;
            end $body$
        $function$;
        create or replace trigger lose_meaning before update of terms on towline.finds
            for each row execute function towline.lose_meaning();
        -- A vector is taken for the words that it was made of, by their stamp, and of the team's model alone: the first that
        -- comes decides which that is. A row's person puts it, or an administrator. Tells how many were taken.
        execute format($function$
            create or replace function towline.put_vectors(
                a_team uuid, a_model text, uids uuid[], stamps bytea[], vectors text[]) returns bigint
            language plpgsql security definer set search_path = pg_catalog, pg_temp
            as $body$
            declare taken bigint; me towline.members := towline.me(a_team);
            begin
                update towline.teams set model = a_model where id = a_team and model is null;
                -- Held until commit: nobody adopts another model in between.
                perform from towline.teams where id = a_team and model = a_model for share;
                if not found then
                    return 0;
                end if;
                update towline.finds f set meaning = v.vector::%1$s.halfvec
                from unnest(uids, stamps, vectors) v (uid, stamp, vector)
                join towline.rows r on r.team = a_team and r.uid = v.uid and r.words_stamp is not distinct from v.stamp
                    and (r.person = me.name or me.is_admin)
                where f.team = a_team and f.uid = v.uid
                    and f.project in (select p.project from towline.my_projects() p where p.team = a_team);
                get diagnostics taken = row_count;
                return taken;
            end $body$
        $function$, vectors);
        -- Those of a project that have no vector yet and may get one from the caller, the newest first.
        execute $function$
            create or replace function towline.unmeant(a_team uuid, a_project uuid, a_before uuid, a_most int)
                returns table (uid uuid)
            language plpgsql stable rows 100 security definer set search_path = pg_catalog, pg_temp
            as $body$
            declare me towline.members := towline.me(a_team);
            begin
                return query
                select f.uid from towline.finds f
                where f.team = a_team and f.project = a_project and towline.sees(a_team, a_project)
                    and f.meaning is null and f.kind in ('memory', 'summary', 'line', 'body')
                    and (a_before is null or f.uid < a_before)
                    and (me.is_admin or exists (
                        select from towline.rows r where r.team = a_team and r.uid = f.uid and r.person = me.name))
                order by f.uid desc limit a_most;
            end $body$
        $function$;
        -- From now on the team's vectors are of this model; those of another go.
        execute $function$
            create or replace function towline.adopt_model(a_team uuid, a_model text) returns void
            language plpgsql security definer set search_path = pg_catalog, pg_temp
            as $body$
            begin
                perform towline.my_admin(a_team);
                update towline.teams set model = a_model where id = a_team and model is distinct from a_model;
                if found then
                    update towline.finds set meaning = null where team = a_team and meaning is not null;
                end if;
            end $body$
        $function$;
    end if;

    -- Candidates by meaning, only of projects that the caller sees; none where this hub knows no vectors.
    execute format($function$
        create or replace function towline.near(
            a_team uuid, a_model text, a_vector text, a_projects uuid[], a_kinds text[], a_most int)
            returns table (uid uuid, nearness real)
            language plpgsql stable rows 100 security definer set search_path = pg_catalog, pg_temp %s
        as $body$
        #variable_conflict use_column
        declare
            seen uuid[] := array(
                select v.project from towline.my_projects() v
                where v.team = a_team and (a_projects is null or v.project = any (a_projects)));
        begin
            perform towline.me(a_team);
            %s
        end $body$
    $function$, iterating, nearby);
end $outer$;

-- How many rows fit a condition, as the planner thinks: it knows how frequent words are, and reads no row.
create or replace function towline.expected(a_condition text) returns float8
    language plpgsql volatile set search_path = pg_catalog, pg_temp
    as $$
    declare plan json;
    begin
        execute 'explain (format json) select from towline.finds g where ' || a_condition into plan;
        return greatest((plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8, 1);
    end $$;

-- What a text asks for, word by word, as queries. A word that the team never wrote stands for those that look like it.
create or replace function towline.asked(a_team uuid, a_text text) returns setof text
    language sql stable set search_path = pg_catalog, pg_temp
    as $$
        select distinct q.query from (
            select case
                when w.word ~ '^[[:alpha:]]{4,30}$' and not exists (
                    select from towline.vocabulary v where v.team = a_team and v.word = w.word collate "C")
                then coalesce((select '(' || string_agg(quote_literal(s.stem), ' | ') || ')'
                    from (select distinct stem from towline.similar_words(a_team, w.word) stem) s), known.query)
                else known.query end as query
            from unnest(string_to_array(lower(left(towline.spaced(a_text), 1000)), ' ')) w (word),
                lateral (select string_agg(quote_literal(t), ' & ') as query
                    from unnest(tsvector_to_array(towline.terms(w.word))) t) known
            where known.query is not null) q
        limit 20
    $$;

-- The best of the rows that have the words, of so many at most as are looked at closely. An index is asked for each project
-- by itself: many are cheaper left out afterwards.
create or replace function towline.by_index(a_place text, a_projects uuid[], a_query text, a_rank text, a_most int)
    returns text
    language sql immutable set search_path = pg_catalog, pg_temp
    as $$
        select format('select f.uid, (%s)::real from (
            select g.uid, g.terms from (
                select g.uid, g.terms, g.project from towline.finds g where %s and g.terms @@ %L%s limit 20000) g
            where g.project = any (%L) limit 5000) f
            order by 2 desc limit %s', a_rank, a_place, a_query,
            case when cardinality(a_projects) <= 8 then format(' and g.project = any (%L)', a_projects) else '' end,
            a_projects, a_most)
    $$;

-- The same of the newest rows of each project alone.
create or replace function towline.by_time(a_place text, a_projects uuid[], a_query text, a_rank text, a_most int)
    returns text
    language sql immutable set search_path = pg_catalog, pg_temp
    as $$
        select format('select f.uid, (%s)::real from unnest(%L::uuid[]) p (project), lateral (
            select g.uid, g.terms from towline.finds g where %s and g.project = p.project
            order by g.made_at desc limit %s) f
            where f.terms @@ %L order by 2 desc limit %s',
            a_rank, a_projects, a_place, 20000 / cardinality(a_projects), a_query, a_most)
    $$;

-- Candidates by words, all of them, then any of them: the best rank of each is told, and only of projects that the caller
-- sees. Few rows are looked at closely, however many there are: those that rare words choose, or the newest
-- where all words are frequent.
create or replace function towline.find(
    a_team uuid, a_text text, a_projects uuid[], a_kinds text[], a_most int)
    returns table (uid uuid, rank real)
    language plpgsql volatile rows 100 security definer set search_path = pg_catalog, pg_temp set jit = off
    as $$
    #variable_conflict use_column
    declare
        few constant float8 := 5000;
        seen uuid[] := array(
            select v.project from towline.my_projects() v
            where v.team = a_team and (a_projects is null or v.project = any (a_projects)));
        place text := format('g.team = %L', a_team)
            || case when a_kinds is null then '' else format(' and g.kind = any (%L)', a_kinds) end;
        here text := format('%s and g.project = any (%L)', place, seen);
        words text[] := array(select towline.asked(a_team, a_text));
        every text := array_to_string(words, ' & ');
        -- The last word may be unfinished, unless it is one already.
        parts text[] := words || array(select quote_literal(lower(w[1])) || ':*'
            from regexp_matches(a_text, '([[:alnum:]]{3,})[^[:alnum:]]*$') w
            where not exists (select from towline.vocabulary v where v.team = a_team and v.word = lower(w[1]) collate "C"));
        counts float8[];
        total float8;
        rank text;
        -- Words of which few rows are expected, and whether there are others.
        rare text;
        is_rest boolean;
        so_far int := 0;
    begin
        perform towline.me(a_team);
        if cardinality(seen) = 0 or cardinality(parts) = 0 then
            return;
        end if;
        total := towline.expected(here);
        counts := array(select towline.expected(format('%s and g.terms @@ %L', here, p)) from unnest(parts) p);
        if every <> '' then
            rank := format('1 + ts_rank_cd(f.terms, %L)', array_to_string(parts, ' | '));
            if total * (select exp(sum(ln(least(c / total, 1)))) from unnest(counts[:cardinality(words)]) c) > few then
                return query execute towline.by_time(place, seen, every, rank, a_most);
                get diagnostics so_far = row_count;
            end if;
            if so_far < greatest(a_most / 2, 1) then
                return query execute towline.by_index(place, seen, every, rank, a_most);
                get diagnostics so_far = row_count;
            end if;
        end if;
        if so_far < a_most and (cardinality(parts) > 1 or every = '') then
            rank := format('ts_rank(f.terms, %L)', array_to_string(parts, ' | '));
            select string_agg(r.part, ' | ') filter (where r.upto <= few), bool_or(r.upto > few) into rare, is_rest
            from (
                select p.part, sum(p.count) over (order by p.count, p.part) as upto
                from unnest(parts, counts) p (part, count)) r;
            so_far := 0;
            if rare is not null then
                return query execute towline.by_index(place, seen, rare, rank, a_most);
                get diagnostics so_far = row_count;
            end if;
            if is_rest and so_far < greatest(a_most / 2, 1) then
                return query execute towline.by_time(place, seen, array_to_string(parts, ' | '), rank, a_most);
            end if;
        end if;
    end $$;

do $$
declare it record;
begin
    -- Functions are everybody's until that is taken back.
    for it in select p.oid::regprocedure::text as name from pg_proc p
        where p.pronamespace = 'towline'::regnamespace and p.proowner = current_user::regrole
            and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    loop
        execute format('revoke all on function %s from public', it.name);
    end loop;
    for it in select distinct role from towline.members where revoked_at is null and to_regrole(quote_ident(role)) is not null
    loop
        perform towline.admit(it.role);
    end loop;
end $$;
