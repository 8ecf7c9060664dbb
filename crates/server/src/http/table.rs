//! The route table: each route is declared once. The server routes by it, OpenAPI is generated from it, and
//! the tests iterate over it.
//!
//! Declares which requests are valid and in which form; contains no logic that answers them.

mod hosts;
mod parts;
mod reading;
mod writing;

pub use hosts::SESSION_FIELDS;

/// The operation that a route asks for. Several routes may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Health,
    Seats,
    Goto,
    Sessions,
    Session,
    Turns,
    Turn,
    Detail,
    Memories,
    Memory,
    Proposals,
    MemoryBatch,
    MemoriesByFile,
    Remember,
    Edit,
    Pin,
    Unpin,
    Accept,
    Reject,
    AcceptProposal,
    RejectProposal,
    Supersede,
    Hold,
    Release,
    Forget,
    Undo,
    Summaries,
    Search,
    Timeline,
    Context,
    Bookmarks,
    Jobs,
    RetryJob,
    DropJob,
    Faults,
    Projects,
    Stats,
    Report,
    Usage,
    Config,
    Stream,
    OpenApi,
    Events,
    HostContext,
    HostBegin,
    HostTool,
    HostSummarise,
    HostEnd,
    HostProcessing,
    HostBatch,
    HostSearch,
    HostTimeline,
}

towline_core::named_enum! {
    /// The HTTP method of a route.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Verb {
        Get = "GET",
        Post = "POST",
        Patch = "PATCH",
        Delete = "DELETE",
    }
}

towline_core::named_enum! {
    /// The token that a route requires.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Access {
        /// The viewer's token.
        Read = "read",
        /// The viewer's token and the header that no other page can send: acts on the user's terminal, changes no data.
        Act = "act",
        /// As `Act`, and a server started with `--write`.
        Write = "write",
        /// The events token, which programs have and browsers do not, and a server started with `--write`.
        Events = "events",
        /// The viewer's token, on a route of another product: unknown parameters are ignored.
        Host = "host",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    Path,
    Query,
    /// A field of the JSON object in the body.
    Body,
    /// The whole body, as it is.
    Payload,
}

/// The type and limits of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// At most this many bytes.
    Text(usize),
    Number {
        least: i64,
        most: i64,
    },
    Flag,
    OneOf(&'static [&'static str]),
    /// At most this many short texts.
    Texts(usize),
    /// Any JSON value.
    Anything,
}

#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub position: Position,
    pub kind: Kind,
    pub is_needed: bool,
    pub says: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub operation: Operation,
    pub verb: Verb,
    pub path: &'static str,
    pub access: Access,
    pub says: &'static str,
    pub parameters: &'static [Parameter],
}

impl Kind {
    /// Describes the expected value, for the refusal of a wrong one.
    pub fn expectation(self) -> String {
        match self {
            Kind::Text(longest) => format!("a text of at most {longest} bytes"),
            Kind::Number { least, most } => format!("a whole number from {least} to {most}"),
            Kind::Flag => "true or false".to_owned(),
            Kind::OneOf(names) => format!("one of {}", names.join(", ")),
            Kind::Texts(most) => format!("a list of at most {most} texts"),
            Kind::Anything => "JSON".to_owned(),
        }
    }
}

/// All routes, in the order of the OpenAPI document.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    reading::ROUTES.iter().chain(writing::ROUTES).chain(hosts::ROUTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_are_the_same_route_and_every_name_in_a_path_is_a_parameter() {
        let all: Vec<&Route> = routes().collect();
        for (at, route) in all.iter().enumerate() {
            assert!(
                all[..at].iter().all(|other| (other.verb, other.path) != (route.verb, route.path)),
                "{}",
                route.path
            );
            let named: Vec<&str> =
                route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            let known = route.parameters.iter().filter(|known| known.position == Position::Path);
            assert_eq!(named, known.map(|known| known.name).collect::<Vec<_>>(), "{}", route.path);
        }
    }

    #[test]
    fn only_what_is_got_or_read_by_its_ids_needs_no_permission_to_write() {
        for route in routes().filter(|route| route.verb != Verb::Get) {
            let reads = matches!(route.operation, Operation::MemoryBatch | Operation::HostBatch);
            let acts = route.operation == Operation::Goto;
            assert_eq!(
                matches!(route.access, Access::Write | Access::Events),
                !reads && !acts,
                "{}",
                route.path
            );
            assert_eq!(route.access == Access::Act, acts, "{}", route.path);
        }
    }
}
