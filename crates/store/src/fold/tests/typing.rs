//! Intents from the journal to their rows: advanced and confirmed by events alone, the same after a rebuild.

use super::inherit::CLEARED;
use super::*;
use crate::WantedIntents;
use towline_core::event::Trigger;
use towline_core::typing::{Intent, Purpose, Stage, Wish};

const SEAT: &str = "tmux:7:%1";

impl Bench {
    /// A session that has a seat and has answered a prompt.
    fn with_seat(session: &str) -> Bench {
        let mut bench = Bench::new();
        bench.work(session, SEAT);
        bench
    }

    fn made(&mut self, session: &str, wish: Wish) -> Uid {
        let event = self.event(session, Happening::IntentMade { wish });
        self.append(std::slice::from_ref(&event));
        event.uid
    }

    fn moved(&mut self, session: &str, intent: Uid, to: Stage) {
        self.accept(session, Happening::IntentMoved { intent, to, why: None });
    }

    fn typed(&mut self, session: &str, wish: Wish) -> Uid {
        let intent = self.made(session, wish);
        self.moved(session, intent, Stage::Typing);
        self.moved(session, intent, Stage::Typed);
        intent
    }

    fn intents(&self) -> Vec<Intent> {
        self.fold().0.intents(&WantedIntents { limit: 99, ..WantedIntents::default() }).unwrap()
    }

    fn stage(&self, intent: Uid) -> Stage {
        self.fold().0.intent(intent).unwrap().unwrap().stage
    }
}

fn wish(purpose: Purpose, text: &str) -> Wish {
    Wish::new(SEAT, purpose, text, Timestamp(9_000)).unwrap()
}

#[test]
fn a_marker_is_confirmed_by_its_prompt_and_its_turn_is_not_the_users() {
    let mut bench = Bench::with_seat("a:1");
    let intent = bench.typed("a:1", wish(Purpose::Bookmark, "·"));
    bench.accept_in_project("a:1", prompt("·"));
    bench.accept_in_project("a:1", STOP);
    bench.accept_in_project("a:1", prompt("·"));
    let (store, _) = bench.fold();
    let found = store.intent(intent).unwrap().unwrap();
    assert_eq!((found.stage, found.led_to), (Stage::Confirmed, Some(key("a:1"))));
    let origins: Vec<_> = store.heard_turns(&key("a:1")).unwrap().iter().map(|turn| turn.origin).collect();
    assert_eq!(origins, [Origin::Human, Origin::Bookmark, Origin::Human], "the second one is a person's");
}

#[test]
fn a_clear_is_confirmed_by_its_heir_and_the_continuation_is_meant_for_that() {
    let mut bench = Bench::with_seat("a:1");
    let clear = bench.typed("a:1", wish(Purpose::Clear, "/clear"));
    let go_on = bench.made("a:1", wish(Purpose::Continue, "go on").after(clear));
    bench.accept_in_project("a:1", CLEARED);
    bench.begin("a:2", SEAT, StartedBy::Clear);
    let (store, _) = bench.fold();
    let before = store.intent(clear).unwrap().unwrap();
    assert_eq!((before.stage, &before.led_to), (Stage::Confirmed, &Some(key("a:2"))));
    assert_eq!(store.intent(go_on).unwrap().unwrap().meant(Some(&before)), &key("a:2"));
    bench.moved("a:2", go_on, Stage::Typing);
    bench.accept_in_project("a:2", prompt("go on"));
    let (store, _) = bench.fold();
    assert_eq!(
        store.intent(go_on).unwrap().unwrap().stage,
        Stage::Confirmed,
        "also before it counts as typed"
    );
    assert_eq!(store.session(&key("a:2")).unwrap().unwrap().open_turn.unwrap().origin, Origin::Continuation);
}

#[test]
fn a_compaction_that_was_asked_for_confirms_and_one_that_was_not_does_not() {
    let mut bench = Bench::with_seat("a:1");
    let compact = bench.typed("a:1", wish(Purpose::Compact, "/compact"));
    bench.accept_in_project("a:1", Happening::CompactionStarted { trigger: Trigger::Auto });
    assert_eq!(bench.stage(compact), Stage::Typed);
    bench.accept_in_project("a:1", Happening::CompactionStarted { trigger: Trigger::Manual });
    assert_eq!(bench.stage(compact), Stage::Confirmed);
}

#[test]
fn an_ended_intent_ignores_later_events() {
    let mut bench = Bench::with_seat("a:1");
    let dropped = bench.made("a:1", wish(Purpose::Bookmark, "·"));
    bench.moved("a:1", dropped, Stage::Dropped);
    bench.moved("a:1", dropped, Stage::Typing);
    let expired = bench.typed("a:1", wish(Purpose::Bookmark, "·"));
    bench.moved("a:1", expired, Stage::Expired);
    bench.accept_in_project("a:1", prompt("·"));
    bench.moved("a:1", expired, Stage::Confirmed);
    assert_eq!((bench.stage(dropped), bench.stage(expired)), (Stage::Dropped, Stage::Expired));
}

#[test]
fn a_prompt_of_another_seat_confirms_nothing() {
    let mut bench = Bench::with_seat("a:1");
    bench.work("a:2", "tmux:7:%2");
    let intent = bench.typed("a:1", wish(Purpose::Bookmark, "·"));
    bench.accept_in_project("a:2", prompt("·"));
    assert_eq!(bench.stage(intent), Stage::Typed);
    assert_eq!(
        bench.fold().0.session(&key("a:2")).unwrap().unwrap().open_turn.unwrap().origin,
        Origin::Human
    );
}

#[test]
fn an_intent_of_an_unknown_session_is_ignored() {
    let mut bench = Bench::new();
    bench.made("a:9", wish(Purpose::Bookmark, "·"));
    assert!(bench.intents().is_empty());
}

#[test]
fn open_intents_come_oldest_first_and_by_their_seat() {
    let mut bench = Bench::with_seat("a:1");
    let first = bench.made("a:1", wish(Purpose::Bookmark, "·"));
    let second = bench.made("a:1", wish(Purpose::Compact, "/compact"));
    let over = bench.made("a:1", wish(Purpose::Bookmark, "·"));
    bench.moved("a:1", over, Stage::Refused);
    let (store, _) = bench.fold();
    let open: Vec<_> = store.open_intents(SEAT).unwrap().into_iter().map(|intent| intent.uid).collect();
    assert_eq!(open, [first, second]);
    assert_eq!(store.seats_with_intents().unwrap(), [SEAT]);
    assert!(store.open_intents("tmux:7:%2").unwrap().is_empty());
    let of = |session: &str| {
        let (session, limit) = (key(session), 99);
        store
            .intents(&WantedIntents { session: Some(&session), limit, ..WantedIntents::default() })
            .unwrap()
            .len()
    };
    assert_eq!((of("a:1"), of("a:2")), (3, 0));
    let since = WantedIntents {
        since: Some(store.intent(over).unwrap().unwrap().made_at),
        limit: 9,
        ..WantedIntents::default()
    };
    assert_eq!(store.intents(&since).unwrap().len(), 1);
    let plan = "explain query plan select id from intents i where i.stage in ('waiting', 'typing', 'typed') and i.seat = 'x'";
    let plan: String = store.db.query_row(plan, [], |row| row.get(3)).unwrap();
    assert!(plan.contains("open_intents"), "{plan}");
}

#[test]
fn a_rebuilt_database_has_the_same_intents() {
    let mut bench = Bench::with_seat("a:1");
    bench.typed("a:1", wish(Purpose::Bookmark, "·"));
    bench.accept_in_project("a:1", prompt("·"));
    bench.accept_in_project("a:1", STOP);
    let clear = bench.typed("a:1", wish(Purpose::Clear, "/clear"));
    bench.made("a:1", wish(Purpose::Continue, "go on").after(clear));
    let refused = bench.made("a:1", wish(Purpose::Bookmark, "·"));
    let why = Some("typing is off".to_owned());
    bench.accept("a:1", Happening::IntentMoved { intent: refused, to: Stage::Refused, why });
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
