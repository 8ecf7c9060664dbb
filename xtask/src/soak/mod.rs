//! `cargo xtask soak`: a day of many sessions at many times real speed, with everything that runs beside them.
//!
//! Compares the prompts that were sent with the events and turns that are stored, and looks for drift. Has its own home,
//! server and agents' processes, and must not touch the user's.

mod crowd;
mod errands;
mod samples;
mod verdict;

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use towline_agents::Agent;
use towline_testkit::TestEnv;

use crate::bench::host::announce;
use crate::bench::report::Report;
use crate::bench::setup::binary;
use crate::corpus::{self, Cast, Shape};
use crate::files;
use crate::outcome::{Failure, Result, Verdict};
use crate::repository::Repository;
use crate::server::Server;

use crowd::Crowd;
use errands::Errands;
use samples::Samples;

/// How to soak.
#[derive(Args)]
pub struct Options {
    /// How long the sessions run
    #[arg(long, value_name = "N", default_value_t = 60.0)]
    minutes: f64,
    /// How many sessions run at once
    #[arg(long, value_name = "N", default_value_t = 30)]
    sessions: u64,
    /// How much faster than people and models the sessions are
    #[arg(long, value_name = "N", default_value_t = 50.0)]
    speed: f64,
    /// Size of the transcripts that are imported in the middle
    #[arg(long, value_name = "N", default_value_t = 0.3)]
    gigabytes: f64,
    /// Run this binary instead of building the static release binary
    #[arg(long, value_name = "PATH")]
    tow: Option<PathBuf>,
    /// Also write the tables to this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// How to read the report.
pub const LEGEND: &str = "Each session is played by a thread: its hooks with the shape of recorded ones, its transcript appended \
    as its client does it, pauses of people and models divided by the speed. Beside them: a server with five listeners, a \
    search each second, a bar refreshed every other second, an import at two fifths of the time and the forgetting of a \
    project at three fifths. Captures and workers start by themselves.";

/// State shared by all threads.
pub struct Scene {
    pub env: TestEnv,
    pub cast: Cast,
    pub speed: f64,
    pub length: Duration,
    began: Instant,
}

impl Scene {
    pub fn is_over(&self) -> bool {
        self.began.elapsed() >= self.length
    }

    /// The share of the time that has passed.
    pub fn share(&self) -> f64 {
        self.began.elapsed().as_secs_f64() / self.length.as_secs_f64()
    }

    /// Sleeps for a time of real work, faster.
    pub fn pause(&self, real: Duration) {
        let left = self.length.saturating_sub(self.began.elapsed());
        thread::sleep(real.div_f64(self.speed).min(left));
    }

    pub fn wait_until(&self, share: f64) {
        thread::sleep(self.length.mul_f64(share).saturating_sub(self.began.elapsed()));
    }
}

fn say(what: &str) -> Result<()> {
    announce(&mut io::stderr(), what)
}

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let tow = binary(options.tow.as_deref(), repository, out)?;
    let crates = repository.root().join("crates");
    let env = TestEnv::new(tow);
    // With the limits that a user has, and no server of a multiplexer in reach.
    env.keep_usual_limits();
    env.set("TMUX_TMPDIR", env.root().join("tmp").display().to_string());
    env.set("XDG_RUNTIME_DIR", env.root().join("tmp").display().to_string());
    say("transcripts for the import")?;
    corpus::write(&crates, &env.home(), Shape::of_gigabytes(options.gigabytes))?;
    let length = Duration::from_secs_f64(options.minutes * 60.0);
    let cast = Cast::load(&crates)?;
    let scene = Scene { env, cast, speed: options.speed, length, began: Instant::now() };
    // Both copy a program, which cannot be started while another thread still has the copy open for writing.
    drop(scene.env.person_command(&[]));
    drop(crowd::agent_process(&scene, Agent::Claude)?);
    let report = play(&scene, options.sessions)?;
    report.print(out)?;
    if let Some(path) = &options.markdown {
        let Options { minutes, sessions, speed, .. } = options;
        let made_by = format!("cargo xtask soak --minutes {minutes} --sessions {sessions} --speed {speed}");
        files::write(path, report.markdown(&made_by, None))?;
    }
    Ok(Verdict::of(report.holds()))
}

fn play(scene: &Scene, sessions: u64) -> Result<Report> {
    let server = Server::start(&mut scene.env.command("tow"), &["--rate", "1000000"])?;
    let (crowd, errands, samples) = (Crowd::default(), Errands::default(), Samples::default());
    say("sessions run")?;
    let ends = thread::scope(|scope| {
        let mut running = vec![];
        running.push(scope.spawn(|| samples.take_until_over(scene, &server, &crowd)));
        for number in 0..sessions {
            let crowd = &crowd;
            running.push(scope.spawn(move || crowd.play(scene, number)));
        }
        for _ in 0..errands::LISTENERS {
            running.push(scope.spawn(|| errands.listen(scene, &server)));
        }
        running.push(scope.spawn(|| errands.search(scene)));
        running.push(scope.spawn(|| errands.refresh_bar(scene)));
        running.push(scope.spawn(|| errands.import_and_forget(scene)));
        let lost = || Err(Failure::malformed("a thread of the soak", "it panicked"));
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| lost()))
            .collect::<Result<Vec<()>>>()
    });
    drop(server);
    ends?;
    say("waiting for background work")?;
    verdict::report(scene, &crowd, &errands, &samples)
}
