//! Searches all tool inputs and outputs by reading them: exact, newest first, without the index.
//!
//! Reads no more than the caller allows, and says how far it came. Conditions on a session are checked before anything of
//! it is read. Only reads.

use super::question::Question;
use super::{FindError, Found, found, project_key};
use memchr::memmem::{Finder, FinderRev};
use std::collections::HashSet;
use std::ops::ControlFlow;
use towline_core::time::Timestamp;
use towline_search::{Filters, snippet};
use towline_store::archive::{Archive, Conversation, DetailOrder, DetailText, PageKey, SessionQuery};

/// Sessions that are listed at once.
const SESSIONS_AT_ONCE: usize = 200;
const SNIPPET: usize = 160;

/// The hits, one per turn, newest first.
#[derive(Default)]
pub struct DeepAnswer {
    pub hits: Vec<Found>,
    /// The scan ended here because it had read enough; older texts were not read.
    pub reached: Option<Timestamp>,
}

/// Finds details that contain all words of the question, whatever their case, in any order; quoted words together. Reads
/// at most about `most_bytes` of text.
pub fn deep(
    archive: &Archive,
    project: Option<i64>,
    question: &Question,
    most_bytes: u64,
) -> Result<DeepAnswer, FindError> {
    let needles = needles(&question.text);
    let mut scan =
        Scan { archive, question, needles: &needles, left: most_bytes, answer: DeepAnswer::default() };
    let filters = &question.filters;
    let since = Timestamp(filters.from.unwrap_or(i64::MIN));
    let mut behind = None;
    while !needles.is_empty() && !scan.is_over() {
        let agent = filters.agent.as_deref();
        let asked = SessionQuery { project, agent, since, behind, most: SESSIONS_AT_ONCE };
        let sessions = archive.find_sessions(&asked)?;
        let Some(last) = sessions.last() else { break };
        behind = Some(PageKey::of(last));
        for session in sessions.iter().filter(|session| is_wanted(session, filters)) {
            scan.read(session)?;
            if scan.is_over() {
                break;
            }
        }
    }
    let mut answer = scan.answer;
    answer.hits.sort_by_key(|hit| std::cmp::Reverse(hit.at));
    Ok(answer)
}

/// The texts to look for, in lower case: quoted ones, and each word besides them.
fn needles(question: &str) -> Vec<String> {
    let parts = question.split('"').enumerate();
    let needles = parts.flat_map(|(number, part)| match number % 2 {
        1 => vec![part.trim()],
        _ => part.split_whitespace().collect(),
    });
    needles.filter(|needle| !needle.is_empty()).map(str::to_ascii_lowercase).collect()
}

fn is_wanted(of: &Conversation, filters: &Filters) -> bool {
    let is = |wanted: &Option<String>, own: &str| {
        wanted.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(own))
    };
    is(&filters.session, of.session.id.as_str())
        && is(&filters.branch, of.branch.as_deref().unwrap_or_default())
        && filters
            .project
            .as_ref()
            .is_none_or(|name| project_key(Some(name)) == project_key(of.project.as_deref()))
        && filters.until.is_none_or(|until| of.first_at.0 < until)
}

struct Scan<'a> {
    archive: &'a Archive,
    question: &'a Question,
    needles: &'a [String],
    /// The number of bytes that may still be read.
    left: u64,
    answer: DeepAnswer,
}

impl Scan<'_> {
    fn is_over(&self) -> bool {
        self.answer.reached.is_some() || self.answer.hits.len() >= self.question.limit
    }

    /// Reads the details of a session, newest first.
    fn read(&mut self, of: &Conversation) -> Result<(), FindError> {
        let (archive, needles) = (self.archive, self.needles);
        let turns = self.turns_with_files(of)?;
        let finders: Vec<Finder<'_>> = needles.iter().map(Finder::new).collect();
        let (mut found, mut lower): (Vec<(i64, Found)>, String) = (vec![], String::new());
        let room = self.question.limit - self.answer.hits.len();
        let _ = archive.each_detail(of, 0..=u32::MAX, DetailOrder::NewestFirst, &mut |detail| {
            if self.left == 0 {
                self.answer.reached = Some(detail.at);
                return Ok(ControlFlow::Break(()));
            }
            self.left = self.left.saturating_sub(detail.text.len() as u64);
            let is_new = found.last().is_none_or(|(_, last)| last.turn != Some(detail.turn));
            if is_new && self.is_within(detail, turns.as_ref()) && contains_all(detail, &finders, &mut lower)
            {
                found.push((detail.row, found::of_detail(detail, self.passage(detail.text, &lower))));
            }
            let is_full = found.len() >= room;
            Ok::<_, FindError>(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        for (row, hit) in found {
            self.answer.hits.push(found::in_conversation(archive, of, row, hit)?);
        }
        Ok(())
    }

    /// The turns that touched one of the files asked for; `None` if none is.
    fn turns_with_files(&self, of: &Conversation) -> Result<Option<HashSet<u32>>, FindError> {
        let wanted = &self.question.filters.files;
        if wanted.is_empty() {
            return Ok(None);
        }
        let names = |path: &str| wanted.iter().any(|end| path.ends_with(end.trim_start_matches("./")));
        let touched = self.archive.files(of, 0..=u32::MAX)?.into_iter();
        Ok(Some(touched.filter(|file| names(&file.path)).map(|file| file.turn).collect()))
    }

    fn is_within(&self, detail: &DetailText<'_>, turns: Option<&HashSet<u32>>) -> bool {
        let filters = &self.question.filters;
        turns.is_none_or(|turns| turns.contains(&detail.turn))
            && filters.from.is_none_or(|from| detail.at.0 >= from)
            && filters.until.is_none_or(|until| detail.at.0 < until)
    }

    /// The surroundings of the first text that was looked for, from the beginning of its line on.
    fn passage(&self, text: &str, lower: &str) -> String {
        let at = self.needles.first().and_then(|needle| lower.find(needle)).unwrap_or(0);
        let line = FinderRev::new("\n").rfind(&lower.as_bytes()[..at]).map_or(0, |end| end + 1);
        let start = if at - line > SNIPPET { at } else { line };
        snippet(text.get(start..).unwrap_or(text), &self.question.text, SNIPPET).text
    }
}

fn contains_all(detail: &DetailText<'_>, finders: &[Finder<'_>], lower: &mut String) -> bool {
    lower.clear();
    lower.push_str(detail.text);
    lower.make_ascii_lowercase();
    finders.iter().all(|finder| finder.find(lower.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_are_looked_for_together() {
        assert_eq!(needles("Mast \"Hull Paint\" keel"), ["mast", "hull paint", "keel"]);
        assert_eq!(needles("\"open end"), ["open end"]);
        assert!(needles(" \" \" ").is_empty());
    }
}
