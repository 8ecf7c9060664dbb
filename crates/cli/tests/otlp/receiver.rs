//! A receiver of OTLP over HTTP on loopback, which records what it accepts and answers as the test says.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, metric::Data};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// How one request is answered.
#[derive(Clone, Debug)]
pub enum Answer {
    Status(u16, &'static str, Vec<u8>),
    /// Success with a body of this content type.
    Page(&'static str, &'static str),
    /// The connection stays open without an answer until the receiver ends.
    Silence,
}

impl Answer {
    pub fn status(status: u16) -> Answer {
        Answer::Status(status, "", b"not now".to_vec())
    }

    pub fn retry_after(status: u16, seconds: &'static str) -> Answer {
        Answer::Status(status, seconds, vec![])
    }

    pub fn rejecting(spans: i64, why: &str) -> Answer {
        let partial = ExportTracePartialSuccess { rejected_spans: spans, error_message: why.to_owned() };
        let response = ExportTraceServiceResponse { partial_success: Some(partial) };
        Answer::Status(200, "", response.encode_to_vec())
    }
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Request {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub status: u16,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn holds(&self, word: &str) -> bool {
        self.body.windows(word.len()).any(|part| part == word.as_bytes())
    }

    pub fn spans(&self) -> Vec<Span> {
        let request = ExportTraceServiceRequest::decode(self.body.as_slice()).unwrap();
        let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }
}

#[derive(Default)]
struct State {
    requests: Vec<Request>,
    answers: VecDeque<Answer>,
    held: Vec<TcpStream>,
    has_ended: bool,
}

/// A running receiver. Dropping it ends it.
pub struct Receiver {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    pub fn start() -> Receiver {
        Receiver::at("127.0.0.1:0".parse().unwrap())
    }

    /// At an address that was free a moment ago.
    pub fn at(address: SocketAddr) -> Receiver {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.lock().unwrap().has_ended {
                    return;
                }
                serve(stream.unwrap(), &shared);
            }
        });
        Receiver { address, state, thread: Some(thread) }
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers the next requests so, and all after them with success.
    pub fn answer(&self, answers: impl IntoIterator<Item = Answer>) {
        self.state.lock().unwrap().answers.extend(answers);
    }

    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }

    fn accepted(&self, path: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.status == 200 && request.path == path).collect()
    }

    /// All spans of requests that were accepted, in order.
    pub fn spans(&self) -> Vec<Span> {
        self.accepted("/v1/traces").iter().flat_map(Request::spans).collect()
    }

    /// The names of all accepted spans, in order.
    pub fn names(&self) -> Vec<String> {
        self.spans().into_iter().map(|span| span.name).collect()
    }

    /// The last accepted metrics.
    pub fn last_metrics(&self) -> Request {
        self.accepted("/v1/metrics").pop().unwrap()
    }

    /// The points of the last accepted metrics: name, model and value. Insists on cumulative, monotonic sums.
    pub fn sums(&self) -> Vec<(String, String, f64)> {
        let Some(last) = self.accepted("/v1/metrics").pop() else { return vec![] };
        let request = ExportMetricsServiceRequest::decode(last.body.as_slice()).unwrap();
        let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
        let mut found = vec![];
        for metric in scopes.flat_map(|scope| scope.metrics) {
            let Some(Data::Sum(sum)) = metric.data else { panic!("{} is no sum", metric.name) };
            assert_eq!(sum.aggregation_temporality(), AggregationTemporality::Cumulative);
            assert!(sum.is_monotonic);
            for point in sum.data_points {
                assert!(point.start_time_unix_nano < point.time_unix_nano);
                let value = match point.value.unwrap() {
                    Number::AsInt(value) => value as f64,
                    Number::AsDouble(value) => value,
                };
                let model = attribute(&point.attributes, "gen_ai.request.model").unwrap_or_default();
                found.push((metric.name.clone(), model, value));
            }
        }
        found
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.state.lock().unwrap().has_ended = true;
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some(request) = read(&mut reader) else { return };
    let mut state = state.lock().unwrap();
    let answer = state.answers.pop_front().unwrap_or(Answer::Status(200, "", vec![]));
    let status = if let Answer::Status(status, ..) = &answer { *status } else { 0 };
    state.requests.push(Request { status, ..request });
    match answer {
        Answer::Silence => state.held.push(stream),
        Answer::Status(status, after, body) => {
            let retry = if after.is_empty() { String::new() } else { format!("retry-after: {after}\r\n") };
            write(stream, status, &format!("{retry}content-type: application/x-protobuf"), &body);
        }
        Answer::Page(kind, body) => write(stream, 200, &format!("content-type: {kind}"), body.as_bytes()),
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = vec![];
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { path, headers, body, status: 0 })
}

fn write(mut stream: TcpStream, status: u16, headers: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status} x\r\n{headers}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

/// The value of an attribute as text.
pub fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    let value = found.value.as_ref()?.value.as_ref()?;
    if let Value::StringValue(text) = value {
        return Some(text.clone());
    }
    let Value::IntValue(number) = value else { panic!("{key} is {value:?}") };
    Some(number.to_string())
}
