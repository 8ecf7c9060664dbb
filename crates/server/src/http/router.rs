//! Handles a request: the guard checks it, the route table validates it, and the backend answers on a thread
//! that may block.
//!
//! Must not read the body of a refused request, nor more of a body than the route allows.

use crate::http::asked::{Asked, Raw};
use crate::http::desk::{Answer, HttpBackend, Refusal, Status};
use crate::http::guard::{
    Bearer, Door, Tokens, Writing, check_access, check_host, check_origin, check_site, no_token,
};
use crate::http::logins::Logins;
use crate::http::openapi::openapi;
use crate::http::rate::Rates;
use crate::http::reply::{self, EarlyAnswer, Navigation};
use crate::http::stream::{Chunks, MOST_LISTENERS, Stream};
use crate::http::table::{Access, Operation, Route, Verb, routes};
use crate::http::uses::Uses;
use crate::http::viewer::{Lasting, asset, page, version};
use crate::http::visitor::Visitor;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::routing::{MethodFilter, get, on};
use hyper::body::Body as _;
use serde_json::json;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// State shared by all requests.
pub struct Shared {
    pub desk: Arc<dyn HttpBackend>,
    pub tokens: Tokens,
    pub logins: Logins,
    pub door: Door,
    pub writing: Writing,
    pub rates: Rates,
    pub uses: Uses,
    pub stream: Arc<Stream>,
    pub stopping: watch::Receiver<()>,
    pub version: &'static str,
}

/// Where a server proves that it has the key of its user. Needs no token: a client asks before it sends one.
pub const PROOF_PATH: &str = "/v1/proof";

/// Timeout for receiving a body.
const BODY_PATIENCE: Duration = Duration::from_secs(10);

/// Limits in bytes. Events from hosts contain the output of their tools, hence the larger one.
const LARGEST_BODY: usize = 1 << 20;
const LARGEST_EVENT: usize = 8 << 20;

pub fn router(shared: &Arc<Shared>) -> Router {
    let mut router = Router::new();
    for route in routes() {
        let shared = Arc::clone(shared);
        let handler = move |parameters: Result<RawPathParams, RawPathParamsRejection>, request: Request| {
            answer(Arc::clone(&shared), route, parameters, request)
        };
        router = router.route(route.path, on(filter(route.verb), handler));
    }
    let [index, proof, file, versioned, lost, wrong] = std::array::from_fn(|_| Arc::clone(shared));
    router
        .route("/", get(move |request: Request| async move { replied(show_page(&index, request).await) }))
        .route(PROOF_PATH, get(move |request: Request| async move { replied(prove(&proof, &request)) }))
        .route(
            "/assets/{name}",
            get(move |request: Request| async move { replied(show_file(&file, &request)) }),
        )
        .route(
            "/assets/{version}/{name}",
            get(move |request: Request| async move { replied(show_file(&versioned, &request)) }),
        )
        .fallback(move |request: Request| async move { refuse(&lost, &request, Status::NotFound) })
        .method_not_allowed_fallback(move |request: Request| async move {
            refuse(&wrong, &request, Status::MethodNotAllowed)
        })
        .layer(from_fn(show_refusal))
}

/// A browser that navigates here is refused by a page that says how to log in, not by JSON.
async fn show_refusal(request: Request, next: Next) -> Response<Body> {
    let is_browser = reply::wants_page(request.headers());
    let response = next.run(request).await;
    if is_browser { reply::for_browser(response) } else { response }
}

fn filter(verb: Verb) -> MethodFilter {
    match verb {
        Verb::Get => MethodFilter::GET,
        Verb::Post => MethodFilter::POST,
        Verb::Patch => MethodFilter::PATCH,
        Verb::Delete => MethodFilter::DELETE,
    }
}

async fn answer(
    shared: Arc<Shared>,
    route: &'static Route,
    parameters: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response<Body> {
    let answered = async {
        admit(&shared, Some(route), &request)?;
        let (head, body) = request.into_parts();
        let body = whole(body, largest(route)).await?;
        let path =
            parameters.map_err(|_| Refusal::new(Status::BadRequest, "the path is not well encoded"))?;
        let path = path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let raw = Raw { path, query: head.uri.query().unwrap_or_default(), body: &body };
        let asked = Asked::read(route, &raw)?;
        if route.operation == Operation::Stream {
            return listen(&shared, &head.headers, asked.given.text("after"));
        }
        if route.operation == Operation::OpenApi {
            return Ok(reply::answered(Answer::Json(openapi(shared.version).to_string())));
        }
        ask(&shared, asked).await.map(reply::answered)
    };
    replied(answered.await)
}

fn replied(answered: Result<Response<Body>, Refusal>) -> Response<Body> {
    answered.unwrap_or_else(|refusal| reply::refused(&refusal))
}

/// Opens the change stream at the position in the client's `Last-Event-ID`, else after the one that it asks for: a page
/// knows it before it reads anything, so that no change falls between the two.
fn listen(shared: &Shared, headers: &HeaderMap, after: Option<&str>) -> Result<Response<Body>, Refusal> {
    let listener = shared.uses.listen(MOST_LISTENERS).ok_or_else(|| {
        Refusal::new(Status::TooMany, format!("{MOST_LISTENERS} listen already"))
            .next("Close another window first.")
    })?;
    let from = headers.get("last-event-id").and_then(|place| place.to_str().ok()).or(after);
    let from = from.filter(|place| !place.is_empty() && place.len() <= LONGEST_PLACE).map(str::to_owned);
    let body = shared.stream.body(from, listener, shared.stopping.clone());
    Ok(reply::with(StatusCode::OK, "text/event-stream", body))
}

/// No position that we issue is longer.
const LONGEST_PLACE: usize = 100;

/// Admits a request or returns the refusal. Without a route, any reader is admitted.
fn admit(shared: &Shared, route: Option<&Route>, request: &Request) -> Result<(), Refusal> {
    let headers = request.headers();
    check_origin(shared.door, headers).inspect_err(|_| shared.rates.refused())?;
    let bearer = shared.tokens.bearer(shared.door, &shared.logins, headers);
    let allowed = match (route, bearer) {
        (Some(route), bearer) => check_access(route, bearer, headers, shared.writing),
        (None, Bearer::Nobody | Bearer::Events) => Err(no_token(Access::Read)),
        (None, Bearer::Viewer | Bearer::Page) => Ok(()),
    };
    shared.rates.check(bearer)?;
    if bearer != Bearer::Nobody {
        // Strangers do not keep an idle server alive, either.
        shared.uses.note();
        // A program with the events token must not be able to hold every connection.
        let visitor = request.extensions().get::<Arc<Visitor>>().filter(|_| bearer != Bearer::Events);
        visitor.inspect(|visitor| visitor.admit());
    }
    allowed
}

/// Asks the backend on a blocking thread, so that other requests do not wait.
async fn ask(shared: &Shared, asked: Asked) -> Result<Answer, Refusal> {
    let desk = Arc::clone(&shared.desk);
    let answered = tokio::task::spawn_blocking(move || desk.answer(&asked)).await;
    answered.unwrap_or_else(|_| {
        Err(Refusal::new(Status::Unavailable, "the answer could not be found").next("Run `tow doctor`."))
    })
}

async fn show_page(shared: &Arc<Shared>, request: Request) -> Result<Response<Body>, Refusal> {
    if let Some(code) = request.uri().query().and_then(|query| query.strip_prefix("code=")) {
        return enter(shared, code, request.headers());
    }
    admit(shared, None, &request)?;
    let (sender, receiver) = mpsc::channel(2);
    drop(tokio::spawn(write_page(Arc::clone(shared), sender)));
    Ok(reply::page(page(), Body::new(Chunks(receiver)), request.headers()))
}

/// Sends the page in two parts: the browser begins with the first while the rows of the second are read.
async fn write_page(shared: Arc<Shared>, sender: mpsc::Sender<Bytes>) {
    let (before, behind) = reply::around_early_answers(page());
    if sender.send(Bytes::from_static(before.as_bytes())).await.is_ok() {
        let blocks: String = early(&shared).await.iter().map(EarlyAnswer::block).collect();
        // A browser that left meanwhile needs nothing more.
        let _ = sender.send(Bytes::from(blocks + behind)).await;
    }
}

/// What views begin with, so that a page shows its rows in its first frame. The position in the change feed comes first:
/// nothing that is read after it is missed. An answer that is late is left out, and the page asks for it.
async fn early(shared: &Shared) -> Vec<EarlyAnswer> {
    let server = early_one(shared, Operation::Health, "").await;
    let lists = tokio::join!(
        early_one(shared, Operation::Memories, "limit=30"),
        early_one(shared, Operation::Sessions, "limit=30")
    );
    [server, lists.0, lists.1].into_iter().flatten().collect()
}

async fn early_one(shared: &Shared, operation: Operation, query: &str) -> Option<EarlyAnswer> {
    let route = routes().find(|route| route.operation == operation)?;
    let asked = Asked::read(route, &Raw { path: vec![], query, body: b"" }).ok()?;
    let answered = tokio::time::timeout(EARLY_PATIENCE, ask(shared, asked)).await.ok()?;
    let Answer::Json(json) = answered.ok()? else { return None };
    let mark = if query.is_empty() { "" } else { "?" };
    Some(EarlyAnswer { path: format!("{}{mark}{query}", route.path), json })
}

/// How long a page waits for each of these answers.
const EARLY_PATIENCE: Duration = Duration::from_millis(100);

/// Exchanges a one-time code for a session. The code replaces the check of the origin: the page of `tow open` is a file.
/// A valid code counts for no rate limit, so that strangers cannot keep the owner from logging in.
fn enter(shared: &Shared, code: &str, headers: &HeaderMap) -> Result<Response<Body>, Refusal> {
    let entered = check_host(shared.door, headers).and_then(|_| shared.logins.enter(code, shared.desk.now()));
    match entered {
        Ok(cookie) => {
            shared.uses.note();
            let is_own = check_site(headers).is_ok();
            Ok(reply::logged_in(&cookie, if is_own { Navigation::Own } else { Navigation::Elsewhere }))
        }
        Err(refusal) => shared.rates.check(Bearer::Nobody).and(Err(refusal)),
    }
}

/// Proves to a client that knows the key that this server knows it, too.
fn prove(shared: &Shared, request: &Request) -> Result<Response<Body>, Refusal> {
    let query = request.uri().query().unwrap_or_default();
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(other, _)| *other == name).map_or("", |(_, value)| value)
    };
    let proved = check_origin(shared.door, request.headers()).and_then(|()| {
        let refusal = || Refusal::new(Status::Unauthorised, "this is not signed with the server's key");
        shared.logins.prove(value("nonce"), value("proof")).ok_or_else(refusal)
    });
    match proved {
        Ok((server, proof)) => {
            Ok(reply::answered(Answer::Json(json!({"server": server, "proof": proof}).to_string())))
        }
        Err(refusal) => shared.rates.check(Bearer::Nobody).and(Err(refusal)),
    }
}

fn show_file(shared: &Shared, request: &Request) -> Result<Response<Body>, Refusal> {
    let path = request.uri().path().strip_prefix("/assets/").unwrap_or_default();
    let (found, lasting) = match path.split_once('/') {
        None => (asset(path), Lasting::Asked),
        Some((named, name)) => (asset(name).filter(|_| named == version()), Lasting::Forever),
    };
    admit(shared, None, request)?;
    match found {
        Some(asset) => Ok(reply::file(asset, known(request), lasting)),
        None => Ok(refuse(shared, request, Status::NotFound)),
    }
}

/// The entity tags that the browser already has.
fn known(request: &Request) -> Option<&str> {
    request.headers().get(header::IF_NONE_MATCH)?.to_str().ok()
}

/// Tells only admitted clients that a route does not exist; others learn nothing about paths.
fn refuse(shared: &Shared, request: &Request, status: Status) -> Response<Body> {
    let is_there = status == Status::MethodNotAllowed;
    let what = if is_there { "this route has another method" } else { "there is nothing at this path" };
    let refusal = match admit(shared, None, request) {
        Err(refusal) => refusal,
        Ok(()) => Refusal::new(status, what).next("GET /v1/openapi.json lists all routes."),
    };
    reply::refused(&refusal)
}

fn largest(route: &Route) -> usize {
    match route.access {
        Access::Events => LARGEST_EVENT,
        Access::Read | Access::Act | Access::Write | Access::Host => LARGEST_BODY,
    }
}

/// Reads the whole body, within the timeout and the size limit.
async fn whole(mut body: Body, most: usize) -> Result<Vec<u8>, Refusal> {
    let too_large = || Refusal::new(Status::TooLarge, format!("the body has more than {most} bytes"));
    if body.size_hint().lower() > most as u64 {
        return Err(too_large());
    }
    let read = async {
        let mut bytes = vec![];
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let frame =
                frame.map_err(|_| Refusal::new(Status::BadRequest, "the body did not come to its end"))?;
            bytes.extend_from_slice(frame.data_ref().map_or(&[], |data| data.as_ref()));
            if bytes.len() > most {
                return Err(too_large());
            }
        }
        Ok(bytes)
    };
    let late = |_| Refusal::new(Status::Timeout, "the body did not come in time");
    tokio::time::timeout(BODY_PATIENCE, read).await.map_err(late)?
}
