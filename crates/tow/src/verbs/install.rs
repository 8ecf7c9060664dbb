//! Placeholder.
use crate::cli::Scope; use crate::failure::Failure; use clap::Args; use std::process::ExitCode;
/// x
#[derive(Debug, Args)]
pub struct Arguments {}
pub fn run(_: &Scope, _: &Arguments) -> Result<ExitCode, Failure> { Ok(ExitCode::SUCCESS) }
