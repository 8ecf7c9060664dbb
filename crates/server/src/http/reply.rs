//! Builds HTTP responses: answers, refusals and files, with security headers on each.
//!
//! Sends nothing that a page of another origin could use, and lets no cache keep an answer.

use crate::http::desk::{Answer, Refusal, Status};
use crate::http::viewer::{Asset, Lasting, Page};
use axum::body::Body;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};

/// Allows this server's scripts, styles and requests only; inline code must be listed by `page`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STRICT: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
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
    response
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

/// The page, under a policy that allows its inline scripts and styles and no others.
pub fn page(page: &Page, known: Option<&str>) -> Response<Body> {
    let mut response = file(&page.asset, known, Lasting::Asked);
    let policy = POLICY
        .replace("script-src 'self'", &format!("script-src 'self'{}", page.scripts))
        .replace("style-src 'self'", &format!("style-src 'self'{}", page.styles));
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Leads on to the viewer and sets the cookie of its session. A page does so after a navigation that began elsewhere:
/// browsers send a strict cookie neither with it nor with its redirects.
pub fn logged_in(cookie: &str, from: Navigation) -> Response<Body> {
    const LEAD: &str =
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=/\"><link rel=\"icon\" href=\"data:,\">";
    let mut response = match from {
        Navigation::Own => with(StatusCode::SEE_OTHER, TEXT, Body::empty()),
        Navigation::Elsewhere => with(StatusCode::OK, "text/html; charset=utf-8", LEAD.into()),
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
