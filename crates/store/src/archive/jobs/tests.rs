//! Jobs on a real file: queued once, leased by one worker, finished with their results; and their token budget.

use super::super::bench::{Bench, HOUR};
use super::*;
use crate::archive::{DayBudget, MemoryFilter, MemoryQuery};
use towline_core::memory::{
    ConfidencePercent, MemoryContent, MemoryDraft, MemoryTrust, MemoryType, Summary, SummaryDraft,
};

const NOW: Timestamp = Timestamp(10 * HOUR);
const LATER: Timestamp = Timestamp(10 * HOUR + 60_000);
const SESSION: &str = "a:one-session";

fn bench(turns: &[(i64, i64)]) -> Bench {
    let bench = Bench::new();
    bench.session(SESSION, "boat", turns);
    bench
}

fn of(bench: &Bench) -> Conversation {
    bench.archive.conversation(&SessionKey::parse(SESSION).unwrap()).unwrap().unwrap()
}

fn make(bench: &Bench, turn: u32) -> bool {
    let of = of(bench);
    let turn = bench.archive.turns(&of, turn, turn).unwrap().remove(0);
    bench.archive.make_job(NewJob { kind: DistilJobKind::Distil, of: &of, turn: &turn, at: NOW }).unwrap()
}

fn lease(bench: &Bench, now: Timestamp) -> Option<DistilJob> {
    bench.archive.lease_job(DistilJobKind::Distil, now, now.plus_ms(60_000)).unwrap()
}

fn memory(seed: u8, title: &str, maker: MemoryAuthor) -> NewMemory {
    let kind = MemoryType::parse("decision").unwrap();
    NewMemory {
        uid: Uid([seed; 16]),
        content: MemoryContent::of(MemoryDraft::new(kind, title)).unwrap(),
        project: None,
        session: Some(SessionKey::parse(SESSION).unwrap()),
        turn: Some(1),
        branch: None,
        commit: None,
        maker,
        trust: MemoryTrust::Tool,
        confidence: ConfidencePercent::percent(60),
        cost: 0,
        at: NOW,
        valid_from: NOW,
        quarantine: None,
    }
}

fn came(memories: Vec<NewMemory>) -> JobResults {
    let spent = CallCost { calls: 1, input: 900, output: 100 };
    JobResults { memories, summary: None, provider: "p".into(), spent, at: NOW }
}

fn failure(most_attempts: Option<u32>, at: Timestamp) -> JobFailure<'static> {
    let spent = CallCost::default();
    JobFailure { error: "prose", provider: "p", spent, at, again_at: at.plus_ms(60_000), most_attempts }
}

fn standing(bench: &Bench) -> Vec<String> {
    let asked = MemoryQuery { only: MemoryFilter::Standing, limit: 10, ..MemoryQuery::default() };
    bench.archive.memories(&asked).unwrap().into_iter().map(|memory| memory.content.title.clone()).collect()
}

#[test]
fn queueing_twice_makes_one_job_and_a_turn_that_went_on_is_queued_again() {
    let bench = bench(&[(1, 2)]);
    assert!(make(&bench, 1) && !make(&bench, 1));
    let job = lease(&bench, NOW).unwrap();
    bench.archive.finish_job(&job, &came(vec![])).unwrap().unwrap();
    assert!(!make(&bench, 1), "it is done");
    bench.archive.db.execute("update turns set until = 20000", []).unwrap();
    assert!(!make(&bench, 1), "it went on for moments only");
    bench.archive.db.execute("update turns set until = 40000", []).unwrap();
    assert!(make(&bench, 1));
}

#[test]
fn a_job_is_leased_by_one_until_its_lease_ends_and_only_the_last_lease_can_end_it() {
    let bench = bench(&[(1, 2)]);
    make(&bench, 1);
    let first = lease(&bench, NOW).unwrap();
    assert_eq!(lease(&bench, NOW), None, "somebody has it");
    assert!(!bench.archive.has_due_job(NOW).unwrap() && bench.archive.has_due_job(LATER).unwrap());
    let second = lease(&bench, LATER).unwrap();
    let late = came(vec![memory(1, "late", MemoryAuthor::Model("m".into()))]);
    assert_eq!(bench.archive.finish_job(&first, &late).unwrap(), None);
    assert_eq!(bench.archive.abandon_job(&first, &failure(Some(1), LATER)).unwrap(), None);
    assert_eq!((standing(&bench), bench.archive.spending(9).unwrap()), (vec![], vec![]));
    assert!(bench.archive.finish_job(&second, &late).unwrap().is_some());
    assert_eq!(bench.archive.finish_job(&second, &late).unwrap(), None, "it is done");
    assert_eq!(standing(&bench), ["late"]);
}

#[test]
fn untouched_memories_are_superseded_by_those_of_the_job() {
    let bench = bench(&[(1, 2)]);
    let numbers: Vec<i64> = (1..)
        .zip(["by rules", "pinned", "edited", "said again"])
        .map(|(seed, title)| bench.archive.add_memory(&memory(seed, title, MemoryAuthor::Rules)).unwrap())
        .collect();
    bench.archive.add_memory(&memory(9, "by hand", MemoryAuthor::Person)).unwrap();
    bench.archive.pin_memory(numbers[1], Some(NOW), NOW).unwrap();
    let other = MemoryContent::of(MemoryDraft::new(MemoryType::parse("gotcha").unwrap(), "edited")).unwrap();
    bench.archive.edit_memory(numbers[2], &other, NOW, "").unwrap();
    make(&bench, 1);
    let job = lease(&bench, NOW).unwrap();
    let model = || MemoryAuthor::Model("m".into());
    let made = came(vec![memory(10, "better", model()), memory(11, "said again", model())]);
    let kept = bench.archive.finish_job(&job, &made).unwrap().unwrap();
    assert_eq!(kept, [6, numbers[3]], "the same words are the same memory");
    let mut left = standing(&bench);
    left.sort();
    assert_eq!(left, ["better", "by hand", "edited", "pinned", "said again"]);
    let gone = bench.archive.memory(numbers[0]).unwrap().unwrap().superseded.unwrap();
    assert_eq!((gone.by, gone.why.as_str()), (Some(6), "told better"));
    assert_eq!(bench.archive.memory(numbers[3]).unwrap().unwrap().found, 2);
}

#[test]
fn a_job_without_memories_supersedes_none_and_an_older_summary_does_not_replace_a_newer_one() {
    let bench = bench(&[(1, 2), (3, 4)]);
    bench.archive.add_memory(&memory(1, "by rules", MemoryAuthor::Rules)).unwrap();
    let summary = |turn: u32, learned: &str| KeptSummary {
        summary: Summary::of(&SummaryDraft { learned: learned.into(), ..SummaryDraft::default() }).unwrap(),
        session: SessionKey::parse(SESSION).unwrap(),
        turn,
        maker: MemoryAuthor::Rules,
        trust: MemoryTrust::Agent,
        at: NOW,
    };
    bench.archive.put_summary(&of(&bench), &summary(2, "of both")).unwrap();
    make(&bench, 1);
    let job = lease(&bench, NOW).unwrap();
    bench
        .archive
        .finish_job(&job, &JobResults { summary: Some(summary(1, "of one")), ..came(vec![]) })
        .unwrap();
    assert_eq!(standing(&bench), ["by rules"]);
    assert_eq!(bench.archive.summary(&of(&bench)).unwrap().unwrap().summary.learned, "of both");
}

#[test]
fn a_job_is_dead_by_its_own_failures_only_and_only_if_others_were_answered_since() {
    let bench = bench(&[(1, 2)]);
    make(&bench, 1);
    let fail = |at: Timestamp, most| {
        let job = lease(&bench, at).unwrap();
        bench.archive.abandon_job(&job, &failure(most, at)).unwrap().unwrap()
    };
    let after = |minutes: i64| NOW.plus_ms(minutes * 60_000);
    assert_eq!(fail(after(0), None), JobState::Waiting, "another's fault");
    for minute in 1..6 {
        assert_eq!(fail(after(minute), Some(3)), JobState::Waiting, "nobody else was answered either");
    }
    bench.archive.provider_answered("p", after(6)).unwrap();
    assert_eq!(fail(after(6), Some(3)), JobState::Dead);
    assert_eq!(lease(&bench, after(60)), None);
    let dead = bench.archive.jobs(&[JobState::Dead], 9).unwrap().remove(0);
    assert_eq!((dead.attempts, dead.error.as_deref(), dead.turn), (6, Some("prose"), Some(1)));
    assert_eq!(bench.archive.retry_jobs(&[dead.number], after(60)).unwrap(), 1);
    assert!(lease(&bench, after(60)).is_some_and(|job| job.attempts == 0));
}

#[test]
fn jobs_are_counted_dropped_and_given_back() {
    let bench = bench(&[(1, 2), (3, 4), (5, 6)]);
    assert!(make(&bench, 1) && make(&bench, 2) && make(&bench, 3));
    let job = lease(&bench, NOW).unwrap();
    let counts = bench.archive.job_counts(NOW).unwrap();
    assert_eq!((counts.waiting, counts.running, counts.done), (3, 1, 0));
    bench.archive.give_job_back(&job, NOW).unwrap();
    assert_eq!(lease(&bench, NOW).map(|again| again.number()), Some(job.number()));
    assert_eq!(bench.archive.drop_jobs(&[2, 3, 4], NOW).unwrap(), 2);
    assert!(!make(&bench, 2), "what was dropped is not asked for again");
    assert_eq!(bench.archive.job_counts(NOW).unwrap().dropped, 2);
}

#[test]
fn reservations_stay_within_the_daily_limit_and_end_with_the_lease() {
    let bench = bench(&[(1, 2), (3, 4)]);
    assert!(make(&bench, 1) && make(&bench, 2));
    let (one, two) = (lease(&bench, NOW).unwrap(), lease(&bench, NOW).unwrap());
    let reserve = |job: &DistilJob, tokens, now| bench.archive.reserve(job, tokens, 2500, now).unwrap();
    assert!(reserve(&one, 2000, NOW) && !reserve(&two, 600, NOW) && reserve(&two, 500, NOW));
    assert!(reserve(&one, 2000, NOW), "what it had before does not count twice");
    assert_eq!(bench.archive.budget(NOW).unwrap(), DayBudget { spent: 0, reserved: 2500 });
    bench.archive.finish_job(&one, &came(vec![])).unwrap();
    assert_eq!(bench.archive.budget(NOW).unwrap(), DayBudget { spent: 1000, reserved: 500 });
    assert_eq!(
        bench.archive.budget(LATER).unwrap(),
        DayBudget { spent: 1000, reserved: 0 },
        "its worker died"
    );
    let tomorrow = NOW.plus_ms(24 * HOUR);
    assert_eq!(bench.archive.budget(tomorrow).unwrap(), DayBudget::default());
    let again = lease(&bench, tomorrow).unwrap();
    assert!(reserve(&again, 2500, tomorrow));
    assert_eq!(bench.archive.health("p").unwrap().dearest, 1000);
}

#[test]
fn the_turn_of_a_job_may_be_deleted() {
    let bench = bench(&[(1, 2)]);
    make(&bench, 1);
    let job = lease(&bench, NOW).unwrap();
    assert_eq!(bench.archive.subject(&job).unwrap().unwrap().1.ordinal, 1);
    bench.archive.db.execute("delete from turns", []).unwrap();
    assert_eq!(bench.archive.subject(&job).unwrap(), None);
    bench.archive.drop_conversation(job.conversation).unwrap();
    assert_eq!((bench.archive.subject(&job).unwrap(), lease(&bench, LATER)), (None, None));
}

#[test]
fn a_provider_that_fails_is_left_alone_until_it_answers() {
    let bench = Bench::new();
    let archive = &bench.archive;
    assert_eq!(archive.health("p").unwrap(), crate::archive::ProviderHealth::default());
    archive.provider_failed("p", "quota", "spent", NOW, LATER).unwrap();
    archive.provider_failed("p", "unavailable", "down", LATER, NOW).unwrap();
    let health = archive.health("p").unwrap();
    let trouble = health.trouble.unwrap();
    assert_eq!((trouble.since, trouble.last_at, trouble.failures), (NOW, LATER, 2));
    assert_eq!((trouble.cause.as_str(), health.again_at), ("unavailable", LATER));
    archive.ask_providers_again().unwrap();
    assert_eq!(archive.health("p").unwrap().again_at, Timestamp(0));
    assert!(archive.provider_answered("p", LATER).unwrap().is_some());
    assert!(archive.provider_answered("p", LATER).unwrap().is_none());
    assert_eq!(archive.health("p").unwrap().answered_at, Some(LATER));
}

#[test]
fn waiting_jobs_are_found_by_their_index() {
    let bench = Bench::new();
    for query in [DUE, LEASE] {
        let plan = bench.plan(query);
        assert!(plan.contains("jobs_waiting"), "{plan}");
    }
}
