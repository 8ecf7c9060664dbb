//! The to-do lists that agents keep with their own tools.
//!
//! Reads only the text and the state of each item. An input that was cut or broken by redaction changes nothing.

use serde_json::Value;
use std::borrow::Cow;
use towline_core::work::{PlanChange, PlanStatus};

/// A call that states the whole list: under `list`, each item with its text under `text`.
pub(crate) fn replaced(input: &str, list: &str, text: &str) -> PlanChange<'static> {
    let Ok(input) = serde_json::from_str::<Value>(input) else { return PlanChange::None };
    let Some(items) = input[list].as_array() else { return PlanChange::None };
    let item = |item: &Value| {
        let status = item["status"].as_str().and_then(PlanStatus::named).unwrap_or_default();
        Some((Cow::Owned(item[text].as_str()?.to_owned()), status))
    };
    PlanChange::Replaced(items.iter().filter_map(item).collect())
}

/// A call that changes the item with the number under `id`.
pub(crate) fn updated(input: &str, id: &str, text: &str) -> PlanChange<'static> {
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    let field = |name: &str| input[name].as_str().map(|text| Cow::Owned(text.to_owned()));
    let Some(id) = field(id) else { return PlanChange::None };
    let status = input["status"].as_str().and_then(PlanStatus::named);
    PlanChange::Updated { id, text: field(text), status }
}
