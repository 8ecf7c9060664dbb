//! Row embeddings: a team's model, rows without a vector, and uploading vectors.
//!
//! Vectors of two models are never compared: the hub accepts only those of the team's model, which the first upload
//! decides. Computes no vector.

use crate::error::Result;
use crate::link::SqlCall;
use crate::schema::Extension;
use crate::team::Membership;
use crate::value::{SqlValue, values};
use crate::{HubClient, Need, columns};
use towline_core::id::Uid;
use towline_core::share::{SharedRow, WriteStamp};

/// A vector, and the model that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    pub model: u64,
    /// At most `VECTOR_LENGTH` numbers; a longer one is dropped.
    pub vector: Vec<f32>,
}

/// The length of stored vectors. A shorter one is padded with zeros, which changes no angle.
pub const VECTOR_LENGTH: usize = 384;

/// A hub's support for a team's vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddingSupport {
    /// The server has no vector extension.
    None,
    /// No vector yet: the first one decides the model.
    Undecided,
    /// All vectors are of this model.
    Of(u64),
}

impl EmbeddingSupport {
    /// Whether vectors of this model are accepted.
    pub fn takes(self, model: u64) -> bool {
        match self {
            EmbeddingSupport::None => false,
            EmbeddingSupport::Undecided => true,
            EmbeddingSupport::Of(other) => other == model,
        }
    }
}

const MODEL: &str = "select model from towline.teams where id = $1";
const PUT: &str = "select towline.put_vectors($1, $2, $3, $4, $5) as taken";
const ADOPT: &str = "select towline.adopt_model($1, $2)";

/// Rows are read under the caller's own policies, whatever `unmeant` returns.
const WITHOUT_VECTOR: &str = "
    select r.* from towline.unmeant($1, $2, $3, $4) u
    join towline.rows r on r.team = $1 and r.uid = u.uid
    order by r.uid desc";

impl HubClient {
    /// Whether this team has vectors, and of which model.
    pub fn embedding_support(&mut self, membership: &Membership) -> Result<EmbeddingSupport> {
        self.ready(Need::Read)?;
        if !self.has_vectors()? {
            return Ok(EmbeddingSupport::None);
        }
        let rows = self.link.query(MODEL, values![membership.team])?;
        let model: Option<String> =
            rows.first().map(|row| self.link.read(row, "model")).transpose()?.flatten();
        // An unreadable name is no model of ours.
        let read = |name: String| EmbeddingSupport::Of(u64::from_str_radix(&name, 16).unwrap_or(0));
        Ok(model.map_or(EmbeddingSupport::Undecided, read))
    }

    /// Rows of a project that could have a vector and have none, newest first; `before` continues after the last.
    pub fn without_meaning(
        &mut self,
        membership: &Membership,
        project: Uid,
        before: Option<Uid>,
        most: u32,
    ) -> Result<Vec<SharedRow>> {
        let values = values![membership.team, project, before, most.max(1)];
        Ok(self.rows(WITHOUT_VECTOR, values, columns::read)?.into_iter().flatten().collect())
    }

    /// Uploads vectors, each for the row's current text. Returns how many were accepted.
    pub fn upload_embeddings(
        &mut self,
        membership: &Membership,
        embedded: &[(&SharedRow, &Embedding)],
    ) -> Result<u64> {
        self.ready(Need::Write)?;
        let Some(upload) = upload(membership, embedded.iter().copied()) else { return Ok(0) };
        let rows = self.link.query(upload.sql, upload.values)?;
        let taken: i64 = self.link.read(self.link.only(&rows)?, "taken")?;
        Ok(u64::try_from(taken).unwrap_or(0))
    }

    /// Switches the team's vectors to this model and deletes those of another. Only an administrator may.
    pub fn adopt_model(&mut self, membership: &Membership, model: u64) -> Result<()> {
        self.call(ADOPT, values![membership.team, &name(model)])
    }

    pub(crate) fn has_vectors(&mut self) -> Result<bool> {
        let has_vectors = match self.has_vectors {
            Some(has_vectors) => has_vectors,
            None => self.server_status()?.vectors == Extension::Used,
        };
        self.has_vectors = Some(has_vectors);
        Ok(has_vectors)
    }
}

/// A model's name in the database.
pub(crate) fn name(model: u64) -> String {
    format!("{model:016x}")
}

/// The statement that uploads vectors, all of the first one's model. `None` if there is nothing to upload.
pub(crate) fn upload<'a>(
    membership: &Membership,
    embedded: impl Iterator<Item = (&'a SharedRow, &'a Embedding)>,
) -> Option<SqlCall> {
    let each = embedded
        .filter_map(|(row, meaning)| Some((row.uid, stamp(row)?, literal(&meaning.vector)?, meaning)));
    let all: Vec<(Uid, WriteStamp, String, &Embedding)> = each.collect();
    let model = all.first()?.3.model;
    let of_model: Vec<_> = all.iter().filter(|(.., meaning)| meaning.model == model).collect();
    let values = values![
        membership.team,
        &name(model),
        SqlValue::uids(of_model.iter().map(|(uid, ..)| *uid)),
        SqlValue::bytes(of_model.iter().map(|(_, stamp, ..)| columns::stamp_bytes(*stamp))),
        SqlValue::texts(of_model.iter().map(|(.., vector, _)| Some(vector.as_str()))),
    ];
    Some(SqlCall { sql: PUT, values })
}

/// The stamp of the row's text; `None` for a row without text.
fn stamp(row: &SharedRow) -> Option<WriteStamp> {
    columns::lives(row).filter(|_| row.is_shared()).map(|registers| registers.words.stamp)
}

/// pgvector's text form, with more digits than it keeps. `None` for a vector that is too long, not finite, or zero.
pub(crate) fn literal(vector: &[f32]) -> Option<String> {
    let is_usable =
        vector.iter().all(|number| number.is_finite()) && vector.iter().any(|number| *number != 0.0);
    if vector.len() > VECTOR_LENGTH || !is_usable {
        return None;
    }
    let filled = vector.iter().copied().chain(std::iter::repeat(0.0)).take(VECTOR_LENGTH);
    let numbers: Vec<String> = filled.map(|number| format!("{number:.5}")).collect();
    Some(format!("[{}]", numbers.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_that_is_too_long_or_points_nowhere_is_left_out() {
        assert_eq!(literal(&[0.1; VECTOR_LENGTH + 1]), None);
        assert_eq!(literal(&[f32::NAN; VECTOR_LENGTH]), None);
        assert_eq!(literal(&[0.0; VECTOR_LENGTH]), None);
        assert_eq!(literal(&[]), None);
    }

    #[test]
    fn a_shorter_vector_is_filled_up() {
        let text = literal(&[0.5, -0.25]).unwrap();
        assert!(text.starts_with("[0.50000,-0.25000,0.00000,"), "{text}");
        assert_eq!(text.matches(',').count(), VECTOR_LENGTH - 1);
    }
}
