//! Search hits: two lines each, with the cost of reading one whole.
//!
//! Fits lines to the width, and escapes untrusted text for the terminal.

use crate::{Style, Tone};
use serde_json::{Value, json};
use towline_core::escape::{escape_for_terminal, fit_to_width};
use towline_core::memory::{TrustLevel, format_owner};
use towline_core::time::Timestamp;
use towline_engine::index::Found;
use towline_engine::query::SearchResults;
use towline_engine::runtime::calendar;

/// Whether the rank of each hit is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranks {
    Explained,
    Unexplained,
}

pub fn search_json(results: &SearchResults) -> Value {
    json!({"results": results.hits.iter().map(hit_json).collect::<Vec<_>>()})
}

pub fn hit_json(hit: &Found) -> Value {
    let mut all = json!({
        "id": hit.id, "kind": hit.kind, "score": hit.score, "title": hit.title, "snippet": hit.snippet,
        "session": hit.session, "message": hit.message, "turn": hit.turn, "at": hit.at.to_utc(),
        "project": hit.project, "agent": hit.agent, "tokens": hit.tokens, "type": hit.memory_type,
        "level": hit.level.map(TrustLevel::name), "superseded": hit.is_replaced, "words": hit.words, "reasons": hit.reasons,
    });
    let named = [("person", &hit.person), ("machine", &hit.machine)];
    for (key, name) in named.into_iter().filter_map(|(key, name)| Some((key, name.as_ref()?))) {
        all[key] = json!(name);
    }
    if hit.is_from_hub {
        all["from"] = json!("hub");
    }
    all
}

pub fn search_text(results: &SearchResults, ranks: Ranks, now: Timestamp, style: Style) -> String {
    if results.hits.is_empty() {
        let nothing =
            "nothing was found; `--all-projects` looks everywhere, `tow session turns` lists what was done";
        return format!("{nothing}\n");
    }
    results.hits.iter().map(|hit| hit_text(hit, ranks, now, style)).collect()
}

fn hit_text(hit: &Found, ranks: Ranks, now: Timestamp, style: Style) -> String {
    let columns = style.columns.max(40);
    let kind = hit.memory_type.as_deref().unwrap_or(hit.kind);
    let level = hit.level.map_or(String::new(), |level| format!(", {}", level.name()));
    let when = calendar::clock(hit.at, now);
    let mark = if hit.is_replaced { " (replaced)" } else { "" };
    let whose = format_owner(hit.person.as_deref(), hit.machine.as_deref());
    let whose = whose.map_or(String::new(), |whose| format!(" of {}", escape_for_terminal(&whose)));
    let head =
        format!("{:<14} {when}  {kind}{level}{whose}{mark}: {}", hit.id, escape_for_terminal(&hit.title));
    let cost = format!(" ~{} tokens", hit.tokens);
    let line = fit_to_width(&head, columns.saturating_sub(cost.len()));
    let mut text = format!("{}{}\n", line.trim_end(), style.tint(Tone::Faint, &cost));
    let mut add_faint = |line: String| {
        text += &(style.tint(Tone::Faint, fit_to_width(&line, columns).trim_end()) + "\n");
    };
    if hit.snippet != hit.title {
        add_faint(format!("    {}", escape_for_terminal(&hit.snippet)));
    }
    if ranks == Ranks::Explained {
        let why = format!("    because: {}; words: {}", hit.reasons.join(", "), hit.words.join(", "));
        add_faint(escape_for_terminal(&why));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_of_the_team_names_its_source_and_its_person() {
        let (person, memory_type) = (Some("bob".to_owned()), Some("gotcha".to_owned()));
        let json = hit_json(&Found { person, memory_type, is_from_hub: true, ..Found::default() });
        assert_eq!(
            (&json["from"], &json["person"], &json["type"]),
            (&"hub".into(), &"bob".into(), &"gotcha".into())
        );
        assert!(hit_json(&Found::default()).get("from").is_none());
    }
}
