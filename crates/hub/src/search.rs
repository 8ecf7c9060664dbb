//! Candidates for a search, from all that this person may see.
//!
//! Ranks nothing for good: the caller ranks candidates of the hub and of this machine by one measure.

use crate::error::HubError;
use crate::team::Membership;
use crate::travel::literal;
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
    /// What the text means. Left out where the hub knows no vectors.
    pub vector: Option<Vec<f32>>,
    pub most: u32,
}

/// How many candidates are plenty for a ranking.
pub const CANDIDATES: u32 = 100;

/// A row that may be what was looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub row: SharedRow,
    pub rank: f32,
}

/// Nobody types more; what is pasted is told by its beginning.
const LONGEST_TEXT: usize = 1000;

/// Rows are read under the caller's own policies, whatever `find` gave.
const SEARCH: &str = "
    select r.*, f.rank
    from (
        select uid, max(rank) as rank from towline.find($1, $2, $3, $4, $5, $6) group by uid
        order by 2 desc limit $6) f
    join towline.rows r on r.team = $1 and r.uid = f.uid
    where r.forgotten_at is null and not r.is_withdrawn
    order by f.rank desc, r.uid";

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
            Value::maybe_text(asked.vector.as_deref().and_then(literal)),
            Value::small(asked.most.max(1)),
        ];
        let rows = self.link.ask(SEARCH, values)?;
        let mut candidates = Vec::with_capacity(rows.len());
        for row in &rows {
            let rank = self.link.read(row, "rank")?;
            candidates.extend(columns::read(&self.link, row)?.map(|row| Candidate { row, rank }));
        }
        Ok(candidates)
    }
}
