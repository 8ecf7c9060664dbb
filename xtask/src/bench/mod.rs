//! `cargo xtask bench`: the cost of Towline, as multiples of starting `/bin/true`.
//!
//! Absolute times say more about the machine than about the program, so every figure is taken beside a
//! baseline in the same round. Must not touch the user's folders or tmux server: each case has its own.

mod costs;
pub mod home;
mod hooks;
pub mod host;
mod hub;
mod inherit;
mod instructions;
pub mod measure;
pub mod payload;
mod questions;
pub mod report;
mod rounds;
mod search;
mod seed;
pub mod setup;
mod silence;
pub mod statistics;
mod track;
mod viewer;
mod years;

use std::io::Write;

use clap::Subcommand;

use crate::outcome::{Result, Verdict};
use crate::repository::Repository;

use host::{STRACE, TMUX, VALGRIND, require};
use report::Report;
use setup::{Options, Setup};

/// The benchmarks.
#[derive(Subcommand)]
pub enum Bench {
    /// Measure one hook process, from its start to its end
    Hooks(Options),
    /// Build a release, and write the order in which the linker places what hooks use
    Layout,
    /// Measure the status display: bar refreshes, ends of transcripts, from hook to status line, spawns
    Track(Options),
    /// Measure importing conversations and retrieving them: import, the end of a turn, contexts, details
    Inherit(inherit::Options),
    /// Measure search: how many questions are answered, indexing, size, time and memory
    Search(search::Options),
    /// Ask hundreds of questions of many kinds, beside FTS5, BM25 and MiniLM; half of them are locked
    Questions(questions::Options),
    /// Run every long command on a terminal over a large archive: the longest silence, the bars, the first search
    Silence(silence::Options),
    /// Measure every command, hook and view over years of transcripts, or over three sizes of them
    Years(years::Options),
    /// Measure the viewer in a real browser, and its server, with a long history
    Viewer(viewer::Options),
    /// Measure a hub on a real PostgreSQL: push, pull, search, size and memory, with millions of rows
    Hub(hub::Options),
}

type Measure<W> = fn(&Setup, &mut W) -> Result<Report>;

pub fn run<W: Write>(bench: &Bench, repository: &Repository, out: &mut W) -> Result<Verdict> {
    let (options, name, file, measure): (&Options, &str, &str, Measure<W>) = match bench {
        Bench::Hooks(options) => (options, "hooks", "benchmarks.md", hooks::report),
        Bench::Track(options) => {
            require(&[STRACE, TMUX])?;
            (options, "track", "benchmarks-track.md", track::report)
        }
        Bench::Layout => {
            require(&[VALGRIND])?;
            hooks::write_layout(repository, out)?;
            return Ok(Verdict::Holds);
        }
        Bench::Inherit(options) => {
            require(&[VALGRIND])?;
            return inherit::run(options, repository, out);
        }
        Bench::Search(options) => return search::run(options, repository, out),
        Bench::Questions(options) => return questions::run(options, repository, out),
        Bench::Silence(options) => return silence::run(options, repository, out),
        Bench::Viewer(options) => return viewer::run(options, repository, out),
        Bench::Years(options) => return years::run(options, repository, out),
        Bench::Hub(options) => return hub::run(options, repository, out),
    };
    require(&[VALGRIND])?;
    let report = measure(&options.setup(repository, out)?, out)?;
    options.publication.publish(&report, &options.arguments(name), file, out)
}
