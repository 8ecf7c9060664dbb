//! Records code and context state at a bookmark, in a process that no caller waits for.
//!
//! The code is read first and at once, since the agent may go on; the context once its transcript is written.

use crate::runtime::Env;
use crate::runtime::record::{accept, event};
use crate::status::probe;
use std::path::Path;
use std::time::Duration;
use towline_core::bookmark::CodeState;
use towline_core::event::EventKind;
use towline_core::id::{SessionKey, Uid};
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_store::Store;
use towline_terminal::repository::{Checkout, checked_out};

/// Older bookmarks stay without code state: by now the code has changed.
const WITHIN_MS: i64 = 5 * 60_000;

const PATIENCE: Duration = Duration::from_secs(2);

pub struct Looked {
    bookmark: Uid,
    session: SessionKey,
    code: Option<CodeState>,
}

/// Reads the code state of all bookmarks that were just set.
pub fn look(env: &Env) -> Vec<Looked> {
    let Ok(Some(store)) = Store::read(&env.home, PATIENCE) else { return vec![] };
    let unplaced = store.unplaced_bookmarks(env.now.plus_ms(-WITHIN_MS)).unwrap_or_default();
    let looked = unplaced.into_iter().map(|known| Looked {
        bookmark: known.bookmark.uid,
        code: code_in(known.folder.as_deref()),
        session: known.session,
    });
    looked.collect()
}

/// The commit, branch and dirty state of a folder, bounded and redacted.
pub fn code_in(folder: Option<&str>) -> Option<CodeState> {
    let Checkout { commit, branch, is_dirty } = checked_out(Path::new(folder?))?;
    let kept =
        |text: &str| SafeText::new(text, TextPolicy { longest_bytes: 500, secrets: SecretPolicy::Redacted });
    Some(CodeState { commit: kept(&commit), branch: branch.as_deref().map(kept), dirty: Some(is_dirty) })
}

impl Looked {
    /// Appends the code state and the context size to the journal.
    pub fn append_all(looked: Vec<Looked>, env: &Env) {
        let Ok(Some(store)) = Store::read(&env.home, PATIENCE) else { return };
        let placed = |looked: Looked| {
            let session = store.session(&looked.session).ok().flatten();
            let context_tokens = session.as_ref().and_then(probe::reported_context).map(|fill| fill.tokens);
            let (bookmark, code) = (looked.bookmark, looked.code);
            let happening = EventKind::BookmarkPlaced { bookmark, code, context_tokens };
            event(env, &looked.session, happening)
        };
        // If this fails, the bookmark stays without its code state.
        let _ = accept(env, looked.into_iter().map(placed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_no_secret() {
        let commit = "d4dd1ac9aebca0e78c240215a0893ef874bccb61";
        let kept = SafeText::new(commit, TextPolicy { longest_bytes: 500, secrets: SecretPolicy::Redacted });
        assert_eq!(kept.as_str(), commit);
    }
}
