//! Query filters: which documents a query may return.
//!
//! The values of one filter are alternatives; several filters must all hold.

use super::hit::DocAddress;
use crate::error::Result;
use crate::query::{Filters, Query};
use crate::source::{DocSource, TagKind, session_key, tag};

/// The set of documents a query's filters allow.
pub struct Filter {
    /// Per source, whether each document is allowed; `None` allows all.
    allowed: Option<Vec<Vec<bool>>>,
    from: i64,
    until: i64,
}

impl Filter {
    pub fn new(query: &Query, sources: &[&dyn DocSource]) -> Result<Filter> {
        let filters = &query.filters;
        let mut filter = Filter {
            allowed: None,
            from: filters.from.unwrap_or(i64::MIN),
            until: filters.until.unwrap_or(i64::MAX),
        };
        for tags in required_tags(filters) {
            filter.narrow(sources, |source| tagged_by_any(source, &tags))?;
        }
        if let Some(session) = &filters.session {
            filter.narrow(sources, |source| source.in_session(session_key(session)))?;
        }
        Ok(filter)
    }

    pub fn allows(&self, address: DocAddress, sources: &[&dyn DocSource]) -> bool {
        let is_tagged =
            self.allowed.as_ref().is_none_or(|allowed| allowed[address.source][address.doc as usize]);
        is_tagged && self.is_in_time(address, sources)
    }

    fn is_in_time(&self, address: DocAddress, sources: &[&dyn DocSource]) -> bool {
        if (self.from, self.until) == (i64::MIN, i64::MAX) {
            return true;
        }
        (self.from..self.until).contains(&sources[address.source].at(address.doc))
    }

    fn narrow(
        &mut self,
        sources: &[&dyn DocSource],
        matching: impl Fn(&dyn DocSource) -> Result<Vec<u32>>,
    ) -> Result<()> {
        let mut narrowed = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            let mut narrowed_source = vec![false; source.doc_count() as usize];
            for doc in matching(*source)? {
                let was_allowed = self.allowed.as_ref().is_none_or(|allowed| allowed[number][doc as usize]);
                narrowed_source[doc as usize] = was_allowed;
            }
            narrowed.push(narrowed_source);
        }
        self.allowed = Some(narrowed);
        Ok(())
    }
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

fn tagged_by_any(source: &dyn DocSource, tags: &[String]) -> Result<Vec<u32>> {
    let mut allowed = Vec::new();
    for tag in tags {
        allowed.extend(source.tagged(tag)?);
    }
    Ok(allowed)
}
