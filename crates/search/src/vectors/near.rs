//! Cosine similarity between a query and all document vectors, computed in one scan.
//!
//! A row's checksum is verified only when the row is used; a torn row counts as missing.

use std::collections::HashMap;

use super::{CHECKPOINT, VectorFile, VectorRow};

const LANES: usize = 16;

/// The similarity of a query to documents.
#[derive(Default)]
pub struct QuerySimilarity<'a> {
    /// `None` if only `others` is known.
    vectors: Option<&'a VectorFile>,
    /// One per row.
    cosines: Vec<f32>,
    /// Similarities of documents whose vectors are stored elsewhere.
    others: HashMap<i64, f32>,
}

impl<'a> QuerySimilarity<'a> {
    /// `asked` is the query's vector, normalised to length 1.
    pub fn to(vectors: &'a VectorFile, query: &[f32]) -> QuerySimilarity<'a> {
        let largest = query.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()));
        // With 10-bit queries and 8-bit rows the sum of products stays far below 32 bits.
        let scale = largest / 1023.0;
        let query: Vec<i16> = query.iter().map(|value| (value / scale).round() as i16).collect();
        let cosine = |row: VectorRow<'_>| product(row.numbers(), &query) as f32 * row.scale() * scale;
        let cosines = vectors.rows().map(|row| if row.id() == CHECKPOINT { 0.0 } else { cosine(row) });
        QuerySimilarity { vectors: Some(vectors), cosines: cosines.collect(), others: HashMap::new() }
    }

    /// Adds documents that another store (the hub) compared with the query, by the same model.
    #[must_use]
    pub fn with_others(self, others: impl IntoIterator<Item = (i64, f32)>) -> QuerySimilarity<'a> {
        QuerySimilarity { others: others.into_iter().collect(), ..self }
    }

    fn rows(&self) -> impl Iterator<Item = VectorRow<'a>> {
        self.vectors.into_iter().flat_map(VectorFile::rows)
    }

    /// The most similar documents with a cosine of at least `at_least`, best first.
    pub fn nearest(&self, at_least: f32, most: usize) -> Vec<i64> {
        let mut near: Vec<(f32, usize)> =
            self.cosines.iter().copied().zip(0..).filter(|(cosine, _)| *cosine >= at_least).collect();
        let by_nearness = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if near.len() > most {
            near.select_nth_unstable_by(most, by_nearness);
            near.truncate(most);
        }
        let here = near.into_iter().filter_map(|(cosine, number)| {
            let row = self.vectors?.rows().nth(number)?;
            row.is_valid().then(|| (cosine, row.id()))
        });
        let others = self.others.iter().map(|(id, cosine)| (*cosine, *id));
        let mut all: Vec<(f32, i64)> = here.chain(others.filter(|(cosine, _)| *cosine >= at_least)).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.into_iter().take(most).map(|(_, id)| id).collect()
    }

    /// The similarity of each document; `None` for those without a vector.
    pub(crate) fn of(&self, ids: &[i64]) -> Vec<Option<f32>> {
        let mut last: HashMap<i64, Option<f32>> = ids.iter().map(|id| (*id, None)).collect();
        for (row, cosine) in self.rows().zip(&self.cosines) {
            if let Some(similarity) = last.get_mut(&row.id())
                && row.is_valid()
            {
                *similarity = Some(*cosine);
            }
        }
        let of = |id: &i64| last.get(id).copied().flatten().or_else(|| self.others.get(id).copied());
        ids.iter().map(of).collect()
    }
}

/// Sixteen parallel sums, which the compiler vectorises.
fn product(row: &[u8], query: &[i16]) -> i32 {
    let mut sums = [0_i32; LANES];
    let (row, row_rest) = row.as_chunks::<LANES>();
    let (query, query_rest) = query.as_chunks::<LANES>();
    for (row, query) in row.iter().zip(query) {
        for lane in 0..LANES {
            sums[lane] += i32::from(i16::from(row[lane] as i8)) * i32::from(query[lane]);
        }
    }
    let rest = row_rest.iter().zip(query_rest).map(|(row, query)| i32::from(*row as i8) * i32::from(*query));
    sums.iter().sum::<i32>() + rest.sum::<i32>()
}
