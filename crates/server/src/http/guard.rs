//! Authentication and origin checks that every request passes before anything else happens.
//!
//! Trusts no address: other web pages run in the same browser, and DNS names can point at this machine. A
//! request must name this server in `Host`, have no origin or our own, and carry a token or a session.

use crate::http::desk::{Refusal, Status};
use crate::http::logins::Logins;
use crate::http::table::{Access, Route, Verb};
use axum::http::{HeaderMap, HeaderName, header};
use ring::digest::{SHA256, digest};

/// A custom header: a page of another origin cannot send it without a CORS preflight.
const OWN_HEADER: HeaderName = HeaderName::from_static("x-towline");

/// Digests of the server's tokens; the tokens themselves are not kept.
#[derive(Clone)]
pub struct Tokens {
    viewer: [u8; 32],
    events: [u8; 32],
}

/// The principal of a request, by what it carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bearer {
    Viewer,
    /// A session of a browser, in the cookie.
    Page,
    Events,
    Nobody,
}

/// The listener that accepted a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// A port on the loopback address.
    Port(u16),
    /// A Unix socket whose peer was checked to be a process of its owner.
    Socket,
}

impl Tokens {
    pub fn new(viewer: &str, events: &str) -> Tokens {
        Tokens { viewer: sum(viewer), events: sum(events) }
    }

    pub fn bearer(&self, door: Door, logins: &Logins, headers: &HeaderMap) -> Bearer {
        if let Some(token) = bearer_token(headers) {
            let shown = sum(token);
            // Compare both in any case, so that the timing reveals nothing.
            let (viewer, events) = (is_same(&shown, &self.viewer), is_same(&shown, &self.events));
            return match (viewer, events) {
                (true, _) => Bearer::Viewer,
                (false, true) => Bearer::Events,
                (false, false) => Bearer::Nobody,
            };
        }
        let name = logins.cookie();
        match door {
            Door::Socket => Bearer::Viewer,
            Door::Port(_) if cookies(headers, &name).any(|session| logins.has_session(session)) => {
                Bearer::Page
            }
            Door::Port(_) => Bearer::Nobody,
        }
    }
}

/// Hashes to a fixed length, so that comparing does not reveal how much of a token was right.
pub fn sum(token: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
    bytes
}

pub fn is_same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.iter().zip(other).fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let said = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = said.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The values of the cookies with this name. Another port of the host may have set one, too.
fn cookies<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(other, _)| *other == name).map(|(_, value)| value)
}

/// Checks that the request names this server and was not sent by a page of another origin.
pub fn check_origin(door: Door, headers: &HeaderMap) -> Result<(), Refusal> {
    let host = check_host(door, headers)?;
    for origin in headers.get_all(header::ORIGIN).iter().filter(|_| matches!(door, Door::Port(_))) {
        let origin = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
        if origin.is_none() || origin != host {
            return Err(foreign());
        }
    }
    check_site(headers)
}

/// Checks that the request names this server, and returns that name. A socket has none.
pub fn check_host(door: Door, headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let Door::Port(port) = door else { return Ok(None) };
    let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
    let is_own = |host: &str| own.iter().any(|own| own.eq_ignore_ascii_case(host));
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    if hosts.next().is_some() || !host.is_some_and(is_own) {
        let what = "this server goes by the machine's own address only";
        return Err(Refusal::new(Status::Forbidden, what).next(format!("Use http://127.0.0.1:{port}/.")));
    }
    Ok(host)
}

/// Checks `Sec-Fetch-Site`, by which browsers report the origin of a request.
pub fn check_site(headers: &HeaderMap) -> Result<(), Refusal> {
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    match site {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(foreign()),
    }
}

fn foreign() -> Refusal {
    Refusal::new(Status::Forbidden, "pages of other origins are not answered")
        .next("Open the viewer by `tow open`.")
}

/// Checks whether this bearer may use the route, and whether the request has the form that it requires.
pub fn check_access(
    route: &Route,
    bearer: Bearer,
    headers: &HeaderMap,
    writing: Writing,
) -> Result<(), Refusal> {
    let is_known = match bearer {
        Bearer::Nobody => false,
        Bearer::Viewer | Bearer::Page => route.access != Access::Events,
        Bearer::Events => route.access == Access::Events,
    };
    if !is_known {
        return Err(no_token(route.access));
    }
    if matches!(route.access, Access::Write | Access::Events) && writing == Writing::Refused {
        let refusal = Refusal::new(Status::Forbidden, "this server only reads");
        return Err(refusal.next("Start it by `tow data serve --write`."));
    }
    if matches!(route.access, Access::Act | Access::Write) {
        check_own_header(headers)?;
    }
    if route.verb == Verb::Get { Ok(()) } else { check_type(headers) }
}

/// Whether routes that change something are enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    Allowed,
    Refused,
}

fn check_own_header(headers: &HeaderMap) -> Result<(), Refusal> {
    match headers.get(OWN_HEADER) {
        Some(_) => Ok(()),
        None => Err(Refusal::new(Status::Forbidden, "the header `X-Towline: 1` is missing")
            .because("without it this could be a form of another page")),
    }
}

/// Requires JSON, which an HTML form cannot send.
fn check_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let said = headers.get(header::CONTENT_TYPE).and_then(|said| said.to_str().ok());
    let name = said.map(|said| said.split(';').next().unwrap_or_default().trim());
    if name.is_some_and(|name| name.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    Err(Refusal::new(Status::UnsupportedType, "the body must be `application/json`"))
}

pub fn no_token(access: Access) -> Refusal {
    let next = match access {
        Access::Read | Access::Act | Access::Write | Access::Host => {
            "Run `tow open`, or send `Authorization: Bearer` with what is in `serve/token` of the data folder."
        }
        Access::Events => {
            "Send `Authorization: Bearer` with what is in `serve/events-token` of the data folder."
        }
    };
    Refusal::new(Status::Unauthorised, "the token is missing or wrong").next(next)
}
