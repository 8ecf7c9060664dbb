//! A stored memory: whether it is new, was known, or replaces others.
//!
//! Always names the memories that were replaced, and how to bring them back.

use crate::memory::memory_json;
use crate::{Style, Tone};
use serde_json::{Value, json};
use towline_core::escape::escape_for_terminal;
use towline_core::memory::Memory;
use towline_engine::curate::{Proposal, Remembered};
use towline_engine::memory::remember::Kept;

pub fn remember_json(remembered: &Remembered) -> Value {
    let Remembered { outcome, memory, replaced, proposal } = remembered;
    let outcome = match outcome {
        Kept::FoundAgain(_) => "found_again",
        Kept::Replaced { .. } => "replaced",
        Kept::New(_) | Kept::Outdated { .. } | Kept::Forgotten => "new",
    };
    let one = |old: &Memory| json!({"id": old.name(), "title": old.content.title, "why": reason(old)});
    let replaced: Vec<Value> = replaced.iter().map(one).collect();
    let mut all =
        json!({"id": memory.name(), "outcome": outcome, "replaced": replaced, "memory": memory_json(memory)});
    if let Some(proposal) = proposal {
        all["pin_refused"] = json!("only a person can pin memories");
        all["proposal"] = match proposal {
            Proposal::Open => json!({"open": true}),
            Proposal::Refused(why) => json!({"open": false, "why": why}),
        };
    }
    all
}

pub fn remember_text(remembered: &Remembered, style: Style) -> String {
    let Remembered { outcome, memory, replaced, proposal } = remembered;
    let (id, title) = (memory.name(), escape_for_terminal(&memory.content.title));
    let place =
        memory.project.as_deref().map_or(String::new(), |name| format!(" in {}", escape_for_terminal(name)));
    let (pinned, pin) = if memory.pinned_at.is_some() { (", pinned", "pin --off") } else { ("", "pin") };
    let mut text = match outcome {
        Kept::FoundAgain(_) => format!("{id} says this already{pinned}: {title}\n"),
        Kept::New(_) | Kept::Replaced { .. } | Kept::Outdated { .. } | Kept::Forgotten => {
            format!("{id} {}{place}{pinned}: {title}\n", escape_for_terminal(memory.content.kind.as_str()))
        }
    };
    for old in replaced {
        let (was, before) = (old.name(), escape_for_terminal(&old.content.title));
        let line = format!("it replaces {was}, since {}: {before}", escape_for_terminal(reason(old)));
        text += &(style.tint(Tone::Warning, &line) + "\n");
    }
    if let Some(proposal) = proposal {
        let line = match proposal {
            Proposal::Open => "it is proposed as a pin; the user decides: `tow memory proposals`".to_owned(),
            Proposal::Refused(why) => format!("it is neither pinned nor proposed: {why}"),
        };
        text += &(style.tint(Tone::Warning, &line) + "\n");
    }
    if memory.content.text().contains("[redacted:") {
        text += &(style.tint(Tone::Warning, "a secret in it was left out") + "\n");
    }
    text + &match replaced.first() {
        Some(old) => {
            format!("next: `tow memory undo {}` lets both stand, `tow show {id}` shows it\n", old.name())
        }
        None => format!(
            "next: `tow show {id}`, `tow memory edit {id}`, `tow memory {pin} {id}`, `tow data forget {id}`\n"
        ),
    }
}

fn reason(old: &Memory) -> &str {
    old.superseded.as_ref().map_or("", |superseded| superseded.why.as_str())
}
