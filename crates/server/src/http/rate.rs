//! Rate limits: a token bucket for each principal, and a small one for all requests without a valid token or session.
//!
//! No principal uses up the bucket of another, so neither strangers nor programs that send events lock the owner out.

use crate::http::desk::{Refusal, Status};
use crate::http::guard::Bearer;
use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;

/// Requests per second without a token; a page that loads without one requests a few files.
const STRANGERS: f64 = 10.0;

/// A bucket holds this many seconds' worth of requests.
const BURST_SECONDS: f64 = 4.0;

pub struct Rates {
    viewer: Mutex<Bucket>,
    pages: Mutex<Bucket>,
    events: Mutex<Bucket>,
    strangers: Mutex<Bucket>,
}

struct Bucket {
    per_second: f64,
    left: f64,
    filled_at: Option<Instant>,
}

impl Rates {
    pub fn new(per_second: u32) -> Rates {
        let bucket = |per_second| Mutex::new(Bucket { per_second, left: 0.0, filled_at: None });
        let known = || bucket(f64::from(per_second));
        Rates { viewer: known(), pages: known(), events: known(), strangers: bucket(STRANGERS) }
    }

    pub fn check(&self, bearer: Bearer) -> Result<(), Refusal> {
        let bucket = match bearer {
            Bearer::Nobody => &self.strangers,
            Bearer::Viewer => &self.viewer,
            Bearer::Page => &self.pages,
            Bearer::Events => &self.events,
        };
        if bucket.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now()) {
            return Ok(());
        }
        Err(Refusal::new(Status::TooMany, "too many requests").next("Wait a second, and ask again."))
    }

    /// Counts a request that the origin check refused.
    pub fn refused(&self) {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now());
    }
}

impl Bucket {
    fn take(&mut self, now: Instant) -> bool {
        let most = self.per_second * BURST_SECONDS;
        let since = self.filled_at.map_or(BURST_SECONDS, |at| now.duration_since(at).as_secs_f64());
        self.left = (self.left + since * self.per_second).min(most);
        self.filled_at = Some(now);
        let has_room = self.left >= 1.0;
        if has_room {
            self.left -= 1.0;
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_bucket_gives_a_burst_and_then_as_much_as_comes() {
        let mut bucket = Bucket { per_second: 10.0, left: 0.0, filled_at: None };
        let now = Instant::now();
        assert_eq!((0..100).filter(|_| bucket.take(now)).count(), 40);
        let later = now + Duration::from_millis(500);
        assert_eq!((0..100).filter(|_| bucket.take(later)).count(), 5);
    }
}
