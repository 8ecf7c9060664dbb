//! A command line assembled from an HTTP request, and its output.
//!
//! Request values are always placed after `=` or `--`, so they are never parsed as options.

use crate::http::{Answer, Given, Refusal, Status};
use std::fmt::Display;
use std::sync::OnceLock;
use towline_engine::runtime::env::Env;
use towline_engine::runtime::failure::{Failure, Kind};

/// Runs a command line and returns its output.
pub type CommandRunner = fn(&[String]) -> Result<String, Failure>;

/// Set once by the program, before it serves.
static RUNNER: OnceLock<CommandRunner> = OnceLock::new();

pub fn set_runner(runner: CommandRunner) {
    let _already_set = RUNNER.set(runner);
}

pub fn run(words: &[String]) -> Result<String, Failure> {
    match RUNNER.get() {
        Some(run) => run(words),
        None => Err(Failure::input("no command can be run here")),
    }
}

pub struct VerbCommand(Vec<String>);

impl VerbCommand {
    /// A verb with JSON output.
    pub fn new(verb: &[&str]) -> VerbCommand {
        VerbCommand(verb.iter().copied().chain(["--json"]).map(str::to_owned).collect())
    }

    /// A verb with text output.
    pub fn in_words(verb: &[&str]) -> VerbCommand {
        VerbCommand(verb.iter().map(ToString::to_string).collect())
    }

    /// Adds `--option=value` if there is a value.
    pub fn with(mut self, option: &str, value: Option<impl Display>) -> VerbCommand {
        self.0.extend(value.map(|value| format!("{option}={value}")));
        self
    }

    /// Adds the option once for each value.
    pub fn with_each(mut self, option: &str, values: &[&str]) -> VerbCommand {
        self.0.extend(values.iter().map(|value| format!("{option}={value}")));
        self
    }

    /// Adds the option if the flag `name` is set.
    pub fn if_set(mut self, given: &Given, name: &str, option: &str) -> VerbCommand {
        self.0.extend(given.flag(name).then(|| option.to_owned()));
        self
    }

    /// Limits the command to a project, or covers all.
    pub fn of_project(mut self, project: Option<&str>) -> VerbCommand {
        self.0.push(match project {
            None | Some("" | "*") => "--all-projects".to_owned(),
            Some(project) => format!("--project={project}"),
        });
        self
    }

    /// Positional arguments. An empty one would be a different query.
    pub fn about(mut self, what: &[&str]) -> VerbCommand {
        self.0.push("--".to_owned());
        self.0.extend(what.iter().map(ToString::to_string));
        self
    }

    pub fn said(&self) -> Result<Answer, Refusal> {
        run(&self.0).map(Answer::Json).map_err(|failure| refusal(failure, Status::BadRequest))
    }

    /// Like `said`, for one named thing: an input error means that it does not exist.
    pub fn said_of_one(&self) -> Result<Answer, Refusal> {
        run(&self.0).map(Answer::Json).map_err(|failure| refusal(failure, Status::NotFound))
    }

    /// The output as text.
    pub fn text(&self) -> Result<String, Refusal> {
        run(&self.0).map_err(|failure| refusal(failure, Status::BadRequest))
    }

    #[cfg(test)]
    pub fn words(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }
}

/// The output of a verb is not JSON.
pub fn no_json(error: serde_json::Error) -> Refusal {
    Refusal::new(Status::Unavailable, "the answer is no JSON").because(error.to_string())
}

/// An input error means that the request was bad.
pub fn bad_request(failure: Failure) -> Refusal {
    refusal(failure, Status::BadRequest)
}

/// An input error means that the named thing does not exist.
pub fn not_found(failure: Failure) -> Refusal {
    refusal(failure, Status::NotFound)
}

/// Every request has its own clock.
pub fn env() -> Result<Env, Refusal> {
    Env::new().ok_or_else(|| Refusal::new(Status::Unavailable, "there is no home folder any more"))
}

/// Maps a failure to an HTTP refusal; `of_input` is the status of an input error.
pub fn refusal(failure: Failure, of_input: Status) -> Refusal {
    let status = match failure.kind {
        Kind::Input => of_input,
        Kind::Failed => Status::Unavailable,
    };
    let refusal = Refusal::new(status, failure.what.trim());
    let (because, next) = (failure.causes.join(": "), failure.hints.join(" "));
    let refusal = if because.is_empty() { refusal } else { refusal.because(because) };
    if next.is_empty() { refusal } else { refusal.next(next) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_never_taken_for_an_option() {
        let command = VerbCommand::new(&["search"])
            .of_project(Some("--all-projects"))
            .with("--file", Some("--kind=detail"))
            .with("--agent", None::<&str>)
            .about(&["--json", "-h"]);
        let words =
            ["search", "--json", "--project=--all-projects", "--file=--kind=detail", "--", "--json", "-h"];
        assert_eq!(command.words(), words);
    }

    #[test]
    fn whose_fault_it_was_decides_the_status() {
        let input = || Failure::input("no such thing").hint("Run `tow status`.");
        assert_eq!(refusal(input(), Status::NotFound).status, Status::NotFound);
        let busy = refusal(Failure::busy("another process writes"), Status::NotFound);
        assert_eq!(busy.status, Status::Unavailable, "it is there, and may be had a moment later");
        let failed = Failure { kind: Kind::Failed, ..input() };
        let told = refusal(failed, Status::NotFound);
        assert_eq!((told.status, told.next.as_deref()), (Status::Unavailable, Some("Run `tow status`.")));
    }
}
