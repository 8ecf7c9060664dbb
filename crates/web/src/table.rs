//! The routes of the API, each said once: the server routes by this table, the description is made from it, and the tests
//! walk it.
//!
//! Decides nothing but what may be asked in which form.

/// What is asked for, one for each route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Health,
    Seats,
}

/// The method of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Patch,
    Delete,
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever has the viewer's token.
    Read,
    /// The same, if the server was started with `--write`.
    Write,
    /// Programs with the token for events; no browser.
    Events,
    /// What programs with the token for events may read, too.
    Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    Path,
    Query,
    /// A field of the JSON object that is the body.
    Body,
    /// The body itself, as it is.
    Payload,
}

/// What a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// At most so many bytes.
    Text(usize),
    Number {
        least: i64,
        most: i64,
    },
    Flag,
    OneOf(&'static [&'static str]),
    /// At most so many short texts.
    Texts(usize),
    /// Any JSON.
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
    /// What a value must be, for who sent another one.
    pub fn words(self) -> String {
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

impl Verb {
    pub fn name(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
        }
    }
}

const fn get(operation: Operation, path: &'static str, says: &'static str) -> Route {
    Route { operation, verb: Verb::Get, path, access: Access::Read, says, parameters: &[] }
}

pub const ROUTES: &[Route] = &[
    get(Operation::Health, "/v1/health", "What this server is, and whether it may change anything"),
    get(Operation::Seats, "/v1/seats", "What every agent is doing: `tow status --json`"),
];
