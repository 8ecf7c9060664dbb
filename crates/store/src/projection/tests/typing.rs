//! Intents from the journal to their rows: advanced and confirmed by events alone, the same after a rebuild.

use super::inherit::CLEARED;
use super::*;
use crate::IntentFilter;
use towline_core::event::CompactionTrigger;
use towline_core::typing::{Intent, IntentPurpose, IntentRequest, IntentStage};

const SEAT: &str = "tmux:7:%1";

impl Bench {
    /// A session that has a seat and has answered a prompt.
    fn with_seat(session: &str) -> Bench {
        let mut bench = Bench::new();
        bench.work(session, SEAT);
        bench
    }

    fn made(&mut self, session: &str, wish: IntentRequest) -> Uid {
        let event = self.event(session, EventKind::IntentMade { wish });
        self.append(std::slice::from_ref(&event));
        event.uid
    }

    fn moved(&mut self, session: &str, intent: Uid, to: IntentStage) {
        self.accept(session, EventKind::IntentMoved { intent, to, why: None });
    }

    fn typed(&mut self, session: &str, wish: IntentRequest) -> Uid {
        let intent = self.made(session, wish);
        self.moved(session, intent, IntentStage::Typing);
        self.moved(session, intent, IntentStage::Typed);
        intent
    }

    fn intents(&self) -> Vec<Intent> {
        self.apply_all().0.intents(&IntentFilter { limit: 99, ..IntentFilter::default() }).unwrap()
    }

    fn stage(&self, intent: Uid) -> IntentStage {
        self.apply_all().0.intent(intent).unwrap().unwrap().stage
    }
}

fn wish(purpose: IntentPurpose, text: &str) -> IntentRequest {
    IntentRequest::new(SEAT, purpose, text, Timestamp(9_000)).unwrap()
}

#[test]
fn a_marker_is_confirmed_by_its_prompt_and_its_turn_is_not_the_users() {
    let mut bench = Bench::with_seat("a:1");
    let intent = bench.typed("a:1", wish(IntentPurpose::Bookmark, "·"));
    bench.accept_in_project("a:1", prompt("·"));
    bench.accept_in_project("a:1", STOP);
    bench.accept_in_project("a:1", prompt("·"));
    let (store, _) = bench.apply_all();
    let found = store.intent(intent).unwrap().unwrap();
    assert_eq!((found.stage, found.led_to), (IntentStage::Confirmed, Some(key("a:1"))));
    let origins: Vec<_> = store.hook_turns(&key("a:1")).unwrap().iter().map(|turn| turn.origin).collect();
    assert_eq!(
        origins,
        [PromptOrigin::Human, PromptOrigin::Bookmark, PromptOrigin::Human],
        "the second one is a person's"
    );
}

#[test]
fn a_clear_is_confirmed_by_its_heir_and_the_continuation_is_meant_for_that() {
    let mut bench = Bench::with_seat("a:1");
    let clear = bench.typed("a:1", wish(IntentPurpose::Clear, "/clear"));
    let go_on = bench.made("a:1", wish(IntentPurpose::Continue, "go on").after(clear));
    bench.accept_in_project("a:1", CLEARED);
    bench.begin("a:2", SEAT, StartedBy::Clear);
    let (store, _) = bench.apply_all();
    let before = store.intent(clear).unwrap().unwrap();
    assert_eq!((before.stage, &before.led_to), (IntentStage::Confirmed, &Some(key("a:2"))));
    assert_eq!(store.intent(go_on).unwrap().unwrap().target_session(Some(&before)), &key("a:2"));
    bench.moved("a:2", go_on, IntentStage::Typing);
    bench.accept_in_project("a:2", prompt("go on"));
    let (store, _) = bench.apply_all();
    assert_eq!(
        store.intent(go_on).unwrap().unwrap().stage,
        IntentStage::Confirmed,
        "also before it counts as typed"
    );
    assert_eq!(
        store.session(&key("a:2")).unwrap().unwrap().open_turn.unwrap().origin,
        PromptOrigin::Continuation
    );
}

#[test]
fn a_compaction_that_was_asked_for_confirms_and_one_that_was_not_does_not() {
    let mut bench = Bench::with_seat("a:1");
    let compact = bench.typed("a:1", wish(IntentPurpose::Compact, "/compact"));
    bench.accept_in_project("a:1", EventKind::CompactionStarted { trigger: CompactionTrigger::Auto });
    assert_eq!(bench.stage(compact), IntentStage::Typed);
    bench.accept_in_project("a:1", EventKind::CompactionStarted { trigger: CompactionTrigger::Manual });
    assert_eq!(bench.stage(compact), IntentStage::Confirmed);
}

#[test]
fn an_ended_intent_ignores_later_events() {
    let mut bench = Bench::with_seat("a:1");
    let dropped = bench.made("a:1", wish(IntentPurpose::Bookmark, "·"));
    bench.moved("a:1", dropped, IntentStage::Dropped);
    bench.moved("a:1", dropped, IntentStage::Typing);
    let expired = bench.typed("a:1", wish(IntentPurpose::Bookmark, "·"));
    bench.moved("a:1", expired, IntentStage::Expired);
    bench.accept_in_project("a:1", prompt("·"));
    bench.moved("a:1", expired, IntentStage::Confirmed);
    assert_eq!((bench.stage(dropped), bench.stage(expired)), (IntentStage::Dropped, IntentStage::Expired));
}

#[test]
fn a_prompt_of_another_seat_confirms_nothing() {
    let mut bench = Bench::with_seat("a:1");
    bench.work("a:2", "tmux:7:%2");
    let intent = bench.typed("a:1", wish(IntentPurpose::Bookmark, "·"));
    bench.accept_in_project("a:2", prompt("·"));
    assert_eq!(bench.stage(intent), IntentStage::Typed);
    assert_eq!(
        bench.apply_all().0.session(&key("a:2")).unwrap().unwrap().open_turn.unwrap().origin,
        PromptOrigin::Human
    );
}

#[test]
fn an_intent_of_an_unknown_session_is_ignored() {
    let mut bench = Bench::new();
    bench.made("a:9", wish(IntentPurpose::Bookmark, "·"));
    assert!(bench.intents().is_empty());
}

#[test]
fn open_intents_come_oldest_first_and_by_their_seat() {
    let mut bench = Bench::with_seat("a:1");
    let first = bench.made("a:1", wish(IntentPurpose::Bookmark, "·"));
    let second = bench.made("a:1", wish(IntentPurpose::Compact, "/compact"));
    let over = bench.made("a:1", wish(IntentPurpose::Bookmark, "·"));
    bench.moved("a:1", over, IntentStage::Refused);
    let (store, _) = bench.apply_all();
    let open: Vec<_> = store.open_intents(SEAT).unwrap().into_iter().map(|intent| intent.uid).collect();
    assert_eq!(open, [first, second]);
    assert_eq!(store.seats_with_intents().unwrap(), [SEAT]);
    assert!(store.open_intents("tmux:7:%2").unwrap().is_empty());
    let of = |session: &str| {
        let (session, limit) = (key(session), 99);
        store
            .intents(&IntentFilter { session: Some(&session), limit, ..IntentFilter::default() })
            .unwrap()
            .len()
    };
    assert_eq!((of("a:1"), of("a:2")), (3, 0));
    let since = IntentFilter {
        since: Some(store.intent(over).unwrap().unwrap().made_at),
        limit: 9,
        ..IntentFilter::default()
    };
    assert_eq!(store.intents(&since).unwrap().len(), 1);
    let plan = "explain query plan select id from intents i where i.stage in ('waiting', 'typing', 'typed') and i.seat = 'x'";
    let plan: String = store.db.query_row(plan, [], |row| row.get(3)).unwrap();
    assert!(plan.contains("open_intents"), "{plan}");
}

#[test]
fn a_rebuilt_database_has_the_same_intents() {
    let mut bench = Bench::with_seat("a:1");
    bench.typed("a:1", wish(IntentPurpose::Bookmark, "·"));
    bench.accept_in_project("a:1", prompt("·"));
    bench.accept_in_project("a:1", STOP);
    let clear = bench.typed("a:1", wish(IntentPurpose::Clear, "/clear"));
    bench.made("a:1", wish(IntentPurpose::Continue, "go on").after(clear));
    let refused = bench.made("a:1", wish(IntentPurpose::Bookmark, "·"));
    let why = Some("typing is off".to_owned());
    bench.accept("a:1", EventKind::IntentMoved { intent: refused, to: IntentStage::Refused, why });
    bench.accept_in_project("a:1", CLEARED);
    bench.begin("a:2", SEAT, StartedBy::Clear);
    let before = bench.intents();
    assert_eq!(
        before.iter().map(|intent| intent.stage.name()).collect::<Vec<_>>(),
        ["refused", "waiting", "confirmed", "confirmed"]
    );
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(bench.home.folder().join(format!("towline.db{suffix}")));
    }
    assert_eq!(bench.intents(), before);
}
