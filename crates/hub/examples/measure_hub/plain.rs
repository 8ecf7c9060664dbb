//! The baseline for comparison: the same columns in a table with no policies, partitions or indexes but its key,
//! written by prepared statements over the same library and encryption.

use tokio_postgres::Statement;
use towline_core::id::Uid;
use towline_core::share::RowLife;
use towline_hub::OutgoingRow;

use crate::database::{BenchUid, Database};
use crate::world::BenchWorld;

const TABLE: &str = "
    create schema if not exists plain;
    create table if not exists plain.rows (like towline.rows, primary key (team, uid));
    grant usage on schema plain to public;
    grant select, insert on plain.rows to public";

const INSERT: &str = "
    insert into plain.rows (
        team, uid, project, machine, seq, made_at, found, turn, is_withdrawn, kind, person, session, words, words_stamp)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

pub struct Plain {
    database: Database,
    statement: Statement,
    team: Uid,
    seq: i64,
}

impl Plain {
    pub fn new(world: &BenchWorld) -> Plain {
        world.admin.run(TABLE);
        world.admin.run("truncate plain.rows");
        let database = world.plain();
        let statement = database.prepared(INSERT);
        Plain { database, statement, team: world.team, seq: 0 }
    }

    /// One transaction per row.
    pub fn one_by_one(&mut self, rows: &[OutgoingRow]) {
        rows.iter().for_each(|outgoing| self.insert(outgoing));
    }

    /// One transaction for all, with one statement per row.
    pub fn together(&mut self, rows: &[OutgoingRow]) {
        self.database.run("begin");
        self.one_by_one(rows);
        self.database.run("commit");
    }

    fn insert(&mut self, outgoing: &OutgoingRow) {
        self.seq += 1;
        let row = &outgoing.row;
        let RowLife::Lives(registers) = &row.life else { return };
        let session = row.from.session.as_ref().map(ToString::to_string);
        let turn = row.from.turn.map(i64::from);
        let stamp = registers.words.stamp.to_bytes();
        self.database.execute(
            &self.statement,
            &[
                &BenchUid(self.team),
                &BenchUid(row.uid),
                &BenchUid(row.project),
                &BenchUid(row.from.machine),
                &self.seq,
                &row.from.made_at.0,
                &0_i64,
                &turn,
                &false,
                &row.kind.name(),
                &row.from.person,
                &session,
                &registers.words.value,
                &stamp.as_slice(),
            ],
        );
    }
}
