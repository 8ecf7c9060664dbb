//! Client for an agent's app server: reads its threads and changes them.
//!
//! Every request has a deadline: a silent server is an error that says so. No request is retried, because the
//! outcome of the first attempt is unknown.

mod wire;

use crate::runtime::env::find_in_path;
use crate::runtime::{Env, Failure, variable};
use std::io;
use std::path::Path;
use std::time::Duration;
use towline_agents::Agent;
use towline_agents::server::{
    READY, ServerAddress, ServerMessage, ServerRefusal, ServerRequest, Thread, ThreadTurn, parse_message,
    thread, turns,
};
use towline_core::id::{SessionId, TurnId};
use wire::Transport;

/// Long enough for a server on a busy machine to load a long thread.
const PATIENCE: Duration = Duration::from_secs(20);
/// A background server accepts at once, or it is stuck.
const TO_MEET: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("could not reach the server at {address}")]
    Reach { address: String, source: io::Error },
    #[error("the server did not answer {method} within {seconds} seconds")]
    Silent { method: &'static str, seconds: u64 },
    #[error("the connection to the server broke off at {method}")]
    Broken { method: &'static str, source: io::Error },
    #[error("the server refused {method}")]
    Refused { method: &'static str, source: ServerRefusal },
    #[error("the server's answer to {method} is not understood: it may be of a newer version")]
    Strange { method: &'static str },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The background server, which holds the sessions that users see.
    Shared,
    /// A child process of ours, which exits when the client is dropped.
    Private,
}

pub struct Client<'a> {
    wire: Transport<'a>,
    pub kind: Kind,
    env: &'a Env,
    asked: u64,
}

/// Where the agent's server is; `none` is the error if it has none.
pub fn address_of(agent: Agent, none: impl FnOnce() -> Failure) -> Result<ServerAddress, Failure> {
    let folder = agent.folder(&variable).ok_or_else(|| Failure::input("there is no home folder"))?;
    agent.server(&folder).ok_or_else(none)
}

impl<'a> Client<'a> {
    /// Connects for a command that a user ran.
    pub fn open(env: &'a Env, agent: Agent, address: &ServerAddress) -> Result<Client<'a>, Failure> {
        let program = find_in_path(agent.name()).unwrap_or_else(|| agent.name().into());
        Client::connect(env, address, &program).map_err(|error| {
            Failure::new(&error).hint("Start the agent once by hand to see whether it runs; then try again.")
        })
    }

    /// Connects to the background server if one listens, else starts a private one from the agent's program.
    pub fn connect(env: &'a Env, address: &ServerAddress, program: &Path) -> Result<Client<'a>, ServerError> {
        match Client::shared(env, &address.socket) {
            Err(ServerError::Reach { source, .. }) if is_nobody(&source) => {
                Client::private(env, program, address.arguments)
            }
            other => other,
        }
    }

    fn shared(env: &'a Env, socket: &Path) -> Result<Client<'a>, ServerError> {
        let reached = Transport::to_socket(env, socket, env.elapsed() + TO_MEET);
        let wire =
            reached.map_err(|source| ServerError::Reach { address: socket.display().to_string(), source })?;
        Client { wire, kind: Kind::Shared, env, asked: 0 }.introduced()
    }

    fn private(env: &'a Env, program: &Path, arguments: &[&str]) -> Result<Client<'a>, ServerError> {
        let wire = Transport::to_child(env, program, arguments)
            .map_err(|source| ServerError::Reach { address: program.display().to_string(), source })?;
        Client { wire, kind: Kind::Private, env, asked: 0 }.introduced()
    }

    fn introduced(mut self) -> Result<Client<'a>, ServerError> {
        let call = ServerRequest::initialize(env!("CARGO_PKG_VERSION"));
        self.ask(&call)?;
        self.wire
            .send(READY, self.env.elapsed() + PATIENCE)
            .map_err(|source| ServerError::Broken { method: call.method, source })?;
        Ok(self)
    }

    /// Reads a thread's metadata.
    pub fn thread(&mut self, id: &SessionId) -> Result<Thread, ServerError> {
        self.ask_for(&ServerRequest::thread(id), thread)
    }

    /// All turns of a thread, oldest first.
    pub fn turns(&mut self, id: &SessionId) -> Result<Vec<ThreadTurn>, ServerError> {
        let (mut all, mut cursor) = (vec![], None);
        loop {
            let mut page = self.ask_for(&ServerRequest::turns(id, cursor.as_deref()), turns)?;
            let is_last = page.turns.is_empty() || page.next.is_none();
            all.append(&mut page.turns);
            if is_last {
                return Ok(all);
            }
            cursor = page.next;
        }
    }

    /// Loads a thread into this connection, which changing it requires.
    pub fn load(&mut self, id: &SessionId) -> Result<Thread, ServerError> {
        self.ask_for(&ServerRequest::load(id), thread)
    }

    /// Unloads a thread: the server drops it unless another client has it open.
    pub fn unload(&mut self, id: &SessionId) -> Result<(), ServerError> {
        self.ask(&ServerRequest::unsubscribe(id)).map(|_| ())
    }

    /// Reverts a turn and all later ones. Returns the thread with the file in which it continues.
    pub fn revert_to(&mut self, id: &SessionId, before: &TurnId) -> Result<Thread, ServerError> {
        self.ask_for(&ServerRequest::revert(id, before), thread)
    }

    /// Forks a thread before a turn, or at its end. The original stays unchanged.
    pub fn fork_at(&mut self, id: &SessionId, before: Option<&TurnId>) -> Result<Thread, ServerError> {
        self.ask_for(&ServerRequest::fork(id, before), thread)
    }

    /// Adds text to the context of a thread's model without starting a turn.
    pub fn inject(&mut self, id: &SessionId, text: &str) -> Result<(), ServerError> {
        self.ask(&ServerRequest::inject(id, text)).map(|_| ())
    }

    fn ask_for<T>(
        &mut self,
        call: &ServerRequest,
        read: impl Fn(&serde_json::Value) -> Option<T>,
    ) -> Result<T, ServerError> {
        let answer = self.ask(call)?;
        read(&answer).ok_or(ServerError::Strange { method: call.method })
    }

    fn ask(&mut self, call: &ServerRequest) -> Result<serde_json::Value, ServerError> {
        self.asked += 1;
        let until = self.env.elapsed() + PATIENCE;
        let method = call.method;
        self.wire.send(&call.to_json(self.asked), until).map_err(|error| broken(method, error))?;
        loop {
            let text = self.wire.next(until).map_err(|error| broken(method, error))?;
            match parse_message(&text) {
                Some(ServerMessage::Answer { number, result }) if number == self.asked => {
                    return result.map_err(|source| ServerError::Refused { method, source });
                }
                Some(ServerMessage::Asked { decline }) => {
                    self.wire.send(&decline, until).map_err(|error| broken(method, error))?;
                }
                Some(ServerMessage::Answer { .. } | ServerMessage::Told) | None => {}
            }
        }
    }
}

/// Whether no server listens at all, as opposed to one that is stuck.
fn is_nobody(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

fn broken(method: &'static str, source: io::Error) -> ServerError {
    if source.kind() == io::ErrorKind::TimedOut {
        return ServerError::Silent { method, seconds: PATIENCE.as_secs() };
    }
    ServerError::Broken { method, source }
}

#[cfg(test)]
mod tests;
