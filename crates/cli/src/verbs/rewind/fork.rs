//! Rewinds to a bookmark by forking: the agent's own server makes a session of the turns before it.
//!
//! Changes neither the old session nor the code. Reports success only if the server shows the new session
//! with exactly the turns before the bookmark.

use super::Arguments;
use crate::agreement::{confirm, is_interactive};
use crate::scope::Scope;
use towline_agents::Agent;
use towline_core::id::{SessionId, SessionKey, TurnId};
use towline_core::session::SessionTurn;
use towline_engine::handoff::agent_server::{Client, ServerError, address_of};
use towline_engine::index::labels::short;
use towline_engine::runtime::Failure;
use towline_store::BookmarkRow;

/// The point at which the fork cuts the session off.
struct ForkPoint {
    /// The first turn after the bookmark; `None` if there is none.
    before: Option<TurnId>,
    kept: usize,
    cut: usize,
}

/// Forks after confirmation and returns the new session; `since` are the turns after the bookmark.
pub fn fork(
    scope: &Scope,
    arguments: &Arguments,
    known: &BookmarkRow,
    since: &[SessionTurn],
) -> Result<SessionKey, Failure> {
    let agent = Agent::from_name(known.session.agent.as_str());
    let agent = agent.ok_or_else(|| Failure::input("the agent of this bookmark is not known"))?;
    let address = address_of(agent, || {
        let what = format!("sessions of {} cannot be forked: it has no server that could", agent.title());
        let id = short(known.bookmark.uid);
        Failure::input(what)
            .hint(format!("Run `tow bookmark rewind {id}` for how to get back there by hand."))
    })?;
    if !arguments.yes && (!is_interactive() || arguments.json) {
        return Err(Failure::input("nothing was forked: it has to be confirmed").hint("Add `--yes`."));
    }
    let mut client = Client::open(&scope.env, agent, &address)?;
    let point = point(&mut client, known, since)?;
    if !arguments.yes && !confirm(&question(&point))? {
        return Err(Failure::input("nothing was forked").hint("Answer `y` to fork it."));
    }
    let forked = forked(&mut client, &known.session.id, &point).map_err(|error| not_done(&error))?;
    let key = agent.session_named(forked.as_str());
    key.ok_or_else(|| Failure::input(format!("the server calls the fork `{forked}`, which is no name")))
}

fn not_done(error: &ServerError) -> Failure {
    Failure::about("whether it was forked is not known; the session itself is as it was", error)
        .hint("Run the agent's own list of sessions to see whether there is a new one.")
}

/// The server's current turns decide: turns that the user took back are in no fork.
fn point(client: &mut Client<'_>, known: &BookmarkRow, since: &[SessionTurn]) -> Result<ForkPoint, Failure> {
    let unknown = |error: ServerError| {
        Failure::about(format!("could not look at {}", known.session), &error)
            .hint("Run `tow bookmark list` for those of other sessions.")
    };
    let turns = client.turns(&known.session.id).map_err(unknown)?;
    let Some(first) = since.first() else {
        return Ok(ForkPoint { before: None, kept: turns.len(), cut: 0 });
    };
    let by_hand =
        format!("Run `tow bookmark rewind {}` for how to get back there by hand.", short(known.bookmark.uid));
    let found = first.id.as_ref().and_then(|id| turns.iter().position(|turn| turn.id == *id));
    let Some(kept) = found else {
        let what = "the session does not hold the turn after this bookmark any more: it was taken back";
        return Err(Failure::input(what).hint(by_hand));
    };
    if kept == 0 {
        return Err(Failure::input("nothing stands before this bookmark that could be forked").hint(by_hand));
    }
    Ok(ForkPoint { before: first.id.clone(), kept, cut: turns.len() - kept })
}

fn question(point: &ForkPoint) -> String {
    let ForkPoint { kept, cut, .. } = point;
    format!("Fork it with the {kept} turns before the bookmark, without the {cut} after it?")
}

/// Forks without loading the session, which a client may have open. Unloads the fork at once: a server that
/// holds it would block the client that continues it.
fn forked(client: &mut Client<'_>, id: &SessionId, point: &ForkPoint) -> Result<SessionId, ServerError> {
    let forked = client.fork_at(id, point.before.as_ref())?.id;
    let kept = client.turns(&forked)?.len();
    // If this fails, a server that we started ends with us anyway.
    let _ = client.unload(&forked);
    if kept == point.kept { Ok(forked) } else { Err(ServerError::Strange { method: "thread/fork" }) }
}
