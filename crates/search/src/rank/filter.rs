//! What a hit must be, document by document.
//!
//! What several values of one filter allow is added up; several filters must all hold.

use super::candidates::Place;
use crate::index::Error;
use crate::query::{Filters, Query};
use crate::source::{Marked, Source, mark, session_key};

/// What is let through.
pub struct Filter {
    /// For each source, the places that are let; `None` lets all.
    places: Option<Vec<Vec<bool>>>,
    from: i64,
    until: i64,
}

impl Filter {
    pub fn new(query: &Query, sources: &[&dyn Source]) -> Result<Filter, Error> {
        let filters = &query.filters;
        let mut filter = Filter {
            places: None,
            from: filters.from.unwrap_or(i64::MIN),
            until: filters.until.unwrap_or(i64::MAX),
        };
        for marks in wanted_marks(filters) {
            filter.narrow(sources, |source| marked_by_any(source, &marks))?;
        }
        if let Some(session) = &filters.session {
            filter.narrow(sources, |source| source.members(session_key(session)))?;
        }
        Ok(filter)
    }

    pub fn lets(&self, place: Place, sources: &[&dyn Source]) -> bool {
        let is_marked = self.places.as_ref().is_none_or(|places| places[place.source][place.place as usize]);
        is_marked && self.is_in_time(place, sources)
    }

    fn is_in_time(&self, place: Place, sources: &[&dyn Source]) -> bool {
        if (self.from, self.until) == (i64::MIN, i64::MAX) {
            return true;
        }
        (self.from..self.until).contains(&sources[place.source].at(place.place))
    }

    fn narrow(
        &mut self,
        sources: &[&dyn Source],
        wanted: impl Fn(&dyn Source) -> Result<Vec<u32>, Error>,
    ) -> Result<(), Error> {
        let mut narrowed = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            let mut lets = vec![false; source.places() as usize];
            for place in wanted(*source)? {
                let was_let = self.places.as_ref().is_none_or(|places| places[number][place as usize]);
                lets[place as usize] = was_let;
            }
            narrowed.push(lets);
        }
        self.places = Some(narrowed);
        Ok(())
    }
}

/// For each filter that asks for something: the marks that satisfy it.
fn wanted_marks(filters: &Filters) -> Vec<Vec<String>> {
    let named = |marked: Marked, names: &[String]| names.iter().map(|name| mark(marked, name)).collect();
    let one = |marked: Marked, name: &Option<String>| name.iter().map(|name| mark(marked, name)).collect();
    let all: [Vec<String>; 7] = [
        filters.kinds.iter().map(|kind| mark(Marked::Kind, kind.word())).collect(),
        named(Marked::Type, &filters.types),
        named(Marked::Concept, &filters.concepts),
        filters.files.iter().flat_map(|file| file_marks(file)).collect(),
        one(Marked::Project, &filters.project),
        one(Marked::Agent, &filters.agent),
        one(Marked::Branch, &filters.branch),
    ];
    all.into_iter().filter(|marks| !marks.is_empty()).collect()
}

/// The marks of a file: by itself, and of all that is below it if it is a folder.
pub fn file_marks(file: &str) -> [String; 2] {
    let file = file.strip_prefix("./").unwrap_or(file).trim_matches('/');
    [mark(Marked::File, file), format!("{}/", mark(Marked::File, file))]
}

fn marked_by_any(source: &dyn Source, marks: &[String]) -> Result<Vec<u32>, Error> {
    let mut places = Vec::new();
    for mark in marks {
        places.extend(source.marked(mark)?);
    }
    Ok(places)
}
