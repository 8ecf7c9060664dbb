//! Plays one scene: writes the transcript on, tells the hook, and shows what a person would see.
//!
//! Stands for the agent in its window, and stays there when the scene is over. Decides nothing about the day.

use super::scene::{Clock, Cue, Moment, Scene};
use super::stage::{Stage, nap};
use crate::output::Tone;
use crate::scope::Scope;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, UNIX_EPOCH};
use towline_core::time::Timestamp;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::plain;

/// A person reads along where something happens now.
const PACE: Duration = Duration::from_millis(700);
/// For as long as a stage may stand.
const ALL_DAY: Duration = Duration::from_secs(24 * 3600);

/// The sign at which the cleared session goes on, and the one that it has.
pub const GO_ON: &str = "go-on";
pub const WENT_ON: &str = "went-on";
/// The sign that somebody looks on.
pub const WATCHED: &str = "watched";
pub const END: &str = "end";

/// Plays what is past, says so, plays the rest when it is asked for, and stays.
pub fn act(scope: &Scope, stage: &Stage, scene: &Scene) -> Result<(), Failure> {
    past(scope, stage, scene)?;
    stage.give_sign(scene.name);
    if scene.moments().iter().any(is_clear) && stage.await_sign(GO_ON, ALL_DAY) {
        rest(scope, stage, scene)?;
        stage.give_sign(WENT_ON);
    }
    stage.await_sign(END, ALL_DAY);
    Ok(())
}

/// The scene up to the moment in which somebody clears it, at the times when it was.
pub fn past(scope: &Scope, stage: &Stage, scene: &Scene) -> Result<(), Failure> {
    let folder = stage.project(scene);
    fs::create_dir_all(&folder)
        .map_err(|error| Failure::about(format!("could not make {}", folder.display()), &error))?;
    let clock = scene.clock(scope.env.now);
    for moment in scene.moments().iter().take_while(|moment| !is_clear(moment)) {
        let cue = moment.cue(stage, scene, &clock);
        show(scope, moment);
        // Only so that what is remembered of a file finds it; the day goes on without.
        let _ = work_on(&folder, &moment.payload, cue.at);
        perform(stage, moment, &cue, When::Then)?;
    }
    Ok(())
}

/// Leaves a file as the agent left it then: what it read of it, with what it changed.
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

/// What comes after it happens now.
pub fn rest(scope: &Scope, stage: &Stage, scene: &Scene) -> Result<(), Failure> {
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

fn is_clear(moment: &Moment) -> bool {
    moment.payload["reason"] == "clear"
}

/// Whether a hook is told the time of its moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Then,
    Now,
}

/// The client writes its transcript first, and then tells its hook.
fn perform(stage: &Stage, moment: &Moment, cue: &Cue, when: When) -> Result<(), Failure> {
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
        // A hook that is gone has said why to `tow doctor`.
        let _ = told.write_all(cue.payload.as_bytes());
    }
    child.wait().map_err(failed)?;
    Ok(())
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}

/// The conversation as a person would see it, a line each.
fn show(scope: &Scope, moment: &Moment) {
    let payload = &moment.payload;
    let text = |name: &str| plain(payload[name].as_str().unwrap_or_default());
    match payload["hook_event_name"].as_str().unwrap_or_default() {
        "UserPromptSubmit" => {
            scope.out.line(&format!("\n{} {}\n", scope.out.tint(Tone::Good, "❯"), text("prompt")))
        }
        "PreToolUse" => scope.out.line(&scope.out.tint(Tone::Faint, &format!("  · {}", tool(payload)))),
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
    let what = ["command", "cmd", "file_path"].iter().find_map(|name| input[*name].as_str());
    format!("{} {}", payload["tool_name"].as_str().unwrap_or_default(), plain(what.unwrap_or_default()))
}
