//! What rows mean, as vectors: which model a team's are of, which rows have none yet, and giving them theirs.
//!
//! Vectors of two models are never compared: the hub takes only those of the team's model, and the first that comes
//! decides which that is. Makes no vector.

use crate::error::HubError;
use crate::link::Question;
use crate::schema::Extension;
use crate::team::Membership;
use crate::value::Value;
use crate::{Hub, Need, columns};
use towline_core::id::Uid;
use towline_core::share::{Life, SharedRow, Stamp};

/// A vector, and the model that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    /// Tells one model from another.
    pub model: u64,
    /// Of `VECTOR_LENGTH` numbers at most; a longer one is left out.
    pub vector: Vec<f32>,
}

/// How many numbers a vector has. A shorter one is filled up with zeros: that changes no angle.
pub const VECTOR_LENGTH: usize = 384;

/// What a hub does with vectors of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meanings {
    /// The server knows no vectors.
    None,
    /// The first that comes decides for a model.
    Undecided,
    /// All are of this one.
    Of(u64),
}

impl Meanings {
    /// Whether vectors of this model are taken.
    pub fn takes(self, model: u64) -> bool {
        match self {
            Meanings::None => false,
            Meanings::Undecided => true,
            Meanings::Of(other) => other == model,
        }
    }
}

const MODEL: &str = "select model from towline.teams where id = $1";
const PUT: &str = "select towline.put_vectors($1, $2, $3, $4, $5) as taken";
const ADOPT: &str = "select towline.adopt_model($1, $2)";

/// Rows are read under the caller's own policies, whatever `unmeant` gave.
const UNMEANT: &str = "
    select r.* from towline.unmeant($1, $2, $3, $4) u
    join towline.rows r on r.team = $1 and r.uid = u.uid
    order by r.uid desc";

impl Hub {
    /// Whether this team has vectors, and of which model.
    pub fn meanings(&mut self, membership: &Membership) -> Result<Meanings, HubError> {
        self.ready(Need::Read)?;
        if !self.has_vectors()? {
            return Ok(Meanings::None);
        }
        let rows = self.link.ask(MODEL, vec![Value::uid(membership.team)])?;
        let model: Option<String> =
            rows.first().map(|row| self.link.read(row, "model")).transpose()?.flatten();
        // A name that cannot be read is no model of ours.
        let read = |name: String| Meanings::Of(u64::from_str_radix(&name, 16).unwrap_or(0));
        Ok(model.map_or(Meanings::Undecided, read))
    }

    /// Rows of a project that could have a vector and have none, the newest first; `before` goes on behind the last.
    pub fn without_meaning(
        &mut self,
        membership: &Membership,
        project: Uid,
        before: Option<Uid>,
        most: u32,
    ) -> Result<Vec<SharedRow>, HubError> {
        self.ready(Need::Read)?;
        let values = vec![
            Value::uid(membership.team),
            Value::uid(project),
            Value::maybe_uid(before),
            Value::small(most.max(1)),
        ];
        let mut found = Vec::new();
        for row in &self.link.ask(UNMEANT, values)? {
            found.extend(columns::read(&self.link, row)?);
        }
        Ok(found)
    }

    /// Gives rows their vectors, each for the words that the row has here. Tells how many were taken.
    pub fn put_meanings(
        &mut self,
        membership: &Membership,
        meant: &[(&SharedRow, &Meaning)],
    ) -> Result<u64, HubError> {
        self.ready(Need::Write)?;
        let Some(question) = question(membership, meant.iter().copied()) else { return Ok(0) };
        let rows = self.link.ask(question.sql, question.values)?;
        let taken: i64 = self.link.read(self.link.only(&rows)?, "taken")?;
        Ok(u64::try_from(taken).unwrap_or(0))
    }

    /// From now on the team's vectors are of this model, and those of another are gone. An administrator may.
    pub fn adopt_model(&mut self, membership: &Membership, model: u64) -> Result<(), HubError> {
        self.ready(Need::Write)?;
        self.link.ask(ADOPT, vec![Value::uid(membership.team), Value::text(&name(model))]).map(|_| ())
    }

    pub(crate) fn has_vectors(&mut self) -> Result<bool, HubError> {
        let known = match self.has_vectors {
            Some(known) => known,
            None => self.standing()?.vectors == Extension::Used,
        };
        self.has_vectors = Some(known);
        Ok(known)
    }
}

/// How a model is written down.
pub(crate) fn name(model: u64) -> String {
    format!("{model:016x}")
}

/// The vectors of some rows, all of the model of the first. None where there is nothing to give.
pub(crate) fn question<'a>(
    membership: &Membership,
    meant: impl Iterator<Item = (&'a SharedRow, &'a Meaning)>,
) -> Option<Question> {
    let each =
        meant.filter_map(|(row, meaning)| Some((row.uid, stamp(row)?, literal(&meaning.vector)?, meaning)));
    let all: Vec<(Uid, Stamp, String, &Meaning)> = each.collect();
    let model = all.first()?.3.model;
    let of_one: Vec<_> = all.iter().filter(|(.., meaning)| meaning.model == model).collect();
    let values = vec![
        Value::uid(membership.team),
        Value::text(&name(model)),
        Value::uids(of_one.iter().map(|(uid, ..)| *uid)),
        Value::bytes(of_one.iter().map(|(_, stamp, ..)| columns::stamp_bytes(*stamp))),
        Value::texts(of_one.iter().map(|(.., vector, _)| Some(vector.as_str()))),
    ];
    Some(Question { sql: PUT, values })
}

/// When its words were written. None for what has no words any more.
fn stamp(row: &SharedRow) -> Option<Stamp> {
    match &row.life {
        Life::Lives(registers) => row.is_shared().then_some(registers.words.stamp),
        Life::Forgotten { .. } => None,
    }
}

/// As pgvector reads it, with more digits than it keeps. None for one that is too long, or points nowhere.
pub(crate) fn literal(vector: &[f32]) -> Option<String> {
    let is_sound =
        vector.iter().all(|number| number.is_finite()) && vector.iter().any(|number| *number != 0.0);
    if vector.len() > VECTOR_LENGTH || !is_sound {
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
