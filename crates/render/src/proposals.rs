//! Open proposals, each whole: the user decides on a text, not on its title.
//!
//! Pins that agents propose, then changes that teammates propose, then the user's own. Marks what is held back and what
//! looks dangerous. Says how to accept and to reject.

use crate::memory::{memory_json, memory_text};
use crate::page::Page;
use serde_json::{Value, json};
use towline_core::escape::{escape_for_terminal, lines_for_terminal};
use towline_core::memory::{Memory, MemoryContent, ProposalFate, ProposedChange, proposal_name};
use towline_core::time::Timestamp;
use towline_engine::query::{ListedProposal, MOST_OPEN_PROPOSALS, MemoryList, TeamProposals};
use towline_engine::runtime::calendar;

pub fn proposals_json(list: &MemoryList, team: &TeamProposals) -> Value {
    let each = |listed: &[ListedProposal]| listed.iter().map(proposal_json).collect::<Vec<_>>();
    json!({
        "proposals": list.memories.iter().map(memory_json).collect::<Vec<_>>(),
        "team": each(&team.to_decide), "own": each(&team.own),
    })
}

/// One proposal of a teammate, or to one.
pub fn proposal_json(listed: &ListedProposal) -> Value {
    let ListedProposal { proposal, change, memory, instead } = listed;
    let mut shown = json!({
        "id": proposal_name(proposal.number), "uid": proposal.uid, "by": proposal.person, "owner": proposal.owner,
        "made_at": proposal.made_at.to_utc(), "state": proposal.fate.map_or("open", ProposalFate::name),
        "change": change.as_ref().map(ProposedChange::verb), "memory": memory.as_ref().map(memory_json),
        "suspicion": change.as_ref().and_then(|change| Some(change.suspicion()?.why())),
    });
    match change {
        Some(ProposedChange::Edit(content)) => {
            shown["text"] = json!({
                "type": content.kind, "title": content.title, "subtitle": content.subtitle, "facts": content.facts,
                "narrative": content.narrative, "concepts": content.concepts,
                "files": content.files.iter().map(|(path, _)| path).collect::<Vec<_>>(),
            });
        }
        Some(ProposedChange::Supersede { why, .. }) => {
            shown["why"] = json!(why);
            shown["instead"] = json!(instead.as_ref().map(memory_json));
        }
        Some(ProposedChange::Pin | ProposedChange::Unpin | ProposedChange::Forget) | None => {}
    }
    shown
}

pub fn proposals_text(list: &MemoryList, team: &TeamProposals, now: Timestamp) -> String {
    let mut page = Page::default();
    for memory in &list.memories {
        memory_text(&mut page, memory, now);
        page.gap();
    }
    if let [first, ..] = list.memories.as_slice() {
        page.line(&next(first));
    }
    for of_member in team.to_decide.chunk_by(|one, other| one.proposal.person == other.proposal.person) {
        page.gap();
        member_text(&mut page, of_member, now);
    }
    if let [first, ..] = team.to_decide.as_slice() {
        let id = proposal_name(first.proposal.number);
        page.line(&format!(
            "next: `tow memory proposals accept {id}` changes your memory, `tow memory proposals reject {id}` leaves it as it is"
        ));
    }
    if !team.own.is_empty() {
        page.gap();
        page.line("Your own:");
        team.own.iter().for_each(|listed| own_text(&mut page, listed, now));
    }
    if page.text.is_empty() {
        page.line(&format!("nothing is proposed; looked in: {}", list.looked));
    }
    page.text
}

fn next(memory: &Memory) -> String {
    let id = memory.name();
    let release = memory.quarantine.as_ref().map(|_| format!("`tow memory release {id}` first, then "));
    format!(
        "next: {}`tow memory proposals accept {id}` pins it and makes it your own words, `tow memory proposals reject {id}` leaves it a note",
        release.unwrap_or_default()
    )
}

/// All open proposals of one teammate.
fn member_text(page: &mut Page, listed: &[ListedProposal], now: Timestamp) {
    let person = listed.first().and_then(|listed| listed.proposal.person.as_deref()).unwrap_or_default();
    let more = if listed.len() >= MOST_OPEN_PROPOSALS as usize {
        ", as many as are kept: more come only after you have answered some"
    } else {
        ""
    };
    let many = if listed.len() == 1 { "1 change".to_owned() } else { format!("{} changes", listed.len()) };
    page.line(&format!("{} proposes {many} of your memories{more}:", escape_for_terminal(person)));
    for one in listed {
        page.gap();
        let since = calendar::clock(one.proposal.made_at, now);
        let id = proposal_name(one.proposal.number);
        page.line(&format!("{id}  {}, since {since}", wish(one)));
        change_lines(page, one);
    }
    page.gap();
}

/// Such as `edit m12: The painter is of hemp`.
fn wish(listed: &ListedProposal) -> String {
    let verb = listed.change.as_ref().map_or("change", ProposedChange::verb);
    match &listed.memory {
        Some(memory) => {
            format!("{verb} {}: {}", memory.name(), escape_for_terminal(&memory.content.title))
        }
        None => format!("{verb} a memory that is not here"),
    }
}

fn change_lines(page: &mut Page, listed: &ListedProposal) {
    match &listed.change {
        Some(ProposedChange::Edit(content)) => {
            let before = listed.memory.as_ref().map(|memory| &memory.content);
            edit_lines(page, before, content);
        }
        Some(ProposedChange::Supersede { why, .. }) => {
            if let Some(instead) = &listed.instead {
                let title = escape_for_terminal(&instead.content.title);
                page.line(&format!("    {} holds instead: {title}", instead.name()));
            }
            page.line(&format!("    because: {}", escape_for_terminal(why)));
        }
        Some(ProposedChange::Forget) => page.line("    it would be erased for good, on every machine"),
        Some(ProposedChange::Pin) => page.line("    every session of the project would be given it"),
        Some(ProposedChange::Unpin) => {}
        None => page.line("    a newer version of Towline made it: update `tow`"),
    }
    if let Some(found) = listed.change.as_ref().and_then(ProposedChange::suspicion) {
        let why = found.why();
        page.line(&format!(
            "    ! dangerous: {why}; if you accept it, no model is given it before `tow memory release`"
        ));
    }
}

/// The fields that differ, each whole.
fn edit_lines(page: &mut Page, before: Option<&MemoryContent>, after: &MemoryContent) {
    let fields = |content: &MemoryContent| {
        let paths = content.files.iter().map(|(path, how)| format!("{path} ({})", how.name()));
        [
            ("type", content.kind.as_str().to_owned()),
            ("title", content.title.clone()),
            ("subtitle", content.subtitle.clone()),
            ("facts", content.facts.join("\n")),
            ("narrative", content.narrative.clone()),
            ("concepts", content.concepts.join(", ")),
            ("files", paths.collect::<Vec<_>>().join("\n")),
        ]
    };
    let known = before.map(fields);
    for (place, (name, text)) in fields(after).into_iter().enumerate() {
        let old = known.as_ref().and_then(|known| known.get(place)).map_or("", |(_, old)| old.as_str());
        if old != text {
            page.line(&format!("    {name}:"));
            marked(page, '-', old);
            marked(page, '+', &text);
        }
    }
}

fn marked(page: &mut Page, mark: char, text: &str) {
    for line in lines_for_terminal(text).lines() {
        page.line(&format!("      {mark} {line}"));
    }
}

fn own_text(page: &mut Page, listed: &ListedProposal, now: Timestamp) {
    let proposal = &listed.proposal;
    let id = proposal_name(proposal.number);
    let owner = escape_for_terminal(proposal.owner.as_deref().unwrap_or("its owner"));
    let state = match proposal.fate {
        None => format!("{owner} has not decided; `tow memory proposals withdraw {id}` takes it back"),
        Some(fate) => format!("{owner} {} it", fate.name()),
    };
    let since = calendar::clock(proposal.made_at, now);
    page.line(&format!("  {id}  {}, since {since}: {state}", wish(listed)));
}
