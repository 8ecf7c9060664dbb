//! Uses an agent's command line as a provider, isolated from the user's sessions, hooks, tools and settings.
//!
//! Only `agents` knows each agent's arguments and output format.

use super::child::Child;
use super::{AskError, ModelAnswer, Provider, usual_mend};
use crate::memory::model::request::Request;
use std::path::PathBuf;
use std::time::Duration;
use towline_agents::Agent;
use towline_agents::ask::{Asking, CommandOutput, ModelQuestion};

/// The execution environment of an agent's command line.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub program: PathBuf,
    /// Our own folder, used as working directory.
    pub folder: PathBuf,
    /// The agent's settings folder.
    pub settings: Option<PathBuf>,
    pub patience: Duration,
}

pub struct Command {
    pub agent: Agent,
    pub asking: &'static Asking,
    /// `None` means the agent's default.
    pub model: Option<String>,
    pub around: Surroundings,
}

impl Provider for Command {
    fn name(&self) -> &str {
        self.agent.name()
    }

    fn model(&self) -> &str {
        self.model.as_deref().unwrap_or_else(|| self.agent.name())
    }

    fn adds_tokens(&self) -> u64 {
        self.asking.adds_tokens
    }

    fn ask(&self, request: &Request) -> ModelAnswer {
        let schema = request.schema.to_string();
        let asking = self.asking.command(&ModelQuestion {
            system: &request.system,
            text: &request.digest.text,
            schema: &schema,
            model: self.model.as_deref(),
            most_output: request.most_output,
            folder: &self.around.folder,
            settings: self.around.settings.as_deref(),
        });
        let child = Child {
            arguments: asking.arguments,
            stdin: asking.stdin,
            variables: asking.variables,
            without: asking.without,
            ..Child::new(self.around.program.clone(), self.around.folder.clone())
        };
        let files = asking.files.iter();
        let written = files.map(|(path, text)| towline_store::home::replace_file(path, text.as_bytes()));
        let done = written.collect::<Result<(), _>>().and_then(|()| child.run(self.around.patience));
        match done {
            Ok(done) => {
                let (stdout, stderr) = (done.stdout.as_str(), done.stderr.as_str());
                self.asking.answered(CommandOutput { stdout, stderr, ended: done.ended })
            }
            Err(error) => {
                let what = format!("{} could not be started: {error}", self.around.program.display());
                ModelAnswer::none(AskError::Misconfigured(what))
            }
        }
    }

    fn mend(&self, cause: &str) -> String {
        match cause {
            "login" => format!("run `{}`, then `tow data jobs retry`", self.asking.login),
            other => usual_mend(other),
        }
    }
}
