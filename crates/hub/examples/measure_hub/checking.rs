//! Checks that bulk-loaded rows equal pushed ones: counted, pulled, searched, and pushed again.
//!
//! Checks a sample, and panics on a difference: figures of other data would mean nothing.

use towline_hub::HubQuery;

use crate::chance::Chance;
use crate::database::BenchUid;
use crate::laying::{laid, spelt};
use crate::world::BenchWorld;

const SAMPLE: usize = 200;

const TERMS: &str = "
    select count(*) from towline.finds f join unnest($2::uuid[], $3::text[]) s (uid, body) on s.uid = f.uid
    where f.team = $1 and f.terms = towline.terms(s.body)";

const UNSPELT: &str = "
    select count(*) from unnest($2::text[]) w (word)
    where length(w.word) between 4 and 30 and cardinality(ts_lexize('english_stem', w.word)) > 0
        and not exists (select from towline.vocabulary v where v.team = $1 and v.word = w.word)";

pub fn check(world: &mut BenchWorld) {
    let count = |world: &BenchWorld, table: &str| {
        world.admin.number(&format!("select count(*) from towline.{table}"))
    };
    let (rows, finds) = (count(world, "rows"), count(world, "finds"));
    assert_eq!((rows, finds), (world.next as i64, world.next as i64), "a row, and what it is found by");
    let numbers = sample(world);
    numbers.iter().for_each(|number| check_row(world, *number));
    check_all(world, &numbers);
}

/// Rows with a unique word.
fn sample(world: &BenchWorld) -> Vec<u64> {
    let mut chance = Chance::of(world.next);
    let range = &world.laid.numbers;
    let numbers = (0..).map(|_| range.start + chance.below((range.end - range.start) as usize) as u64);
    numbers.filter(|number| laid(&world.texts, *number).name.is_some()).take(SAMPLE).collect()
}

fn check_row(world: &mut BenchWorld, number: u64) {
    let made = laid(&world.texts, number);
    let row = made.outgoing.row;
    let before = world.laid.seq_of(number) as u64 - 1;
    let pulled = world.hub.pull(&world.membership, row.project, before, 1).unwrap();
    assert_eq!(pulled.rows, std::slice::from_ref(&row), "row {number} is pulled as it was made");
    let asked = HubQuery { text: made.name.unwrap_or_default(), most: 1, ..HubQuery::default() };
    let found = world.hub.search(&world.membership, &asked).unwrap();
    assert_eq!(found.first().map(|it| &it.row), Some(&row), "row {number} is found by its own word");
}

fn check_all(world: &mut BenchWorld, numbers: &[u64]) {
    let rows: Vec<_> = numbers.iter().map(|number| laid(&world.texts, *number).outgoing).collect();
    let uids: Vec<BenchUid> = rows.iter().map(|outgoing| BenchUid(outgoing.row.uid)).collect();
    let bodies: Vec<&str> = rows.iter().map(|outgoing| outgoing.text.as_str()).collect();
    let same: i64 = world.admin.ask(TERMS, &[&BenchUid(world.team), &uids, &bodies])[0].get(0);
    assert_eq!(same as usize, rows.len(), "what searching reads is made of the same text");
    let words: Vec<&str> = bodies.iter().flat_map(|body| spelt(body)).collect();
    let unspelt: i64 = world.admin.ask(UNSPELT, &[&BenchUid(world.team), &words])[0].get(0);
    assert_eq!(unspelt, 0, "the vocabulary has every word");
    let pushed = world.hub.push(&world.membership, &rows).unwrap();
    assert_eq!(pushed.changed, 0, "to push them again changes nothing");
}
