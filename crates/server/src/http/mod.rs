//! The viewer and the API over HTTP, for this machine's user only.
//!
//! Owns routes, tokens, checks and limits; must not read the store: the backend answers. Listens on loopback
//! or a Unix socket only, and refuses every request without a token or a session.

mod asked;
mod desk;
mod guard;
mod joined;
mod logins;
mod openapi;
mod rate;
mod reply;
mod router;
mod server;
mod stream;
mod table;
mod uses;
mod viewer;
mod visitor;

pub use asked::{Asked, Given};
pub use desk::{Answer, Batch, HttpBackend, News, NewsKind, Refusal, Status};
pub use guard::{Tokens, Writing};
pub use openapi::openapi;
pub use router::PROOF_PATH;
pub use server::{Listening, Place, ServeError, Server, Settings};
pub use table::{Access, Kind, Operation, Parameter, Position, Route, SESSION_FIELDS, Verb, routes};
