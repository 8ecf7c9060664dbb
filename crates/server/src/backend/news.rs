//! News of the engine as entries of the HTTP stream.
//!
//! Only translates; `engine::query::news` finds them.

use crate::http::{Batch, News, NewsKind};
use serde_json::json;
use towline_engine::query::news::{self, NewsItem};
use towline_engine::runtime::env::Env;

/// The news since a position; `None` if it was pruned or cannot be read.
pub fn since(place: &str) -> Option<Batch> {
    let batch = news::since(&Env::new()?.home, place)?;
    Some(Batch { news: batch.items.into_iter().map(entry).collect(), place: batch.cursor })
}

fn entry(item: NewsItem) -> News {
    let (kind, data) = match item {
        NewsItem::Event { session, event, at } => {
            (NewsKind::Seat, json!({"session": session, "event": event, "at": at.to_utc()}))
        }
        NewsItem::Fault { kind } => (NewsKind::Fault, json!({"kind": kind})),
        NewsItem::Turns { session, id, from_turn, has_summary } => {
            let data = json!({"session": session, "id": id, "from_turn": from_turn, "summary": has_summary});
            (NewsKind::Turn, data)
        }
        NewsItem::Memory { id } => (NewsKind::Memory, json!({"id": id})),
        NewsItem::Jobs => (NewsKind::Job, json!({})),
    };
    News { kind, data }
}
