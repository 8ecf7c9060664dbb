//! Telling a person that no model puts turns into words: once for each trouble, at the next session start.
//!
//! One small file beside the database, so that a hook pays for nothing but a look. It goes when the trouble is over.

use crate::memory::model::{Drained, Left, Provider};
use crate::runtime::config::Enrich;
use crate::runtime::env::Env;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use towline_core::reply::Reply;
use towline_store::home::put_small;

/// What is to be told, or was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Notice {
    /// The same trouble has the same.
    of: String,
    text: String,
    told: bool,
}

/// A limit that passes by itself is told only if it comes back at once.
const OFTEN: u32 = 3;

/// Notes what is to be told of how the jobs went; forgets what is over.
pub fn note(env: &Env, (wanted, provider): (&Enrich, &dyn Provider), drained: &Drained) {
    match &drained.left {
        Left::Trouble(trouble) if trouble.cause == "rate" && trouble.failures < OFTEN => {}
        Left::Trouble(trouble) => {
            let since = trouble.since.to_utc();
            let text = format!(
                "towline: `{}` puts no turn into words since {since}: {}. To mend it: {}.",
                provider.name(),
                trouble.detail,
                provider.mend(&trouble.cause)
            );
            keep(env, Notice { of: since, text, told: false });
        }
        Left::Budget => {
            let text = format!(
                "towline: today's {} tokens for putting turns into words are spent; rules alone serve until tomorrow \
                 (UTC). More: `tow config set distil.daily_tokens N`.",
                wanted.daily_tokens
            );
            keep(env, Notice { of: super::today(env.now), text, told: false });
        }
        Left::Nothing | Left::More => drop(std::fs::remove_file(place(env))),
        Left::Busy => {}
    }
}

/// What a session that starts tells the person. Under the fold lock, so that only one does.
pub fn told_at_start(env: &Env) -> Reply {
    let Some(notice) = kept(env).filter(|notice| !notice.told) else { return Reply::default() };
    let reply = Reply { notices: vec![notice.text.clone()], ..Reply::default() };
    write(env, &Notice { told: true, ..notice });
    reply
}

/// The same trouble is not told twice, whatever else is known of it by now.
fn keep(env: &Env, notice: Notice) {
    let is_known = kept(env).is_some_and(|known| known.of == notice.of && known.told);
    if !is_known {
        write(env, &notice);
    }
}

fn kept(env: &Env) -> Option<Notice> {
    serde_json::from_slice(&std::fs::read(place(env)).ok()?).ok()
}

fn write(env: &Env, notice: &Notice) {
    let _ = put_small(&place(env), serde_json::to_string(notice).unwrap_or_default().as_bytes());
}

fn place(env: &Env) -> PathBuf {
    env.home.folder().join("untold")
}
