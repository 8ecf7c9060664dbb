//! A process with an agent's name, which made-up sessions name as their own.
//!
//! Does nothing and ends when it is dropped. This process must not take the name: a command below it would count as run by
//! an agent.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::outcome::{Failure, Result};

pub struct AgentProcess(Child);

impl AgentProcess {
    /// Starts it from a program in `folder`, with the environment of `like`.
    pub fn start(folder: &Path, name: &str, like: &Command) -> Result<AgentProcess> {
        let program = folder.join(name);
        if !program.exists() {
            // A copy of its own first: another thread may start it meanwhile.
            let copy = folder.join(format!("{name}-{:?}", std::thread::current().id()));
            fs::copy("/bin/sleep", &copy).map_err(Failure::read(&copy))?;
            fs::rename(&copy, &program).map_err(Failure::write(&program))?;
        }
        let mut command = Command::new(program);
        command.env_clear().envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let child = command.arg("infinity").stdin(Stdio::null()).spawn().map_err(Failure::start(name))?;
        Ok(AgentProcess(child))
    }

    pub fn id(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        // One that has already ended is no error.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}
