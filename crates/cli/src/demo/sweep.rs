//! Removes a stage: its tmux server, every process whose HOME it is, and its folder.
//!
//! Runs as a separate process that waits for its starter to exit, so that a key, a signal, a kill and a
//! closed terminal all clean up the same way. Kills no process whose HOME is not the stage.

use super::stage::{DemoStage, nap};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read, stdin};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::Duration;
use towline_engine::runtime::Failure;
use towline_terminal::process::of_same_user;

/// Waits on drop for the sweeper to finish, so that nothing is left when the caller's prompt returns.
pub struct Sweeper(Child);

impl Drop for Sweeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Starts the sweeper; from here on the stage ends with this process. The sweeper has its own process group:
/// signals from the keyboard do not reach it.
pub fn keep(stage: &DemoStage) -> Result<Sweeper, Failure> {
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

/// Waits for the end of stdin, that is, of the starting process, and sweeps.
pub fn sweep(stage: &DemoStage) {
    let _ = stdin().read_to_end(&mut vec![]);
    stage.close_windows();
    for signal in [Signal::TERM, Signal::KILL] {
        for _ in 0..50 {
            let left = left(stage);
            for pid in &left {
                // The process may have exited already.
                let _ = kill_process(*pid, signal);
            }
            if left.is_empty() {
                break;
            }
            nap(Duration::from_millis(20));
        }
    }
    // A dying process may have created a file between listing and removing: try twice.
    let _ = fs::remove_dir_all(stage.root()).or_else(|_| fs::remove_dir_all(stage.root()));
}

fn left(stage: &DemoStage) -> Vec<Pid> {
    let (home, own) = (stage.home().display().to_string(), std::process::id());
    let all = of_same_user(own).into_iter().filter(|process| process.pid != own);
    let ours = all.filter(|process| process.environment().get("HOME") == Some(home.as_str()));
    ours.filter_map(|process| Pid::from_raw(i32::try_from(process.pid).ok()?)).collect()
}
