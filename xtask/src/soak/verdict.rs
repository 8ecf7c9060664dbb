//! The end of a soak: everything that was sent is stored, and nothing failed.
//!
//! Reads the stores after a last `tow data work`; imports nothing again.

use std::collections::BTreeMap;
use std::time::Duration;

use towline_core::id::SessionKey;
use towline_store::{Archive, DataFolder, Store, StoreError};

use super::crowd::Crowd;
use super::errands::Errands;
use super::samples::Samples;
use super::{LEGEND, Scene};
use crate::bench::report::{Judgement, Report, Table};
use crate::bench::statistics::{percentile, sorted};
use crate::outcome::{Failure, Result, output_of};

const PATIENCE: Duration = Duration::from_secs(10);

/// Prompts of the live sessions, as the stores hold them.
struct Stored {
    events: u64,
    turns: u64,
    /// Sessions with fewer turns than prompts.
    behind: Vec<String>,
    faults: BTreeMap<String, u64>,
}

pub fn report(scene: &Scene, crowd: &Crowd, errands: &Errands, samples: &Samples) -> Result<Report> {
    scene.env.wait_no_process();
    output_of("tow data work", scene.env.command("tow").args(["data", "work"]))?;
    let counts = crowd.counts();
    let stored = stored(scene, &counts.prompts).map_err(|error| Failure::malformed("store", error))?;
    let sent: u64 = counts.prompts.values().sum();
    let equal = |name: &str, figure: u64| Judgement {
        holds: figure == sent,
        text: format!("{name}: {figure} of {sent} prompts sent"),
    };
    let failed =
        errands.done().into_iter().filter_map(|done| Some(format!("{}: {}", done.name, done.problem?)));
    let failed: Vec<String> = counts.failed.iter().cloned().chain(failed).collect();
    let mut judgements = vec![
        equal("events accepted", stored.events),
        equal("turns in the archive", stored.turns),
        Judgement::at_most("commands and hooks that failed", failed.len() as f64, 0.0, ""),
    ];
    judgements.extend(samples.drift());
    let mut remarks = vec![format!(
        "{} sessions, {} hooks; listeners received {} events.",
        counts.prompts.len(),
        counts.hooks,
        errands.heard()
    )];
    remarks.extend(failed.into_iter().take(10));
    remarks.extend(stored.behind.into_iter().take(10));
    let faults = stored.faults.into_iter().map(|(kind, count)| vec![kind, count.to_string()]).collect();
    let tables = vec![samples.table(), commands(errands), Table::new("Faults", &["kind", "count"], faults)];
    Ok(Report { title: "Soak", legend: LEGEND, tables, remarks, judgements })
}

fn commands(errands: &Errands) -> Table {
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for errand in errands.done() {
        times.entry(errand.name).or_default().push(errand.ms);
    }
    let rows = times.into_iter().map(|(name, times)| {
        let times = sorted(times);
        let [p50, p99] = [50, 99].map(|percent| format!("{:.0}", percentile(&times, percent)));
        vec![name.to_owned(), times.len().to_string(), p50, p99]
    });
    Table::new("Commands beside them", &["command", "count", "p50 ms", "p99 ms"], rows.collect())
}

fn stored(scene: &Scene, prompts: &BTreeMap<String, u64>) -> Result<Stored, StoreError> {
    let home = DataFolder::at(scene.env.data_dir());
    let mut all = Stored { events: 0, turns: 0, behind: vec![], faults: BTreeMap::new() };
    let Some(store) = Store::read(&home, PATIENCE)? else { return Ok(all) };
    for fault in store.faults()? {
        *all.faults.entry(format!("{:?}", fault.kind)).or_default() += 1;
    }
    let mut turns = BTreeMap::new();
    if let Some(archive) = Archive::read(&home, PATIENCE)? {
        for conversation in archive.latest_conversations(None, usize::MAX >> 1)? {
            turns.insert(conversation.session.to_string(), u64::from(conversation.turns));
        }
    }
    for (session, sent) in prompts {
        let Ok(key) = SessionKey::parse(session) else { continue };
        let events = store.events(&key)?;
        let accepted = events.iter().filter(|event| event.kind == "prompt_submitted").count() as u64;
        let captured = turns.get(session).copied().unwrap_or_default();
        all.events += accepted;
        all.turns += captured;
        if accepted != *sent || captured != *sent {
            all.behind.push(format!("{session}: {sent} prompts, {accepted} events, {captured} turns"));
        }
    }
    Ok(all)
}
