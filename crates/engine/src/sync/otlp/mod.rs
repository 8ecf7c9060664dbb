//! Sends sessions, turns, tool calls and waits as traces, tokens and cost as metrics, by OTLP over HTTP.
//!
//! Only `tow data work` sends, and only if the user named a receiver. Each request is recorded as sent before the next is
//! gathered; the archive is never held while waiting for the receiver. A kill in between sends a request again, with the
//! same ids.

mod gather;
mod headers;
mod ids;
mod ledger;
mod metrics;
mod progress;
mod receiver;
mod spans;
mod sums;

pub use super::backoff::Trouble;
pub use headers::HeadersError;
pub use progress::{OtlpStatus, Tally};

use super::amount::Amount;
use crate::capture::Wishes;
use crate::runtime::archive::{self, Writable};
use crate::runtime::config::{Otlp, OtlpSignal};
use crate::runtime::faults::record_here;
use crate::runtime::{Env, Failure, chain, settings};
use gather::{SpanBatch, SpanSource, WordsWanted};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::metrics::v1::{ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use progress::{Progress, READER};
use receiver::{Answer, Receiver, Refusal};
use spans::text;
use std::time::Duration;
use sums::{Series, Sums, SumsSource, Total};
use towline_core::fault::FaultKind;
use towline_core::id::Uid;
use towline_core::time::Timestamp;
use towline_store::{Archive, Store, StoreError};

/// How long to wait for another writer of the archive.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit of a background export; the next run continues.
const A_WHILE: Duration = Duration::from_secs(30);

/// Why nothing more was sent.
#[derive(Debug, thiserror::Error)]
enum NoExport {
    #[error("another process writes what is kept")]
    Busy,
    #[error("the receiver of telemetry: {why}")]
    Refused { why: String, remedy: String, pause_ms: i64 },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}", .0.what)]
    Told(Failure),
}

/// What a run has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Exported {
    pub spans: u64,
    pub points: u64,
}

/// Whether a receiver is named.
pub fn is_on(env: &Env) -> bool {
    settings(env).otlp.is_on()
}

/// Sends what is ready. Errors are recorded and do not stop other work. A user who asks is not kept waiting by an earlier
/// failure.
pub fn export_if_on(env: &Env, amount: Amount) -> Exported {
    let mut done = Exported::default();
    match export(env, amount, &mut done) {
        Ok(()) | Err(NoExport::Busy) => {}
        Err(error) => record_here(env, FaultKind::Store, chain(&error)),
    }
    done
}

/// The number of turns that wait to be sent, at most `most`.
pub fn count_pending(archive: &Archive, most: u32) -> Result<u64, StoreError> {
    let Some(progress) = Progress::load(archive)? else { return Ok(0) };
    if progress.is_scanning() {
        return archive.count_turns_after(0, most);
    }
    archive.count_turns_changed_after(archive.read_up_to(READER)?.unwrap_or(0), most)
}

fn export(env: &Env, amount: Amount, done: &mut Exported) -> Result<(), NoExport> {
    let config = settings(env).otlp;
    if !env.home.archive().exists() {
        return Ok(());
    }
    if !config.is_on() {
        return end(env);
    }
    let wishes = Wishes::load(env).map_err(NoExport::Told)?;
    let receiver = Receiver::open(&config);
    for signal in OtlpSignal::ALL.into_iter().filter(|signal| config.sends(*signal)) {
        if amount == Amount::AWhile && is_paused(env, signal)? {
            continue;
        }
        let mut sent = Exported::default();
        let result = match &receiver {
            Ok(receiver) => {
                let (config, wishes, began) = (&config, &wishes, env.elapsed());
                Exporter { env, config, wishes, receiver, amount, began }.send(signal, &mut sent)
            }
            Err(error) => Err(refused(chain(error), error.remedy())),
        };
        (done.spans, done.points) = (done.spans + sent.spans, done.points + sent.points);
        match result {
            Ok(()) => note_success(env, signal, sent)?,
            Err(NoExport::Refused { why, remedy, pause_ms }) => {
                note_trouble(env, signal, NewTrouble { why, remedy, pause_ms })?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn refused(why: String, remedy: String) -> NoExport {
    NoExport::Refused { why, remedy, pause_ms: 0 }
}

/// Opens the archive for writing only if something has to be recorded.
fn end(env: &Env) -> Result<(), NoExport> {
    let now = env.later().now;
    let is_due = Archive::read(&env.home, PATIENCE)?
        .map(|archive| progress::is_end_due(&archive, now))
        .transpose()?
        .unwrap_or(false);
    if is_due {
        progress::end(&writing(env)?.archive, now)?;
    }
    Ok(())
}

fn is_paused(env: &Env, signal: OtlpSignal) -> Result<bool, StoreError> {
    let Some(archive) = Archive::read(&env.home, PATIENCE)? else { return Ok(false) };
    Ok(progress::trouble(&archive, signal)?.is_some_and(|trouble| trouble.holds(env.later().now)))
}

/// Fails as busy if another process holds the archive for this long.
fn writing(env: &Env) -> Result<Writable, NoExport> {
    archive::open(env, PATIENCE)?.ok_or(NoExport::Busy)
}

struct Exporter<'a> {
    env: &'a Env,
    config: &'a Otlp,
    wishes: &'a Wishes,
    receiver: &'a Receiver,
    amount: Amount,
    began: Duration,
}

impl Exporter<'_> {
    fn send(&self, signal: OtlpSignal, done: &mut Exported) -> Result<(), NoExport> {
        match signal {
            OtlpSignal::Traces => self.send_traces(done),
            OtlpSignal::Metrics => self.send_metrics(done),
        }
    }

    fn send_traces(&self, done: &mut Exported) -> Result<(), NoExport> {
        loop {
            let (batch, resource) = self.batch()?;
            let (count, is_all) = (batch.spans.len() as u64, batch.is_all);
            if is_all && batch.is_nothing {
                return Ok(());
            }
            let rejected = self.send_spans(&resource, &batch.spans)?;
            self.record(|archive, tally| {
                tally.spans += count;
                tally.add_rejected(rejected);
                batch.record(archive)
            })?;
            done.spans += count;
            if is_all || !self.has_time() {
                return Ok(());
            }
        }
    }

    fn batch(&self) -> Result<(SpanBatch, Resource), NoExport> {
        let store = Store::read(&self.env.home, PATIENCE)?;
        let writable = writing(self.env)?;
        let archive = &writable.archive;
        let source = SpanSource {
            archive,
            store: store.as_ref(),
            wishes: self.wishes,
            words: if self.config.text { WordsWanted::All } else { WordsWanted::None },
            most: self.config.batch,
            now: self.env.later().now,
        };
        let batch = source.batch(Progress::begin(archive, self.env)?)?;
        Ok((batch, resource(archive.machine())))
    }

    /// Sends spans in one request, or in several if the receiver calls that one too large. What it calls malformed counts
    /// as rejected: it would be so again.
    fn send_spans(&self, resource: &Resource, spans: &[Span]) -> Result<Rejected, NoExport> {
        if spans.is_empty() {
            return Ok(Rejected::default());
        }
        let scope_spans =
            vec![ScopeSpans { scope: Some(scope()), spans: spans.to_vec(), ..ScopeSpans::default() }];
        let resource_spans =
            vec![ResourceSpans { resource: Some(resource.clone()), scope_spans, ..ResourceSpans::default() }];
        let request = ExportTraceServiceRequest { resource_spans };
        let now = self.env.later().now;
        let all = spans.len() as i64;
        match self.receiver.post::<ExportTraceServiceResponse>("/v1/traces", &request, now) {
            Ok(response) => {
                let (count, why) = response.rejected();
                Ok(Rejected::new(count.min(all), why))
            }
            Err(Refusal::TooLarge) if spans.len() > 1 => {
                let (first, second) = spans.split_at(spans.len() / 2);
                Ok(self.send_spans(resource, first)?.plus(self.send_spans(resource, second)?))
            }
            Err(Refusal::TooLarge) => {
                let names: Vec<String> = spans.iter().map(name_of).collect();
                Ok(Rejected::new(all, format!("it answered 413: {} is too large", names.join(", "))))
            }
            Err(Refusal::Malformed(why)) => Ok(Rejected::new(all, why)),
            Err(Refusal::Later { why, remedy, pause_ms }) => Err(self.refused(why, remedy, pause_ms)),
        }
    }

    /// Sums are sent only if they have grown.
    fn send_metrics(&self, done: &mut Exported) -> Result<(), NoExport> {
        let Some((sums, resource)) = self.sums()? else { return Ok(()) };
        let now = self.env.later().now;
        let rejected = match sums.series() {
            [] => Rejected::default(),
            series => self.send_sums(&resource, series, now)?,
        };
        let points = metrics::points(sums.series()) as u64;
        self.record(|archive, tally| {
            tally.points += points;
            tally.add_rejected(rejected);
            sums.sent(now).save(archive)
        })?;
        done.points += points;
        Ok(())
    }

    /// Counts what was used since, and returns the sums if they are to be sent. An archive with much to count is released
    /// in between.
    fn sums(&self) -> Result<Option<(Sums, Resource)>, NoExport> {
        let prices = settings(self.env).all_prices();
        while self.has_time() {
            let writable = writing(self.env)?;
            let archive = &writable.archive;
            let since = Progress::begin(archive, self.env)?.since();
            let now = self.env.later().now;
            let source = SumsSource { archive, wishes: self.wishes, prices: &prices, since, now };
            if source.count()? {
                return Ok(source.due()?.map(|sums| (sums, resource(archive.machine()))));
            }
        }
        Ok(None)
    }

    /// Sends sums in one request, or in several if the receiver calls that one too large.
    fn send_sums(
        &self,
        resource: &Resource,
        series: &[(Series, Total)],
        now: Timestamp,
    ) -> Result<Rejected, NoExport> {
        let metrics = metrics::metrics(series, now);
        let scope_metrics = vec![ScopeMetrics { scope: Some(scope()), metrics, ..ScopeMetrics::default() }];
        let resource_metrics = vec![ResourceMetrics {
            resource: Some(resource.clone()),
            scope_metrics,
            ..ResourceMetrics::default()
        }];
        let request = ExportMetricsServiceRequest { resource_metrics };
        let all = metrics::points(series) as i64;
        match self.receiver.post::<ExportMetricsServiceResponse>("/v1/metrics", &request, now) {
            Ok(response) => {
                let (count, why) = response.rejected();
                Ok(Rejected::new(count.min(all), why))
            }
            Err(Refusal::TooLarge) => match series {
                [] => Ok(Rejected::default()),
                [(of, _)] => {
                    Ok(Rejected::new(all, format!("it answered 413: the sums of {of} are too large")))
                }
                [..] => {
                    let (first, second) = series.split_at(series.len() / 2);
                    let first = self.send_sums(resource, first, now)?;
                    Ok(first.plus(self.send_sums(resource, second, now)?))
                }
            },
            Err(Refusal::Malformed(why)) => Ok(Rejected::new(all, why)),
            Err(Refusal::Later { why, remedy, pause_ms }) => Err(self.refused(why, remedy, pause_ms)),
        }
    }

    fn refused(&self, why: String, remedy: String, pause_ms: i64) -> NoExport {
        NoExport::Refused { why: format!("{}: {why}", self.config.endpoint), remedy, pause_ms }
    }

    /// Records progress and tally in one transaction.
    fn record(
        &self,
        keep: impl FnOnce(&Archive, &mut Tally) -> Result<(), StoreError>,
    ) -> Result<(), NoExport> {
        let writable = writing(self.env)?;
        let archive = &writable.archive;
        Ok(archive.in_transaction(|| {
            let mut tally = progress::tally(archive)?;
            keep(archive, &mut tally)?;
            progress::save_tally(archive, &tally)
        })?)
    }

    fn has_time(&self) -> bool {
        self.amount == Amount::All || self.env.elapsed().saturating_sub(self.began) < A_WHILE
    }
}

/// What the receiver rejected of a request. It must not be sent again.
#[derive(Clone, Debug, Default)]
struct Rejected {
    count: u64,
    why: String,
}

impl Rejected {
    fn new(count: i64, why: impl Into<String>) -> Rejected {
        Rejected { count: u64::try_from(count).unwrap_or(0), why: why.into() }
    }

    fn plus(self, other: Rejected) -> Rejected {
        let why = if other.why.is_empty() { self.why } else { other.why };
        Rejected { count: self.count + other.count, why }
    }
}

impl Tally {
    fn add_rejected(&mut self, rejected: Rejected) {
        self.rejected += rejected.count;
        if !rejected.why.is_empty() {
            self.why = towline_agents::ask::short(&rejected.why);
        }
    }
}

/// A span's name, and its id for who looks for it.
fn name_of(span: &Span) -> String {
    let id: String = span.span_id.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("the span {id} ({})", span.name)
}

fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "towline".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}

/// Names the machine by its random id, so that sums of several machines stay apart.
fn resource(machine: Uid) -> Resource {
    let attributes = vec![
        text("service.name", "towline"),
        text("service.version", env!("CARGO_PKG_VERSION")),
        text("service.instance.id", &machine.to_string()),
    ];
    Resource { attributes, ..Resource::default() }
}

fn note_success(env: &Env, signal: OtlpSignal, done: Exported) -> Result<(), NoExport> {
    let had_trouble = || -> Result<bool, StoreError> {
        let archive = Archive::read(&env.home, PATIENCE)?;
        Ok(archive.map(|archive| progress::trouble(&archive, signal)).transpose()?.flatten().is_some())
    };
    if done == Exported::default() && !had_trouble()? {
        return Ok(());
    }
    let writable = writing(env)?;
    let archive = &writable.archive;
    Ok(archive.in_transaction(|| {
        let tally = Tally { sent_at_ms: Some(env.later().now.0), ..progress::tally(archive)? };
        progress::save_tally(archive, &tally)?;
        progress::save_trouble(archive, signal, None)
    })?)
}

struct NewTrouble {
    why: String,
    remedy: String,
    pause_ms: i64,
}

/// A receiver that is down is no fault. An error that the user must fix is recorded as a fault once, also if it stops both
/// signals.
fn note_trouble(env: &Env, signal: OtlpSignal, new: NewTrouble) -> Result<(), StoreError> {
    let Some(writable) = archive::open(env, PATIENCE)? else { return Ok(()) };
    let (archive, now) = (&writable.archive, env.later().now);
    let known = OtlpStatus::of(archive)?.troubles;
    let earlier = known.iter().find(|(of, _)| *of == signal).map(|(_, trouble)| trouble);
    let [.., high, low] = env.uid().0;
    let dice = u64::from(u16::from_be_bytes([high, low]));
    let NewTrouble { why, remedy, pause_ms } = new;
    let is_users = !remedy.is_empty();
    let trouble = Trouble::after(earlier, why, remedy, now, dice).asked_to_wait(now, pause_ms);
    let is_recorded = known.iter().any(|(_, known)| known.what == trouble.what);
    progress::save_trouble(archive, signal, Some(&trouble))?;
    drop(writable);
    if is_users && trouble.failures == 1 && !is_recorded {
        record_here(&env.later(), FaultKind::Notify, format!("the receiver of telemetry: {}", trouble.what));
    }
    Ok(())
}
