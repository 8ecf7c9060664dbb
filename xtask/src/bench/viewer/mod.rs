//! `cargo xtask bench viewer`: the cost of the viewer and its server with a long history.
//!
//! Times are absolute, from a real browser on this machine: they are what a user waits. Must measure the
//! installed binary, in its own home.

mod page;
mod world;

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use super::host::announce;
use super::report::{Judgement, Report, Table};
use super::setup::{Publication, binary};
use crate::outcome::{Failure, Result, Verdict, output_of};
use crate::repository::Repository;
use crate::server::Server;

use page::Timing;
use world::World;

/// How to measure the viewer.
#[derive(Args)]
pub struct Options {
    /// Measure this binary instead of building the static release binary
    #[arg(long, value_name = "PATH")]
    tow: Option<PathBuf>,
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    memories: usize,
    /// Number of sessions
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    sessions: usize,
    #[command(flatten)]
    publication: Publication,
}

const LEGEND: &str = "In headless Chromium on the same machine as the server. First paint is the browser's own \
    first-contentful-paint of a fresh load, a quarter of a second after the last page was left, first rows is when the rows \
    of the list are in the page, and drawn is the end of the frame that shows them, both from the start of the navigation. Search as you type is from a key's input to the next frame with its hits, one letter after \
    the other. Memory is the server's, as the kernel counts it, mapped files of the index included. Throughput is by wrk, one \
    thread and eight connections for five seconds each, on the cores that the server uses, too; alone is the median of one connection, which never \
    waits for another request.";

/// Requests that the viewer sends; none changes anything.
const ROUTES: [&str; 8] = [
    "/v1/health",
    "/assets/viewer.js",
    "/v1/memories?limit=30",
    "/v1/sessions?limit=30",
    "/v1/projects",
    "/v1/proposals",
    "/v1/search?q=low+tide&limit=50",
    "/v1/search?q=mast+paint+harbour&kind=memory&limit=20",
];

const MOST_MB: f64 = 50.0;

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let tow = binary(options.tow.as_deref(), repository, out)?;
    announce(out, "making the past …")?;
    let world = World::new(tow, options.sessions, options.memories)?;
    let server = world.serve()?;
    announce(out, "looking at it …")?;
    let timings = page::timings(&world, &server);
    let quiet_mb = server.resident_mb()?;
    announce(out, "asking as often as it can answer …")?;
    let rates = ROUTES.iter().map(|route| rate(&server, route)).collect::<Result<_>>()?;
    let busy_mb = server.resident_mb()?;
    let report = report(&timings, rates, [quiet_mb, busy_mb]);
    let arguments = format!("viewer --memories {} --sessions {}", options.memories, options.sessions);
    options.publication.publish(&report, &arguments, "benchmarks-viewer.md", out)
}

fn report(timings: &[Timing], rates: Vec<Vec<String>>, [quiet, busy]: [f64; 2]) -> Report {
    let waits = Table::new(
        "What a person waits",
        &["what", "median ms", "p95 ms", "most ms"],
        timings.iter().map(Timing::row).collect(),
    );
    let asked = Table::new(
        "What the server answers",
        &["route", "answers a second", "median latency", "alone"],
        rates,
    );
    let held = |name: &str, figure: f64| vec![name.to_owned(), format!("{figure:.1}")];
    let memory = Table::new(
        "What the server holds",
        &["when", "MB"],
        vec![held("after the browser", quiet), held("after the load", busy)],
    );
    let mut judgements: Vec<Judgement> = timings.iter().map(Timing::judgement).collect();
    judgements.push(Judgement {
        holds: quiet < MOST_MB,
        text: format!("server memory after the browser: {quiet:.1} MB, at most {MOST_MB} MB"),
    });
    Report {
        title: "Benchmarks: the viewer",
        legend: LEGEND,
        tables: vec![waits, memory, asked],
        remarks: Vec::new(),
        judgements,
    }
}

/// The row of a route: its path, answers per second, median latency under load and alone.
fn rate(server: &Server, route: &str) -> Result<Vec<String>> {
    let [many, latency] = loaded(server, route, ["-c8", "-d5s"])?;
    let [_, alone] = loaded(server, route, ["-c1", "-d2s"])?;
    Ok(vec![route.to_owned(), many, latency, alone])
}

/// Answers per second and median latency.
fn loaded(server: &Server, route: &str, load: [&str; 2]) -> Result<[String; 2]> {
    let mut wrk = Command::new("wrk");
    wrk.arg("-t1").args(load).args(["--latency", "-H", &format!("Authorization: Bearer {}", server.token())]);
    wrk.arg(format!("{}{route}", server.base()));
    let report = output_of("wrk", &mut wrk)?;
    if report.contains("Non-2xx") {
        return Err(Failure::Failed { program: format!("wrk {route}"), complaint: report });
    }
    let after = |word: &str| report.lines().find_map(|line| line.trim().strip_prefix(word)).map(str::trim);
    Ok([after("Requests/sec:"), after("50%")].map(|figure| figure.unwrap_or("?").to_owned()))
}
