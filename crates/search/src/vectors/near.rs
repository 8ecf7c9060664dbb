//! How near documents are to a question, by their vectors: one scan over all of them.
//!
//! A row is proven only when it is used; one that is torn counts as none.

use std::collections::HashMap;

use super::{CHECKPOINT, Row, Vectors};

const LANES: usize = 16;

/// A question beside the vectors of documents.
#[derive(Default)]
pub struct Near<'a> {
    /// None where only others are known.
    vectors: Option<&'a Vectors>,
    /// One for each row.
    cosines: Vec<f32>,
    /// How near documents come whose vectors are kept elsewhere.
    others: HashMap<i64, f32>,
}

impl<'a> Near<'a> {
    /// `asked` is the question's vector, of length 1.
    pub fn to(vectors: &'a Vectors, asked: &[f32]) -> Near<'a> {
        let largest = asked.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()));
        // Sums of products of two such numbers stay far from what 32 bits hold.
        let scale = largest / 1023.0;
        let asked: Vec<i16> = asked.iter().map(|value| (value / scale).round() as i16).collect();
        let cosine = |row: Row<'_>| product(row.numbers(), &asked) as f32 * row.scale() * scale;
        let cosines = vectors.rows().map(|row| if row.id() == CHECKPOINT { 0.0 } else { cosine(row) });
        Near { vectors: Some(vectors), cosines: cosines.collect(), others: HashMap::new() }
    }

    /// And documents that somebody else has compared with the question, by the same model.
    #[must_use]
    pub fn with_others(self, others: impl IntoIterator<Item = (i64, f32)>) -> Near<'a> {
        Near { others: others.into_iter().collect(), ..self }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'a>> {
        self.vectors.into_iter().flat_map(Vectors::rows)
    }

    /// The nearest documents with how near they are, nearest first: those that come at least so near.
    pub(crate) fn nearest(&self, at_least: f32, most: usize) -> Vec<i64> {
        let mut near: Vec<(f32, usize)> =
            self.cosines.iter().copied().zip(0..).filter(|(cosine, _)| *cosine >= at_least).collect();
        let by_nearness = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if near.len() > most {
            near.select_nth_unstable_by(most, by_nearness);
            near.truncate(most);
        }
        let here = near.into_iter().filter_map(|(cosine, number)| {
            let row = self.vectors?.rows().nth(number)?;
            row.is_sound().then(|| (cosine, row.id()))
        });
        let others = self.others.iter().map(|(id, cosine)| (*cosine, *id));
        let mut all: Vec<(f32, i64)> = here.chain(others.filter(|(cosine, _)| *cosine >= at_least)).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.into_iter().take(most).map(|(_, id)| id).collect()
    }

    /// How near each of these documents is; `None` for those without a vector.
    pub(crate) fn of(&self, ids: &[i64]) -> Vec<Option<f32>> {
        let mut last: HashMap<i64, Option<f32>> = ids.iter().map(|id| (*id, None)).collect();
        for (row, cosine) in self.rows().zip(&self.cosines) {
            if let Some(found) = last.get_mut(&row.id())
                && row.is_sound()
            {
                *found = Some(*cosine);
            }
        }
        let of = |id: &i64| last.get(id).copied().flatten().or_else(|| self.others.get(id).copied());
        ids.iter().map(of).collect()
    }
}

/// Sixteen sums side by side: what the compiler makes into few instructions.
fn product(row: &[u8], asked: &[i16]) -> i32 {
    let mut sums = [0_i32; LANES];
    let (row, row_rest) = row.as_chunks::<LANES>();
    let (asked, asked_rest) = asked.as_chunks::<LANES>();
    for (row, asked) in row.iter().zip(asked) {
        for lane in 0..LANES {
            sums[lane] += i32::from(i16::from(row[lane] as i8)) * i32::from(asked[lane]);
        }
    }
    let rest = row_rest.iter().zip(asked_rest).map(|(row, asked)| i32::from(*row as i8) * i32::from(*asked));
    sums.iter().sum::<i32>() + rest.sum::<i32>()
}
