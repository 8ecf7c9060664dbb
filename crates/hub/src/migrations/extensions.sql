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
    spelt text := '';
    options text := '';
begin
    -- With the project in the same index, a search in one project reads that project's part of it alone.
    if exists (select from pg_extension where extname = 'btree_gin') then
        create index if not exists finds_by_project_terms on towline.finds using gin (project, terms);
        drop index if exists towline.finds_by_terms;
    elsif to_regclass('towline.finds_by_project_terms') is null then
        create index if not exists finds_by_terms on towline.finds using gin (terms);
    end if;

    if trigrams is not null then
        execute format('create index if not exists finds_by_head on towline.finds using gin (head %s.gin_trgm_ops)', trigrams);
        -- Its settings are known once it is loaded.
        execute format('select %s.similarity('''', '''')', trigrams);
        -- One slip in a word of six letters is as far as that.
        options := ' set pg_trgm.word_similarity_threshold = 0.35';
        spelt := format($part$
            if cardinality(candidates) < a_most then
                return query
                select f.uid, (0.1 * %1$s.word_similarity(a_text, f.head))::real
                from towline.finds f
                where f.team = a_team and f.project = any (seen) and f.head operator(%1$s.%%>) a_text
                    and (a_kinds is null or f.kind = any (a_kinds)) and f.uid <> all (candidates)
                order by 2 desc limit a_most - cardinality(candidates);
            end if;
        $part$, trigrams);
    end if;

    if vectors is not null then
        execute format('alter table towline.finds add column if not exists meaning %s.halfvec(384)', vectors);
        execute format('create index if not exists finds_by_meaning on towline.finds using hnsw (meaning %s.halfvec_cosine_ops)',
            vectors);
        nearby := format($part$
            if a_vector is not null then
                return query
                select f.uid, (1 - (f.meaning operator(%1$s.<=>) a_vector::%1$s.halfvec))::real
                from towline.finds f
                where f.team = a_team and f.project = any (seen) and f.meaning is not null
                    and (a_kinds is null or f.kind = any (a_kinds))
                order by f.meaning operator(%1$s.<=>) a_vector::%1$s.halfvec limit a_most;
            end if;
        $part$, vectors);
        execute format($function$
            create or replace function towline.put_vectors(a_team uuid, uids uuid[], vectors text[]) returns void
            language plpgsql security definer set search_path = pg_catalog, pg_temp
            as $body$
            begin
                perform towline.me(a_team);
                update towline.finds f set meaning = v.vector::%1$s.halfvec
                from unnest(uids, vectors) v (uid, vector)
                where f.team = a_team and f.uid = v.uid
                    and f.project in (select p.project from towline.my_projects() p where p.team = a_team);
            end $body$
        $function$, vectors);
    end if;

    -- Candidates by words (all of them first, then any), by similar spelling, by meaning: the best rank of each is told, and
    -- only of projects that the caller sees.
    execute format($function$
        create or replace function towline.find(
            a_team uuid, a_text text, a_projects uuid[], a_kinds text[], a_vector text, a_most int)
            returns table (uid uuid, rank real)
            language plpgsql stable rows 100 security definer set search_path = pg_catalog, pg_temp %s
        as $body$
        #variable_conflict use_column
        declare
            seen uuid[] := array(
                select v.project from towline.my_projects() v
                where v.team = a_team and (a_projects is null or v.project = any (a_projects)));
            words text[] := array(select quote_literal(w) from unnest(tsvector_to_array(towline.terms(a_text))) w);
            last_word text := (select quote_literal(lower(w[1])) || ':*'
                from regexp_matches(a_text, '([[:alnum:]]+)[^[:alnum:]]*$') w);
            every tsquery := array_to_string(words, ' & ')::tsquery;
            any_of tsquery := concat_ws(' | ', nullif(array_to_string(words, ' | '), ''), last_word)::tsquery;
            candidates uuid[] := '{}';
            ranks real[] := '{}';
        begin
            perform towline.me(a_team);
            select array_agg(s.uid order by s.rank desc), array_agg(s.rank order by s.rank desc) into candidates, ranks
            from (
                select f.uid, (1 + ts_rank_cd(f.terms, any_of))::real as rank
                from (
                    select g.uid, g.terms from towline.finds g
                    where g.team = a_team and g.project = any (seen) and g.terms @@ every
                        and (a_kinds is null or g.kind = any (a_kinds))
                    limit 10000) f
                order by rank desc limit a_most) s;
            if coalesce(cardinality(candidates), 0) < a_most then
                select array_agg(s.uid order by s.rank desc), array_agg(s.rank order by s.rank desc) into candidates, ranks
                from (
                    select f.uid, (ts_rank(f.terms, any_of) + (f.terms @@ every)::int)::real as rank
                    from (
                        select g.uid, g.terms from towline.finds g
                        where g.team = a_team and g.project = any (seen) and g.terms @@ any_of
                            and (a_kinds is null or g.kind = any (a_kinds))
                        limit 10000) f
                    order by rank desc limit a_most) s;
            end if;
            candidates := coalesce(candidates, '{}');
            return query select c.uid, c.rank from unnest(candidates, ranks) c (uid, rank);
            %s
            %s
        end $body$
    $function$, options, spelt, nearby);
end $outer$;

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
