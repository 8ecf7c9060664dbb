//! Row transfer: pushed in batches, pulled by a cursor without gaps.
//!
//! The database merges rows, under the team's counter: this module only transfers them.

use crate::error::{HubError, Result};
use crate::link::SqlCall;
use crate::meaning::{self, Embedding};
use crate::schema::VERSION;
use crate::team::Membership;
use crate::value::{SqlUid, SqlValue, values};
use crate::{HubClient, Need, columns};
use std::collections::HashMap;
use std::ops::ControlFlow;
use towline_core::id::Uid;
use towline_core::share::SharedRow;

#[derive(Clone, Debug, PartialEq)]
pub struct OutgoingRow {
    pub row: SharedRow,
    /// The searchable text; may be empty.
    pub text: String,
    /// The text's embedding. Dropped if the hub has no vectors, or those of another model.
    pub meaning: Option<Embedding>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PushOutcome {
    /// Rows that were new or different. Rows that are equal do not count, nor do a teammate's rows, which the hub
    /// ignores unless the caller is an administrator.
    pub changed: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PulledPage {
    pub rows: Vec<SharedRow>,
    /// The cursor for the next pull.
    pub after: u64,
    pub is_all: bool,
}

/// A transaction must fit into both sides' memory and into the deadline.
const BATCH_ROWS: usize = 1000;
const BATCH_BYTES: usize = 4 << 20;

/// Counting stops here.
const MOST_COUNTED: i64 = 100_000;

const PUSH: &str = "
    select * from towline.push(
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
        $25, $26, $27)";

/// Every answer says whether the project is visible at all: an empty result would look like no news. Materialized, so
/// that it is evaluated once and not per row.
const PULL: &str = "
    with v as materialized (select towline.sees($1, $2) as is_seen)
    select v.is_seen, r.*
    from v left join lateral (
        select * from towline.rows
        where team = $1 and project = $2 and seq > $3
        order by seq limit $4) r on v.is_seen
    order by r.seq";

const LAG: &str = "
    select a.project, (
        select count(*) from (
            select from towline.rows r
            where r.team = $1 and r.project = a.project and r.seq > a.after limit $4) waiting) as waiting
    from unnest($2, $3) with ordinality a (project, after, place)
    order by a.place";

impl HubClient {
    /// Pushes rows to the team. Idempotent.
    pub fn push(&mut self, membership: &Membership, rows: &[OutgoingRow]) -> Result<PushOutcome> {
        self.ready(Need::Write)?;
        let mut pushed = PushOutcome::default();
        for batch in batches(&distinct(rows)) {
            pushed.changed += self.push_batch(membership, batch)?;
        }
        Ok(pushed)
    }

    fn push_batch(&mut self, membership: &Membership, batch: &[OutgoingRow]) -> Result<u64> {
        let rows: Vec<&SharedRow> = batch.iter().map(|outgoing| &outgoing.row).collect();
        let mut values = values![membership.team, VERSION, membership.machine];
        values.extend(columns::column_values(&rows));
        values.push(SqlValue::texts(batch.iter().map(|outgoing| Some(outgoing.text.as_str()))));
        let mut statements = vec![SqlCall { sql: PUSH, values }];
        let embedded = batch.iter().filter_map(|outgoing| Some((&outgoing.row, outgoing.meaning.as_ref()?)));
        if let Some(upload) = meaning::upload(membership, embedded)
            && self.has_vectors()?
        {
            statements.push(upload);
        }
        let answers = self.link.query_all(&statements)?;
        let first = answers.first().map(Vec::as_slice).unwrap_or_default();
        let changed: i64 = self.link.read(self.link.only(first)?, "changed")?;
        Ok(u64::try_from(changed).unwrap_or(0))
    }

    /// The changes in a project since `after`, in the sequence all readers see.
    pub fn pull(
        &mut self,
        membership: &Membership,
        project: Uid,
        after: u64,
        most: u32,
    ) -> Result<PulledPage> {
        let most = most.max(1);
        let values = values![membership.team, project, signed(after), i64::from(most)];
        self.page(SqlCall { sql: PULL, values }, after, most)
    }

    /// Runs a query for `is_seen` and rows, and computes the next cursor.
    pub(crate) fn page(&mut self, query: SqlCall, after: u64, most: u32) -> Result<PulledPage> {
        self.ready(Need::Read)?;
        let rows = self.link.query(query.sql, query.values)?;
        let is_seen = rows.first().map(|row| self.link.read(row, "is_seen")).transpose()?;
        if is_seen != Some(true) {
            let why = "the project is not shared with this login".to_owned();
            return Err(HubError::NotAMember { place: self.place(), why });
        }
        let mut pulled = PulledPage { rows: Vec::new(), after, is_all: rows.len() < most as usize };
        for row in &rows {
            let Some(seq) = self.link.read::<Option<i64>>(row, "seq")? else { continue };
            pulled.after = u64::try_from(seq).unwrap_or(after);
            pulled.rows.extend(columns::read(&self.link, row)?);
        }
        Ok(pulled)
    }

    /// The number of changes after each project's cursor: counting stops at 100,000.
    pub fn lag(&mut self, membership: &Membership, cursors: &[(Uid, u64)]) -> Result<Vec<(Uid, u64)>> {
        let values = values![
            membership.team,
            SqlValue::uids(cursors.iter().map(|(project, _)| *project)),
            SqlValue::numbers(cursors.iter().map(|(_, after)| Some(signed(*after)))),
            MOST_COUNTED,
        ];
        self.rows(LAG, values, |link, row| {
            let waiting: i64 = link.read(row, "waiting")?;
            Ok((link.read::<SqlUid>(row, "project")?.0, u64::try_from(waiting).unwrap_or(0)))
        })
    }

    /// Visits every row this user sees, project by project, until `visit` breaks.
    pub fn each_row(
        &mut self,
        membership: &Membership,
        mut visit: impl FnMut(SharedRow) -> ControlFlow<()>,
    ) -> Result<()> {
        for project in self.projects(membership)? {
            let mut after = 0;
            loop {
                let pulled = self.pull(membership, project.id, after, 1000)?;
                for row in pulled.rows {
                    if visit(row).is_break() {
                        return Ok(());
                    }
                }
                after = pulled.after;
                if pulled.is_all {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Merges duplicates of a row: the statement would take only one of two.
fn distinct(rows: &[OutgoingRow]) -> Vec<OutgoingRow> {
    let mut indexes: HashMap<Uid, usize> = HashMap::new();
    let mut distinct: Vec<OutgoingRow> = Vec::with_capacity(rows.len());
    for outgoing in rows {
        match indexes.get(&outgoing.row.uid) {
            Some(index) => distinct[*index] = merged(&distinct[*index], outgoing),
            None => {
                indexes.insert(outgoing.row.uid, distinct.len());
                distinct.push(outgoing.clone());
            }
        }
    }
    distinct
}

/// The search text of the version whose words win the merge.
fn merged(one: &OutgoingRow, other: &OutgoingRow) -> OutgoingRow {
    let row = one.row.clone().merged(other.row.clone());
    let winner = if words(&row) == words(&one.row) { one } else { other };
    OutgoingRow { text: winner.text.clone(), meaning: winner.meaning.clone(), row }
}

fn words(row: &SharedRow) -> &str {
    columns::lives(row).map_or("", |registers| registers.words.value.as_str())
}

fn batches(rows: &[OutgoingRow]) -> Vec<&[OutgoingRow]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, outgoing) in rows.iter().enumerate() {
        let size = words(&outgoing.row).len() + outgoing.text.len();
        if index > start && (index - start >= BATCH_ROWS || bytes + size > BATCH_BYTES) {
            batches.push(&rows[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += size;
    }
    if start < rows.len() {
        batches.push(&rows[start..]);
    }
    batches
}

pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::share::{Registers, RowKind, RowLife, RowProvenance, WriteStamp};
    use towline_core::time::Timestamp;

    fn outgoing(uid: u8, words: &str, count: u64) -> OutgoingRow {
        let machine = Uid([1; 16]);
        let from =
            RowProvenance { person: "ann".into(), machine, session: None, turn: None, made_at: Timestamp(0) };
        let life = RowLife::Lives(Box::new(Registers::of_words(words.into(), WriteStamp { count, machine })));
        let row = SharedRow { uid: Uid([uid; 16]), kind: RowKind::Memory, project: Uid([9; 16]), from, life };
        OutgoingRow { row, text: format!("text of {words}"), meaning: None }
    }

    #[test]
    fn duplicates_of_a_row_are_merged_with_the_text_of_the_winning_words() {
        let sent = distinct(&[outgoing(1, "new", 2), outgoing(2, "other", 1), outgoing(1, "old", 1)]);
        let texts: Vec<&str> = sent.iter().map(|outgoing| outgoing.text.as_str()).collect();
        assert_eq!(texts, ["text of new", "text of other"]);
        let sent = distinct(&[outgoing(1, "old", 1), outgoing(1, "new", 2)]);
        assert_eq!((sent.len(), sent[0].text.as_str()), (1, "text of new"));
    }

    #[test]
    fn a_batch_is_bounded_by_rows_and_by_bytes() {
        let small: Vec<OutgoingRow> = (0..=255).map(|uid| outgoing(uid, "w", 1)).collect();
        let many: Vec<OutgoingRow> = small.iter().cycle().take(2500).cloned().collect();
        assert_eq!(batches(&many).iter().map(|batch| batch.len()).collect::<Vec<_>>(), [1000, 1000, 500]);
        let long = "x".repeat(BATCH_BYTES / 2);
        let large: Vec<OutgoingRow> = (0..3).map(|uid| outgoing(uid, &long, 1)).collect();
        assert_eq!(batches(&large).len(), 3);
        assert!(batches(&[]).is_empty());
    }
}
