//! One hit per turn: its best passage stands for it, and memories of the turn come before it.
//!
//! Scores nothing. Memories and summaries are hits of their own, and so is a document without a turn.

use super::candidates::RankCandidate;
use crate::document::DocumentKind;
use crate::source::DocFacts;

/// A session, and the number of a turn in it.
pub type TurnKey = (u64, u32);

/// The turn that a document belongs to, if it is a passage of the turn's text.
pub fn turn_of_passage(facts: &DocFacts) -> Option<TurnKey> {
    turn_of(facts).filter(|_| !matches!(facts.kind, DocumentKind::Memory | DocumentKind::Summary))
}

fn turn_of(facts: &DocFacts) -> Option<TurnKey> {
    (facts.session != 0 && facts.turn != 0).then_some((facts.session, facts.turn))
}

/// Reduces candidates, best first, to one passage per turn, with the matching memories of a turn before it.
pub fn one_per_turn(candidates: Vec<RankCandidate>) -> Vec<RankCandidate> {
    let mut hits: Vec<RankCandidate> = Vec::new();
    for candidate in candidates {
        let turn = turn_of(&candidate.facts);
        let passage = hits.iter().position(|hit| turn.is_some() && turn_of_passage(&hit.facts) == turn);
        match passage {
            Some(at) if turn_of_passage(&candidate.facts).is_some() => {
                if yields(&hits[at], &candidate) {
                    hits[at] = candidate;
                }
            }
            Some(at) if candidate.facts.kind == DocumentKind::Memory && candidate.matched != 0 => {
                hits.insert(at, candidate);
            }
            Some(_) | None => hits.push(candidate),
        }
    }
    hits
}

/// Whether a passage gives way to a lower one of its turn that contains all its query words and says more: a bookmark
/// repeats the prompt, and a prompt asks what the answer answers.
fn yields(passage: &RankCandidate, to: &RankCandidate) -> bool {
    let (of, to_kind) = (passage.facts.kind, to.facts.kind);
    let says_more = (of == DocumentKind::Bookmark && to_kind != DocumentKind::Bookmark)
        || (of == DocumentKind::Prompt && to_kind == DocumentKind::Body);
    says_more && passage.matched & !to.matched == 0
}
