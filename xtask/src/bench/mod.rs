//! `cargo xtask bench`: the cost of Towline, as multiples of starting `/bin/true`.
//!
//! Absolute times say more about the machine than about the program, so every figure is taken beside a
//! baseline in the same round. Must not touch the user's folders or tmux server: each case has its own.

mod baseline;
mod costs;
mod hooks;
mod host;
mod hub;
mod inherit;
mod instructions;
mod measure;
mod payload;
mod report;
mod rounds;
mod search;
mod seed;
mod setup;
mod statistics;
mod track;
mod viewer;

use std::io::Write;

use clap::Subcommand;

use crate::outcome::{Failure, Verdict};
use crate::repository::Repository;

use setup::Options;

/// The benchmarks.
#[derive(Subcommand)]
pub enum Bench {
    /// Measure one hook process, from its start to its end
    Hooks(Options),
    /// Measure the status display: bar refreshes, ends of transcripts, from hook to status line, spawns
    Track(Options),
    /// Measure importing conversations and retrieving them: import, the end of a turn, contexts, details
    Inherit(Options),
    /// Measure search: how many questions are answered, indexing, size, time and memory
    Search(search::Options),
    /// Measure the viewer in a real browser, and its server, with a long history
    Viewer(viewer::Options),
    /// Measure a hub on a real PostgreSQL: push, pull, search, size and memory, with millions of rows
    Hub(hub::Options),
}

pub fn run(bench: &Bench, repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    let (options, name, file, report) = match bench {
        Bench::Hooks(options) => {
            instructions::require_valgrind()?;
            let report = hooks::report(&options.setup(repository, out)?, out)?;
            (options, "hooks", "benchmarks.md", report)
        }
        Bench::Track(options) => {
            instructions::require_valgrind()?;
            track::require_tools()?;
            let report = track::report(&options.setup(repository, out)?, out)?;
            (options, "track", "benchmarks-track.md", report)
        }
        Bench::Inherit(options) => {
            instructions::require_valgrind()?;
            let report = inherit::report(&options.setup(repository, out)?, out)?;
            (options, "inherit", "benchmarks-inherit.md", report)
        }
        Bench::Search(options) => return search::run(options, repository, out),
        Bench::Viewer(options) => return viewer::run(options, repository, out),
        Bench::Hub(options) => return hub::run(options, repository, out),
    };
    options.publication.publish(&report, &options.arguments(name), file, out)
}
