//! `cargo xtask day`: records the day that `tow demo` plays, with the real clients against a scripted model.
//!
//! Writes one file per scene below `crates/cli/demo`: hook payloads and transcripts, verbatim. Must not
//! contain the folder of the recording, nor the clients' own instructions to their models.

mod scenes;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use towline_testkit::{Moment, TestEnv};

use crate::files;
use crate::outcome::{Failure, Result, Verdict};
use crate::repository::Repository;
use scenes::Scene;

/// Records with the `tow` at this path below the repository.
pub fn run(tow: &Path, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let tow = repository.root().join(tow);
    for scene in scenes::ALL {
        let env = TestEnv::new(&tow);
        let moments = (scene.play)(&env);
        let file = repository.root().join(format!("crates/cli/demo/{}.jsonl", scene.name));
        files::write(&file, written(&env, &scene, &moments)?)?;
        writeln!(out, "{}: {} moments", scene.name, moments.len())?;
    }
    Ok(Verdict::Holds)
}

/// One line per moment: its time, the transcript's growth since the last one, and the hook's payload.
fn written(env: &TestEnv, scene: &Scene, moments: &[Moment]) -> Result<String> {
    let (mut seen, mut lines) = (BTreeMap::new(), vec![]);
    for moment in moments {
        let mut line = json!({"agent": scene.agent, "at": moment.at_ms, "payload": moment.payload});
        if let Some(path) = moment.payload["transcript_path"].as_str() {
            line["gained"] = gained(Path::new(path), moment, &mut seen)?.into();
        }
        lines.push(placeless(env, &line));
    }
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// The transcript's growth since the last call. Whole lines only: a hook may run while the client writes.
fn gained(path: &Path, moment: &Moment, seen: &mut BTreeMap<PathBuf, usize>) -> Result<String> {
    let Some(size) = moment.written.get(path) else { return Ok(String::new()) };
    let all = fs::read(path).map_err(Failure::read(path))?;
    let held = &all[..(*size).min(all.len())];
    let whole = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let from = seen.insert(path.to_owned(), whole).unwrap_or(0);
    let lines = String::from_utf8_lossy(held.get(from..whole).unwrap_or_default()).into_owned();
    Ok(lines.lines().filter_map(conversation).map(|line| format!("{line}\n")).collect())
}

/// The entry without the client's own text; `None` if it holds no other.
fn conversation(line: &str) -> Option<String> {
    let mut entry: Value = serde_json::from_str(line).ok()?;
    let kind = entry["type"].as_str().unwrap_or_default();
    let is_instruction = entry["payload"]["role"] == "developer"
        || ["attachment", "world_state"].contains(&kind)
        || kind.starts_with("api-request-");
    if let Some(told) = entry["payload"].as_object_mut() {
        told.remove("base_instructions");
    }
    (!is_instruction).then(|| entry.to_string())
}

/// Replaces the folder of the recording; clients also write it with dashes.
fn placeless(env: &TestEnv, line: &Value) -> String {
    let root = env.root().display().to_string();
    let project = format!("{root}/project");
    let named = line.to_string().replace(&project.replace('/', "-"), "{dashed}");
    named.replace(&project, "{project}").replace(&format!("{root}/home"), "{home}")
}
