//! Vectors: search, one model per team, only for a row's current text, and later upload for rows without one.

use crate::bench::{BLUE, Build, CLOSED, HubBench, OPEN, memory, outgoing};
use towline_core::id::Uid;
use towline_core::share::{Register, Registers, RowKind, RowLife, SharedRow, Visibility, WriteStamp};
use towline_core::time::Timestamp;
use towline_hub::{
    Embedding, EmbeddingSupport, HubClient, HubError, HubQuery, Membership, OutgoingRow, VECTOR_LENGTH,
};

const MODEL: u64 = 0x0123_4567_89ab_cdef;
const OTHER: u64 = 7;

/// The unit vector of an axis.
fn towards(axis: usize, model: u64) -> Embedding {
    let mut vector = vec![0.0; VECTOR_LENGTH];
    vector[axis] = 1.0;
    Embedding { model, vector }
}

fn meant(row: SharedRow, meaning: Embedding) -> OutgoingRow {
    OutgoingRow { meaning: Some(meaning), ..outgoing(row) }
}

fn near(meaning: Embedding, most: u32) -> HubQuery {
    HubQuery { meaning: Some(meaning), most, ..HubQuery::default() }
}

fn found(hub: &mut HubClient, membership: &Membership, asked: &HubQuery) -> Vec<u8> {
    let candidates = hub.search(membership, asked).unwrap();
    candidates.iter().map(|candidate| candidate.row.uid.0[0]).collect()
}

fn without(hub: &mut HubClient, membership: &Membership) -> Vec<u8> {
    let rows = hub.without_meaning(membership, OPEN, None, 100).unwrap();
    rows.iter().map(|row| row.uid.0[0]).collect()
}

fn registers(row: &mut SharedRow) -> &mut Registers {
    match &mut row.life {
        RowLife::Lives(registers) => registers,
        RowLife::Forgotten { .. } => panic!("it lives"),
    }
}

#[test]
fn the_nearest_by_meaning_are_found_without_a_common_word() {
    let bench = HubBench::new(Build::Vectors);
    let (mut ann, red) = bench.join("ann");
    let sent =
        [0, 1, 2].map(|axis| meant(memory("ann", axis as u8 + 1, "plain words"), towards(axis, MODEL)));
    ann.push(&red, &sent).unwrap();
    assert_eq!(found(&mut ann, &red, &near(towards(1, MODEL), 1)), [2]);
    let both = HubQuery { text: "plain".into(), ..near(towards(1, MODEL), 10) };
    let candidates = ann.search(&red, &both).unwrap();
    let second = candidates.iter().find(|candidate| candidate.row.uid.0[0] == 2).unwrap();
    assert!(second.rank.is_some() && second.nearness.is_some_and(|near| near > 0.99), "{second:?}");
    let (mut dan, blue) = bench.join("dan");
    assert_eq!(found(&mut dan, &blue, &both), [0; 0]);
}

#[test]
fn a_hub_without_vectors_takes_rows_and_questions_and_leaves_vectors_out() {
    let bench = HubBench::new(Build::Debian);
    let (mut ann, red) = bench.join("ann");
    ann.push(&red, &[meant(memory("ann", 1, "a lantern"), towards(0, MODEL))]).unwrap();
    assert_eq!(ann.embedding_support(&red).unwrap(), EmbeddingSupport::None);
    assert_eq!(found(&mut ann, &red, &near(towards(0, MODEL), 9)), [0; 0]);
    assert_eq!(
        found(&mut ann, &red, &HubQuery { text: "lantern".into(), ..near(towards(0, MODEL), 9) }),
        [1]
    );
}

#[test]
fn vectors_of_two_models_are_never_compared() {
    let bench = HubBench::new(Build::Vectors);
    let (mut ann, red) = bench.join("ann");
    assert_eq!(ann.embedding_support(&red).unwrap(), EmbeddingSupport::Undecided);
    ann.push(&red, &[meant(memory("ann", 1, "one"), towards(0, MODEL))]).unwrap();
    assert_eq!(ann.embedding_support(&red).unwrap(), EmbeddingSupport::Of(MODEL));
    let (mut bob, of_bob) = bench.join("bob");
    assert_eq!(bob.push(&of_bob, &[meant(memory("bob", 2, "two"), towards(0, OTHER))]).unwrap().changed, 1);
    assert_eq!(found(&mut bob, &of_bob, &near(towards(0, OTHER), 9)), [0; 0]);
    assert_eq!(
        found(&mut bob, &of_bob, &near(towards(0, MODEL), 9)),
        [1],
        "the row came, its vector did not"
    );
    let (mut dan, blue) = bench.join("dan");
    assert_eq!(
        dan.embedding_support(&blue).unwrap(),
        EmbeddingSupport::Undecided,
        "another team decides for itself"
    );

    assert!(matches!(bob.adopt_model(&of_bob, OTHER), Err(HubError::Refused { .. })), "no administrator");
    let (mut olga, of_olga) = bench.join("olga");
    olga.adopt_model(&of_olga, OTHER).unwrap();
    assert_eq!(bob.embedding_support(&of_bob).unwrap(), EmbeddingSupport::Of(OTHER));
    assert_eq!(without(&mut olga, &of_olga), [2, 1], "those of the former model are gone");
    olga.adopt_model(&of_olga, OTHER).unwrap();
}

#[test]
fn rows_that_have_no_vector_get_theirs_later_piece_by_piece() {
    let bench = HubBench::new(Build::Vectors);
    let (mut ann, red) = bench.join("ann");
    let mut sent: Vec<OutgoingRow> = (1..=5).map(|uid| outgoing(memory("ann", uid, "w"))).collect();
    sent[2].row.kind = RowKind::Detail;
    ann.push(&red, &sent).unwrap();
    let newest = ann.without_meaning(&red, OPEN, None, 2).unwrap();
    let (first, last) = (newest[0].uid.0[0], newest[1].uid);
    assert_eq!((first, last), (5, Uid([4; 16])), "the newest first");
    let older = ann.without_meaning(&red, OPEN, Some(last), 9).unwrap();
    assert_eq!(older.len(), 2, "what tools gave has no vector: {older:?}");
    let meaning = towards(0, MODEL);
    let pairs: Vec<_> = newest.iter().map(|row| (row, &meaning)).collect();
    assert_eq!(ann.upload_embeddings(&red, &pairs).unwrap(), 2);
    assert_eq!(without(&mut ann, &red), [2, 1], "it goes on behind them");
    let (mut bob, of_bob) = bench.join("bob");
    assert!(bob.without_meaning(&of_bob, CLOSED, None, 9).unwrap().is_empty());
    assert!(bob.without_meaning(&of_bob, OPEN, None, 9).unwrap().is_empty(), "hers are hers to embed");
    assert_eq!(bob.upload_embeddings(&of_bob, &pairs).unwrap(), 0, "and not his to replace");
    let (mut dan, blue) = bench.join("dan");
    assert!(dan.without_meaning(&blue, OPEN, None, 9).unwrap().is_empty());
    assert!(dan.without_meaning(&blue, BLUE, None, 9).unwrap().is_empty());
    assert_eq!(dan.upload_embeddings(&blue, &pairs).unwrap(), 0, "another team's rows");
}

#[test]
fn a_row_whose_words_change_has_no_vector_until_the_one_of_the_new_words_comes() {
    let bench = HubBench::new(Build::Vectors);
    let (mut ann, red) = bench.join("ann");
    let before = memory("ann", 1, "the mast is of oak");
    ann.push(&red, &[meant(before.clone(), towards(0, MODEL))]).unwrap();
    let mut pinned = before.clone();
    let stamp = |count| WriteStamp { count, machine: red.machine };
    registers(&mut pinned).pin = Register { stamp: stamp(1), value: Some(Timestamp(5)) };
    ann.push(&red, &[outgoing(pinned)]).unwrap();
    assert_eq!(found(&mut ann, &red, &near(towards(0, MODEL), 9)), [1], "a pin changes no words");

    let mut after = before.clone();
    registers(&mut after).words = Register { stamp: stamp(2), value: "the mast is of spruce".into() };
    ann.push(&red, &[outgoing(after.clone())]).unwrap();
    assert_eq!(found(&mut ann, &red, &near(towards(0, MODEL), 9)), [0; 0]);
    assert_eq!(
        ann.upload_embeddings(&red, &[(&before, &towards(0, MODEL))]).unwrap(),
        0,
        "of words that are gone"
    );
    assert_eq!(ann.upload_embeddings(&red, &[(&after, &towards(1, MODEL))]).unwrap(), 1);
    assert_eq!(found(&mut ann, &red, &near(towards(1, MODEL), 1)), [1]);
}

#[test]
fn what_was_withdrawn_or_forgotten_has_no_vector() {
    let bench = HubBench::new(Build::Vectors);
    let (mut ann, red) = bench.join("ann");
    let rows = [memory("ann", 1, "a lantern"), memory("ann", 2, "a lamp")];
    let sent = rows.clone().map(|row| meant(row, towards(0, MODEL)));
    ann.push(&red, &sent).unwrap();
    let [mut away, mut gone] = rows.clone();
    let stamp = WriteStamp { count: 1, machine: red.machine };
    registers(&mut away).presence = Register { stamp, value: Visibility::Withdrawn };
    gone.life = RowLife::Forgotten { at: Timestamp(9), by: "ann".into() };
    ann.push(&red, &[outgoing(away), outgoing(gone)]).unwrap();
    let late: Vec<_> = rows.iter().zip(sent.iter().filter_map(|sent| sent.meaning.as_ref())).collect();
    assert_eq!(ann.upload_embeddings(&red, &late).unwrap(), 0, "not even one that was under way");
    assert_eq!(bench.sql("select count(*) from towline.finds where meaning is not null"), "0");
    assert!(without(&mut ann, &red).is_empty());
}

/// A direction of its own, plus `weight` of the first axis.
fn noisy(number: u8, weight: f32) -> Embedding {
    let noise = |axis: usize| 0.05 * (12.9898 * f32::from(number) * (axis + 1) as f32).sin();
    let mut vector: Vec<f32> = (0..VECTOR_LENGTH).map(noise).collect();
    vector[0] += weight;
    Embedding { model: MODEL, vector }
}

/// Two thousand rows of ann's closed project that are nearer to the first axis than the three of the open one.
fn crowded() -> HubBench {
    let bench = HubBench::new(Build::Vectors);
    let (mut ann, red) = bench.join("ann");
    ann.push(&red, &[1, 2, 3].map(|uid| meant(memory("ann", uid, "small"), noisy(uid, 0.3)))).unwrap();
    bench.sql(
        "with t as (select id from towline.teams where name = 'red'), r as (
            insert into towline.rows (team, uid, project, machine, seq, made_at, found, is_withdrawn, kind, person, words)
            select t.id, md5(n::text)::uuid, '22222222-2222-2222-2222-222222222222', gen_random_uuid(), n, n, 0, false,
                'memory', 'ann', 'large' || n
            from t, generate_series(11, 2010) n returning team, uid, project, made_at, kind, words)
        insert into towline.finds (team, uid, project, made_at, kind, terms, meaning)
        select team, uid, project, made_at, kind, towline.terms(words), (
            select array_agg(case i when 1 then 1.0 else 0.05 * sin(12.9898 * made_at * i) end order by i)
            from generate_series(1, 384) i)::public.vector::public.halfvec
        from r;
        vacuum analyze towline.rows; vacuum analyze towline.finds;",
    );
    bench
}

#[test]
fn a_small_project_beside_a_large_one_is_found_by_meaning() {
    let bench = crowded();
    let asked = HubQuery { projects: vec![OPEN], ..near(towards(0, MODEL), 3) };
    let search = || {
        let (mut ann, red) = bench.join("ann");
        found(&mut ann, &red, &asked).len()
    };
    assert_eq!(search(), 3, "as the server plans it");
    // Without a way to compare the small project completely, only the vector index is left.
    bench.sql("alter database shared set enable_sort = off; drop index towline.finds_meant");
    assert_eq!(search(), 3, "the index of vectors goes on behind those of the other project");
    bench.sql("alter function towline.near reset hnsw.iterative_scan");
    assert_eq!(search(), 0, "which is what it takes");
}

#[test]
fn machines_are_named_to_their_own_team_alone() {
    let bench = HubBench::new(Build::Debian);
    let (mut bob, red) = bench.join("bob");
    let names: Vec<String> = bob.machines(&red).unwrap().into_iter().map(|machine| machine.name).collect();
    assert!(
        names.contains(&"ann's laptop".to_owned()) && !names.contains(&"dan's laptop".to_owned()),
        "{names:?}"
    );
    let (_, blue) = bench.join("dan");
    assert!(bob.machines(&blue).unwrap().is_empty());
}
