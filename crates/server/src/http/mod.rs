//! The viewer and the API over HTTP, for this machine's user alone.
//!
//! Knows routes, tokens, checks and bounds; knows no store. What is answered comes from a `Desk`. Listens on no address but
//! the machine's own, and answers nobody who cannot show the token.

mod asked;
mod desk;
mod guard;
mod joined;
mod openapi;
mod rate;
mod reply;
mod router;
mod server;
mod stream;
mod table;
mod uses;
mod viewer;

pub use asked::{Asked, Given};
pub use desk::{Answer, Batch, Desk, News, NewsKind, Refusal, Status};
pub use guard::{Tokens, Writing};
pub use openapi::openapi;
pub use server::{Listening, Place, ServeError, Server, Settings};
pub use table::{Access, Kind, Operation, Parameter, Position, Route, SESSION_FIELDS, Verb, routes};
