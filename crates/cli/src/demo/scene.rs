//! The recorded day: hook payloads and transcript lines, moved to the times and paths of this run.
//!
//! Invents no content: the recordings come from `cargo xtask day`. Only times and paths differ.

use super::stage::DemoStage;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;
use towline_core::time::Timestamp;

/// One terminal of the day.
pub struct DemoScene {
    pub name: &'static str,
    recording: &'static str,
    /// Begin and end, in minutes before now.
    minutes_ago: (i64, i64),
}

pub const SHOP: DemoScene =
    DemoScene { name: "shop", recording: include_str!("../../demo/shop.jsonl"), minutes_ago: (190, 150) };
const LEDGER: DemoScene =
    DemoScene { name: "ledger", recording: include_str!("../../demo/ledger.jsonl"), minutes_ago: (8, 6) };
const DOCS: DemoScene =
    DemoScene { name: "docs", recording: include_str!("../../demo/docs.jsonl"), minutes_ago: (3, 1) };

/// Ordered by begin.
pub const ALL: [&DemoScene; 3] = [&SHOP, &LEDGER, &DOCS];

/// One recorded hook call.
#[derive(Deserialize)]
pub struct RecordedCall {
    pub agent: String,
    at: i64,
    #[serde(default)]
    gained: String,
    pub payload: Value,
}

impl DemoScene {
    pub fn named(name: &str) -> Option<&'static DemoScene> {
        ALL.into_iter().find(|scene| scene.name == name)
    }

    pub fn moments(&self) -> Vec<RecordedCall> {
        self.recording.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Maps the recording so that the scene lies `minutes_ago` before `now`.
    pub fn clock(&self, now: Timestamp) -> Clock {
        let moments = self.moments();
        let (first, last) =
            (moments.first().map_or(0, |moment| moment.at), moments.last().map_or(0, |moment| moment.at));
        let (began, ended) = self.minutes_ago;
        Clock {
            recorded: Timestamp(first),
            shown: now.plus_ms(-began * 60_000),
            stretch: ((began - ended) * 60_000, (last - first).max(1)),
        }
    }
}

/// Maps recorded times to the times of this run.
pub struct Clock {
    recorded: Timestamp,
    shown: Timestamp,
    /// Milliseconds shown per milliseconds recorded, as a fraction.
    stretch: (i64, i64),
}

impl Clock {
    /// Maps this moment to `now`, at the recorded pace.
    pub fn at_moment(moment: &RecordedCall, now: Timestamp) -> Clock {
        Clock { recorded: Timestamp(moment.at), shown: now, stretch: (1, 1) }
    }

    fn shown(&self, recorded: Timestamp) -> Timestamp {
        let (shown, of_recorded) = self.stretch;
        self.shown.plus_ms(recorded.since_ms(self.recorded) * shown / of_recorded)
    }
}

/// A moment with its time, the lines to append to its transcript, and the hook payload.
pub struct Cue {
    pub at: Timestamp,
    pub transcript: Option<PathBuf>,
    pub gained: String,
    pub payload: String,
}

impl RecordedCall {
    pub fn cue(&self, stage: &DemoStage, scene: &DemoScene, clock: &Clock) -> Cue {
        let placed = |text: &str| placed(text, stage, scene);
        let lines = self.gained.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let gained: String =
            lines.map(|entry| format!("{}\n", placed(&timed(entry, clock).to_string()))).collect();
        Cue {
            at: clock.shown(Timestamp(self.at)),
            transcript: self.payload["transcript_path"].as_str().map(|path| placed(path).into()),
            gained,
            payload: placed(&self.payload.to_string()),
        }
    }
}

fn placed(text: &str, stage: &DemoStage, scene: &DemoScene) -> String {
    let project = stage.project(scene).display().to_string();
    let dashed = project.replace('/', "-");
    let home = stage.home().display().to_string();
    text.replace("{project}", &project).replace("{dashed}", &dashed).replace("{home}", &home)
}

/// Moves every timestamp in the value.
fn timed(value: Value, clock: &Clock) -> Value {
    match value {
        Value::String(text) => match Timestamp::parse_utc(&text) {
            Some(at) => precise(clock.shown(at)).into(),
            None => text.into(),
        },
        Value::Array(all) => all.into_iter().map(|each| timed(each, clock)).collect(),
        Value::Object(all) => all.into_iter().map(|(name, each)| (name, timed(each, clock))).collect(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

fn precise(at: Timestamp) -> String {
    format!("{}.{:03}Z", at.to_utc().trim_end_matches('Z'), at.0.rem_euclid(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_plays_in_the_past_in_order_and_names_no_place_of_its_recording() {
        let folder = tempfile::Builder::new().prefix("tow-demo-").tempdir().unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        let (stage, now) = (DemoStage::at(folder.path()).unwrap(), Timestamp(1_800_000_000_000));
        for scene in ALL {
            let (moments, clock) = (scene.moments(), scene.clock(now));
            assert!(moments.len() > 5 && moments.len() == scene.recording.lines().count());
            let cues: Vec<Cue> = moments.iter().map(|moment| moment.cue(&stage, scene, &clock)).collect();
            assert!(cues.iter().all(|cue| cue.at < now) && cues.is_sorted_by_key(|cue| cue.at));
            let all: String = cues.iter().map(|cue| cue.gained.clone() + &cue.payload).collect();
            assert!(all.contains(&stage.project(scene).display().to_string()));
            assert!(!["{project}", "{home}", "{dashed}", "{root}"].iter().any(|name| all.contains(name)));
        }
    }
}
