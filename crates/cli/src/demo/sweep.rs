//! Takes a stage away: its tmux server, every process that calls it home, and its folder.
//!
//! A process of its own, which waits until whoever started it is gone: a key, a signal, a kill and a closed terminal all
//! end the same way. Ends nothing that does not call the stage its home.

use super::stage::{Stage, nap};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read, stdin};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::Duration;
use towline_engine::runtime::failure::Failure;
use towline_terminal::process::of_same_user;

/// Waits for its end when it is let go of, so that nothing is left when the caller's prompt is back.
pub struct Sweeper(Child);

impl Drop for Sweeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// From here on the stage goes when this process does. The sweeper is in a group of its own: what a key sends to ours does
/// not reach it.
pub fn keep(stage: &Stage) -> Result<Sweeper, Failure> {
    let mut sweeper = stage.tow(&["demo", "sweep", "--stage", &stage.root().display().to_string()]);
    sweeper
        .process_group(0)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = sweeper.spawn().map_err(|error| {
        let _ = fs::remove_dir_all(stage.root());
        Failure::about("could not start what tidies up afterwards", &error)
    })?;
    Ok(Sweeper(child))
}

/// Waits until nobody holds our input any more, and sweeps.
pub fn sweep(stage: &Stage) {
    let _ = stdin().read_to_end(&mut vec![]);
    stage.close_windows();
    for signal in [Signal::TERM, Signal::KILL] {
        for _ in 0..50 {
            let left = left(stage);
            for pid in &left {
                // Gone by itself is as good.
                let _ = kill_process(*pid, signal);
            }
            if left.is_empty() {
                break;
            }
            nap(Duration::from_millis(20));
        }
    }
    // Whoever died this moment may have left a file between listing and removing.
    let _ = fs::remove_dir_all(stage.root()).or_else(|_| fs::remove_dir_all(stage.root()));
}

fn left(stage: &Stage) -> Vec<Pid> {
    let (home, own) = (stage.home().display().to_string(), std::process::id());
    let all = of_same_user(own).into_iter().filter(|process| process.pid != own);
    let ours = all.filter(|process| process.environment().get("HOME") == Some(home.as_str()));
    ours.filter_map(|process| Pid::from_raw(i32::try_from(process.pid).ok()?)).collect()
}
