//! A provider that fails: told once at the next session start, shown by the doctor, and over by itself.

use super::world::{
    MINUTE, NOON, all_learnt, by_chat, captured, configure, env, jobs, model, said_at_start, titles,
};
use serde_json::Value;
use std::fs;
use towline_testkit::{Model, Rule, Step, TestEnv};

fn doctor(env: &TestEnv) -> Value {
    let report: Value = serde_json::from_str(&env.tow(&["doctor", "--json"]).stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == "model").unwrap().clone()
}

#[test]
fn an_outage_is_told_once_with_what_mends_it_and_ends_by_itself() {
    let env = env();
    captured(&env, 3);
    let broken =
        Model::start([Rule::when("TURN").then(Step::error(401, "authentication_error", "invalid key"))]);
    by_chat(&env, &broken.url());
    env.tow(&["work"]).ok();
    let said = said_at_start(&env, "s-1");
    for part in ["`openai`", "not logged in", "2026-11-15T12:00:00Z", "distil.key_env", "tow data jobs retry"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(said_at_start(&env, "s-2"), "", "it is told once");
    env.set_now(NOON + 90 * MINUTE);
    env.tow(&["work"]).ok();
    assert_eq!(said_at_start(&env, "s-3"), "", "it is the same trouble");
    let check = doctor(&env);
    assert_eq!(check["status"], "warning");
    assert!(check["detail"].as_str().unwrap().contains("3 turns wait"), "{check}");
    assert!(check["mend"].as_str().unwrap().contains("distil.key_env"), "{check}");
    let well = model(3);
    by_chat(&env, &well.url());
    env.tow(&["jobs", "retry"]).ok().prints("retried 3");
    env.wait_no_process();
    env.tow(&["work"]).ok();
    assert_eq!(titles(&env), all_learnt(3));
    assert_eq!((doctor(&env)["status"].as_str(), said_at_start(&env, "s-4").as_str()), (Some("good"), ""));
}

#[test]
fn the_days_budget_is_told_and_the_next_day_goes_on() {
    let env = env();
    captured(&env, 8);
    let model = model(8);
    by_chat(&env, &model.url());
    let config = env.home().join(".config/towline/config.toml");
    let text =
        fs::read_to_string(&config).unwrap().replace("daily_tokens = 100000000", "daily_tokens = 5000");
    fs::write(&config, text).unwrap();
    env.tow(&["work"]).ok();
    let today = &jobs(&env)["today"];
    assert!(today["spent"].as_u64().unwrap() <= 5000 && today["kept"].as_u64().unwrap() > 0, "{today}");
    assert!(said_at_start(&env, "s-1").contains("today's 5000 tokens"));
    assert!(doctor(&env)["detail"].as_str().unwrap().contains("wait for tomorrow"));
    for day in 1..=8 {
        env.set_now(NOON + day * 24 * 60 * MINUTE);
        env.tow(&["work"]).ok();
        assert!(jobs(&env)["today"]["spent"].as_u64().unwrap() <= 5000);
    }
    assert_eq!(titles(&env), all_learnt(8));
}

#[test]
fn a_program_or_a_key_that_is_missing_is_named() {
    let env = env();
    captured(&env, 1);
    configure(&env, "provider = 'codex'");
    env.tow(&["work"]).ok();
    assert!(said_at_start(&env, "s-1").contains("`codex` is not on the PATH"));
    let env = super::world::env();
    captured(&env, 1);
    configure(&env, "provider = 'anthropic'\nbase_url = 'http://127.0.0.1:1'\nkey_env = 'NO_SUCH_KEY'");
    env.tow(&["work"]).ok();
    assert!(said_at_start(&env, "s-1").contains("the variable NO_SUCH_KEY is not set"));
}

#[test]
fn jobs_are_listed_dropped_and_not_made_again() {
    let env = env();
    captured(&env, 2);
    by_chat(&env, "http://127.0.0.1:1");
    env.tow(&["work"]).ok();
    let listed = jobs(&env);
    assert_eq!(
        (listed["counts"]["waiting"].as_u64(), listed["trouble"]["cause"].as_str()),
        (Some(2), Some("unavailable"))
    );
    let text = env.tow(&["jobs"]).ok().stdout;
    assert!(text.contains("2 waiting, 0 dead, 0 done") && text.contains("#2"), "{text}");
    env.tow(&["jobs", "drop", "1"]).ok().prints("dropped 1");
    assert!(!env.tow(&["jobs", "drop"]).status.success());
    assert!(!env.tow(&["jobs", "retry", "99"]).status.success());
    captured(&env, 3);
    env.wait_no_process();
    let counts = &jobs(&env)["counts"];
    assert_eq!((counts["waiting"].as_u64(), counts["dropped"].as_u64()), (Some(2), Some(1)), "{counts}");
}

#[test]
fn without_a_provider_nothing_is_asked_and_nothing_waits() {
    let env = env();
    captured(&env, 2);
    env.tow(&["work"]).ok();
    assert_eq!(jobs(&env)["counts"]["waiting"], 0);
    assert!(doctor(&env)["detail"].as_str().unwrap().contains("rules alone"));
}
