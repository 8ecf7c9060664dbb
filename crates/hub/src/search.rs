//! Search candidates among all rows visible to this user.
//!
//! Final ranking is the caller's: it ranks candidates of the hub and of this machine together.

use crate::error::Result;
use crate::meaning::{self, Embedding};
use crate::team::Membership;
use crate::value::{SqlValue, values};
use crate::{HubClient, columns};
use towline_core::id::Uid;
use towline_core::share::{RowKind, SharedRow};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HubQuery {
    pub text: String,
    /// Empty means all projects this user sees.
    pub projects: Vec<Uid>,
    /// Empty means all kinds.
    pub kinds: Vec<RowKind>,
    /// The query's embedding. Ignored if the hub has no vectors, or those of another model.
    pub meaning: Option<Embedding>,
    /// The limit for matches by words, and again for matches by embedding.
    pub most: u32,
}

/// Enough candidates for a ranking.
pub const CANDIDATES: u32 = 100;

#[derive(Clone, Debug, PartialEq)]
pub struct HubCandidate {
    pub row: SharedRow,
    /// The full-text rank.
    pub rank: Option<f32>,
    /// Cosine similarity, 1 for identical; `None` if the row was not found by its embedding.
    pub nearness: Option<f32>,
}

/// Longer than anything typed; of pasted text the beginning is enough.
const LONGEST_TEXT: usize = 1000;

/// Rows are read under the caller's own policies, whatever `find` and `near` return. Matches by words come first.
const SEARCH: &str = "
    select r.*, f.rank, f.nearness
    from (
        select uid, max(rank) as rank, max(nearness) as nearness
        from (
            (select uid, max(rank) as rank, null::real as nearness from towline.find($1, $2, $3, $4, $5) group by uid
                order by 2 desc limit $5)
            union all
            select uid, null, nearness from towline.near($1, $6, $7, $3, $4, $5)) a
        group by uid) f
    join towline.rows r on r.team = $1 and r.uid = f.uid
    where r.forgotten_at is null and not r.is_withdrawn
    order by f.rank desc nulls last, f.nearness desc nulls last, r.uid";

impl HubClient {
    /// The best matching rows, best first.
    pub fn search(&mut self, membership: &Membership, query: &HubQuery) -> Result<Vec<HubCandidate>> {
        let text: String = query.text.chars().take(LONGEST_TEXT).collect();
        let kinds: Vec<&str> = query.kinds.iter().map(|kind| kind.name()).collect();
        let values = values![
            membership.team,
            &text,
            SqlValue::uids_or_null(&query.projects),
            SqlValue::texts_or_null(&kinds),
            query.most.max(1),
            query.meaning.as_ref().map(|meaning| meaning::name(meaning.model)),
            query.meaning.as_ref().and_then(|meaning| meaning::literal(&meaning.vector)),
        ];
        let candidates = self.rows(SEARCH, values, |link, row| {
            let (rank, nearness) = (link.read(row, "rank")?, link.read(row, "nearness")?);
            Ok(columns::read(link, row)?.map(|row| HubCandidate { row, rank, nearness }))
        })?;
        Ok(candidates.into_iter().flatten().collect())
    }
}
