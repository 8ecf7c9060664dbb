//! The baselines of a hook: the cheapest process there is, a shell, and the runtime most hooks are written
//! in.
//!
//! Only `/bin/true` is a yardstick; the other two are shown for scale.

use std::process::Command;

/// A program that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    True,
    Shell,
    Node,
}

pub const ALL: [Baseline; 3] = [Baseline::True, Baseline::Shell, Baseline::Node];

/// The environment of every measured process. Without `LD_LIBRARY_PATH`: `cargo run` sets it, and the
/// dynamic loader then searches the build's folders, which makes `/bin/true` a third slower than a static `tow`.
pub const ENVIRONMENT: [(&str, &str); 3] =
    [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TERM", "xterm-256color"), ("LANG", "C.UTF-8")];

impl Baseline {
    pub fn name(self) -> &'static str {
        match self {
            Baseline::True => "/bin/true",
            Baseline::Shell => "sh -c :",
            Baseline::Node => "node -e 0",
        }
    }

    pub fn command(self) -> Command {
        let (program, arguments): (_, &[&str]) = match self {
            Baseline::True => ("/bin/true", &[]),
            Baseline::Shell => ("/bin/sh", &["-c", ":"]),
            Baseline::Node => ("node", &["-e", "0"]),
        };
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(ENVIRONMENT);
        command
    }

    /// How often it runs in round `round` beside `cases` cases. The yardstick runs several times, so that one
    /// slow start does not spoil the round; node takes as long as a whole round and runs in every tenth.
    pub fn runs_in(self, round: usize, cases: usize) -> usize {
        match self {
            Baseline::True => 3 + cases / 8,
            Baseline::Shell => 1,
            Baseline::Node => usize::from(round.is_multiple_of(10)),
        }
    }

    /// Skips node: counting its instructions would take minutes and mean nothing.
    pub fn counted(self) -> bool {
        self != Baseline::Node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yardstick_runs_in_every_round_and_more_often_beside_many_cases() {
        assert_eq!(Baseline::True.runs_in(7, 4), 3);
        assert_eq!(Baseline::True.runs_in(7, 40), 8);
    }

    #[test]
    fn baseline_gets_nothing_of_our_own_environment() {
        let command = Baseline::True.command();
        assert_eq!(command.get_envs().count(), ENVIRONMENT.len());
        let printed = Baseline::Shell.command().args(["-c", "echo $LD_LIBRARY_PATH"]).output().unwrap();
        assert_eq!(printed.stdout, b"");
    }

    #[test]
    fn node_runs_in_every_tenth_round() {
        assert_eq!((0..30).map(|round| Baseline::Node.runs_in(round, 4)).sum::<usize>(), 3);
    }
}
