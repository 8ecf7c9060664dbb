//! Token usage and cost as JSON.
//!
//! Prices nothing: the engine has.

use serde_json::{Value, json};
use towline_core::usage::{Cost, CostEstimate, UsageTotal};
use towline_engine::query::usage::{By, Group, UsageReport, total};
use towline_engine::runtime::config::listed;

pub fn usage_json(report: &UsageReport) -> Value {
    let rows: Vec<Value> = report.sums.iter().map(|(group, spent)| row(report.by, group, spent)).collect();
    json!({
        "by": report.by.name(), "since": report.times.start.to_utc(), "until": report.times.end.to_utc(),
        "prices_dated": listed().dated, "rows": rows, "total": spent_json(&total(&report.sums)),
    })
}

fn row(by: By, group: &Group, spent: &UsageTotal) -> Value {
    let mut row = spent_json(spent);
    match group {
        Group::Period(begins, name) => {
            row[by.name()] = json!(name.rsplit(' ').next());
            row["begins"] = json!(begins.to_utc());
        }
        Group::Project(project) => row["project"] = json!(project.as_ref().map(|project| &project.name)),
        Group::Model(model) => row["model"] = json!(model),
        Group::Session(of) => {
            row["session"] = json!(of.key);
            row["short"] = json!(of.short);
            row["project"] = json!(of.project);
            row["last_at"] = json!(of.last_at.to_utc());
        }
        Group::Agent(agent) => row["agent"] = json!(agent),
    }
    row
}

/// Usage as JSON, the same in every command.
pub fn spent_json(spent: &UsageTotal) -> Value {
    let tokens = spent.tokens;
    json!({
        "messages": spent.messages,
        "tokens": {
            "input": tokens.input, "cache_read": tokens.cache_read, "cache_write": tokens.cache_write,
            "cache_write_1h": tokens.cache_write_1h, "output": tokens.output, "total": tokens.total(),
        },
        "cache_percent": spent.cache_percent(),
        "cost_usd": spent.bill().known().map(Cost::dollars),
        "cost_is_whole": matches!(spent.bill(), CostEstimate::Whole(_)),
        "unpriced_tokens": spent.unpriced,
        "unpriced_models": spent.unpriced_models,
    })
}
