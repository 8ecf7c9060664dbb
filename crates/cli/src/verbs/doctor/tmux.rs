//! Doctor checks of tmux: whether it answers, whether it loads us, and its `@towline-*` options.
//!
//! Changes nothing and never starts a server. A server that hangs is queried once.

use super::check::Check;
use crate::scope::Scope;
use crate::verbs::install::command_to_register;
use std::path::Path;
use towline_agents::settings::BlockState;
use towline_engine::runtime::env::find_in_path;
use towline_engine::status::tmux::conf::current_server;
use towline_engine::status::tmux::load::Presence;
use towline_engine::status::tmux::options::Options;
use towline_engine::status::tmux::{conf, load};
use towline_terminal::tmux::TmuxServer;
use towline_terminal::tmux_settings::installed_version;

pub fn all(scope: &Scope) -> Vec<Check> {
    if find_in_path("tmux").is_none() {
        return vec![Check::good("tmux", "not installed; seats are found by their terminals")];
    }
    let Some(server) = current_server() else {
        let version = installed_version().unwrap_or_default();
        let tmux = Check::good("tmux", format!("tmux {version}; this shell is not in it"));
        return vec![tmux, set_up(None)];
    };
    let Some(panes) = server.panes() else {
        let detail = format!("the server on {} does not answer", server.socket);
        return vec![Check::warning("tmux", detail, "run `tmux list-panes -a` to see why"), set_up(None)];
    };
    let tmux = match load::version(Some(&server)) {
        Ok(_) => Check::good("tmux", format!("{} panes on {}", panes.len(), server.socket)),
        Err(failure) => Check::warning("tmux", failure.what, failure.hints.join(" ")),
    };
    let mut checks = vec![tmux, set_up(Some(&server))];
    checks.extend(options(scope, &server));
    checks
}

/// Checks our block in tmux.conf, and whether the current server has executed it.
fn set_up(server: Option<&TmuxServer>) -> Check {
    let presence = server.and_then(load::presence);
    let standing = command_to_register().and_then(|tow| conf::standing(&tow));
    let (file, standing) = match standing {
        Err(failure) => {
            let detail = [vec![failure.what], failure.causes].concat().join(": ");
            return Check::warning(NAME, detail, failure.hints.join(" "));
        }
        Ok(found) => found,
    };
    match standing {
        BlockState::Outdated => {
            let detail = format!("our block in {} is not as it should be", file.display());
            Check::warning(NAME, detail, "tow install --tmux")
        }
        BlockState::Right => in_server(presence, &format!("loaded by {}", file.display()), &file),
        BlockState::Absent if matches!(presence, None | Some(Presence::Absent)) => {
            Check::good(NAME, "not set up; `tow install --tmux` puts it into the status line")
        }
        BlockState::Absent => in_server(presence, "loaded, though not by tmux.conf", &file),
    }
}

const NAME: &str = "tmux bar";

fn in_server(presence: Option<Presence>, loaded: &str, file: &Path) -> Check {
    match presence {
        None | Some(Presence::Whole) => Check::good(NAME, loaded),
        Some(Presence::Absent) => {
            let detail = format!("{} loads it, but this server runs without it", file.display());
            Check::warning(NAME, detail, "tow tmux load")
        }
        Some(Presence::Partial) => {
            let detail = "something has set tmux's status line or hooks over what was loaded";
            let mend = format!("run `tow tmux load`, and move our block to the end of {}", file.display());
            Check::warning(NAME, detail, mend)
        }
    }
}

fn options(scope: &Scope, server: &TmuxServer) -> Vec<Check> {
    let (_, mistakes) = Options::current(&scope.env, server);
    let check = |mistake: &towline_engine::status::tmux::options::Mistake| {
        let mend = format!("tmux set-option -g {} VALUE, in tmux.conf as well", mistake.option);
        Check::warning("tmux option", format!("{} must be {}", mistake.option, mistake.wanted), mend)
    };
    mistakes.iter().map(check).collect()
}
