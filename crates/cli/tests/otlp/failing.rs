//! A receiver that is down, slow, busy, or does not like what it is sent.

use std::net::TcpListener;
use std::time::Instant;

use crate::receiver::{Answer, Receiver};
use crate::world::{HOUR, MINUTE, TEN, World, insist_on_each_once, turn};

/// A world with a turn of three spans that waits to be sent.
fn waiting(receiver: &Receiver, more: &str) -> World {
    let world = World::sending_to(receiver, &format!("signals = [\"traces\"]\n{more}"));
    world.transcript("s-1", "/home/dev/project", &turn("one", 0, "first", 2));
    world
}

#[test]
fn a_receiver_that_is_down_gets_everything_once_when_it_is_up() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let world = World::new();
    world.configure(&format!("http://{address}"), "");
    world.transcript("s-1", "/home/dev/project", &turn("one", 0, "first", 2));
    world.import();
    world.work();
    let doctor = world.doctor();
    assert!(doctor.starts_with("warning") && doctor.contains(&address.to_string()), "{doctor}");
    let jobs = world.env.tow(&["jobs", "--json"]).ok().json();
    let rows = jobs["work"]["jobs"].as_array().unwrap();
    let waits = rows.iter().find(|job| job["name"] == "otlp").unwrap();
    assert_eq!((waits["pending"].as_u64(), waits["unit"].as_str()), (Some(1), Some("turns")));

    let receiver = Receiver::at(address);
    world.transcript("s-2", "/home/dev/project", &turn("two", 5, "second", 1));
    world.import();
    world.env.set_now(TEN + 2 * HOUR);
    world.work();
    assert_eq!(receiver.spans().len(), 5);
    insist_on_each_once(&receiver);
    assert!(world.doctor().starts_with("good"), "{}", world.doctor());
    let jobs = world.env.tow(&["jobs", "--json"]).ok().json();
    let rows = jobs["work"]["jobs"].as_array().unwrap();
    assert!(rows.iter().any(|job| job["name"] == "otlp" && job["pending"] == 0), "{rows:?}");
}

#[test]
fn a_receiver_that_asks_for_a_pause_is_left_alone_for_so_long() {
    for status in [429, 503] {
        let receiver = Receiver::start();
        let world = waiting(&receiver, "");
        receiver.answer([Answer::retry_after(status, "120")]);
        world.import();
        world.work();
        assert_eq!((receiver.requests().len(), receiver.spans().len()), (1, 0), "{status}");
        for (minutes, requests, spans) in [(1, 1, 0), (3, 2, 3)] {
            world.env.set_now(TEN + HOUR + minutes * MINUTE);
            world.work();
            let found = (receiver.requests().len(), receiver.spans().len());
            assert_eq!(found, (requests, spans), "{status} after {minutes} minutes");
        }
        insist_on_each_once(&receiver);
    }
}

#[test]
fn a_receiver_that_fails_now_and_then_loses_and_doubles_nothing() {
    let receiver = Receiver::start();
    let world = waiting(&receiver, "batch = 1\n");
    let failing = [200, 503, 200, 502, 504, 500, 200, 429];
    receiver.answer(failing.map(|status| match status {
        200 => Answer::Status(200, "", vec![]),
        status => Answer::status(status),
    }));
    world.import();
    for hours in 1..10 {
        world.env.set_now(TEN + hours * HOUR);
        world.work();
    }
    assert_eq!(receiver.spans().len(), 3, "{:?}", receiver.names());
    insist_on_each_once(&receiver);
}

#[test]
fn a_receiver_that_never_answers_holds_background_work_up_for_the_time_limit_only() {
    let receiver = Receiver::start();
    let world = waiting(&receiver, "timeout_s = 1\n");
    receiver.answer([Answer::Silence, Answer::Silence]);
    world.import();
    let begun = Instant::now();
    world.work();
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    assert!(world.doctor().contains("did not answer in time"), "{}", world.doctor());
    assert_eq!(receiver.spans().len(), 0);
    world.env.set_now(TEN + 3 * HOUR);
    world.work();
    world.env.set_now(TEN + 5 * HOUR);
    world.work();
    assert_eq!(receiver.spans().len(), 3);
}

#[test]
fn what_a_receiver_rejects_is_told_and_not_sent_again() {
    let receiver = Receiver::start();
    let world = waiting(&receiver, "");
    receiver.answer([Answer::rejecting(2, "too old")]);
    world.import();
    world.work();
    world.env.set_now(TEN + 3 * HOUR);
    world.work();
    assert_eq!(receiver.requests().len(), 1);
    let doctor = world.doctor();
    assert!(doctor.contains("rejected 2 of them") && doctor.contains("too old"), "{doctor}");
}

#[test]
fn a_request_that_a_receiver_calls_malformed_does_not_block_the_next() {
    let receiver = Receiver::start();
    let world = waiting(&receiver, "");
    receiver.answer([Answer::status(400)]);
    world.import();
    world.work();
    world.transcript("s-2", "/home/dev/project", &turn("two", 5, "second", 0));
    world.import();
    world.work();
    assert_eq!((receiver.requests().len(), receiver.spans().len()), (2, 1));
    let doctor = world.doctor();
    assert!(doctor.contains("rejected 3 of them") && doctor.contains("400: not now"), "{doctor}");
}

#[test]
fn a_request_that_is_too_large_is_sent_in_halves() {
    let receiver = Receiver::start();
    let world = waiting(&receiver, "");
    receiver.answer([Answer::status(413)]);
    world.import();
    world.work();
    assert_eq!((receiver.requests().len(), receiver.spans().len()), (3, 3));
    insist_on_each_once(&receiver);
}

#[test]
fn a_receiver_that_refuses_the_key_or_sends_elsewhere_is_told_by_the_doctor_with_what_to_do() {
    for (answer, mend) in [(401, "otlp.headers_file"), (302, "tow config")] {
        let receiver = Receiver::start();
        let world = waiting(&receiver, "");
        receiver.answer([Answer::status(answer)]);
        world.import();
        world.work();
        let said = world.env.tow(&["doctor"]).stdout;
        assert!(said.contains(&format!("it answered {answer}")) && said.contains(mend), "{said}");
        assert_eq!(receiver.requests().len(), 1);
        // Once it is mended, a user need not wait.
        world.env.tow(&["work"]).ok();
        assert_eq!(receiver.spans().len(), 3);
    }
}

/// A proxy that wants a login, or another service at that address.
#[test]
fn a_page_that_is_no_answer_of_otlp_was_taken_as_delivery() {
    for (kind, page) in [
        ("text/html; charset=utf-8", "<html>please log in</html>"),
        ("application/x-protobuf", "<html>please log in</html>"),
        ("text/plain", "ok"),
    ] {
        let receiver = Receiver::start();
        let world = waiting(&receiver, "");
        receiver.answer([Answer::Page(kind, page)]);
        world.import();
        world.work();
        let said = world.env.tow(&["doctor"]).stdout;
        assert!(said.contains("no answer of OTLP") && said.contains("tow config"), "{said}");
        world.env.set_now(TEN + 2 * HOUR);
        world.work();
        assert_eq!(receiver.spans().len(), 3, "{kind}: {page}");
    }
}

#[test]
fn an_answer_in_json_is_delivery_and_tells_what_was_rejected() {
    let receiver = Receiver::start();
    let world = waiting(&receiver, "");
    let page = r#"{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}"#;
    receiver.answer([Answer::Page("application/json", page)]);
    world.import();
    world.work();
    world.env.set_now(TEN + 2 * HOUR);
    world.work();
    assert_eq!(receiver.requests().len(), 1);
    let doctor = world.doctor();
    assert!(doctor.contains("rejected 2 of them") && doctor.contains("too old"), "{doctor}");
}

/// A world with something to send by both signals, whose receiver answers the first requests so: traces, then metrics.
fn both(receiver: &Receiver, traces: Answer, metrics: Answer) -> World {
    let world = World::sending_to(receiver, "");
    world.transcript("s-1", "/home/dev/project", &turn("one", 0, "first", 2));
    receiver.answer([traces, metrics]);
    world.import();
    world.work();
    world
}

#[test]
fn metrics_were_not_sent_while_traces_failed() {
    let receiver = Receiver::start();
    let world = both(&receiver, Answer::status(503), Answer::Status(200, "", vec![]));
    assert_eq!((receiver.spans().len(), receiver.sums().is_empty()), (0, false));
    let doctor = world.doctor();
    assert!(doctor.contains("no traces were sent") && !doctor.contains("no metrics"), "{doctor}");
    world.env.set_now(TEN + 2 * HOUR);
    world.work();
    assert_eq!(receiver.spans().len(), 3);
    assert!(world.doctor().starts_with("good"), "{}", world.doctor());
}

#[test]
fn traces_that_were_sent_hid_that_metrics_failed() {
    let receiver = Receiver::start();
    let world = both(&receiver, Answer::Status(200, "", vec![]), Answer::status(503));
    world.transcript("s-2", "/home/dev/project", &turn("two", 5, "second", 0));
    world.import();
    world.work();
    assert_eq!((receiver.spans().len(), receiver.sums().len()), (4, 0), "traces do not wait for metrics");
    let doctor = world.doctor();
    assert!(doctor.contains("no metrics were sent") && !doctor.contains("no traces"), "{doctor}");
}

#[test]
fn sums_that_are_too_large_were_dropped_instead_of_divided() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "signals = [\"metrics\"]\n");
    for name in ["beacon", "harbour"] {
        world.transcript(name, &format!("/home/dev/{name}"), &turn(name, 0, "first", 0));
    }
    receiver.answer([Answer::status(413)]);
    world.import();
    world.work();
    let sent: Vec<bool> = receiver.requests()[1..]
        .iter()
        .map(|request| request.holds("beacon") != request.holds("harbour"))
        .collect();
    assert_eq!(sent, [true, true], "one series each");
}

#[test]
fn a_span_that_is_too_large_by_itself_is_dropped_and_named() {
    let receiver = Receiver::start();
    let world = waiting(&receiver, "batch = 1\n");
    receiver.answer([Answer::status(413)]);
    world.import();
    world.work();
    assert_eq!(receiver.names(), ["execute_tool Bash"; 2]);
    let doctor = world.doctor();
    assert!(
        doctor.contains("rejected 1 of them") && doctor.contains("(invoke_agent Claude Code) is too large"),
        "{doctor}"
    );
}
