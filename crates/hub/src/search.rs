//! Candidates for a search, from all that this person may see.
//!
//! Ranks nothing for good: the caller ranks candidates of the hub and of this machine by one measure.

use crate::error::HubError;
use crate::meaning::{self, Meaning};
use crate::team::Membership;
use crate::value::Value;
use crate::{Hub, Need, columns};
use towline_core::id::Uid;
use towline_core::share::{RowKind, SharedRow};

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    pub text: String,
    /// None named: all that this person sees.
    pub projects: Vec<Uid>,
    /// None named: all.
    pub kinds: Vec<RowKind>,
    /// What the text means. Not compared with anything where the hub knows no vectors, or has those of another model.
    pub meaning: Option<Meaning>,
    /// So many by words at most, and as many by meaning.
    pub most: u32,
}

/// How many candidates are plenty for a ranking.
pub const CANDIDATES: u32 = 100;

/// A row that may be what was looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub row: SharedRow,
    /// By its words.
    pub rank: Option<f32>,
    /// How near it comes by its meaning: 1 is the same. None where it was not found by that.
    pub nearness: Option<f32>,
}

/// Nobody types more; what is pasted is told by its beginning.
const LONGEST_TEXT: usize = 1000;

/// Rows are read under the caller's own policies, whatever `find` and `near` gave. What fits by words comes first.
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

impl Hub {
    /// The rows that fit best, best first.
    pub fn search(&mut self, membership: &Membership, asked: &Asked) -> Result<Vec<Candidate>, HubError> {
        self.ready(Need::Read)?;
        let text: String = asked.text.chars().take(LONGEST_TEXT).collect();
        let kinds: Vec<&str> = asked.kinds.iter().map(|kind| kind.name()).collect();
        let values = vec![
            Value::uid(membership.team),
            Value::text(&text),
            Value::some_uids(&asked.projects),
            Value::some_texts(&kinds),
            Value::small(asked.most.max(1)),
            Value::maybe_text(asked.meaning.as_ref().map(|meaning| meaning::name(meaning.model))),
            Value::maybe_text(asked.meaning.as_ref().and_then(|meaning| meaning::literal(&meaning.vector))),
        ];
        let rows = self.link.ask(SEARCH, values)?;
        let mut candidates = Vec::with_capacity(rows.len());
        for row in &rows {
            let (rank, nearness) = (self.link.read(row, "rank")?, self.link.read(row, "nearness")?);
            candidates.extend(columns::read(&self.link, row)?.map(|row| Candidate { row, rank, nearness }));
        }
        Ok(candidates)
    }
}
