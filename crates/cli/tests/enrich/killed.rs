//! Workers that are killed with -9 at any point: each turn is put into words once, and no process is left.

use super::world::{MINUTE, NOON, all_learnt, by_chat, captured, configure, env, jobs, model, titles};
use std::process::{Child, Stdio};
use towline_testkit::TestEnv;
use towline_testkit::mutate::Dice;
use towline_testkit::wait::{PATIENCE, until};

fn worker(env: &TestEnv) -> Child {
    let mut command = env.command(env!("CARGO_BIN_EXE_tow"));
    command.args(["work", "--quiet"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Kills it once it has been looked after so many times; it may be done by then.
fn kill_after(mut child: Child, looks: usize) {
    for _ in 0..looks {
        if child.try_wait().unwrap().is_some() {
            break;
        }
    }
    let _ = child.kill();
    child.wait().unwrap();
}

/// How often workers are killed: `TOWLINE_KILLS` asks for more than a suite has time for.
fn kills() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "how long the test may take is not the binary's business")]
    let asked = std::env::var("TOWLINE_KILLS");
    asked.ok().and_then(|kills| kills.parse().ok()).unwrap_or(60)
}

#[test]
fn workers_that_are_killed_at_any_point_lose_no_turn_and_double_none() {
    const TURNS: u32 = 200;
    let (env, model, kills) = (env(), model(TURNS), kills());
    captured(&env, TURNS);
    by_chat(&env, &model.url());
    let mut dice = Dice::new(1, 0);
    for kill in 0..kills {
        // What a killed worker had is free again when its lease has ended.
        env.set_now(NOON + kill * 5 * MINUTE);
        kill_after(worker(&env), dice.below(200_000));
    }
    let asked_before = model.requests().len();
    let mut rounds = 0;
    while jobs(&env)["counts"]["waiting"] != 0 {
        rounds += 1;
        env.set_now(NOON + (kills + rounds) * 5 * MINUTE);
        env.tow(&["work"]).ok();
        assert!(rounds < 50, "{}", jobs(&env));
    }
    let counts = &jobs(&env)["counts"];
    assert_eq!((counts["done"].as_u64(), counts["dead"].as_u64()), (Some(TURNS.into()), Some(0)));
    assert_eq!(titles(&env), all_learnt(TURNS));
    env.wait_no_process();
    println!(
        "{kills} kills: {TURNS} of {TURNS} turns put into words once; {asked_before} calls while killed, {} in all",
        model.requests().len()
    );
}

#[test]
fn what_a_killed_worker_had_started_dies_with_it() {
    let env = env();
    captured(&env, 3);
    let started = env.root().join("started");
    // It starts something itself, as clients that are scripts do, and passes signals on.
    let script = format!("sleep 600 &\ntrap 'kill $!; exit' TERM\necho x >> {}\nwait\n", started.display());
    env.script("claude", &script);
    configure(&env, "provider = 'claude'");
    let mut dice = Dice::new(2, 0);
    for kill in 0..40 {
        env.set_now(NOON + kill * 10 * MINUTE);
        let child = worker(&env);
        if kill % 2 == 0 {
            let lines = || std::fs::read_to_string(&started).map_or(0, |text| text.lines().count());
            let before = lines();
            until("the client to be started", PATIENCE, || (lines() > before).then_some(()));
        }
        kill_after(child, dice.below(20_000));
        env.wait_no_process();
    }
    assert_eq!(jobs(&env)["counts"]["waiting"], 3);
}

#[test]
fn only_one_worker_is_at_it_however_many_are_started() {
    const TURNS: u32 = 30;
    let (env, model) = (env(), model(TURNS));
    captured(&env, TURNS);
    by_chat(&env, &model.url());
    let mut workers: Vec<Child> = (0..8).map(|_| worker(&env)).collect();
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    env.tow(&["work"]).ok();
    assert_eq!((titles(&env), model.requests().len()), (all_learnt(TURNS), 30), "none was asked for twice");
}
