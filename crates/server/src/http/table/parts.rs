//! Building blocks of the route table: common parameters, and constructors for one-line rows.
//!
//! Contains no route.

use super::{Access, Kind, Operation, Parameter, Position, Route, Verb};

/// A table of routes. A row has the constructor, the operation, the path, the parameters or a list of them, and what the
/// route is for.
macro_rules! routes {
    ($($make:ident $operation:ident $path:literal $parameters:tt $says:literal;)*) => {
        pub const ROUTES: &[Route] = &[$($make(Operation::$operation, $path, routes!(@ $parameters), $says)),*];
    };
    (@ [$($parameter:expr),* $(,)?]) => { &[$($parameter),*] };
    (@ ($parameters:ident)) => { $parameters };
}
pub(super) use routes;

/// Constructors of routes, by the verb and the access that they stand for.
macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident = $verb:ident $access:ident,)*) => {
        $($(#[$doc])*
        pub const fn $name(
            operation: Operation,
            path: &'static str,
            parameters: &'static [Parameter],
            says: &'static str,
        ) -> Route {
            Route { operation, verb: Verb::$verb, path, access: Access::$access, says, parameters }
        })*
    };
}

constructors! {
    get = Get Read,
    read_post = Post Read,
    act = Post Act,
    write = Post Write,
    patch = Patch Write,
    delete = Delete Write,
    /// A route for hosts, with the events token.
    host = Post Events,
    /// Read-only routes for hosts.
    host_get = Get Host,
    host_read = Post Host,
}

pub const fn in_path(name: &'static str, says: &'static str) -> Parameter {
    Parameter { name, position: Position::Path, kind: Kind::Text(300), is_needed: true, says }
}

pub const fn query(name: &'static str, kind: Kind, says: &'static str) -> Parameter {
    Parameter { name, position: Position::Query, kind, is_needed: false, says }
}

pub const fn needed_query(name: &'static str, kind: Kind, says: &'static str) -> Parameter {
    Parameter { name, position: Position::Query, kind, is_needed: true, says }
}

pub const fn body(name: &'static str, kind: Kind, says: &'static str) -> Parameter {
    Parameter { name, position: Position::Body, kind, is_needed: false, says }
}

pub const fn needed_body(name: &'static str, kind: Kind, says: &'static str) -> Parameter {
    Parameter { name, position: Position::Body, kind, is_needed: true, says }
}

pub const WORD: Kind = Kind::Text(300);
pub const LONG_TEXT: Kind = Kind::Text(256 << 10);
/// Maximum page size.
pub const PAGE: Kind = Kind::Number { least: 1, most: 200 };
pub const DEPTH: Kind = Kind::Number { least: 0, most: 200 };
pub const FACTS: Kind = Kind::Texts(100);

pub const PROJECT: Parameter =
    query("project", WORD, "Only this project, by name or by a folder in it; without it, all");
pub const AGENT: Parameter = query("agent", WORD, "Only this agent");
pub const LIMIT: Parameter = query("limit", PAGE, "At most so many");
pub const MEMORY_ID: Parameter = in_path("id", "A memory, such as m12");
pub const PROPOSAL_ID: Parameter = in_path("id", "A teammate's proposal, such as p3");
pub const SINCE: Parameter = query("from", WORD, "Only since this time");
pub const UNTIL: Parameter = query("to", WORD, "Only before this time");
