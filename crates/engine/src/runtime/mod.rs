//! The process and its surroundings: clock, paths, environment, configuration, faults, detached processes.
//!
//! Knows no agent sessions and no product rules. All other engine code takes an `Env` from here.

pub mod archive;
pub mod budget;
pub mod calendar;
mod clock;
pub mod config;
pub mod descriptions;
pub mod env;
pub mod failure;
pub mod faults;
pub mod fetch;
pub mod hub_url;
pub mod json_file;
pub mod privacy;
pub mod progress;
pub mod projects;
pub mod record;
pub mod spawn;
pub mod text;
pub mod tls;
mod waiting;
pub mod watch;

pub use config::{Config, settings};
pub use env::{Env, variable};
pub use failure::{Failure, Kind, chain};
