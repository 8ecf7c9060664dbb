//! Notifies the user that no model extracts memories: once per trouble, at the next session start.
//!
//! The notice is one small file, so a hook only pays for one lookup. It is deleted when the trouble is over.

use crate::memory::model::{Drained, Left, Provider};
use crate::runtime::config::Enrich;
use crate::runtime::{Env, json_file};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use towline_core::reply::Reply;

/// A notice, pending or shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ProviderNotice {
    /// Identifies the trouble.
    of: String,
    text: String,
    told: bool,
}

/// A rate limit passes by itself, so it is reported only after this many failures.
const OFTEN: u32 = 3;

/// Updates the notice after a run of jobs; deletes it when the trouble is over.
pub fn note(env: &Env, wanted: &Enrich, provider: &dyn Provider, drained: &Drained) {
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
            keep(env, ProviderNotice { of: since, text, told: false });
        }
        Left::Budget => {
            let text = format!(
                "towline: today's {} tokens for putting turns into words are spent; rules alone serve until tomorrow \
                 (UTC). More: `tow config set distil.daily_tokens N`.",
                wanted.daily_tokens
            );
            keep(env, ProviderNotice { of: super::today(env.now), text, told: false });
        }
        Left::Nothing | Left::More => drop(std::fs::remove_file(place(env))),
        Left::Busy => {}
    }
}

/// The notice shown at a session start. The caller holds the apply lock, so only one session shows it.
pub fn session_start_notice(env: &Env) -> Reply {
    let known: Option<ProviderNotice> = json_file::load(&place(env));
    let Some(notice) = known.filter(|notice| !notice.told) else { return Reply::default() };
    let reply = Reply { notices: vec![notice.text.clone()], ..Reply::default() };
    json_file::save(&place(env), &ProviderNotice { told: true, ..notice });
    reply
}

/// Does not repeat a shown notice of the same trouble, even if its text changed.
fn keep(env: &Env, notice: ProviderNotice) {
    let is_told = |known: ProviderNotice| known.of == notice.of && known.told;
    if !json_file::load(&place(env)).is_some_and(is_told) {
        json_file::save(&place(env), &notice);
    }
}

fn place(env: &Env) -> PathBuf {
    env.home.folder().join("untold")
}
