//! The hub as this machine uses it: where it is, how it is spoken to, and when.
//!
//! Nothing of it runs in a hook, and nobody waits for it who did not ask for it. The archive is never held while the
//! network is waited for.

pub mod address;
#[expect(dead_code, reason = "the exchange that uses it comes with the next step")]
mod backoff;
#[expect(dead_code, reason = "the exchange that uses it comes with the next step")]
mod password;
