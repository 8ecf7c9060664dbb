//! Turns put into words by a model, through the real binary: what is kept, what it costs, what happens when it fails.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]
#![expect(clippy::print_stdout, reason = "tests print their figures")]

mod cost;
mod killed;
mod outage;
mod told_better;
mod world;
