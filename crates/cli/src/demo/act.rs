//! Plays one scene: appends to the transcript, calls the hook, and prints the conversation.
//!
//! Stands in for the agent in its tmux window and stays there after the scene. Decides nothing about the day.

use super::scene::{Clock, Cue, DemoScene, RecordedCall};
use super::stage::{DemoStage, nap};
use super::tour::filled;
use crate::output::Tone;
use crate::scope::Scope;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, UNIX_EPOCH};
use towline_core::escape::fit_to_width;
use towline_core::time::Timestamp;
use towline_engine::runtime::Failure;
use towline_engine::runtime::text::plain_text;

/// Pause between live moments, so that the user can read along.
const PACE: Duration = Duration::from_millis(700);
/// The longest life of a stage.
const ALL_DAY: Duration = Duration::from_secs(24 * 3600);

/// `GO_ON` asks the cleared session to continue; `WENT_ON` reports that it has.
pub const GO_ON: &str = "go-on";
pub const WENT_ON: &str = "went-on";
/// A user is watching.
pub const WATCHED: &str = "watched";
pub const END: &str = "end";

/// Plays the past, signals that it is done, plays the rest on request, and stays.
pub fn act(scope: &Scope, stage: &DemoStage, scene: &DemoScene) -> Result<(), Failure> {
    past(scope, stage, scene)?;
    stage.give_sign(scene.name);
    if scene.moments().iter().any(is_clear) && stage.await_sign(GO_ON, ALL_DAY) {
        rest(scope, stage, scene)?;
        stage.give_sign(WENT_ON);
    }
    stage.await_sign(END, ALL_DAY);
    Ok(())
}

/// Plays the scene up to `/clear`, at its past times.
pub fn past(scope: &Scope, stage: &DemoStage, scene: &DemoScene) -> Result<(), Failure> {
    let folder = stage.project(scene);
    fs::create_dir_all(&folder)
        .map_err(|error| Failure::about(format!("could not make {}", folder.display()), &error))?;
    let clock = scene.clock(scope.env.now);
    for moment in scene.moments().iter().take_while(|moment| !is_clear(moment)) {
        let cue = moment.cue(stage, scene, &clock);
        show(scope, moment);
        // The file only lets memories find it; the demo works without it.
        let _ = work_on(&folder, &moment.payload, cue.at);
        perform(stage, moment, &cue, When::Then)?;
    }
    Ok(())
}

/// Leaves the file in the state the agent left it in: the content it read, with its edits applied.
fn work_on(folder: &Path, payload: &Value, at: Timestamp) -> Option<()> {
    let input = &payload["tool_input"];
    let file = folder.join(input["file_path"].as_str()?.strip_prefix("{project}/")?);
    let was = || fs::read_to_string(&file).ok();
    let text = match (payload["hook_event_name"].as_str()?, payload["tool_name"].as_str()?) {
        ("PostToolUse", "Read") => payload["tool_response"]["file"]["content"].as_str()?.to_owned(),
        ("PostToolUse", "Edit") => {
            was()?.replace(input["old_string"].as_str()?, input["new_string"].as_str()?)
        }
        _ => return None,
    };
    fs::create_dir_all(file.parent()?).ok()?;
    fs::write(&file, text).ok()?;
    let then = UNIX_EPOCH + Duration::from_millis(u64::try_from(at.0).ok()?);
    File::options().write(true).open(file).ok()?.set_modified(then).ok()
}

/// Plays the rest of the scene, from `/clear` on, at the current time.
pub fn rest(scope: &Scope, stage: &DemoStage, scene: &DemoScene) -> Result<(), Failure> {
    for moment in scene.moments().iter().skip_while(|moment| !is_clear(moment)) {
        let clock = Clock::at_moment(moment, scope.env.later().now);
        show(scope, moment);
        perform(stage, moment, &moment.cue(stage, scene, &clock), When::Now)?;
        if stage.has_sign(WATCHED) {
            nap(PACE);
        }
    }
    Ok(())
}

fn is_clear(moment: &RecordedCall) -> bool {
    moment.payload["reason"] == "clear"
}

/// Whether the hook runs at the time of its moment or now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Then,
    Now,
}

/// Appends to the transcript first and calls the hook afterwards, as the client does.
fn perform(stage: &DemoStage, moment: &RecordedCall, cue: &Cue, when: When) -> Result<(), Failure> {
    if let Some(path) = &cue.transcript {
        append(path, &cue.gained)
            .map_err(|error| Failure::about(format!("could not write {}", path.display()), &error))?;
    }
    let mut hook = stage.tow(&["hook", &moment.agent]);
    if when == When::Then {
        hook.env("TOWLINE_NOW", cue.at.0.to_string());
    }
    let failed = |error| Failure::about("could not start `tow hook`", &error);
    let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().map_err(failed)?;
    if let Some(mut told) = child.stdin.take() {
        // A hook that exited early has recorded the fault for `tow doctor`.
        let _ = told.write_all(cue.payload.as_bytes());
    }
    child.wait().map_err(failed)?;
    Ok(())
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}

/// Prints the conversation as the user would see it, one line per event. Paths are shown as seen from the project.
fn show(scope: &Scope, moment: &RecordedCall) {
    let payload = &moment.payload;
    let text = |name: &str| filled(&seen_from_project(&payload[name]), scope.out.columns());
    match payload["hook_event_name"].as_str().unwrap_or_default() {
        "UserPromptSubmit" => {
            scope.out.line(&format!("\n{} {}\n", scope.out.tint(Tone::Good, "❯"), text("prompt")))
        }
        "PreToolUse" => {
            let line = fit_to_width(&format!("  · {}", tool(payload)), scope.out.columns());
            scope.out.line(&scope.out.tint(Tone::Faint, &line));
        }
        "PermissionRequest" => {
            scope.out.line(&format!("\n{} {}", scope.out.tint(Tone::Warning, "  May I?"), tool(payload)));
        }
        "Stop" => scope.out.line(&format!("\n{}", text("last_assistant_message"))),
        "SessionEnd" => scope.out.line(&format!("\n{} /clear", scope.out.tint(Tone::Good, "❯"))),
        _ => {}
    }
}

fn tool(payload: &Value) -> String {
    let input = &payload["tool_input"];
    let what =
        ["command", "cmd", "file_path"].iter().map(|name| &input[*name]).find(|value| value.is_string());
    let what = what.map(seen_from_project).unwrap_or_default();
    format!("{} {what}", payload["tool_name"].as_str().unwrap_or_default())
}

fn seen_from_project(value: &Value) -> String {
    plain_text(&value.as_str().unwrap_or_default().replace("{project}/", "").replace("{project}", "."))
}
