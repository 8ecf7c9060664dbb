//! Both APIs against a scripted server: every way to fail is told from every other, and nothing is lost by any of them.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod bench;

use bench::{Bench, mark, memory, model};
use std::time::Duration;
use towline_core::memory::{MemoryAuthor, MemoryTrust};
use towline_engine::memory::model::provider::{Anthropic, Key, OpenAi, Wire};
use towline_engine::memory::model::{Left, Provider};
use towline_store::archive::{JobState, MemoryQuery};
use towline_testkit::{Api, Gate, Model, Rule, Step};

/// Both APIs, by a server and what makes a provider of it.
fn each(check: impl Fn(&str, &dyn Fn(Wire) -> Box<dyn Provider>)) {
    check("", &|wire| Box::new(Anthropic(wire)));
    check("/v1", &|wire| Box::new(OpenAi(wire)));
}

fn learnt(turns: u32) -> Vec<String> {
    let mut titles: Vec<String> = (1..=turns).map(|turn| format!("learnt in {}", mark(turn))).collect();
    titles.sort();
    titles
}

#[test]
fn a_turn_is_put_into_words_once_and_says_where_it_came_from() {
    let bench = Bench::with_turns(2);
    let model = model(2, Some("remember"));
    let provider = Anthropic(bench.wire(model.url()));
    let drained = bench.work(&provider);
    assert_eq!((drained.done, drained.kept, drained.failed, drained.left), (2, 2, 0, Left::Nothing));
    assert_eq!(bench.titles(), learnt(2));
    let kept = bench.open();
    let archive = towline_engine::memory::model::Opened::archive(&kept);
    let found = archive.memories(&MemoryQuery { limit: 9, ..MemoryQuery::default() }).unwrap().remove(0);
    let source = found.source.unwrap();
    assert_eq!(
        (source.turn, found.maker, found.trust),
        (Some(2), MemoryAuthor::Model("small".into()), MemoryTrust::Tool)
    );
    assert_eq!(found.project.as_deref(), Some("boat"));
    let day = archive.spending(9).unwrap().remove(0);
    assert_eq!(
        (day.provider.as_str(), day.spent.calls, day.spent.input, day.kept),
        ("anthropic", 2, 2400, 2)
    );
    drop(kept);
    assert_eq!(bench.work(&provider).done, 0, "nothing is left");
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn an_endpoint_that_knows_no_schema_is_asked_without_it() {
    let bench = Bench::with_turns(1);
    let model = model(1, None);
    bench.work(&OpenAi(bench.wire(format!("{}/v1", model.url()))));
    assert_eq!(bench.titles(), learnt(1));
    let asked = model.requests().remove(0);
    assert_eq!((asked.api, asked.body["response_format"]["type"].as_str()), (Api::Chat, Some("json_schema")));
    assert_eq!(asked.body["max_tokens"], 600);

    let bench = Bench::with_turns(1);
    let old =
        Model::start([Rule::when("TURN-1.").then(Step::error(400, "bad", "response_format is not known"))]);
    assert_eq!(bench.work(&OpenAi(bench.wire(format!("{}/v1", old.url())))).failed, 1);
    assert_eq!(old.requests().len(), 2);
    assert!(old.requests()[1].body["response_format"].is_null());
}

#[test]
fn every_failure_is_told_apart_loses_nothing_and_ends_with_the_first_answer() {
    let failures = |path: &str| {
        let cut = if path.is_empty() { "max_tokens" } else { "length" };
        [
            (Step::error(401, "authentication_error", "invalid x-api-key"), "login"),
            (Step::error(403, "permission_error", "no"), "login"),
            (Step::error(429, "rate_limit_error", "slow down").header("retry-after", "120"), "rate"),
            (Step::error(429, "insufficient_quota", "You exceeded your current quota"), "quota"),
            (Step::error(500, "api_error", "boom"), "unavailable"),
            (Step::error(529, "overloaded_error", "overloaded"), "unavailable"),
            (Step::error(404, "not_found_error", "no such model"), "configuration"),
            (Step::text("I'm sorry, there is nothing in it."), "prose"),
            (Step::text("You've hit your usage limit · resets 3pm"), "quota"),
            (Step::text("Not logged in · Please run /login"), "login"),
            (Step::garbage("<html>login</html>"), "unavailable"),
            (Step::garbage("{}"), "prose"),
            (Step::text("{\"memories\": [{\"type\": ").stops_for(cut), "invalid"),
        ]
    };
    each(|path, provider| {
        for (step, cause) in failures(path) {
            let bench = Bench::with_turns(3);
            let model = Model::start([Rule::when("TURN").then(step.clone())]);
            let asked = provider(bench.wire(format!("{}{path}", model.url())));
            let drained = bench.work(&*asked);
            let Left::Trouble(trouble) = drained.left else { panic!("{cause}: {drained:?}") };
            assert_eq!((trouble.cause.as_str(), drained.kept), (cause, 0), "{step:?}");
            assert!(model.requests().len() <= 3, "a broken provider is left alone");
            let counts = |bench: &Bench| {
                let now = bench.now.get();
                towline_engine::memory::model::Opened::archive(&bench.open()).job_counts(now).unwrap()
            };
            assert_eq!((counts(&bench).waiting, counts(&bench).dead), (3, 0), "{cause}");
            let again = bench.work(&*asked);
            assert_eq!((again.failed, again.done), (0, 0), "it is left alone until its time");
            drop(model);
            recover(&bench, path, provider);
        }
    });
}

/// The provider is well again: all is done, and the trouble is over.
fn recover(bench: &Bench, path: &str, provider: &dyn Fn(Wire) -> Box<dyn Provider>) {
    let tool = if path.is_empty() { Some("remember") } else { None };
    let well = model(3, tool);
    let asked = provider(bench.wire(format!("{}{path}", well.url())));
    bench.later(120);
    let drained = bench.work(&*asked);
    assert!(drained.recovered);
    bench.later(600);
    bench.work(&*asked);
    assert_eq!(bench.titles(), learnt(3));
    let now = bench.now.get();
    let open = bench.open();
    let archive = towline_engine::memory::model::Opened::archive(&open);
    assert_eq!(archive.job_counts(now).unwrap().done, 3);
    assert_eq!(archive.health(asked.name()).unwrap().trouble, None);
}

#[test]
fn a_rate_limit_is_waited_for_as_long_as_it_says() {
    let bench = Bench::with_turns(1);
    let step = Step::error(429, "rate_limit_error", "slow").header("retry-after", "300");
    let model = Model::start([Rule::when("TURN").then(step)]);
    bench.work(&Anthropic(bench.wire(model.url())));
    let open = bench.open();
    let health = towline_engine::memory::model::Opened::archive(&open).health("anthropic").unwrap();
    assert_eq!(health.again_at, bench::START.plus_ms(300_000));
}

#[test]
fn nobody_there_and_no_answer_in_time_are_troubles_too() {
    let bench = Bench::with_turns(1);
    let nobody = bench.wire("http://127.0.0.1:1".into());
    let Left::Trouble(trouble) = bench.work(&Anthropic(nobody)).left else { panic!() };
    assert_eq!(trouble.cause, "unavailable");

    let bench = Bench::with_turns(1);
    let model = Model::start([Rule::when("TURN").then(Step::text("late").behind(&Gate::shut()))]);
    let wire = Wire { patience: Duration::from_millis(300), ..bench.wire(model.url()) };
    let provider = Anthropic(wire);
    let drained = bench.work(&provider);
    let Left::Trouble(trouble) = drained.left else { panic!() };
    assert_eq!(trouble.cause, "timeout");
    bench.later(1);
    assert!(matches!(bench.work(&provider).left, Left::Trouble(_)), "it is not over because nothing is due");
    assert!(drained.spent.input > 500, "what was sent is paid for");
}

#[test]
fn a_turn_that_fails_by_itself_is_dead_and_the_others_are_not() {
    let bench = Bench::with_turns(3);
    let model = model(3, Some("remember"));
    model.add(Rule::when("TURN-2.").then(Step::text("I will not.").stops_for("refusal")));
    let provider = Anthropic(bench.wire(model.url()));
    let mut dead = 0;
    for _ in 0..6 {
        dead += bench.work(&provider).dead;
        bench.later(60);
        // Somebody else is answered in between.
        towline_engine::memory::model::Opened::archive(&bench.open())
            .provider_answered("anthropic", bench.now.get())
            .unwrap();
    }
    assert_eq!(
        (dead, bench.titles()),
        (1, vec!["learnt in TURN-1.".to_owned(), "learnt in TURN-3.".to_owned()])
    );
    let open = bench.open();
    let jobs = towline_engine::memory::model::Opened::archive(&open).jobs(&[JobState::Dead], 9).unwrap();
    assert_eq!((jobs.len(), jobs[0].turn, jobs[0].attempts), (1, Some(2), 3));
    assert!(jobs[0].error.as_deref().is_some_and(|error| error.contains("refused")));
}

#[test]
fn a_key_comes_from_a_command_and_a_missing_one_is_a_login() {
    let bench = Bench::with_turns(1);
    let model = model(1, None);
    let url = format!("{}/v1", model.url());
    let command = |script: &str| Key::Command(vec!["/bin/sh".into(), "-c".into(), script.into()]);
    let bad = OpenAi(Wire { key: command("exit 1"), ..bench.wire(url.clone()) });
    let Left::Trouble(trouble) = bench.work(&bad).left else { panic!() };
    assert_eq!((trouble.cause.as_str(), model.requests().len()), ("login", 0));
    bench.later(60);
    bench.work(&OpenAi(Wire { key: command("echo sk-from-a-keyring"), ..bench.wire(url) }));
    assert_eq!(bench.titles(), learnt(1));
    assert!(!format!("{:?}", Key::Given("sk-x".into())).contains("sk-x"));
}

#[test]
fn nothing_to_remember_ends_the_job_and_keeps_nothing() {
    let bench = Bench::with_turns(1);
    let model = Model::start([Rule::when("TURN").then(Step::text("{\"memories\": []}"))]);
    let drained = bench.work(&OpenAi(bench.wire(format!("{}/v1", model.url()))));
    assert_eq!((drained.done, drained.kept, drained.failed), (1, 0, 0));
    assert_eq!(memory(1)["memories"].as_array().unwrap().len(), 1);
}

#[test]
fn the_days_tokens_are_never_exceeded_and_the_next_day_goes_on() {
    let mut bench = Bench::with_turns(12);
    bench.daily_tokens = 6000;
    let model = model(12, Some("remember"));
    let provider = Anthropic(bench.wire(model.url()));
    let drained = bench.work(&provider);
    assert_eq!(drained.left, Left::Budget);
    let spent = drained.spent.input + drained.spent.output;
    assert!(drained.done > 0 && spent <= 6000, "{drained:?}");
    assert_eq!(bench.work(&provider).done, 0);
    for _ in 0..6 {
        bench.later(24 * 60);
        assert!(bench.work(&provider).spent.tokens() <= 6000);
    }
    assert_eq!(bench.titles(), learnt(12));
}

#[test]
fn workers_that_run_at_once_do_each_turn_once_and_stay_within_the_days_tokens() {
    const TURNS: u32 = 24;
    let bench = Bench::with_turns(TURNS);
    let model = model(TURNS, Some("remember"));
    let home = bench.home();
    let (limit, wire) = (12_000, bench.wire(model.url()));
    let work = || {
        let provider = Anthropic(wire.clone());
        bench::work(&home, &provider, bench::START, limit)
    };
    let spent: u64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..6).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap().spent.tokens()).sum()
    });
    assert!(spent > 0 && spent <= limit, "{spent}");
    for day in 1..=6 {
        bench.later(24 * 60);
        assert!(bench.work_within(&Anthropic(wire.clone()), limit).spent.tokens() <= limit, "day {day}");
    }
    assert_eq!((bench.titles(), model.requests().len()), (learnt(TURNS), 24), "none was asked for twice");
}
