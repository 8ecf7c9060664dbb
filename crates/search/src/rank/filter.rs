//! Query filters: which documents a query may return.
//!
//! The values of one filter are alternatives; several filters must all hold.

use super::hit::DocAddress;
use crate::error::Result;
use crate::query::{Filters, Query};
use crate::source::{DocSource, TagKind, session_key, tag};

/// The set of documents a query's filters allow.
pub struct Filter {
    /// Per source; `None` allows all.
    allowed: Option<Vec<Allowed>>,
    from: i64,
    until: i64,
}

/// The documents of a source that have the tags.
struct Allowed {
    /// One bit per document.
    bits: Vec<u64>,
    /// In ascending order.
    docs: Vec<u32>,
}

/// At most one of so many documents is few: reading each of them is quicker than reading the postings of the words.
const FEW: usize = 32;

impl Filter {
    pub fn new(query: &Query, sources: &[&dyn DocSource]) -> Result<Filter> {
        let filters = &query.filters;
        let required = required_tags(filters);
        let session = filters.session.as_deref().map(session_key);
        let is_set = session.is_some() || !required.is_empty();
        let allowed = |source: &&dyn DocSource| allowed(*source, session, &required);
        let allowed = is_set.then(|| sources.iter().map(allowed).collect::<Result<_>>()).transpose()?;
        Ok(Filter {
            allowed,
            from: filters.from.unwrap_or(i64::MIN),
            until: filters.until.unwrap_or(i64::MAX),
        })
    }

    pub fn allows(&self, address: DocAddress, sources: &[&dyn DocSource]) -> bool {
        let is_tagged = self.allowed.as_ref().is_none_or(|allowed| {
            allowed[address.source].bits[address.doc as usize / 64] >> (address.doc % 64) & 1 == 1
        });
        is_tagged && self.is_in_time(address, sources)
    }

    /// The documents of a source that have the tags, if they are few.
    pub fn few(&self, source: usize, documents: &dyn DocSource) -> Option<&[u32]> {
        let docs = &self.allowed.as_ref()?[source].docs;
        (docs.len() <= documents.doc_count() as usize / FEW).then_some(docs)
    }

    /// Drops sources without any allowed document: their words need not be looked up.
    pub fn drop_empty_sources(&mut self, sources: &mut Vec<&dyn DocSource>) {
        let Some(allowed) = &mut self.allowed else { return };
        let mut is_kept = allowed.iter().map(|allowed| !allowed.docs.is_empty());
        sources.retain(|_| is_kept.next().unwrap_or(true));
        allowed.retain(|allowed| !allowed.docs.is_empty());
    }

    fn is_in_time(&self, address: DocAddress, sources: &[&dyn DocSource]) -> bool {
        if (self.from, self.until) == (i64::MIN, i64::MAX) {
            return true;
        }
        (self.from..self.until).contains(&sources[address.source].at(address.doc))
    }
}

/// The documents that meet every condition: the first one is read whole, the others only where the first ones hold.
fn allowed(source: &dyn DocSource, session: Option<u64>, required: &[Vec<String>]) -> Result<Allowed> {
    let mut docs = session.map(|session| source.in_session(session)).transpose()?;
    for tags in required {
        let mut tagged = Vec::new();
        for tag in tags {
            tagged.extend(match &docs {
                Some(docs) => source.tagged_among(tag, docs)?,
                None => source.tagged(tag)?,
            });
        }
        tagged.sort_unstable();
        tagged.dedup();
        docs = Some(tagged);
    }
    let docs = docs.unwrap_or_default();
    let mut bits = vec![0; source.doc_count() as usize / 64 + 1];
    docs.iter().for_each(|doc| bits[*doc as usize / 64] |= 1 << (doc % 64));
    Ok(Allowed { bits, docs })
}

/// For each filter that is set: the tags that satisfy it.
fn required_tags(filters: &Filters) -> Vec<Vec<String>> {
    let named = |tagged: TagKind, names: &[String]| names.iter().map(|name| tag(tagged, name)).collect();
    let one = |tagged: TagKind, name: &Option<String>| name.iter().map(|name| tag(tagged, name)).collect();
    let all: [Vec<String>; 7] = [
        filters.kinds.iter().map(|kind| tag(TagKind::Kind, kind.name())).collect(),
        named(TagKind::Type, &filters.types),
        named(TagKind::Concept, &filters.concepts),
        filters.files.iter().flat_map(|file| file_tags(file)).collect(),
        one(TagKind::Project, &filters.project),
        one(TagKind::Agent, &filters.agent),
        one(TagKind::Branch, &filters.branch),
    ];
    all.into_iter().filter(|tags| !tags.is_empty()).collect()
}

/// The tags of a file: for the file itself, and as a prefix in case it is a folder.
pub fn file_tags(file: &str) -> [String; 2] {
    let file = file.strip_prefix("./").unwrap_or(file).trim_matches('/');
    [tag(TagKind::File, file), format!("{}/", tag(TagKind::File, file))]
}
