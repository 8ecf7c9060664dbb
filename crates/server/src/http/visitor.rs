//! The connections that have not shown a token or a session yet, oldest first.
//!
//! When the server is full, the oldest of them has to leave: strangers that hold connections open do not lock the owner out.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::Notify;

/// One connection.
#[derive(Default)]
pub struct Visitor {
    is_known: AtomicBool,
    leave: Notify,
}

#[derive(Default)]
pub struct Visitors(Mutex<VecDeque<Weak<Visitor>>>);

impl Visitor {
    /// Notes a request with a valid token or session.
    pub fn admit(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Returns when the connection has to leave.
    pub async fn sent_away(&self) {
        self.leave.notified().await;
    }
}

impl Visitors {
    pub fn add(&self) -> Arc<Visitor> {
        let visitor = Arc::new(Visitor::default());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.strong_count() > 0);
        all.push_back(Arc::downgrade(&visitor));
        visitor
    }

    /// Sends the oldest stranger away. Returns whether there was one.
    pub fn make_room(&self) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.upgrade().is_some_and(|other| !other.is_known.load(Ordering::Relaxed)));
        let oldest = all.pop_front().and_then(|oldest| oldest.upgrade());
        oldest.as_ref().inspect(|oldest| oldest.leave.notify_one()).is_some()
    }
}
