//! Token usage and cost as JSON.
//!
//! Prices nothing: the engine has.

use serde_json::{Value, json};
use towline_core::usage::{Cost, CostEstimate, UsageTotal};

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
