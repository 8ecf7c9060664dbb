//! Builds HTTP responses: answers, refusals and files, with security headers on each.
//!
//! Sends nothing that a page of another origin could use, and lets no cache keep an answer. Programs are refused in JSON,
//! browsers that navigate by a page.

use crate::http::desk::{Answer, Refusal, Status};
use crate::http::viewer::{Asset, Lasting, Page, refusal_page};
use axum::body::Body;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Response, StatusCode};

/// Allows this server's scripts, styles and requests only; inline code must be listed by `page`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

const STRICT: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (OPENER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// The origin of a navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Navigation {
    /// The user entered the address.
    Own,
    /// Another document, such as the page of `tow open`.
    Elsewhere,
}

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

pub fn answered(answer: Answer) -> Response<Body> {
    match answer {
        Answer::Json(text) => with(StatusCode::OK, JSON, text.into()),
        Answer::Text(text) => with(StatusCode::OK, TEXT, text.into()),
        Answer::Accepted(text) => with(StatusCode::ACCEPTED, JSON, text.into()),
    }
}

pub fn refused(refusal: &Refusal) -> Response<Body> {
    let status = StatusCode::from_u16(refusal.status.code()).unwrap_or(StatusCode::BAD_REQUEST);
    let mut response = with(status, JSON, refusal.as_json().to_string().into());
    if refusal.status == Status::Unauthorised {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if matches!(refusal.status, Status::TooMany | Status::Unavailable) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response.extensions_mut().insert(refusal.clone());
    response
}

/// Whether the client asks for a page to show: a browser that navigates does, scripts and programs do not.
pub fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// The page of a refusal instead of its JSON; every other response as it is.
pub fn for_browser(mut response: Response<Body>) -> Response<Body> {
    let Some(refusal) = response.extensions_mut().remove::<Refusal>() else { return response };
    let page = refusal_page();
    *response.body_mut() = written(page.text(), &refusal).into();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
    allow_inline(&mut response, page);
    response
}

fn written(template: &str, refusal: &Refusal) -> String {
    let is_login = refusal.status == Status::Unauthorised;
    let title = if is_login { "Log in" } else { "This was refused" };
    let says = match &refusal.because {
        Some(because) => format!("{}: {because}.", refusal.what),
        None if is_login => {
            "This browser is not logged in, or the server was started again since.".to_owned()
        }
        None => format!("{}.", refusal.what),
    };
    let mut rest = says.chars();
    let says: String = rest.next().into_iter().flat_map(char::to_uppercase).chain(rest).collect();
    let next = if is_login { LOGIN } else { refusal.next.as_deref().unwrap_or_default() };
    let filled = [("{title}", title), ("{says}", &says), ("{next}", next)];
    filled.iter().fold(template.to_owned(), |page, (name, text)| page.replace(name, &as_html(text)))
}

const LOGIN: &str = "Run `tow open` in a terminal of this machine: it opens the viewer with a code that logs in once. \
    Where no browser can be opened, `tow open --print` prints the address.";

/// Text as HTML: markup in it is shown, not run; what stands between backticks is code.
fn as_html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    // A brace could be taken for the next name to fill in.
    let escaped = escaped.replace('{', "&#123;");
    let parts = escaped.split('`').enumerate();
    parts
        .map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() })
        .collect()
}

/// The file, or 304 if the browser's copy is current.
pub fn file(asset: &Asset, known: Option<&str>, lasting: Lasting) -> Response<Body> {
    let tag = asset.tag();
    let is_known = known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag));
    let (status, bytes) = if is_known {
        (StatusCode::NOT_MODIFIED, Body::empty())
    } else {
        (StatusCode::OK, Body::from(asset.bytes))
    };
    let mut response = with(status, asset.media_type(), bytes);
    let headers = response.headers_mut();
    let kept = match lasting {
        Lasting::Asked => "no-cache",
        Lasting::Forever => "private, max-age=31536000, immutable",
    };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// The page under a policy that allows its inline scripts and styles and no others. No cache keeps it: it holds what the
/// user wrote. A browser that names the origin of its navigations was checked by it, so no other origin has opened this
/// page, and it needs no opener policy, for which the browser would start a process at each load.
pub fn page(page: &Page, body: Body, request: &HeaderMap) -> Response<Body> {
    let mut response = with(StatusCode::OK, HTML, body);
    allow_inline(&mut response, page);
    if request.contains_key("sec-fetch-site") {
        response.headers_mut().remove(OPENER_POLICY);
    }
    response
}

/// The page before and behind the answers that stand in it.
pub fn around_early_answers(page: &Page) -> (&'static str, &'static str) {
    page.text().split_once("<!--early-->").unwrap_or((page.text(), ""))
}

/// An answer that stands in the page: the request that it answers, and its JSON.
pub struct EarlyAnswer {
    pub path: String,
    pub json: String,
}

impl EarlyAnswer {
    /// Data, not code; and no text in it can end the element.
    pub fn block(&self) -> String {
        let (path, json) = (&self.path, self.json.replace('<', "\\u003c"));
        format!("<script type=\"application/json\" data-early=\"{path}\">{json}</script>")
    }
}

fn allow_inline(response: &mut Response<Body>, page: &Page) {
    let policy = POLICY
        .replace("script-src 'self'", &format!("script-src 'self'{}", page.scripts))
        .replace("style-src 'self'", &format!("style-src 'self'{}", page.styles));
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// Leads on to the viewer and sets the cookie of its session. A page does so after a navigation that began elsewhere:
/// browsers send a strict cookie neither with it nor with its redirects.
pub fn logged_in(cookie: &str, from: Navigation) -> Response<Body> {
    const LEAD: &str =
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=/\"><link rel=\"icon\" href=\"data:,\">";
    let mut response = match from {
        Navigation::Own => with(StatusCode::SEE_OTHER, TEXT, Body::empty()),
        Navigation::Elsewhere => with(StatusCode::OK, HTML, LEAD.into()),
    };
    let headers = response.headers_mut();
    if from == Navigation::Own {
        headers.insert(header::LOCATION, HeaderValue::from_static("/"));
    }
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    response
}

pub fn with(status: StatusCode, media_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in STRICT {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_that_ends_the_element_it_stands_in_stays_text() {
        let json = r#"{"title":"</script><script>alert(1)</script><!--"}"#.to_owned();
        let block = EarlyAnswer { path: "/v1/memories?limit=30".to_owned(), json }.block();
        assert_eq!((block.matches('<').count(), block.matches("</script>").count()), (2, 1), "{block}");
        let data = block.split(['>']).nth(1).map(|data| data.contains("\\u003c/script"));
        assert_eq!(data, Some(true), "{block}");
    }

    #[test]
    fn a_refusal_that_quotes_a_request_brings_no_markup_into_its_page() {
        let refusal =
            Refusal::new(Status::BadRequest, "there is no `<script>x</script>` {next}").next("Run `tow`.");
        let page = written("{title}|{says}|{next}", &refusal);
        let says = "There is no <code>&lt;script&gt;x&lt;/script&gt;</code> &#123;next}.";
        assert_eq!(page, format!("This was refused|{says}|Run <code>tow</code>."));
    }
}
