//! The change stream (server-sent events): one poll of the backend serves all listeners.
//!
//! Loses no change: a client that reconnects names its position and gets everything since, or a reset if that
//! is no longer known. A client that does not read is disconnected.

use crate::http::desk::{Batch, HttpBackend, News, NewsKind};
use crate::http::uses::Listener;
use axum::body::{Body, Bytes};
use hyper::body::Frame;
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

pub const MOST_LISTENERS: usize = 64;

/// Batches kept for clients that reconnect soon.
const KEPT: usize = 256;

/// Interval of keep-alive comments, by which both ends notice a dead connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A client that reads nothing for this long is disconnected.
const PATIENCE: Duration = Duration::from_secs(30);

/// A hook writes several times: collect its changes for this long and send them together.
const TOGETHER: Duration = Duration::from_millis(25);

/// Duration of one wait for changes, short because the server may be shutting down.
const PULSE: Duration = Duration::from_secs(1);

/// Recent batches, and a counter that wakes the listeners.
pub struct Stream {
    desk: Arc<dyn HttpBackend>,
    told: Mutex<Told>,
    ticks: watch::Sender<u64>,
    wanted: Notify,
}

#[derive(Default)]
struct Told {
    /// Each with the position before it.
    batches: VecDeque<(String, Batch)>,
    place: Option<String>,
}

impl Stream {
    pub fn new(desk: Arc<dyn HttpBackend>) -> Arc<Stream> {
        let (ticks, _) = watch::channel(0);
        Arc::new(Stream { desk, told: Mutex::default(), ticks, wanted: Notify::new() })
    }

    /// Polls the backend for changes while there are listeners. Ends with the server.
    pub async fn follow(self: Arc<Self>) {
        loop {
            while self.ticks.receiver_count() == 0 {
                self.wanted.notified().await;
            }
            let desk = Arc::clone(&self.desk);
            let Ok(mut watch) = tokio::task::spawn_blocking(move || desk.watch()).await else { return };
            self.look().await;
            while self.ticks.receiver_count() > 0 {
                let waited = tokio::task::spawn_blocking(move || {
                    let is_changed = watch(PULSE);
                    (watch, is_changed)
                });
                let Ok((back, is_changed)) = waited.await else { return };
                watch = back;
                if is_changed {
                    sleep(TOGETHER).await;
                    self.look().await;
                }
            }
        }
    }

    async fn look(&self) {
        let from = self.told().place.clone();
        let (batch, place) = self.ask(from).await;
        if self.told().take(batch, place) {
            self.ticks.send_modify(|tick| *tick += 1);
        }
    }

    /// The changes after a position and the current position, from a thread that may block.
    async fn ask(&self, from: Option<String>) -> (Option<Batch>, Option<String>) {
        let desk = Arc::clone(&self.desk);
        let asked =
            tokio::task::spawn_blocking(move || (from.and_then(|from| desk.news(&from)), desk.place()));
        asked.await.unwrap_or_default()
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A response body that lasts until either end closes.
    pub fn body(
        self: &Arc<Self>,
        from: Option<String>,
        listener: Listener,
        stopping: watch::Receiver<()>,
    ) -> Body {
        let (sender, receiver) = mpsc::channel(16);
        let teller =
            Teller { stream: Arc::clone(self), ticks: self.ticks.subscribe(), sender, _listener: listener };
        self.wanted.notify_one();
        drop(tokio::spawn(teller.tell(from, stopping)));
        Body::new(Chunks(receiver))
    }
}

impl Told {
    /// Records a batch and returns whether listeners must be woken.
    fn take(&mut self, batch: Option<Batch>, now: Option<String>) -> bool {
        let from = self.place.clone();
        let batch = match (batch, &from) {
            (Some(batch), _) => batch,
            (None, None) => {
                self.place = now;
                return self.place.is_some();
            }
            (None, Some(_)) => match now {
                Some(place) => Batch { news: vec![reset()], place },
                // The store cannot be read at the moment; the next poll retries.
                None => return false,
            },
        };
        let from = from.unwrap_or_default();
        if batch.place == from {
            return false;
        }
        self.place = Some(batch.place.clone());
        self.batches.push_back((from, batch));
        if self.batches.len() > KEPT {
            self.batches.pop_front();
        }
        true
    }

    /// The batches since a position, if they are still kept.
    fn since(&self, place: &str) -> Option<Vec<Batch>> {
        if self.place.as_deref() == Some(place) {
            return Some(vec![]);
        }
        let at = self.batches.iter().position(|(from, _)| from == place)?;
        Some(self.batches.iter().skip(at).map(|(_, batch)| batch.clone()).collect())
    }
}

fn reset() -> News {
    News { kind: NewsKind::Reset, data: json!({}) }
}

/// Sends the stream to one client.
struct Teller {
    stream: Arc<Stream>,
    ticks: watch::Receiver<u64>,
    sender: mpsc::Sender<Bytes>,
    _listener: Listener,
}

/// The client does not read any more.
struct Gone;

impl Teller {
    async fn tell(mut self, from: Option<String>, mut stopping: watch::Receiver<()>) {
        let Ok(mut place) = self.begin(from).await else { return };
        let mut beat = Instant::now() + HEARTBEAT;
        loop {
            let told = tokio::select! {
                _ = stopping.changed() => return,
                () = self.sender.closed() => return,
                () = tokio::time::sleep_until(beat) => {
                    beat = Instant::now() + HEARTBEAT;
                    self.send(": alive\n\n".to_owned()).await
                }
                ticked = self.ticks.changed() => match ticked {
                    Ok(()) => self.catch_up(&mut place).await,
                    Err(_) => return,
                },
            };
            if told.is_err() {
                return;
            }
        }
    }

    /// Sends the starting position at once, so that a client that is cut off can resume from it.
    async fn begin(&mut self, from: Option<String>) -> Result<String, Gone> {
        let mut place = match &from {
            Some(from) => from.clone(),
            None => self.stream.ask(None).await.1.unwrap_or_default(),
        };
        self.ticks.mark_unchanged();
        self.send(format!("retry: 1000\nid: {place}\n\n")).await?;
        self.catch_up(&mut place).await?;
        Ok(place)
    }

    async fn catch_up(&self, place: &mut String) -> Result<(), Gone> {
        let kept = self.stream.told().since(place);
        let batches = match kept {
            Some(batches) => batches,
            None => vec![self.asked(place.clone()).await],
        };
        for batch in batches {
            if batch.place != *place || !batch.news.is_empty() {
                self.send(written(place, &batch)).await?;
                *place = batch.place;
            }
        }
        Ok(())
    }

    /// Asks the backend for batches that are no longer kept; unknown positions give a reset.
    async fn asked(&self, place: String) -> Batch {
        match self.stream.ask(Some(place.clone())).await {
            (Some(batch), _) => batch,
            (None, Some(now)) => Batch { news: vec![reset()], place: now },
            (None, None) => Batch { news: vec![], place },
        }
    }

    async fn send(&self, text: String) -> Result<(), Gone> {
        if text.is_empty() {
            return Ok(());
        }
        match timeout(PATIENCE, self.sender.send(Bytes::from(text))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }
}

/// Only a batch's last event advances the position: a client cut off in between gets the whole batch again.
fn written(from: &str, batch: &Batch) -> String {
    let last = batch.news.len().saturating_sub(1);
    let line = |(at, news): (usize, &News)| {
        let place = if at == last { &batch.place } else { from };
        format!("id: {place}\nevent: {}\ndata: {}\n\n", news.kind.name(), news.data)
    };
    if batch.news.is_empty() {
        return format!("id: {}\n\n", batch.place);
    }
    batch.news.iter().enumerate().map(line).collect()
}

/// A response body that is sent as its parts become known.
pub struct Chunks(pub mpsc::Receiver<Bytes>);

impl hyper::body::Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(place: &str) -> Option<Batch> {
        Some(Batch { news: vec![News { kind: NewsKind::Job, data: json!({}) }], place: place.into() })
    }

    #[test]
    fn who_comes_back_to_a_kept_place_gets_all_that_was_since_and_no_more() {
        let mut told = Told { place: Some("1".into()), ..Told::default() };
        assert!(told.take(batch("2"), None) && told.take(batch("3"), None));
        let places =
            |from| told.since(from).map(|all| all.into_iter().map(|batch| batch.place).collect::<Vec<_>>());
        assert_eq!(places("1"), Some(vec!["2".to_owned(), "3".to_owned()]));
        assert_eq!(places("2"), Some(vec!["3".to_owned()]));
        assert_eq!((places("3"), places("0")), (Some(vec![]), None));
    }

    #[test]
    fn news_that_are_not_known_any_more_are_a_reset() {
        let mut told = Told { place: Some("1".into()), ..Told::default() };
        assert!(told.take(None, Some("9".into())));
        assert_eq!(told.since("1").unwrap()[0].news, [reset()]);
        assert!(!told.take(None, None), "a look that failed tells nobody");
    }

    #[test]
    fn only_the_end_of_a_batch_moves_the_place() {
        let two = Batch { news: vec![reset(), reset()], place: "2".into() };
        let text = written("1", &two);
        assert_eq!(text, "id: 1\nevent: reset\ndata: {}\n\nid: 2\nevent: reset\ndata: {}\n\n");
    }
}
