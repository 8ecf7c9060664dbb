//! Projects that a query names: those whose whole name is in it.
//!
//! Reads names alone; what they count is decided by the boosts.

use crate::error::Result;
use crate::query::Query;
use crate::source::{DocSource, TagKind, tag};

/// Shorter project names are ordinary words.
const SHORTEST_NAME: usize = 3;

/// Projects whose whole name occurs in the query.
pub fn projects_named(query: &Query, sources: &[&dyn DocSource]) -> Result<Vec<String>> {
    let question = spaced(&query.text);
    let mut named = Vec::new();
    for source in sources {
        let tags = source.tags(&tag(TagKind::Project, ""))?;
        named.extend(tags.into_iter().filter(|tag| {
            let name = spaced(tag.get(2..).unwrap_or_default());
            name.trim().len() >= SHORTEST_NAME && question.contains(&name)
        }));
    }
    Ok(named)
}

/// The lower-cased words of a text, with one space around each.
fn spaced(text: &str) -> String {
    let text = &text[..crate::source::boundary(text, 4096)];
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |spaced, word| spaced + &word.to_lowercase() + " ")
}
