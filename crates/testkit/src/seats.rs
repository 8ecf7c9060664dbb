//! The seats as `tow status --json` lists them.
//!
//! Asserts no state. Listing has side effects, as for a user: changes not noticed before are then.

use serde_json::Value;

use crate::env::TestEnv;
use crate::wait;

impl TestEnv {
    /// All seats, those that need the user first.
    #[track_caller]
    pub fn seats(&self) -> Vec<Value> {
        let listed = self.tow(&["status", "--json"]).ok().json();
        listed["seats"].as_array().unwrap_or_else(|| panic!("no seats in {listed}")).clone()
    }

    /// The only seat; `null` before the first event.
    #[track_caller]
    pub fn only_seat(&self) -> Value {
        let mut seats = self.seats();
        assert!(seats.len() <= 1, "{seats:#?}");
        seats.pop().unwrap_or_default()
    }

    /// The states of all seats, those that need the user first.
    #[track_caller]
    pub fn states(&self) -> Vec<String> {
        self.seats().iter().map(|seat| seat["state"].as_str().unwrap_or("?").to_owned()).collect()
    }

    /// Waits until the seats are in these states, and returns the seats.
    #[track_caller]
    pub fn wait_states(&self, expected: &[&str]) -> Vec<Value> {
        wait::until_evident(&format!("the states {expected:?}"), wait::PATIENCE, || {
            let seats = self.seats();
            if seats.iter().map(|seat| &seat["state"]).eq(expected) {
                Ok(seats)
            } else {
                Err(format!("{seats:#?}"))
            }
        })
    }
}
