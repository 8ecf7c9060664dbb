//! Machines with archives of their own, and a hub that is a map: what goes, what comes, and what all come to.

mod fleet;
mod rules;
mod schedules;
