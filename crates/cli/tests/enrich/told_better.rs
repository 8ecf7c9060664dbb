//! What a model says of a turn takes the place of what the rules said of it, and a capture has it said.

use super::world::{all_learnt, archive, by_chat, captured, env, jobs, memories, model, titles};
use towline_core::memory::{MemoryAuthor, MemoryTrust};

#[test]
fn a_capture_has_its_turns_put_into_words_by_somebody_nobody_waits_for() {
    let (env, model) = (env(), model(2));
    by_chat(&env, &model.url());
    captured(&env, 2);
    env.wait_no_process();
    assert_eq!(titles(&env), all_learnt(2));
    let memory = memories(&env).into_iter().find(|memory| memory.content.title.contains("TURN-2")).unwrap();
    let source = memory.source.unwrap();
    assert_eq!(
        (source.turn, memory.maker, memory.trust),
        (Some(2), MemoryAuthor::Model("small".into()), MemoryTrust::Tool)
    );
    assert_eq!((memory.cost, memory.project.is_some()), (1000 * 2, true));
    let asked = model.requests();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].holds("<towline-context>") && asked[0].holds("ran make mast-1"));
    assert_eq!(jobs(&env)["counts"]["done"], 2);
}

#[test]
fn a_model_that_is_named_after_changes_were_dropped_is_told_of_the_turns_of_the_day() {
    let (env, model) = (env(), model(2));
    captured(&env, 2);
    env.tow(&["work"]).ok();
    assert_eq!(archive(&env).changes_after(0, 10).unwrap(), [], "all who read them have passed them");
    by_chat(&env, &model.url());
    env.tow(&["work"]).ok();
    env.wait_no_process();
    assert_eq!(titles(&env), all_learnt(2));
}
