//! Tracks the last request and the number of listeners, so that an idle server can end.
//!
//! Only counts; the caller ends the server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

#[derive(Clone)]
pub struct Uses(Arc<Mutex<Used>>);

struct Used {
    last: Instant,
    listeners: usize,
}

/// Counts as one listener of the stream until it is dropped.
pub struct Listener(Uses);

impl Uses {
    pub fn new() -> Uses {
        Uses(Arc::new(Mutex::new(Used { last: Instant::now(), listeners: 0 })))
    }

    pub fn note(&self) {
        self.change(|used| used.last = Instant::now());
    }

    /// Adds a listener; `None` if there are already `most`.
    pub fn listen(&self, most: usize) -> Option<Listener> {
        let is_taken = self.change(|used| {
            let has_room = used.listeners < most;
            used.listeners += usize::from(has_room);
            has_room
        });
        is_taken.then(|| Listener(self.clone()))
    }

    /// Returns once there was no request and no listener for this long.
    pub async fn idle_for(&self, patience: Duration) {
        loop {
            let (last, listeners) = self.change(|used| (used.last, used.listeners));
            let until = if listeners == 0 { last + patience } else { Instant::now() + patience };
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Used) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.change(|used| {
            used.listeners -= 1;
            used.last = Instant::now();
        });
    }
}
