//! Downloads one file by HTTP: resumes a partial download, verifies the checksum, then renames it into place.
//!
//! The final name never holds a partial or unverified file. Redirects are followed, because requests carry no
//! secrets and only the checksum is trusted.

use super::tls::{is_on_this_machine, trusted};
use ring::digest::{Context, SHA256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::http::{HeaderMap, Response};
use ureq::tls::TlsConfig;
use ureq::{Agent, Body};

/// A file to download.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub url: String,
    pub sha256: String,
    pub into: PathBuf,
    /// Certificates to trust instead of the compiled-in ones.
    pub certificates: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("could not reach {url}")]
    Unreached { url: String, source: Box<ureq::Error> },
    #[error("{url} was answered with {status}")]
    Refused { url: String, status: u16 },
    /// The partial file is kept and resumed next time.
    #[error("{url} was cut off after {got} bytes")]
    CutOff { url: String, got: u64, source: io::Error },
    #[error("{what} is not the file that is wanted: its checksum is {found}, and not {wanted}")]
    Wrong { what: String, wanted: String, found: String },
    #[error("could not write {path}")]
    Write { path: PathBuf, source: io::Error },
    #[error("could not read {path}")]
    Read { path: PathBuf, source: io::Error },
}

/// Timeouts for the first response and for the whole download.
const ANSWER: Duration = Duration::from_secs(30);
const ALL: Duration = Duration::from_secs(3600);
/// No model is larger.
const MOST: u64 = 4 << 30;
const AT_ONCE: usize = 1 << 16;

/// Downloads the file. `seen` receives the bytes received so far and the total, if the server announces one.
pub fn fetch(wanted: &Wanted, seen: &mut dyn FnMut(u64, Option<u64>)) -> Result<(), FetchError> {
    let part = part_of(&wanted.into);
    let began_with = fs::metadata(&part).map_or(0, |meta| meta.len());
    receive(wanted, &part, began_with, seen)?;
    match settle(wanted, &part, &wanted.url) {
        // The existing part may have belonged to another file.
        Err(FetchError::Wrong { .. }) if began_with > 0 => {
            receive(wanted, &part, 0, seen)?;
            settle(wanted, &part, &wanted.url)
        }
        settled => settled,
    }
}

/// Copies the file from another path on this machine, with the same verification.
pub fn take(wanted: &Wanted, from: &Path) -> Result<(), FetchError> {
    let part = part_of(&wanted.into);
    let mut source = File::open(from).map_err(unread(from))?;
    let mut file = opened(&part, Opening::Anew)?;
    io::copy(&mut source, &mut file).map_err(unwritten(&part))?;
    drop(file);
    settle(wanted, &part, &from.display().to_string())
}

/// The checksum of a file, in hexadecimal digits.
pub fn sha256_of(path: &Path) -> Result<String, FetchError> {
    let mut file = File::open(path).map_err(unread(path))?;
    let mut context = Context::new(&SHA256);
    let mut bytes = vec![0; AT_ONCE];
    loop {
        match file.read(&mut bytes).map_err(unread(path))? {
            0 => break,
            read => context.update(&bytes[..read]),
        }
    }
    Ok(context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The path of the file while it is incomplete.
fn part_of(into: &Path) -> PathBuf {
    let mut name = into.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    into.with_file_name(name)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    Anew,
    AtItsEnd,
}

fn opened(part: &Path, opening: Opening) -> Result<File, FetchError> {
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    match opening {
        Opening::Anew => options.write(true).truncate(true),
        Opening::AtItsEnd => options.append(true),
    };
    options.open(part).map_err(unwritten(part))
}

fn receive(
    wanted: &Wanted,
    part: &Path,
    have: u64,
    seen: &mut dyn FnMut(u64, Option<u64>),
) -> Result<(), FetchError> {
    let response = asked(wanted, have)?;
    let (opening, have) = match response.status().as_u16() {
        206 if begins_at(response.headers()) == Some(have) => (Opening::AtItsEnd, have),
        200 => (Opening::Anew, 0),
        // The server cannot serve this range: the part belongs to another file or is longer than the whole.
        206 | 416 if have > 0 => {
            opened(part, Opening::Anew)?;
            return receive(wanted, part, 0, seen);
        }
        status => return Err(FetchError::Refused { url: wanted.url.clone(), status }),
    };
    let length = response.headers().get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
    let all = length.map(|length: u64| have + length);
    let mut file = opened(part, opening)?;
    let mut reader = response.into_body().into_with_config().limit(MOST).reader();
    let mut got = have;
    let mut bytes = vec![0; AT_ONCE];
    let cut_off = |got, source| FetchError::CutOff { url: wanted.url.clone(), got, source };
    loop {
        let read = reader.read(&mut bytes).map_err(|source| cut_off(got, source))?;
        if read == 0 {
            break;
        }
        file.write_all(&bytes[..read]).map_err(unwritten(part))?;
        got += read as u64;
        seen(got, all);
    }
    match all {
        Some(all) if got < all => Err(cut_off(got, io::ErrorKind::UnexpectedEof.into())),
        Some(_) | None => Ok(()),
    }
}

fn asked(wanted: &Wanted, have: u64) -> Result<Response<Body>, FetchError> {
    let mut request = agent(wanted).get(&wanted.url);
    if have > 0 {
        request = request.header("range", format!("bytes={have}-"));
    }
    let unreached = |source| FetchError::Unreached { url: wanted.url.clone(), source: Box::new(source) };
    request.call().map_err(unreached)
}

fn agent(wanted: &Wanted) -> Agent {
    let mut config = Agent::config_builder()
        .timeout_connect(Some(ANSWER))
        .timeout_recv_response(Some(ANSWER))
        .timeout_global(Some(ALL))
        .http_status_as_error(false)
        .user_agent(concat!("towline/", env!("CARGO_PKG_VERSION")));
    if is_on_this_machine(&wanted.url) {
        config = config.proxy(None);
    }
    if let Some(roots) = trusted(wanted.certificates.as_deref()) {
        config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
    }
    config.build().into()
}

/// The first offset of a range header such as `bytes 100-199/200`.
fn begins_at(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get("content-range")?.to_str().ok()?.strip_prefix("bytes ")?;
    range.split('-').next()?.trim().parse().ok()
}

/// Renames the part into place if its checksum matches; otherwise deletes it.
fn settle(wanted: &Wanted, part: &Path, what: &str) -> Result<(), FetchError> {
    let found = sha256_of(part)?;
    if !found.eq_ignore_ascii_case(&wanted.sha256) {
        fs::remove_file(part).map_err(unwritten(part))?;
        let (what, wanted) = (what.to_owned(), wanted.sha256.clone());
        return Err(FetchError::Wrong { what, wanted, found });
    }
    File::open(part).and_then(|file| file.sync_all()).map_err(unwritten(part))?;
    fs::rename(part, &wanted.into).map_err(unwritten(&wanted.into))
}

fn unwritten(path: &Path) -> impl Fn(io::Error) -> FetchError {
    let path = path.to_owned();
    move |source| FetchError::Write { path: path.clone(), source }
}

fn unread(path: &Path) -> impl Fn(io::Error) -> FetchError {
    let path = path.to_owned();
    move |source| FetchError::Read { path: path.clone(), source }
}
