//! One file per verb: its arguments and its `run`.
//!
//! A verb reads the store or changes it through its own methods; it decides nothing that `core` should.

pub mod alert;
pub mod bar;
pub mod baton;
pub mod bench_seed;
pub mod bookmark;
pub mod bookmarks;
pub mod capture;
pub mod cleanup;
pub mod completions;
pub mod config;
pub mod context;
pub mod detail;
pub mod doctor;
pub mod export;
pub mod forget;
pub mod fresh;
pub mod goto;
pub mod hook;
pub mod import;
pub mod inherit;
pub mod install;
pub mod menu;
pub mod next;
pub mod notify;
pub mod pause;
pub mod popup;
pub mod report;
pub mod resume;
pub mod rewind;
pub mod scan;
pub mod scrub;
pub mod sessions;
pub mod show;
pub mod skills;
pub mod status;
pub mod tmux;
pub mod turns;
pub mod type_in;
pub mod typed;
pub mod uninstall;
pub mod wake;
pub mod why;
pub mod work;
