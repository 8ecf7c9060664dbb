//! `cargo xtask fuzz`: damaged input, more than a test has time for.
//!
//! Decides only what is fed; the same readers and hooks as in the suite must cope with it.

mod agents;
mod hooks;

use std::io::Write;

use clap::Subcommand;

use crate::outcome::{Result, Verdict};
use crate::repository::Repository;

/// The fuzz targets.
#[derive(Subcommand)]
pub enum Fuzz {
    /// Feed damaged payloads of all agents to `tow hook`
    Hooks(hooks::Options),
    /// Feed damaged payloads, transcripts and screens of each agent to its readers, and payloads to `tow hook`
    Agents(agents::Options),
}

pub fn run(fuzz: &Fuzz, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    match fuzz {
        Fuzz::Hooks(options) => hooks::run(options, repository, out),
        Fuzz::Agents(options) => agents::run(options, repository, out),
    }
}
