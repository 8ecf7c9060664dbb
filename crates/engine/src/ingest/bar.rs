//! Brings the bars of all tmux servers up to date, for changes that no hook reports.
//!
//! Draws nothing itself: `status::push` sets tmux's options.

use crate::ingest::live::{self, Glance};
use crate::notify;
use crate::runtime::{Env, Failure};
use crate::status::read_marks::Look;
use crate::status::tmux::options::Options;
use crate::status::{cache, push, read_marks};

/// `look` is the pane that the user looks at: an agent that finished there counts as seen.
pub fn refresh(env: &Env, look: Look<'_>) -> Result<(), Failure> {
    if cache::still(env, look) {
        return Ok(());
    }
    let mut live = live::look(env, Glance::Cheap)?;
    if read_marks::record_look(env, &live.seats, look)? {
        live = live::look(env, Glance::Cheap)?;
    }
    for server in push::servers(&live.seats).into_values() {
        if let Some(bar) = Options::renew(env, &server) {
            push::compare(&env.home, &server, &bar);
        }
    }
    notify::catch_up(env, &live.seats);
    if live::push(env)? {
        cache::remember(env, live.watch, &live.seats);
    }
    Ok(())
}
