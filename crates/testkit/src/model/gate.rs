//! A gate holds an answer back until the test opens it, so that no test needs a delay.
//!
//! No wait is endless: a gate that is never opened ends with its server.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A handle on a gate; clones are the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    inner: Arc<(Mutex<Position>, Condvar)>,
}

/// The state of a gate, or how a wait at it ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Position {
    #[default]
    Shut,
    Open,
    /// The server has ended and cannot answer any more.
    Ended,
}

impl Gate {
    /// A closed gate.
    pub fn shut() -> Self {
        Self::default()
    }

    /// Releases everything that waits here, now and later.
    pub fn open(&self) {
        self.move_to(Position::Open);
    }

    pub(super) fn end(&self) {
        self.move_to(Position::Ended);
    }

    /// Waits until the gate is no longer shut.
    pub(super) fn pass(&self) -> Position {
        let (position, moved) = &*self.inner;
        let mut position = position.lock().unwrap_or_else(PoisonError::into_inner);
        while *position == Position::Shut {
            position = moved.wait(position).unwrap_or_else(PoisonError::into_inner);
        }
        *position
    }

    fn move_to(&self, target: Position) {
        let (position, moved) = &*self.inner;
        *position.lock().unwrap_or_else(PoisonError::into_inner) = target;
        moved.notify_all();
    }
}
