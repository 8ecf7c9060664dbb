//! Bulk-loads millions of rows as pushing would have left them, but faster.
//!
//! The administrator inserts rows in large chunks on all cores; the hub's own function computes the search terms. Word
//! indexes are dropped before and recreated by the crate.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tokio_postgres::Statement;
use towline_core::id::Uid;
use towline_core::share::RowLife;

use crate::database::{BenchUid, Database};
use crate::texts::{MadeRow, PEOPLE, Texts};
use crate::world::{BenchWorld, Laid};

const CHUNK: u64 = 10_000;

const DROP: &str = "
    do $$ declare it text; begin
        for it in select c.relname from pg_class c join pg_am a on a.oid = c.relam
            where c.relnamespace = 'towline'::regnamespace and c.relkind = 'I' and a.amname = 'gin'
        loop
            execute format('drop index towline.%I', it);
        end loop;
    end $$";

/// Sequence numbers follow the team's counter, as those of a push would.
const LAY: &str = "
    with b as materialized (
        select * from unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[],
            $9::text[], $10::text[], $11::text[], $12::bytea[], $13::text[])
            as b (uid, project, machine, seq, made_at, turn, kind, person, session, words, words_stamp, body)
    ), r as (
        insert into towline.rows (team, uid, project, machine, seq, made_at, found, turn, is_withdrawn, kind, person,
            session, words, words_stamp)
        select $1, uid, project, machine, seq, made_at, 0, turn, false, kind, person, session, words, words_stamp from b)
    insert into towline.finds (team, uid, project, made_at, kind, terms)
    select $1, uid, project, made_at, kind, to_tsvector('pg_catalog.english', towline.spaced(body)) from b";

/// Grows the hub to `size` rows.
pub fn up_to(world: &mut BenchWorld, size: u64) {
    let before = world.admin.number("select count(*) from towline.rows") as u64;
    let seq = world.admin.number("select seq from towline.teams") as u64;
    let numbers = world.next..world.next + size.saturating_sub(before);
    world.next = numbers.end;
    world.admin.run(DROP);
    let job = LoadJob { taken: AtomicU64::new(numbers.start), laid: Laid { numbers, seq } };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let words: BTreeSet<String> = thread::scope(|scope| {
        let (world, job) = (&*world, &job);
        let work = || job.lay(&world.texts, &world.administrator(), world.team);
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    spell(world, &words);
    let count = job.laid.numbers.end - job.laid.numbers.start;
    world.laid = job.laid;
    world.admin.run(&format!("update towline.teams set seq = seq + {count}"));
    world.look_after();
    world.admin.run("vacuum analyze towline.rows");
    world.admin.run("vacuum analyze towline.finds");
    world.admin.run("vacuum analyze towline.vocabulary");
    world.admin.run("checkpoint");
}

struct LoadJob {
    laid: Laid,
    /// The first number that no worker has taken.
    taken: AtomicU64,
}

impl LoadJob {
    /// Loads chunk after chunk until none is left, and returns their words.
    fn lay(&self, texts: &Texts, admin: &Database, team: Uid) -> HashSet<String> {
        // A killed run starts over anyway.
        admin.run("set synchronous_commit = off");
        let statement = admin.prepared(LAY);
        let mut words = HashSet::new();
        loop {
            let start = self.taken.fetch_add(CHUNK, Ordering::Relaxed);
            if start >= self.laid.numbers.end {
                return words;
            }
            let numbers = start..(start + CHUNK).min(self.laid.numbers.end);
            let rows: Vec<MadeRow> = numbers.map(|number| laid(texts, number)).collect();
            self.put(admin, &statement, team, start, &rows);
            rows.iter().for_each(|made| collect(&mut words, &made.outgoing.text));
        }
    }

    fn put(&self, admin: &Database, statement: &Statement, team: Uid, start: u64, rows: &[MadeRow]) {
        let uids: Vec<BenchUid> = rows.iter().map(|made| BenchUid(made.outgoing.row.uid)).collect();
        let projects: Vec<BenchUid> = rows.iter().map(|made| BenchUid(made.outgoing.row.project)).collect();
        let machines: Vec<BenchUid> =
            rows.iter().map(|made| BenchUid(made.outgoing.row.from.machine)).collect();
        let numbers = start..start + rows.len() as u64;
        let seqs: Vec<i64> = numbers.map(|number| self.laid.seq_of(number)).collect();
        let times: Vec<i64> = rows.iter().map(|made| made.outgoing.row.from.made_at.0).collect();
        let turns: Vec<Option<i64>> =
            rows.iter().map(|made| made.outgoing.row.from.turn.map(i64::from)).collect();
        let kinds: Vec<&str> = rows.iter().map(|made| made.outgoing.row.kind.name()).collect();
        let persons: Vec<&str> = rows.iter().map(|made| made.outgoing.row.from.person.as_str()).collect();
        let sessions: Vec<Option<String>> = rows
            .iter()
            .map(|made| made.outgoing.row.from.session.as_ref().map(ToString::to_string))
            .collect();
        let (words, stamps): (Vec<&str>, Vec<Vec<u8>>) = rows.iter().filter_map(words).unzip();
        let bodies: Vec<&str> = rows.iter().map(|made| made.outgoing.text.as_str()).collect();
        admin.execute(
            statement,
            &[
                &BenchUid(team),
                &uids,
                &projects,
                &machines,
                &seqs,
                &times,
                &turns,
                &kinds,
                &persons,
                &sessions,
                &words,
                &stamps,
                &bodies,
            ],
        );
    }
}

/// In one call: concurrent inserts of the same word would wait for each other.
fn spell(world: &BenchWorld, words: &BTreeSet<String>) {
    let words: Vec<&String> = words.iter().collect();
    world.admin.ask("select towline.spell($1, $2)", &[&BenchUid(world.team), &words]);
}

fn collect(words: &mut HashSet<String>, text: &str) {
    for word in spelt(text) {
        if !words.contains(word) {
            words.insert(word.to_owned());
        }
    }
}

/// The words of a text that the vocabulary may keep.
pub fn spelt(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.chars().all(char::is_alphabetic))
}

/// The row of this number, made by a member of the team.
pub fn laid(texts: &Texts, number: u64) -> MadeRow {
    texts.row(number, (number % PEOPLE.len() as u64) as usize)
}

fn words(made: &MadeRow) -> Option<(&str, Vec<u8>)> {
    match &made.outgoing.row.life {
        RowLife::Lives(it) => Some((it.words.value.as_str(), it.words.stamp.to_bytes().to_vec())),
        RowLife::Forgotten { .. } => None,
    }
}
