//! The scripted model over plain sockets, in both APIs: without any client in between.
#![expect(clippy::expect_used, reason = "a test reports by panicking")]

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use towline_testkit::{Api, Gate, Kind, Model, Rule, Step, Usage};

const MESSAGES: &str = "/v1/messages?beta=true";
const RESPONSES: &str = "/v1/responses";

#[test]
fn messages_api_streams_thinking_text_and_tools_with_usage() {
    let usage = Usage { input: 7, output: 8, cache_read: 9, ..Usage::default() };
    let step = Step::text("some longer text").thinking("hm").and_tool("Bash", json!({"command": "ls"}));
    let model = Model::start([Rule::when("go").then(step.usage(usage))]);
    let answer = post(&model, MESSAGES, &prompt("please go"));
    let events = events(&answer);
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["delta"]["type"].as_str()).collect();
    assert_eq!(kinds, ["thinking_delta", "signature_delta", "text_delta", "text_delta", "input_json_delta"]);
    let end = &events[events.len() - 2];
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!(end["usage"]["cache_read_input_tokens"], 9);
    assert_eq!(events[events.len() - 1]["type"], "message_stop");
}

#[test]
fn messages_api_answers_whole_when_no_stream_is_wanted() {
    let model = Model::echo();
    let answer = post(&model, MESSAGES, &whole(&[json!({"role": "user", "content": "hi"})]));
    assert_eq!(json_body(&answer)["content"][0]["text"], "echo: hi");
    let counted = post(&model, "/v1/messages/count_tokens", &prompt("hi"));
    assert!(json_body(&counted)["input_tokens"].is_number());
}

#[test]
fn responses_api_streams_reasoning_text_and_both_kinds_of_call() {
    let step = Step::custom_tool("apply_patch", "*** Begin Patch").and_text("two words").thinking("hm");
    let step = step.and_tool_of("mcp__tiny", "remember", json!({"note": "n"})).header("x-codex-used", "12");
    let model = Model::start([Rule::when("go").then(step)]);
    let answer = post(&model, RESPONSES, &json!({"stream": true, "input": "go"}));
    assert!(answer.contains("x-codex-used: 12\r\n"), "{answer}");
    let events = events(&answer);
    let done: Vec<&str> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .filter_map(|event| event["item"]["type"].as_str())
        .collect();
    assert_eq!(done, ["reasoning", "message", "custom_tool_call", "function_call"]);
    let end = &events[events.len() - 1];
    assert_eq!(end["type"], "response.completed");
    assert_eq!(end["response"]["usage"]["total_tokens"], 1225);
}

#[test]
fn each_step_answers_its_round_and_the_last_one_repeats() {
    let model = Model::start([Rule::when("go").then(Step::text("one")).then(Step::text("two"))]);
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    for expected in ["one", "two", "two"] {
        let answer = post(&model, MESSAGES, &whole(&messages));
        assert_eq!(json_body(&answer)["content"][0]["text"], expected);
        messages.push(json!({"role": "assistant", "content": expected}));
    }
    let steps: Vec<usize> = model.requests().iter().map(|request| request.step).collect();
    assert_eq!(steps, [0, 1, 2]);
}

#[test]
fn a_rule_added_later_goes_first() {
    let model = Model::start([Rule::when("go").then(Step::text("old"))]);
    model.add(Rule::when("go").then(Step::text("new")));
    let answer = post(&model, MESSAGES, &whole(&[json!({"role": "user", "content": "go"})]));
    assert_eq!(json_body(&answer)["content"][0]["text"], "new");
}

#[test]
fn an_error_has_its_status_and_words_in_both_apis() {
    let model = Model::start([Rule::when("go").then(Step::error(529, "overloaded_error", "too much"))]);
    let messages = post(&model, MESSAGES, &prompt("go"));
    let responses = post(&model, RESPONSES, &json!({"stream": true, "input": "go"}));
    for answer in [messages, responses] {
        assert!(answer.starts_with("HTTP/1.1 529 "), "{answer}");
        assert_eq!(json_body(&answer)["error"]["message"], "too much");
    }
}

#[test]
fn a_shut_gate_holds_the_rest_of_a_stream_back() {
    let gate = Gate::shut();
    let model = Model::start([Rule::when("go").then(Step::text("twelve chars and more").pausing_at(&gate))]);
    let mut stream = send(&model, "POST", MESSAGES, &prompt("go"));
    let mut start = String::new();
    while !start.contains("text_delta") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("the first chunk comes");
        start.push(char::from(byte[0]));
    }
    model.wait_prompt("go");
    gate.open();
    assert!(rest(stream).contains("message_stop"));
}

#[test]
fn a_gate_that_is_never_opened_ends_with_the_server() {
    let model = Model::start([Rule::when("go").then(Step::text("never").behind(&Gate::shut()))]);
    let stream = send(&model, "POST", MESSAGES, &prompt("go"));
    model.wait_prompt("go");
    drop(model);
    assert_eq!(rest(stream), "");
}

#[test]
fn a_client_that_goes_away_does_not_stop_the_server() {
    let gate = Gate::shut();
    let long = Step::text("word ".repeat(100_000)).pausing_at(&gate);
    let model = Model::start([Rule::when("long").then(long)]);
    drop(send(&model, "POST", MESSAGES, &prompt("long")));
    model.wait_prompt("long");
    gate.open();
    assert!(post(&model, MESSAGES, &prompt("after")).contains("echo: after"));
}

#[test]
fn chunked_bodies_and_head_are_understood() {
    let model = Model::echo();
    let body = prompt("in two").to_string();
    let (first, second) = body.split_at(10);
    let chunks = format!("{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n", first.len(), second.len());
    let head = format!("POST {MESSAGES} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n");
    assert!(rest(write(&model, &format!("{head}{chunks}"))).contains("in two"));
    assert!(rest(send(&model, "HEAD", "/", &Value::Null)).starts_with("HTTP/1.1 200 "));
}

#[test]
fn the_log_says_what_was_asked_and_keeps_no_credential() {
    let model = Model::echo();
    let metadata = json!({"request_kind": "turn", "thread_source": "subagent"}).to_string();
    let input = json!([{"role": "user", "content": "a \"quoted\" word"}]);
    let body = json!({"input": input, "client_metadata": {"x-codex-turn-metadata": metadata}}).to_string();
    let length = body.len();
    let head =
        format!("POST {RESPONSES} HTTP/1.1\r\nAuthorization: secret\r\ncontent-length: {length}\r\n\r\n");
    rest(write(&model, &format!("{head}{body}")));
    let request = model.wait_request("any", |_| true);
    assert_eq!((request.api, request.kind), (Api::Responses, Kind::Subagent));
    assert_eq!(request.prompt, "a \"quoted\" word");
    assert!(!request.headers.contains_key("authorization"));
    assert!(model.saw("\"quoted\""));
    assert!(!model.saw("unsaid"));
}

fn prompt(text: &str) -> Value {
    json!({"stream": true, "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": text}]})
}

fn whole(messages: &[Value]) -> Value {
    json!({"tools": [{"name": "Bash"}], "messages": messages})
}

fn post(model: &Model, target: &str, body: &Value) -> String {
    rest(send(model, "POST", target, body))
}

fn send(model: &Model, method: &str, target: &str, body: &Value) -> TcpStream {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    write(model, &format!("{method} {target} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
}

fn write(model: &Model, text: &str) -> TcpStream {
    let url = model.url();
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).expect("the model listens");
    stream.write_all(text.as_bytes()).expect("the model reads");
    stream
}

fn rest(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the model answers");
    answer
}

fn json_body(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
    serde_json::from_str(body).expect("the body is JSON")
}

fn events(answer: &str) -> Vec<Value> {
    let lines = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(|line| serde_json::from_str(line).expect("an event is JSON")).collect()
}
