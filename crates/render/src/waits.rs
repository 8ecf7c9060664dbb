//! Writes the times that agents waited for the user as JSON.
//!
//! Pure: it must not compute a wait.

use serde_json::{Value, json};
use towline_core::ledger::{LedgerDay, WaitSum};
use towline_engine::query::WaitsReport;

pub fn waits_json(report: &WaitsReport) -> Value {
    let with = |name: &str, value: Value, sum: &WaitSum| {
        let mut row = json!({
            "waited_ms": sum.waited_ms, "times": sum.times,
            "longest_ms": sum.longest_ms, "median_ms": sum.median_ms,
        });
        row[name] = value;
        row
    };
    let day = |(day, sum): &(LedgerDay, WaitSum)| {
        let mut row = with("day", json!(day.name.split_once(' ').map_or("", |(_, date)| date)), sum);
        row["begins"] = json!(day.begins.to_utc());
        row
    };
    let found = &report.ledger;
    let mut all = with("lasting", json!(report.open), &found.total);
    all["longest_in"] = json!(found.longest_in);
    all["days"] = found.days.iter().map(day).collect();
    all["projects"] = found.projects.iter().map(|(name, sum)| with("project", json!(name), sum)).collect();
    all["reasons"] = found.reasons.iter().map(|(name, sum)| with("reason", json!(name), sum)).collect();
    all
}
