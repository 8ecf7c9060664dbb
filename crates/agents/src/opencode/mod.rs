//! OpenCode, and Kilo, which is a fork of it and takes the same plugin: what a plugin inside the client reports, how a
//! session is run, and where the client keeps its sessions.
//!
//! Measured on the real clients; recorded payloads are in `fixtures/opencode` and `fixtures/kilo`. The clients write no
//! transcript: sessions are rows of a database, updated in place.

pub(crate) mod adapter;
pub(crate) mod input;
pub mod install;
pub(crate) mod screen;
pub(crate) mod tool_action;
pub mod transcript;

use towline_core::event::SessionPresence;

/// `arguments` are those of the agent's process.
pub(crate) fn presence(arguments: &[String]) -> SessionPresence {
    match command(arguments) {
        Some("run") => SessionPresence::Headless,
        Some("acp") => SessionPresence::Ide,
        _ => SessionPresence::Terminal,
    }
}

/// Whether the process serves sessions that users see in a browser, or in processes that are attached to it.
pub(crate) fn is_server(arguments: &[String]) -> bool {
    matches!(command(arguments), Some("serve" | "web"))
}

/// The subcommand: without one, the first word is a project's folder.
fn command(arguments: &[String]) -> Option<&str> {
    arguments.iter().skip(1).map(String::as_str).find(|word| !word.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subcommand_tells_how_a_session_is_run() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for (line, expected) in [
            ("opencode", SessionPresence::Terminal),
            ("opencode -s ses_1", SessionPresence::Terminal),
            ("opencode /srv/project", SessionPresence::Terminal),
            ("opencode run hello", SessionPresence::Headless),
            ("opencode --print-logs run hello", SessionPresence::Headless),
            ("opencode acp", SessionPresence::Ide),
        ] {
            assert_eq!(presence(&words(line)), expected, "{line}");
        }
        assert!(is_server(&words("opencode serve --port 1")) && !is_server(&words("opencode")));
    }
}
