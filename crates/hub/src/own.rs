//! A user's own rows of a project: counts, and pages to withdraw.
//!
//! Without the text: withdrawing a row does not need it.

use crate::HubClient;
use crate::error::Result;
use crate::link::SqlCall;
use crate::team::Membership;
use crate::travel::{PulledPage, signed};
use crate::value::values;
use towline_core::id::Uid;
use towline_core::share::RowKind;

/// Every answer says whether the project is visible at all: an empty result would look as if all were withdrawn.
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

impl HubClient {
    /// The rows this user has shared in a project and not withdrawn, after `after`, in sequence order.
    pub fn own_rows(
        &mut self,
        membership: &Membership,
        project: Uid,
        after: u64,
        most: u32,
    ) -> Result<PulledPage> {
        let most = most.max(1);
        let values = values![membership.team, project, signed(after), &membership.person, i64::from(most)];
        self.page(SqlCall { sql: OWN, values }, after, most)
    }

    /// The number of those rows per kind. Kinds of newer programs are skipped.
    pub fn own_counts(&mut self, membership: &Membership, project: Uid) -> Result<Vec<(RowKind, u64)>> {
        let values = values![membership.team, project, &membership.person];
        let counts = self.rows(COUNT, values, |link, row| {
            let (kind, count): (String, i64) = (link.read(row, "kind")?, link.read(row, "rows")?);
            Ok(RowKind::named(&kind).map(|kind| (kind, u64::try_from(count).unwrap_or(0))))
        })?;
        let mut counts: Vec<_> = counts.into_iter().flatten().collect();
        counts.sort_unstable();
        Ok(counts)
    }
}
