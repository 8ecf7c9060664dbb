//! The server: binds a listener and serves connections until a signal, idleness or an error ends it.
//!
//! Binds no address but loopback. A connection that sends nothing in time is closed; one too many sends a stranger away, or
//! gets a 503.

use crate::http::desk::HttpBackend;
use crate::http::guard::{Door, Tokens, Writing};
use crate::http::logins::Logins;
use crate::http::rate::Rates;
use crate::http::router::{Shared, router};
use crate::http::stream::Stream;
use crate::http::uses::Uses;
use crate::http::visitor::{Visitor, Visitors};
use crate::proof::{ServerKey, ServerRun};
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// The address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A port on loopback; 0 picks a free one.
    Port(u16),
    Socket(PathBuf),
}

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub writing: Writing,
    /// Ends after this long without a request or a listener.
    pub idle: Option<Duration>,
    /// Requests per second.
    pub rate: u32,
    /// The user id whose processes may use the socket.
    pub user: u32,
    pub version: &'static str,
}

#[derive(Debug, Error)]
pub enum ServeError {
    #[error("could not listen on {place}")]
    Bind { place: String, source: io::Error },
    #[error("could not start the server")]
    Runtime(#[source] io::Error),
}

/// Concurrent connections; a browser opens six.
const MOST_CONNECTIONS: usize = 256;

/// Timeout for the head of a request.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);

/// How long requests in progress may take after shutdown began.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

/// Size limit of a request's head, in bytes.
const LARGEST_HEAD: usize = 32 << 10;

const TOO_MANY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n";

enum BoundListener {
    Port(std::net::TcpListener),
    Socket(std::os::unix::net::UnixListener),
}

/// A bound listener: the kernel queues connections from now on.
pub struct Listening {
    bound: BoundListener,
    door: Door,
    run: ServerRun,
}

pub struct Server {
    pub desk: Arc<dyn HttpBackend>,
    pub tokens: Tokens,
    pub key: ServerKey,
    pub settings: Settings,
}

impl Listening {
    /// Listens for this user: a socket of another user is not replaced.
    pub fn on(place: &Place, user: u32) -> Result<Listening, ServeError> {
        match place {
            Place::Port(port) => Listening::on_port(*port),
            Place::Socket(path) => Listening::on_socket(path, user),
        }
    }

    fn on_port(port: u16) -> Result<Listening, ServeError> {
        let bind = || {
            let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
            listener.set_nonblocking(true)?;
            let port = listener.local_addr()?.port();
            let run = ServerRun::begin(&format!("http://127.0.0.1:{port}"))?;
            Ok(Listening { bound: BoundListener::Port(listener), door: Door::Port(port), run })
        };
        bind().map_err(|source| ServeError::Bind { place: format!("port {port} of 127.0.0.1"), source })
    }

    fn on_socket(path: &Path, user: u32) -> Result<Listening, ServeError> {
        let bind = || {
            remove_stale_socket(path, user)?;
            let listener = std::os::unix::net::UnixListener::bind(path)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            let run = ServerRun::begin(&format!("unix:{}", path.display()))?;
            Ok(Listening { bound: BoundListener::Socket(listener), door: Door::Socket, run })
        };
        bind().map_err(|source| ServeError::Bind { place: path.display().to_string(), source })
    }

    /// The run that serves here: its address is `http://127.0.0.1:4747`, or `unix:` and a path.
    pub fn run(&self) -> &ServerRun {
        &self.run
    }

    /// Serves until a signal, idleness or an error ends it.
    pub fn serve(self, server: Server) -> Result<(), ServeError> {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        // Keep threads alive: one that ends takes its cached heap memory with it.
        builder.enable_all().max_blocking_threads(8).thread_keep_alive(Duration::from_secs(86_400));
        let runtime = builder.build().map_err(ServeError::Runtime)?;
        let served = runtime.block_on(serve(self, server));
        runtime.shutdown_timeout(LAST_PATIENCE);
        served
    }
}

/// Removes the socket of a server of this user that is gone. Everything else at this path stays, and is an error.
fn remove_stale_socket(path: &Path, user: u32) -> io::Result<()> {
    let taken = |why: &str| Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    let meta = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if !meta.file_type().is_socket() {
        return taken("it exists and is no socket; only a socket that a server left behind is replaced");
    }
    if meta.uid() != user {
        return taken("it is a socket of another user");
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        Ok(_) => taken("a program listens on it"),
        Err(error) => Err(error),
    }
}

async fn serve(listening: Listening, server: Server) -> Result<(), ServeError> {
    let uses = Uses::new();
    let settings = server.settings;
    let (stop, stopping) = watch::channel(());
    let stream = Stream::new(Arc::clone(&server.desk));
    let shared = Arc::new(Shared {
        desk: server.desk,
        tokens: server.tokens,
        logins: Logins::new(server.key, listening.run),
        door: listening.door,
        writing: settings.writing,
        rates: Rates::new(settings.rate),
        uses: uses.clone(),
        stream: Arc::clone(&stream),
        stopping: stopping.clone(),
        version: settings.version,
    });
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let connections = Connections { router: router(&shared), room, visitors: Visitors::default(), stopping };
    let accepting = async {
        match listening.bound {
            BoundListener::Port(listener) => {
                connections.accept_on_port(TcpListener::from_std(listener)?).await
            }
            BoundListener::Socket(listener) => {
                connections.accept_on_socket(UnixListener::from_std(listener)?, settings.user).await
            }
        }
    };
    tokio::select! {
        ended = accepting => return ended.map_err(ServeError::Runtime),
        ended = end_signal() => ended.map_err(ServeError::Runtime)?,
        () = idle(&uses, settings.idle) => {}
        () = stream.follow() => {}
    }
    let _nobody_is_left = stop.send(());
    drop(connections.router);
    // Each connection in progress holds one permit: acquiring all of them waits for the last.
    let all = u32::try_from(MOST_CONNECTIONS).unwrap_or(u32::MAX);
    let _late = tokio::time::timeout(LAST_PATIENCE, connections.room.acquire_many(all)).await;
    Ok(())
}

async fn end_signal() -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hang_up.recv() => {}
    }
    Ok(())
}

async fn idle(uses: &Uses, patience: Option<Duration>) {
    match patience {
        Some(patience) => uses.idle_for(patience).await,
        None => std::future::pending().await,
    }
}

struct Connections {
    router: Router,
    room: Arc<Semaphore>,
    visitors: Visitors,
    stopping: watch::Receiver<()>,
}

/// Pause after a failed accept: with no file descriptor left, another connection has to end first.
const BREATH: Duration = Duration::from_millis(50);

impl Connections {
    async fn accept_on_port(&self, listener: TcpListener) -> io::Result<()> {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    // Answers are small and complete: Nagle's algorithm would only delay them.
                    let _slower = stream.set_nodelay(true);
                    self.take(stream).await;
                }
                Err(_) => tokio::time::sleep(BREATH).await,
            }
        }
    }

    async fn accept_on_socket(&self, listener: UnixListener, user: u32) -> io::Result<()> {
        loop {
            match listener.accept().await {
                Ok((stream, _)) if stream.peer_cred().is_ok_and(|peer| peer.uid() == user) => {
                    self.take(stream).await
                }
                Ok((stranger, _)) => drop(stranger),
                Err(_) => tokio::time::sleep(BREATH).await,
            }
        }
    }

    async fn take(&self, mut stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let Some(place) = self.place().await else {
            return drop(tokio::time::timeout(BREATH, stream.write_all(TOO_MANY)).await);
        };
        let (visitor, stopping) = (self.visitors.add(), self.stopping.clone());
        let served = connection(stream, self.router.clone(), Arc::clone(&visitor), stopping);
        drop(tokio::spawn(async move {
            tokio::select! {
                () = served => {}
                () = visitor.sent_away() => {}
            }
            drop(place);
        }));
    }

    /// A place for one connection; the oldest stranger makes room for it.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.room).try_acquire_owned() {
            return Some(place);
        }
        if !self.visitors.make_room() {
            return None;
        }
        tokio::time::timeout(BREATH, Arc::clone(&self.room).acquire_owned()).await.ok()?.ok()
    }
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    router: Router,
    visitor: Arc<Visitor>,
    mut stopping: watch::Receiver<()>,
) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(LARGEST_HEAD);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&visitor));
        router.call(request)
    });
    let mut served = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _gone = served.as_mut() => {}
        _told = stopping.changed() => {
            served.as_mut().graceful_shutdown();
            let _gone = served.await;
        }
    }
}
