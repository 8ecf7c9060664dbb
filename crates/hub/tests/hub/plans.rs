//! Queries whose cost would grow with the hub use an index, even under the policies.

use crate::bench::{Build, HubBench, OPEN};

/// Twenty thousand rows in the open project and as many in others, all with one word, inserted by the superuser.
fn filled() -> HubBench {
    let bench = HubBench::new(Build::Debian);
    bench.sql(
        "with t as (select id from towline.teams where name = 'red'), r as (
            insert into towline.rows (team, uid, project, machine, seq, made_at, found, is_withdrawn, kind, person, words)
            select t.id, gen_random_uuid(), case when n % 2 = 0 then '11111111-1111-1111-1111-111111111111'::uuid
                else md5((n % 100)::text)::uuid end, gen_random_uuid(), n, n, 0, false, 'memory', 'ann', 'harbour word' || n
            from t, generate_series(1, 40000) n returning team, uid, project, made_at, kind, words)
        insert into towline.finds select team, uid, project, made_at, kind, towline.terms(words) from r;
        insert into towline.vocabulary select id, 'harbour', 'harbour' from towline.teams;
        update towline.teams set seq = 40000;
        vacuum analyze towline.rows; vacuum analyze towline.finds;",
    );
    bench
}

/// In one test: the rows take 6 seconds to make.
#[test]
fn a_large_hub_answers_by_its_indexes() {
    let bench = filled();
    a_pull_reads_what_is_new_and_nothing_else(&bench);
    a_search_in_one_project_reads_its_part_of_the_index(&bench);
    a_word_that_is_everywhere_is_looked_for_in_what_is_newest(&bench);
    the_person_of_a_session_is_looked_up_by_an_index(&bench);
    // Last: it changes what the planner believes.
    one_row_is_found_by_a_rare_word_that_the_planner_takes_for_frequent(&bench);
}

fn a_pull_reads_what_is_new_and_nothing_else(bench: &HubBench) {
    let team = bench.sql("select id from towline.teams where name = 'red'");
    let plan = format!(
        "explain select * from towline.rows where team = '{team}' and project = '{OPEN}' and seq > 30000 \
         order by seq limit 500"
    );
    let plan = bench.sql_as("ann", &plan).unwrap();
    assert!(plan.contains("Index Scan using rows_") && plan.contains("_team_project_seq_idx"), "{plan}");
    assert!(!plan.contains("Sort"), "{plan}");
}

fn a_search_in_one_project_reads_its_part_of_the_index(bench: &HubBench) {
    let team = bench.sql("select id from towline.teams where name = 'red'");
    let plan = format!(
        "explain select uid from towline.finds where team = '{team}' and project = any (array['{OPEN}'::uuid]) \
         and terms @@ '''word400'''::tsquery"
    );
    let plan = bench.sql_as("olga", &plan).unwrap();
    let condition = plan.lines().find(|line| line.contains("Index Cond")).unwrap_or_default();
    assert!(condition.contains("project") && condition.contains("@@"), "{plan}");
    let (mut ann, red) = bench.join("ann");
    let asked = towline_hub::HubQuery { text: "word400".into(), most: 1, ..Default::default() };
    assert_eq!(ann.search(&red, &asked).unwrap().len(), 1);
    let waiting = ann.lag(&red, &[(OPEN, 30_000)]).unwrap();
    assert_eq!(waiting, [(OPEN, 5_000)]);
}

fn a_word_that_is_everywhere_is_looked_for_in_what_is_newest(bench: &HubBench) {
    let (mut ann, red) = bench.join("ann");
    for projects in [vec![], vec![OPEN]] {
        let asked =
            towline_hub::HubQuery { text: "harbour".into(), projects, most: 100, ..Default::default() };
        let found = ann.search(&red, &asked).unwrap();
        let oldest = found.iter().map(|candidate| candidate.row.from.made_at.0).min();
        assert!(found.len() == 100 && oldest > Some(20_000), "{} rows, the oldest {oldest:?}", found.len());
    }
    let asked = towline_hub::HubQuery { text: "harbour word400".into(), most: 1, ..Default::default() };
    let found = ann.search(&red, &asked).unwrap();
    assert_eq!(found[0].row.from.made_at.0, 400, "a rare word beside it finds old ones, too");
}

fn one_row_is_found_by_a_rare_word_that_the_planner_takes_for_frequent(bench: &HubBench) {
    bench.sql(
        "update pg_class set reltuples = 1e9 where relname like 'finds%' and relkind = 'r' and reltuples > 0",
    );
    let (mut ann, red) = bench.join("ann");
    for most in [1, 2, 100] {
        let asked = towline_hub::HubQuery { text: "word400".into(), most, ..Default::default() };
        let found = ann.search(&red, &asked).unwrap();
        let first = found.first().map(|candidate| candidate.row.from.made_at.0);
        assert_eq!(first, Some(400), "the best of {most}");
    }
}

fn the_person_of_a_session_is_looked_up_by_an_index(bench: &HubBench) {
    bench.sql(
        "insert into towline.sessions select t.id, 'codex:' || n, 'ann'
            from towline.teams t, generate_series(1, 40000) n where t.name = 'red';
        vacuum analyze towline.sessions;",
    );
    let team = bench.sql("select id from towline.teams where name = 'red'");
    let plan = format!(
        "explain select b from unnest(array(select 'codex:' || n from generate_series(1, 500) n)) b where exists (
            select from towline.sessions s where s.team = '{team}' and s.session = b collate \"C\" and s.person = 'ann')"
    );
    let plan = bench.sql_as("olga", &plan).unwrap();
    assert!(plan.contains("sessions_pkey") && !plan.contains("Seq Scan"), "{plan}");
}
