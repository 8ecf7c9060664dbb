//! Sync between machines with their own archives through an in-memory hub: sending, receiving, convergence.

mod fleet;
mod rules;
mod schedules;
