//! Finds the memories of a project that share words with a prompt, while an agent waits.
//!
//! Every memory is indexed under its project and each of its words together, so a lookup reads the postings of this project
//! alone, however large the rest of the index is. Compares neither meaning nor structure: the caller ranks.

use std::path::Path;
use std::sync::Arc;

use tantivy::columnar::Column;
use tantivy::{Index, IndexMeta, InvertedIndexReader, SegmentReader, Term};

use super::files::IndexFiles;
use super::schema::{ID, schema};
use super::segment::postings;
use super::{META, Payload, in_library};
use crate::error::{IndexError, Result};
use crate::source::shared_word_tag;
use crate::words::{MAX_TERMS, QueryWord, significant_words_of};

/// A word that more than one of so many memories contain tells nothing.
const TELLING: u32 = 3;

/// Files are opened late, and a writer may have merged and removed them meanwhile. An index that is damaged stays so, and an
/// agent waits.
const ATTEMPTS: usize = 2;

/// The ids of at most `most` memories of a project: those with the rarest words of the prompt first, then the newest.
/// `None` without an index, and while it is built: a build has not reached all memories. A prompt of stop words alone, as "go
/// on" or "what was I doing?", is related to none, and costs nothing.
pub fn memories_sharing(folder: &Path, project: &str, prompt: &str, most: usize) -> Result<Option<Vec<i64>>> {
    let words = significant_words_of(prompt);
    if words.is_empty() {
        return Ok(Some(vec![]));
    }
    let mut found = Ok(None);
    for _ in 0..ATTEMPTS {
        if !folder.join(META).exists() {
            break;
        }
        found = in_library(|| lookup(folder, project, &words, most));
        if found.is_ok() {
            break;
        }
    }
    found
}

fn lookup(folder: &Path, project: &str, words: &[QueryWord], most: usize) -> Result<Option<Vec<i64>>> {
    let index = Index::open(IndexFiles::open_for_lookup(folder).map_err(IndexError::damaged)?)?;
    let meta = index.load_metas()?;
    let other_format = || IndexError::OtherFormat { path: folder.to_owned() };
    let is_built = Payload::of(&meta).ok_or_else(other_format)?.checkpoint.is_some();
    if is_built { sharing(&index, meta, project, words, most).map(Some) } else { Ok(None) }
}

fn sharing(
    index: &Index,
    meta: IndexMeta,
    project: &str,
    words: &[QueryWord],
    most: usize,
) -> Result<Vec<i64>> {
    let field = schema().1.tags;
    let open = |segment| SegmentReader::open(&index.segment(segment));
    let readers = meta.segments.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let open = |reader: &SegmentReader| reader.inverted_index(field);
    let tags = readers.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let term = |word: &str| Term::from_field_text(field, &shared_word_tag(project, word));
    let memories = frequency(&tags, &term(""))?;
    let mut scores: Vec<((usize, u32), f32)> = Vec::new();
    for word in words.iter().take(MAX_TERMS) {
        let term = term(&word.indexed);
        let found = frequency(&tags, &term)?;
        if found == 0 || found > memories.max(TELLING) / TELLING {
            continue;
        }
        let weight = (memories as f32 / found as f32).ln_1p();
        for (segment, tags) in tags.iter().enumerate() {
            scores.extend(postings(tags, &term)?.into_iter().map(|doc| ((segment, doc), weight)));
        }
    }
    let mut ranked = summed(scores);
    ranked.retain(|((segment, doc), _)| !readers[*segment].is_deleted(*doc));
    let best_first = |(a, higher): &((usize, u32), f32), (b, lower): &((usize, u32), f32)| {
        lower.total_cmp(higher).then_with(|| b.cmp(a))
    };
    if ranked.len() > most {
        ranked.select_nth_unstable_by(most, best_first);
        ranked.truncate(most);
    }
    ranked.sort_unstable_by(best_first);
    // Opening a column costs as much as all the rest of a hit.
    let mut columns: Vec<Option<Column<i64>>> = vec![None; readers.len()];
    let ids = ranked.into_iter().map(|((segment, doc), _)| {
        let column = match &mut columns[segment] {
            Some(column) => column,
            unopened => unopened.insert(readers[segment].fast_fields().i64(ID)?),
        };
        Ok(column.first(doc).unwrap_or_default())
    });
    ids.collect()
}

/// One entry per document, with the sum of its scores. Postings are sorted, so sorting merges a few runs: 0.1 of the
/// instructions of a map.
fn summed(mut scores: Vec<((usize, u32), f32)>) -> Vec<((usize, u32), f32)> {
    scores.sort_by_key(|(document, _)| *document);
    scores.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        kept.1 += if is_same { later.1 } else { 0.0 };
        is_same
    });
    scores
}

/// In how many documents a term occurs.
fn frequency(segments: &[Arc<InvertedIndexReader>], term: &Term) -> Result<u32> {
    let each = segments.iter().map(|tags| tags.doc_freq(term));
    Ok(each.sum::<std::io::Result<u32>>()?)
}
