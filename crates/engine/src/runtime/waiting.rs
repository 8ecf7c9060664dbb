//! Waits for a lock that another process holds: a user's command for as long as it takes, anything else for a limited time.
//!
//! Prints nothing: the command names the function that does. Must not decide which lock is needed.

use super::env::Env;
use std::time::Duration;

/// How long a user's command waits before it says so.
const SILENTLY: Duration = Duration::from_secs(1);

impl Env {
    /// Makes this a user's command: it says by `say` what it waits for, and waits until it may write.
    pub fn say_waits_by(&self, say: fn(&str)) {
        // A command that said so before says it in the same way.
        let _ = self.waits.set(say);
    }

    /// Takes a lock by `take`, which tries for the time that it is given. `None` if another process holds it for longer than
    /// `patience`, unless this is a user's command. Callers in a hurry never wait longer.
    pub fn take_turn<L, E>(
        &self,
        what: &str,
        patience: Duration,
        mut take: impl FnMut(Duration) -> Result<Option<L>, E>,
    ) -> Result<Option<L>, E> {
        let Some(say) = self.waits.get().filter(|_| patience > SILENTLY) else { return take(patience) };
        if let Some(taken) = take(SILENTLY)? {
            return Ok(Some(taken));
        }
        say(&format!("waiting for another process that is writing {what}\n"));
        loop {
            if let Some(taken) = take(patience)? {
                return Ok(Some(taken));
            }
        }
    }
}
