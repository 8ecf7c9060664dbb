//! What the receiver is told: sessions, turns, tool calls and waits as traces, tokens and cost as sums.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::json;

use crate::receiver::{Answer, Receiver, attribute};
use crate::world::{HOUR, MINUTE, TEN, World, ids, insist_on_each_once, turn};

/// 2026-11-01T10:00:00Z in nanoseconds.
const TEN_NS: u64 = TEN as u64 * 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn named<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {spans:#?}"))
}

fn value(span: &Span, key: &str) -> String {
    attribute(&span.attributes, key).unwrap_or_else(|| panic!("no {key} in {span:#?}"))
}

/// A session with hooks, a permission that takes half a minute, and an end.
fn play(world: &World, receiver: &Receiver) {
    let path = world.transcript("s-1", "/home/dev/project", &turn("one", 0, "repair the lighthouse", 2));
    let hook = |event: &str, seconds: i64| {
        world.env.set_now(TEN + seconds * 1000);
        let payload = json!({"hook_event_name": event, "session_id": "s-1", "transcript_path": path,
            "cwd": "/home/dev/project", "source": "startup", "prompt": "repair the lighthouse", "reason": "other",
            "tool_name": "Bash", "tool_input": {"command": "make secret-target"}, "tool_response": {"stdout": ""}});
        world.env.hook("claude", payload.to_string()).ok();
        world.env.wait_no_process();
    };
    for (event, seconds) in
        [("SessionStart", -1), ("UserPromptSubmit", 0), ("PermissionRequest", 11), ("PostToolUse", 41)]
    {
        hook(event, seconds);
    }
    world.work();
    assert_eq!(receiver.names(), [""; 0], "the turn is not over");
    hook("Stop", 120);
    world.work();
    assert!(!receiver.names().contains(&"session Claude Code".to_owned()), "the session is not over");
    hook("SessionEnd", 180);
    world.work();
}

#[test]
fn a_session_its_turns_tool_calls_and_waits_are_one_trace() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "");
    play(&world, &receiver);
    let spans = receiver.spans();
    let mut names = receiver.names();
    names.sort();
    let expected = [
        "execute_tool Bash",
        "execute_tool Bash",
        "invoke_agent Claude Code",
        "session Claude Code",
        "wait permission",
    ];
    assert_eq!(names, expected);
    insist_on_each_once(&receiver);
    assert!(spans.iter().all(|span| span.trace_id == spans[0].trace_id && span.trace_id.len() == 16));

    let [session, turn] = ["session Claude Code", "invoke_agent Claude Code"].map(|name| named(&spans, name));
    let [call, wait] = ["execute_tool Bash", "wait permission"].map(|name| named(&spans, name));
    assert!(session.parent_span_id.is_empty());
    assert_eq!(turn.parent_span_id, session.span_id);
    assert_eq!([&call.parent_span_id, &wait.parent_span_id], [&turn.span_id; 2]);
    let times = |span: &Span| {
        [span.start_time_unix_nano, span.end_time_unix_nano].map(|at| at.saturating_sub(TEN_NS) / SECOND)
    };
    assert_eq!([times(session), times(turn)], [[0, 180], [0, 120]]);
    assert_eq!([times(call), times(wait)], [[10, 17], [11, 41]]);

    assert_eq!(value(session, "session.id"), "s-1");
    assert_eq!(value(turn, "gen_ai.conversation.id"), "s-1");
    assert_eq!(value(turn, "gen_ai.operation.name"), "invoke_agent");
    assert_eq!(value(turn, "gen_ai.provider.name"), "anthropic");
    assert_eq!(value(turn, "gen_ai.request.model"), "claude-opus-5-5");
    assert_eq!(value(turn, "gen_ai.usage.input_tokens"), "3330");
    assert_eq!(value(turn, "gen_ai.usage.cache_read.input_tokens"), "3000");
    assert_eq!(value(turn, "gen_ai.usage.output_tokens"), "60");
    assert_eq!(value(call, "gen_ai.tool.name"), "Bash");
    assert_eq!(value(wait, "towline.wait.reason"), "permission");
    let failed: Vec<_> = spans.iter().filter(|span| span.status.is_some()).collect();
    assert_eq!(failed.len(), 1, "one of the two calls failed");
    assert_eq!(value(failed[0], "error.type"), "failed");
    assert!(world.doctor().starts_with("good: http://127.0.0.1"), "{}", world.doctor());
}

#[test]
fn tokens_and_cost_are_sums_that_only_grow() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "");
    world.transcript("session-1", "/home/dev/project", &turn("one", 0, "first", 1));
    world.import();
    world.work();
    let sums = receiver.sums();
    let expected = [
        ("gen_ai.client.inference.usage.input_tokens", 2220.0),
        ("gen_ai.client.inference.usage.output_tokens", 40.0),
        ("gen_ai.client.inference.usage.cache_read.input_tokens", 2000.0),
        ("gen_ai.client.inference.usage.cache_write.input_tokens", 20.0),
    ];
    for (name, value) in expected {
        assert!(sums.contains(&(name.to_owned(), "claude-opus-5-5".to_owned(), value)), "{name} in {sums:?}");
    }
    // 200 and 20 tokens at 4 and 5 dollars a million, 2000 cached ones at 0.2, 40 of output at 20.
    let (.., cost) = sums.iter().find(|(name, ..)| name == "towline.usage.cost").unwrap();
    assert!((cost - 0.0021).abs() < 1e-9, "{cost}");

    let count = receiver.requests().len();
    world.work();
    assert_eq!(receiver.requests().len(), count, "nothing has changed");
    world.transcript("s-2", "/home/dev/project", &turn("two", 5, "second", 1));
    world.import();
    world.env.tow(&["forget", "session-1", "--yes"]).ok();
    world.work();
    let input: Vec<f64> = receiver
        .sums()
        .iter()
        .filter(|(name, ..)| name.ends_with("usage.input_tokens"))
        .map(|sum| sum.2)
        .collect();
    assert_eq!(input, [4440.0], "what was forgotten was used nevertheless");
}

/// The sums of one metric, over all series.
fn total(receiver: &Receiver, name: &str) -> f64 {
    receiver.sums().iter().filter(|(of, ..)| of == name).map(|sum| sum.2).sum()
}

#[test]
fn sums_of_a_project_that_was_excluded_or_forgotten_were_still_sent() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "signals = [\"metrics\"]\n");
    for (number, name) in ["beacon", "letters", "diary"].into_iter().enumerate() {
        world.transcript(
            &format!("session-{number}"),
            &format!("/home/dev/{name}"),
            &turn(name, 0, "first", 1),
        );
    }
    let tell = |name: &str, minute: i64| {
        world.transcript(name, "/home/dev/beacon", &turn(name, minute, "more", 1));
        world.import();
        world.work();
        let last = receiver.last_metrics();
        ["beacon", "letters", "diary"].map(|name| last.holds(name))
    };
    assert_eq!(tell("s-3", 5), [true; 3]);
    let exclusion = "[privacy]\nexclude_projects = [\"/home/dev/letters\"]\n";
    world.configure(&receiver.endpoint(), &format!("signals = [\"metrics\"]\n{exclusion}"));
    assert_eq!(tell("s-4", 6), [true, false, true]);
    world.env.tow(&["forget", "session-2", "--yes"]).ok();
    assert_eq!(tell("s-5", 7), [true, false, false]);
    assert_eq!(total(&receiver, "gen_ai.client.inference.usage.input_tokens"), 4.0 * 2220.0);
}

#[test]
fn a_project_that_is_excluded_while_the_receiver_is_down_was_still_sent() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "signals = [\"metrics\"]\n");
    world.transcript("s-1", "/home/dev/beacon", &turn("one", 0, "first", 1));
    world.transcript("s-2", "/home/dev/letters", &turn("two", 0, "first", 1));
    receiver.answer([Answer::status(503)]);
    world.import();
    world.work();
    let exclusion = "[privacy]\nexclude_projects = [\"/home/dev/letters\"]\n";
    world.configure(&receiver.endpoint(), &format!("signals = [\"metrics\"]\n{exclusion}"));
    world.env.set_now(TEN + 2 * HOUR);
    world.work();
    assert!(receiver.last_metrics().holds("beacon") && !receiver.last_metrics().holds("letters"));
}

#[test]
fn a_price_that_fell_and_rose_again_made_the_cost_count_twice() {
    let receiver = Receiver::start();
    let world = World::new();
    let mut entries = vec![];
    let mut cost = |name: &str, minute: i64, price: &str| {
        let prices = format!("[prices]\n\"claude-opus-5-5\" = {{ input = {price}, output = {price} }}\n");
        world.configure(&receiver.endpoint(), &format!("signals = [\"metrics\"]\n{prices}"));
        entries.extend(turn(name, minute, "more", 0));
        world.transcript("s-1", "/home/dev/project", &entries);
        world.import();
        world.work();
        total(&receiver, "towline.usage.cost")
    };
    let once = cost("one", 0, "10.0");
    assert!(once > 0.0);
    cost("two", 3, "1.0");
    let all = cost("three", 6, "10.0");
    assert!((all - 3.0 * once).abs() < 1e-9, "{all} of {once} each");
}

#[test]
fn the_last_turn_of_a_session_without_hooks_was_sent_while_it_still_ran() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "signals = [\"traces\"]\n");
    let entries = turn("one", 0, "first", 2);
    let told_after = |entries: &[serde_json::Value], minutes: i64| {
        world.env.set_now(TEN + minutes * MINUTE);
        world.transcript("s-1", "/home/dev/project", entries);
        world.import();
        world.work();
        receiver.names().len()
    };
    assert_eq!(told_after(&entries[..3], 1), 0);
    assert_eq!(told_after(&entries[..4], 50), 0, "a command still runs");
    assert_eq!(told_after(&entries, 51), 3);
    let spans = receiver.spans();
    let turn = named(&spans, "invoke_agent Claude Code");
    assert_eq!(turn.end_time_unix_nano, TEN_NS + 120 * SECOND);
    assert_eq!(value(turn, "gen_ai.usage.output_tokens"), "60");
    insist_on_each_once(&receiver);
}

#[test]
fn the_turn_before_the_next_prompt_is_sent_at_once() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "signals = [\"traces\"]\n");
    let mut entries = turn("one", 0, "first", 0);
    entries.extend_from_slice(&turn("two", 3, "second", 0)[..1]);
    world.env.set_now(TEN + 4 * MINUTE);
    world.transcript("s-1", "/home/dev/project", &entries);
    world.import();
    world.work();
    assert_eq!(receiver.spans().len(), 1);
    assert_eq!(receiver.spans()[0].start_time_unix_nano, TEN_NS);
}

#[test]
fn names_and_numbers_are_sent_but_no_text_unless_the_user_wants_it() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "");
    world.transcript("s-1", "/home/dev/project", &turn("one", 0, "repair the pharos", 1));
    world.import();
    world.work();
    let holds = |word: &str| receiver.requests().iter().any(|request| request.holds(word));
    assert_eq!(receiver.names().len(), 2);
    for word in ["pharos", "lighthouse", "secret-target", "all well", "/home/dev"] {
        assert!(!holds(word), "{word} was sent");
    }
    world.configure(&receiver.endpoint(), "text = true\n");
    world.transcript("s-2", "/home/dev/project", &turn("two", 5, "repair the pharos", 1));
    world.import();
    world.work();
    assert!(holds("pharos") && holds("lighthouse"));
    assert!(!holds("secret-target") && !holds("all well"), "input and output of tools are never sent");
    insist_on_each_once(&receiver);
}

#[test]
fn private_turns_excluded_folders_and_excluded_tools_are_not_told() {
    let receiver = Receiver::start();
    let world = World::new();
    let mut private = turn("one", 0, "<private>about the pharos</private>", 1);
    private.extend(turn("two", 5, "in the open", 1));
    world.transcript("s-1", "/home/dev/project", &private);
    world.transcript("s-2", "/home/dev/letters", &turn("three", 10, "write to mother", 1));
    // Captured before they were excluded.
    world.import();
    let exclusions = "[privacy]\nexclude_projects = [\"/home/dev/letters\"]\nexclude_tools = [\"Bash\"]\n";
    world.write_config(&format!("[otlp]\nendpoint = \"{}\"\n{exclusions}", receiver.endpoint()), TEN - HOUR);
    world.work();
    let spans = receiver.spans();
    assert_eq!(receiver.names(), ["invoke_agent Claude Code"]);
    assert_eq!(spans[0].start_time_unix_nano, TEN_NS + 300 * SECOND);
    let sums = receiver.sums();
    let (.., input) = sums.iter().find(|(name, ..)| name.ends_with("usage.input_tokens")).unwrap();
    assert_eq!(*input, 4440.0, "the excluded folder is not in the sums: {sums:?}");
}

/// The minutes after ten at which the sent spans began, sorted: files are captured side by side, in any order.
fn begun(receiver: &Receiver) -> Vec<u64> {
    let spans = receiver.spans();
    let mut begun: Vec<u64> =
        spans.iter().map(|span| (span.start_time_unix_nano - TEN_NS) / SECOND / 60).collect();
    begun.sort_unstable();
    begun
}

/// Captures a turn of each minute, and works at another one.
fn work_at(world: &World, minute: i64, turns: &[i64]) {
    for begins in turns {
        let name = format!("s-{begins}");
        world.transcript(&name, "/home/dev/project", &turn(&name, *begins, "more", 0));
    }
    world.env.set_now(TEN + minute * MINUTE);
    world.import();
    world.work();
}

#[test]
fn only_what_happens_while_the_export_is_on_is_sent() {
    let receiver = Receiver::start();
    let world = World::new();
    let on = format!("[otlp]\nendpoint = \"{}\"\nsignals = [\"traces\"]\n", receiver.endpoint());
    world.write_config(&on, TEN);
    // From an hour before the first run on.
    work_at(&world, 120, &[0, 70]);
    assert_eq!(begun(&receiver), [70]);
    world.write_config("", TEN);
    work_at(&world, 180, &[140]);
    world.write_config(&on, TEN);
    work_at(&world, 225, &[190]);
    assert_eq!(begun(&receiver), [70, 190]);
}

#[test]
fn an_edit_of_the_configuration_moved_the_beginning_of_the_export() {
    // The configuration as it was written years ago, a minute ago, and by a clock that was ahead.
    for written in [-1_000_000, 119, 1_000_000] {
        let receiver = Receiver::start();
        let world = World::new();
        let on = format!("[otlp]\nendpoint = \"{}\"\nsignals = [\"traces\"]\n", receiver.endpoint());
        world.write_config(&on, TEN + written * MINUTE);
        work_at(&world, 120, &[-100_000, 0, 70]);
        assert_eq!(begun(&receiver), [70], "{written}");
        world.write_config(&format!("{on}text = true\n"), TEN + 300 * MINUTE);
        work_at(&world, 310, &[130, 200]);
        assert_eq!(begun(&receiver), [70, 130, 200], "{written}");
    }
}

#[test]
fn a_session_that_fell_silent_ends_and_one_that_is_resumed_goes_on_in_its_trace() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "signals = [\"traces\"]\n");
    let mut entries = turn("one", 0, "first", 0);
    world.transcript("s-1", "/home/dev/project", &entries);
    world.import();
    world.work();
    assert_eq!(receiver.names(), ["invoke_agent Claude Code"]);
    world.env.set_now(TEN + 26 * HOUR);
    world.work();
    assert_eq!(receiver.names(), ["invoke_agent Claude Code", "session Claude Code"]);

    entries.extend(turn("two", 26 * 60, "second", 0));
    world.transcript("s-1", "/home/dev/project", &entries);
    world.import();
    world.env.set_now(TEN + 60 * HOUR);
    world.work();
    world.work();
    let spans = receiver.spans();
    assert_eq!(spans.len(), 4, "{:?}", receiver.names());
    assert!(spans.iter().all(|span| span.trace_id == spans[0].trace_id));
    assert_eq!(spans[3].parent_span_id, spans[1].span_id, "the second run is below the first");
    assert_eq!(spans[2].parent_span_id, spans[3].span_id);
    insist_on_each_once(&receiver);
}

/// Subagents have files of their own, which are captured at other times.
#[test]
fn calls_of_a_subagent_that_are_captured_late_follow_once() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "signals = [\"traces\"]\nbatch = 1\n");
    world.transcript("s-1", "/home/dev/project", &turn("one", 0, "first", 1));
    world.import();
    world.work();
    assert_eq!(receiver.names(), ["invoke_agent Claude Code", "execute_tool Bash"]);
    let entries = subagent("a1", 3);
    // The last call has no output yet.
    let part = entries[..6].to_vec();
    let place = "s-1/subagents/agent-a1";
    world.subagent(place, &part);
    world.import();
    world.work();
    assert_eq!(receiver.names()[2..], ["execute_tool Bash"; 2]);
    world.subagent(place, &entries);
    world.import();
    world.work();
    let spans = receiver.spans();
    assert_eq!(spans.len(), 5, "{:?}", receiver.names());
    assert!(spans[2..].iter().all(|span| span.parent_span_id == spans[0].span_id));
    assert!(spans[2..].iter().all(|span| value(span, "gen_ai.agent.id") == "a1"));
    insist_on_each_once(&receiver);
}

/// The entries of a subagent's file.
fn subagent(name: &str, calls: usize) -> Vec<serde_json::Value> {
    let mut entries = turn(name, 1, "look for it", calls);
    entries
        .iter_mut()
        .for_each(|entry| (entry["isSidechain"], entry["agentId"]) = (json!(true), json!(name)));
    entries
}

#[test]
fn a_call_that_was_captured_between_two_batches_of_its_turn_was_lost() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "signals = [\"traces\"]\nbatch = 1\n");
    world.transcript("s-1", "/home/dev/project", &turn("one", 0, "first", 0));
    // The turn may still run.
    world.env.set_now(TEN + 5 * MINUTE);
    world.import();
    world.subagent("s-1/subagents/agent-a2", &subagent("a2", 2));
    world.import();
    world.env.set_now(TEN + HOUR);
    receiver.answer([Answer::Status(200, "", vec![]), Answer::Status(200, "", vec![]), Answer::status(503)]);
    world.work();
    assert_eq!(receiver.spans().len(), 2);
    world.subagent("s-1/subagents/agent-a1", &subagent("a1", 1));
    world.import();
    world.env.set_now(TEN + 2 * HOUR);
    world.work();
    assert_eq!(receiver.spans().len(), 4, "{:?}", receiver.names());
    insist_on_each_once(&receiver);
}

#[test]
fn late_calls_that_ran_side_by_side_were_lost_beyond_the_first_batch() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "signals = [\"traces\"]\nbatch = 1\n");
    let [prompt, input, output, other_input, other_output, answer] =
        turn("one", 0, "first", 2).try_into().unwrap();
    let mut entries = vec![prompt, answer];
    world.transcript("s-1", "/home/dev/project", &entries);
    world.import();
    world.work();
    assert_eq!(receiver.spans().len(), 1);
    entries.extend([input, other_input, output, other_output]);
    world.transcript("s-1", "/home/dev/project", &entries);
    world.import();
    world.work();
    assert_eq!(receiver.spans().len(), 3, "{:?}", receiver.names());
    insist_on_each_once(&receiver);
}

#[test]
fn ids_do_not_depend_on_when_or_from_which_archive_a_span_is_sent() {
    let sent = |more: &str| {
        let receiver = Receiver::start();
        let world = World::sending_to(&receiver, more);
        world.transcript("s-1", "/home/dev/project", &turn("one", 0, "first", 3));
        world.import();
        world.work();
        ids(&receiver.spans())
    };
    let first = sent("");
    assert_eq!((first.len(), &first), (4, &sent("batch = 1\n")));
}

#[test]
fn a_turn_larger_than_a_batch_is_sent_in_several_requests_and_each_span_once() {
    let receiver = Receiver::start();
    let world = World::sending_to(&receiver, "batch = 3\n");
    for (number, minute) in (0..3).zip((0..).step_by(5)) {
        let session = format!("s-{number}");
        world.transcript(&session, "/home/dev/project", &turn(&session, minute, "much to do", 7));
    }
    world.import();
    world.work();
    let traces = receiver.requests().into_iter().filter(|request| request.path == "/v1/traces");
    let sizes: Vec<usize> = traces.map(|request| request.spans().len()).collect();
    assert!(sizes.iter().all(|size| *size <= 3) && sizes.iter().sum::<usize>() == 24, "{sizes:?}");
    insist_on_each_once(&receiver);
}

#[test]
fn headers_come_from_a_file_that_nobody_else_can_read_or_from_a_variable() {
    let receiver = Receiver::start();
    let world = World::new();
    let file = world.env.home().join("otlp-headers");
    fs::write(&file, "authorization: Bearer t0ken\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let more = format!("headers_file = \"{}\"\nheaders_env = \"OTLP_HEADERS\"\n", file.display());
    world.configure(&receiver.endpoint(), &more);
    world.env.set("OTLP_HEADERS", "x-tenant=me%20too");
    world.transcript("s-1", "/home/dev/project", &turn("one", 0, "first", 0));
    world.import();
    world.work();
    assert!(receiver.requests().is_empty());
    let doctor = world.doctor();
    assert!(doctor.contains("can be read by others") && !doctor.contains("t0ken"), "{doctor}");

    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    world.env.tow(&["work"]).ok();
    let request = &receiver.requests()[0];
    assert_eq!(request.header("authorization"), Some("Bearer t0ken"));
    assert_eq!(request.header("x-tenant"), Some("me too"));
    assert_eq!(request.header("content-type"), Some("application/x-protobuf"));
    assert!(world.doctor().starts_with("good"), "{}", world.doctor());
}
