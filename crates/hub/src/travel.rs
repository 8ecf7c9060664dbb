//! Rows on their way: pushed in batches, pulled by a cursor that leaves no gap.
//!
//! The merging itself happens in the database, under the team's counter: this file only carries.

use crate::error::HubError;
use crate::link::Question;
use crate::meaning::{self, Meaning};
use crate::schema::VERSION;
use crate::team::Membership;
use crate::value::{SqlUid, Value};
use crate::{Hub, Need, columns};
use std::collections::HashMap;
use std::ops::ControlFlow;
use tokio_postgres::Row;
use towline_core::id::Uid;
use towline_core::share::{Life, SharedRow};

/// A row to push.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    pub row: SharedRow,
    /// What searching looks at. Empty for none.
    pub text: String,
    /// What that text means. Left out where the hub knows no vectors, or has those of another model.
    pub meaning: Option<Meaning>,
}

/// What a push came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Rows that the hub did not know, or not so. The others it had already; a teammate's row that it never saw it leaves.
    pub changed: u64,
}

/// What a pull brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pulled {
    pub rows: Vec<SharedRow>,
    /// Where the next pull begins.
    pub after: u64,
    pub is_all: bool,
}

/// A transaction must fit into the memory of both sides, and into the deadline.
const BATCH_ROWS: usize = 1000;
const BATCH_BYTES: usize = 4 << 20;

/// More than this is not counted.
const MOST_COUNTED: i64 = 100_000;

const PUSH: &str = "
    select * from towline.push(
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
        $25, $26, $27)";

/// Says in every answer whether the project is seen at all: no rows would look like no news. That is asked once, not for
/// each row.
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

impl Hub {
    /// Gives rows to the team. Doing it again changes nothing.
    pub fn push(&mut self, membership: &Membership, rows: &[Outgoing]) -> Result<Pushed, HubError> {
        self.ready(Need::Write)?;
        let mut pushed = Pushed::default();
        for batch in batches(&distinct(rows)) {
            pushed.changed += self.push_batch(membership, batch)?;
        }
        Ok(pushed)
    }

    fn push_batch(&mut self, membership: &Membership, batch: &[Outgoing]) -> Result<u64, HubError> {
        let rows: Vec<&SharedRow> = batch.iter().map(|outgoing| &outgoing.row).collect();
        let mut values =
            vec![Value::uid(membership.team), Value::small(VERSION), Value::uid(membership.machine)];
        values.extend(columns::written(&rows));
        values.push(Value::texts(batch.iter().map(|outgoing| Some(outgoing.text.as_str()))));
        let mut questions = vec![Question { sql: PUSH, values }];
        let meant = batch.iter().filter_map(|outgoing| Some((&outgoing.row, outgoing.meaning.as_ref()?)));
        if let Some(question) = meaning::question(membership, meant)
            && self.has_vectors()?
        {
            questions.push(question);
        }
        let answers = self.link.ask_all(&questions)?;
        let first = answers.first().map(Vec::as_slice).unwrap_or_default();
        let changed: i64 = self.link.read(self.link.only(first)?, "changed")?;
        Ok(u64::try_from(changed).unwrap_or(0))
    }

    /// What has changed in a project since `after`, in the order in which all see it.
    pub fn pull(
        &mut self,
        membership: &Membership,
        project: Uid,
        after: u64,
        most: u32,
    ) -> Result<Pulled, HubError> {
        self.ready(Need::Read)?;
        let most = most.max(1);
        let values = vec![
            Value::uid(membership.team),
            Value::uid(project),
            Value::number(signed(after)),
            Value::number(most.into()),
        ];
        let found = self.link.ask(PULL, values)?;
        self.pulled(&found, after, most)
    }

    /// Rows of an answer that says whether the project is seen, and where the next begins.
    pub(crate) fn pulled(&self, found: &[Row], after: u64, most: u32) -> Result<Pulled, HubError> {
        let is_seen = found.first().map(|row| self.link.read(row, "is_seen")).transpose()?;
        if is_seen != Some(true) {
            return Err(self.not_a_member("the project is not shared with this login"));
        }
        let mut pulled = Pulled { rows: Vec::new(), after, is_all: found.len() < most as usize };
        for row in found {
            let Some(seq) = self.link.read::<Option<i64>>(row, "seq")? else { continue };
            pulled.after = u64::try_from(seq).unwrap_or(after);
            pulled.rows.extend(columns::read(&self.link, row)?);
        }
        Ok(pulled)
    }

    /// How many changes wait in each project after its cursor: at most a hundred thousand are counted.
    pub fn lag(
        &mut self,
        membership: &Membership,
        cursors: &[(Uid, u64)],
    ) -> Result<Vec<(Uid, u64)>, HubError> {
        self.ready(Need::Read)?;
        let values = vec![
            Value::uid(membership.team),
            Value::uids(cursors.iter().map(|(project, _)| *project)),
            Value::numbers(cursors.iter().map(|(_, after)| Some(signed(*after)))),
            Value::number(MOST_COUNTED),
        ];
        let rows = self.link.ask(LAG, values)?;
        let lags = rows.iter().map(|row| {
            let waiting: i64 = self.link.read(row, "waiting")?;
            Ok((self.link.read::<SqlUid>(row, "project")?.0, u64::try_from(waiting).unwrap_or(0)))
        });
        lags.collect()
    }

    /// Shows every row that this person sees, project by project, as long as `visit` goes on.
    pub fn each_row(
        &mut self,
        membership: &Membership,
        mut visit: impl FnMut(SharedRow) -> ControlFlow<()>,
    ) -> Result<(), HubError> {
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

/// One account of each row: a statement would take only one of two.
fn distinct(rows: &[Outgoing]) -> Vec<Outgoing> {
    let mut places: HashMap<Uid, usize> = HashMap::new();
    let mut distinct: Vec<Outgoing> = Vec::with_capacity(rows.len());
    for outgoing in rows {
        match places.get(&outgoing.row.uid) {
            Some(place) => distinct[*place] = merged(&distinct[*place], outgoing),
            None => {
                places.insert(outgoing.row.uid, distinct.len());
                distinct.push(outgoing.clone());
            }
        }
    }
    distinct
}

/// The text goes with the words that hold.
fn merged(one: &Outgoing, other: &Outgoing) -> Outgoing {
    let row = one.row.clone().merged(other.row.clone());
    let of_words = if words(&row) == words(&one.row) { one } else { other };
    Outgoing { text: of_words.text.clone(), meaning: of_words.meaning.clone(), row }
}

fn words(row: &SharedRow) -> &str {
    match &row.life {
        Life::Lives(registers) => &registers.words.value,
        Life::Forgotten { .. } => "",
    }
}

fn batches(rows: &[Outgoing]) -> Vec<&[Outgoing]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (place, outgoing) in rows.iter().enumerate() {
        let size = words(&outgoing.row).len() + outgoing.text.len();
        if place > start && (place - start >= BATCH_ROWS || bytes + size > BATCH_BYTES) {
            batches.push(&rows[start..place]);
            (start, bytes) = (place, 0);
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
    use towline_core::share::{Provenance, Registers, RowKind, Stamp};
    use towline_core::time::Timestamp;

    fn outgoing(uid: u8, words: &str, count: u64) -> Outgoing {
        let machine = Uid([1; 16]);
        let from =
            Provenance { person: "ann".into(), machine, session: None, turn: None, made_at: Timestamp(0) };
        let life = Life::Lives(Box::new(Registers::of_words(words.into(), Stamp { count, machine })));
        let row = SharedRow { uid: Uid([uid; 16]), kind: RowKind::Memory, project: Uid([9; 16]), from, life };
        Outgoing { row, text: format!("text of {words}"), meaning: None }
    }

    #[test]
    fn two_accounts_of_one_row_are_sent_as_one_with_the_text_of_the_words_that_hold() {
        let sent = distinct(&[outgoing(1, "new", 2), outgoing(2, "other", 1), outgoing(1, "old", 1)]);
        let texts: Vec<&str> = sent.iter().map(|outgoing| outgoing.text.as_str()).collect();
        assert_eq!(texts, ["text of new", "text of other"]);
        let sent = distinct(&[outgoing(1, "old", 1), outgoing(1, "new", 2)]);
        assert_eq!((sent.len(), sent[0].text.as_str()), (1, "text of new"));
    }

    #[test]
    fn a_batch_is_bounded_by_rows_and_by_bytes() {
        let small: Vec<Outgoing> = (0..=255).map(|uid| outgoing(uid, "w", 1)).collect();
        let many: Vec<Outgoing> = small.iter().cycle().take(2500).cloned().collect();
        assert_eq!(batches(&many).iter().map(|batch| batch.len()).collect::<Vec<_>>(), [1000, 1000, 500]);
        let long = "x".repeat(BATCH_BYTES / 2);
        let large: Vec<Outgoing> = (0..3).map(|uid| outgoing(uid, &long, 1)).collect();
        assert_eq!(batches(&large).len(), 3);
        assert!(batches(&[]).is_empty());
    }
}
