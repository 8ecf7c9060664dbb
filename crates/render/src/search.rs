//! Search hits: two lines each, the words that matched highlighted; for models, with the cost of reading one whole.
//!
//! Fits lines to the width, and escapes untrusted text for the terminal.

use crate::{Style, Tone};
use serde_json::{Value, json};
use towline_core::escape::{escape_for_terminal, fit_to_width};
use towline_core::memory::{TrustLevel, format_owner};
use towline_core::time::Timestamp;
use towline_engine::index::{Found, marks};
use towline_engine::query::SearchResults;
use towline_engine::runtime::calendar;

/// What is said of each hit besides its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitNotes {
    None,
    /// The reasons for its rank.
    Reasons,
    /// The tokens that reading it takes, for a model.
    Tokens,
}

pub fn search_json(results: &SearchResults) -> Value {
    let mut all =
        json!({"results": results.hits.iter().map(hit_json).collect::<Vec<_>>(), "pending": results.pending});
    if let Some(reached) = results.reached {
        all["reached"] = json!(reached.to_utc());
    }
    all
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

pub fn search_text(results: &SearchResults, notes: HitNotes, now: Timestamp, style: Style) -> String {
    let lines = [pending_line(results), reached_line(results)];
    let pending: String = lines.into_iter().flatten().map(|line| line + "\n").collect();
    if results.hits.is_empty() {
        let nothing = if results.is_deep {
            "nothing was found in tool output; `--all-projects` looks everywhere"
        } else {
            "nothing was found; `--deep` reads all tool output, `--all-projects` looks everywhere, \
             `tow session turns` lists what was done"
        };
        return format!("{nothing}\n{pending}");
    }
    let lines = HitLines { words: &results.words, notes, now, style };
    let hits = results.hits.iter().map(|hit| lines.of(hit)).collect::<String>();
    // A long answer to a model is cut at its end.
    if notes == HitNotes::Tokens { pending + &hits } else { hits + &pending }
}

/// How much was not searched because it is not indexed yet.
fn pending_line(results: &SearchResults) -> Option<String> {
    let turns = if results.pending == 1 { "turn is" } else { "turns are" };
    (results.pending > 0)
        .then(|| format!("{} {turns} still being indexed; search again in a moment for all", results.pending))
}

/// How far a deep search came before it had read enough.
fn reached_line(results: &SearchResults) -> Option<String> {
    let reached = results.reached?.to_utc();
    Some(format!(
        "tool output before {reached} was not read; narrow by project or time, or go on with `until` {reached}"
    ))
}

/// How hits are shown.
struct HitLines<'a> {
    /// The words that were searched for.
    words: &'a str,
    notes: HitNotes,
    now: Timestamp,
    style: Style,
}

impl HitLines<'_> {
    fn of(&self, hit: &Found) -> String {
        let columns = self.style.columns.max(40);
        let place = self.place(hit);
        let cost = match self.notes {
            HitNotes::Tokens => format!(" ~{} tokens", hit.tokens),
            HitNotes::None | HitNotes::Reasons => String::new(),
        };
        let head = format!("{place}{}", escape_for_terminal(&hit.title));
        let head = fit_to_width(&head, columns.saturating_sub(cost.len()));
        let head = match head.trim_end().strip_prefix(&place) {
            Some(title) => place + &self.highlighted(title, None),
            None => head.trim_end().to_owned(),
        };
        let mut text = format!("{head}{cost}\n");
        if hit.snippet != hit.title {
            let snippet = fit_to_width(&format!("    {}", escape_for_terminal(&hit.snippet)), columns);
            text += &(self.highlighted(snippet.trim_end(), Some(Tone::Faint)) + "\n");
        }
        if self.notes == HitNotes::Reasons {
            let why = format!("    because: {}; words: {}", hit.reasons.join(", "), hit.words.join(", "));
            let why = fit_to_width(&escape_for_terminal(&why), columns);
            text += &(self.style.tint(Tone::Faint, why.trim_end()) + "\n");
        }
        text
    }

    /// The beginning of a hit's line: its id, when, and what it is.
    fn place(&self, hit: &Found) -> String {
        let kind = match hit.memory_type.as_deref().unwrap_or(hit.kind) {
            "body" => "message",
            "detail" => "tool output",
            kind => kind,
        };
        let level = hit.level.map_or(String::new(), |level| format!(", {}", level.name()));
        let when = calendar::clock(hit.at, self.now);
        let mark = if hit.is_replaced { " (replaced)" } else { "" };
        let whose = format_owner(hit.person.as_deref(), hit.machine.as_deref());
        let whose = whose.map_or(String::new(), |whose| format!(" of {}", escape_for_terminal(&whose)));
        format!("{:<14} {when}  {kind}{level}{whose}{mark}: ", hit.id)
    }

    /// The text in this tone, with the words of the question highlighted. Without colours nothing is added.
    fn highlighted(&self, text: &str, tone: Option<Tone>) -> String {
        let toned = |part: &str| match tone {
            Some(tone) if !part.is_empty() => self.style.tint(tone, part),
            Some(_) | None => part.to_owned(),
        };
        let (mut line, mut at) = (String::new(), 0);
        for mark in marks(text, self.words).into_iter().filter(|_| self.style.is_coloured) {
            line += &toned(&text[at..mark.start]);
            line += &self.style.tint(Tone::Match, &text[mark.clone()]);
            at = mark.end;
        }
        line + &toned(&text[at..])
    }
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

    #[test]
    fn matching_words_stand_out_on_a_terminal_alone_and_tokens_are_for_models() {
        let hit = Found {
            id: "m1".to_owned(),
            title: "The tests failed".to_owned(),
            snippet: "two tokens, so tests failed".to_owned(),
            tokens: 23,
            ..Found::default()
        };
        let results = SearchResults {
            hits: vec![hit],
            words: "why do tests fail".to_owned(),
            ..SearchResults::default()
        };
        let text = |notes, style| search_text(&results, notes, Timestamp(0), style);
        let coloured = text(HitNotes::None, Style { is_coloured: true, columns: 80 });
        assert_eq!(coloured.matches("\x1b[1;31mtests\x1b[0m").count(), 2, "{coloured:?}");
        assert_eq!(coloured.matches("\x1b[1;31mfailed\x1b[0m").count(), 2, "{coloured:?}");
        let plain = text(HitNotes::None, Style::PLAIN);
        assert!(!plain.contains('\x1b') && !plain.contains("~23"), "{plain:?}");
        assert!(text(HitNotes::Tokens, Style::PLAIN).contains("~23 tokens"));
    }
}
