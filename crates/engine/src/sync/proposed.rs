//! A proposed change as JSON, in the archive and at the hub.
//!
//! Everything read here is redacted and bounded like any other draft; lengths in the JSON are not trusted. A change of a newer
//! version is none.

use super::export::wire::MemoryWords;
use super::words::short;
use serde::{Deserialize, Serialize};
use towline_core::capture::FileAccess;
use towline_core::id::Uid;
use towline_core::memory::{ProposalFate, ProposedChange};
use towline_store::archive::{SharedAnswer, SharedProposal};

#[derive(Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum ChangeWords {
    Edit { text: MemoryWords },
    Pin,
    Unpin,
    Supersede { by: Option<Uid>, why: String },
    Forget,
}

#[derive(Serialize, Deserialize)]
struct ProposalWords {
    memory: Uid,
    change: ChangeWords,
}

#[derive(Serialize, Deserialize)]
struct AnswerWords {
    proposal: Uid,
    answer: String,
}

/// The change as JSON.
pub fn change_words(change: &ProposedChange) -> Result<String, serde_json::Error> {
    serde_json::to_string(&wire(change))
}

/// Parses the output of `change_words`. `None` for an empty text and for a change of a newer version.
pub fn read_change(words: &str) -> Option<ProposedChange> {
    read(serde_json::from_str(words).ok()?)
}

/// A proposal as the hub has it.
pub(super) fn proposal_words(proposal: &SharedProposal) -> Result<String, serde_json::Error> {
    let change = serde_json::from_str(&proposal.change)?;
    serde_json::to_string(&ProposalWords { memory: proposal.memory, change })
}

pub(super) fn read_proposal(words: &str) -> Result<Option<SharedProposal>, serde_json::Error> {
    let ProposalWords { memory, change } = serde_json::from_str(words)?;
    let Some(change) = read(change) else { return Ok(None) };
    Ok(Some(SharedProposal { memory, change: change_words(&change)? }))
}

pub(super) fn answer_words(answer: SharedAnswer) -> Result<String, serde_json::Error> {
    let SharedAnswer { proposal, fate } = answer;
    serde_json::to_string(&AnswerWords { proposal, answer: fate.name().to_owned() })
}

/// `None` for anything but the answers that an owner gives.
pub(super) fn read_answer(words: &str) -> Result<Option<SharedAnswer>, serde_json::Error> {
    let AnswerWords { proposal, answer } = serde_json::from_str(words)?;
    let fate = ProposalFate::named(&answer).filter(|fate| *fate != ProposalFate::Withdrawn);
    Ok(fate.map(|fate| SharedAnswer { proposal, fate }))
}

fn wire(change: &ProposedChange) -> ChangeWords {
    match change {
        ProposedChange::Edit(content) => ChangeWords::Edit { text: MemoryWords::from((**content).clone()) },
        ProposedChange::Pin => ChangeWords::Pin,
        ProposedChange::Unpin => ChangeWords::Unpin,
        ProposedChange::Supersede { by, why } => ChangeWords::Supersede { by: *by, why: short(why) },
        ProposedChange::Forget => ChangeWords::Forget,
    }
}

fn read(change: ChangeWords) -> Option<ProposedChange> {
    Some(match change {
        ChangeWords::Edit { mut text } => {
            let files = std::mem::take(&mut text.files).into_iter();
            let files = files.filter_map(|(path, how)| Some((path, FileAccess::named(&how)?))).collect();
            ProposedChange::Edit(Box::new(text.content(files)?))
        }
        ChangeWords::Pin => ProposedChange::Pin,
        ChangeWords::Unpin => ProposedChange::Unpin,
        ChangeWords::Supersede { by, why } => ProposedChange::Supersede { by, why: short(&why) },
        ChangeWords::Forget => ProposedChange::Forget,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::memory::{MemoryContent, MemoryDraft, MemoryType};

    fn edit(title: &str) -> ProposedChange {
        let draft = MemoryDraft::new(MemoryType::parse("decision").unwrap(), title);
        ProposedChange::Edit(Box::new(MemoryContent::of(draft).unwrap()))
    }

    #[test]
    fn every_change_is_read_back_as_it_was_written() {
        let supersede = ProposedChange::Supersede { by: Some(Uid([7; 16])), why: "it rotted".into() };
        for change in [
            edit("Wire ropes"),
            ProposedChange::Pin,
            ProposedChange::Unpin,
            supersede,
            ProposedChange::Forget,
        ] {
            let words = change_words(&change).unwrap();
            assert_eq!(read_change(&words), Some(change.clone()));
            let proposal = SharedProposal { memory: Uid([3; 16]), change: words };
            assert_eq!(read_proposal(&proposal_words(&proposal).unwrap()).unwrap(), Some(proposal));
        }
    }

    #[test]
    fn a_huge_text_is_bounded_and_a_secret_is_redacted_when_it_is_read() {
        let words = change_words(&edit("Ropes")).unwrap();
        let huge = words.replace("Ropes", &format!("AKIAIOSFODNN7EXAMPLE {}", "wire ".repeat(1_000_000)));
        let read = change_words(&read_change(&huge).unwrap()).unwrap();
        assert!(read.len() < 1_000 && !read.contains("AKIAIOSFODNN7EXAMPLE"), "{read}");
        let why = format!(r#"{{"do":"supersede","by":null,"why":"{}"}}"#, "x".repeat(100_000));
        assert!(change_words(&read_change(&why).unwrap()).unwrap().len() < 1_000);
    }

    #[test]
    fn what_is_no_proposal_and_no_answer_is_none() {
        for words in ["", "{", "[]", r#"{"do":"rename"}"#, r#"{"do":"edit"}"#, r#"{"do":"edit","text":{}}"#] {
            assert_eq!(read_change(words), None, "{words}");
        }
        let answer = |fate| SharedAnswer { proposal: Uid([1; 16]), fate };
        let words = answer_words(answer(ProposalFate::Rejected)).unwrap();
        assert_eq!(read_answer(&words).unwrap(), Some(answer(ProposalFate::Rejected)));
        let withdrawn = answer_words(answer(ProposalFate::Withdrawn)).unwrap();
        assert_eq!(read_answer(&withdrawn).unwrap(), None, "only its proposer withdraws it");
    }
}
