//! What one person has given of a project: how much it is, and page by page, to be taken back.
//!
//! Without the words: who takes a row back need not read it.

use crate::error::HubError;
use crate::team::Membership;
use crate::travel::{Pulled, signed};
use crate::value::Value;
use crate::{Hub, Need};
use towline_core::id::Uid;
use towline_core::share::RowKind;

/// Says in every answer whether the project is seen at all: no rows would look as if all were taken back.
const OWN: &str = "
    select v.is_seen, r.*
    from (select towline.sees($1, $2) as is_seen) v
    left join lateral (
        select uid, project, kind, person, machine, session, turn, made_at, seq, found, ''::text as words, words_stamp,
            pin, pin_stamp, replaced_at, replaced_by, ''::text as replaced_why, standing_stamp,
            case when hold is null then null else '' end as hold, hold_stamp, is_withdrawn, presence_stamp,
            forgotten_at, forgotten_by
        from towline.rows
        where team = $1 and project = $2 and seq > $3 and person = $4 and not is_withdrawn and forgotten_at is null
        order by seq limit $5) r on v.is_seen
    order by r.seq";

const COUNT: &str = "
    select kind, count(*) as rows from towline.rows
    where team = $1 and project = $2 and person = $3 and not is_withdrawn and forgotten_at is null
    group by kind";

impl Hub {
    /// What this person has given of a project and not taken back, behind `after`, in the order in which it came.
    pub fn own_rows(
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
            Value::text(&membership.person),
            Value::number(most.into()),
        ];
        let found = self.link.ask(OWN, values)?;
        self.pulled(&found, after, most)
    }

    /// How many rows of each kind that are. Kinds of newer programs are left out.
    pub fn own_counts(
        &mut self,
        membership: &Membership,
        project: Uid,
    ) -> Result<Vec<(RowKind, u64)>, HubError> {
        self.ready(Need::Read)?;
        let person = Value::text(&membership.person);
        let values = vec![Value::uid(membership.team), Value::uid(project), person];
        let rows = self.link.ask(COUNT, values)?;
        let mut counts = vec![];
        for row in &rows {
            let (kind, count): (String, i64) = (self.link.read(row, "kind")?, self.link.read(row, "rows")?);
            counts.extend(RowKind::named(&kind).map(|kind| (kind, u64::try_from(count).unwrap_or(0))));
        }
        counts.sort_unstable();
        Ok(counts)
    }
}
