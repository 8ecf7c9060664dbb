//! Hops from the journal to their rows: advanced by events alone, the same after a rebuild.

use super::inherit::CLEARED;
use super::*;
use crate::HopFilter;
use towline_core::continuing::{HandoffAuthor, Hop, HopIntents, HopRequest, HopStage};
use towline_core::typing::{IntentPurpose, IntentRequest, IntentStage as Typing};

const SEAT: &str = "tmux:7:%1";

fn kept(text: &str) -> SafeText {
    SafeText::new(text, TextPolicy { longest_bytes: 2_000, secrets: SecretPolicy::Redacted })
}

impl Bench {
    fn here(&mut self, session: &str, happening: EventKind) -> Uid {
        let event = self.event(session, happening);
        self.append(std::slice::from_ref(&event));
        event.uid
    }

    /// A session that has worked, and was asked for its handoff.
    fn asked() -> (Bench, Uid) {
        let mut bench = Bench::new();
        bench.work("a:1", SEAT);
        let asking =
            HopRequest { seat: SEAT.into(), author: HandoffAuthor::Agent, ordinal: 1, percent: Some(80) };
        let hop = bench.here("a:1", EventKind::HandoffAsked { asking });
        (bench, hop)
    }

    /// The same, with its handoff and intents.
    fn with_intents() -> (Bench, Uid, HopIntents) {
        let (mut bench, hop) = Bench::asked();
        bench.accept_in_project("a:1", STOP);
        bench.here(
            "a:1",
            EventKind::HandoffWritten { hop, text: kept("## Task\nheron"), by: HandoffAuthor::Agent },
        );
        let wish = |purpose, text| IntentRequest::new(SEAT, purpose, text, Timestamp(9_000)).unwrap();
        let clear = bench.here("a:1", EventKind::IntentMade { wish: wish(IntentPurpose::Clear, "/clear") });
        let go_on = wish(IntentPurpose::Continue, "go on").after(clear);
        let go_on = bench.here("a:1", EventKind::IntentMade { wish: go_on });
        let typed = HopIntents { clear, go_on };
        bench.here("a:1", EventKind::HopMoved { hop, to: HopStage::Clearing, why: None, typed: Some(typed) });
        (bench, hop, typed)
    }

    fn type_it(&mut self, session: &str, intent: Uid) {
        for to in [Typing::Typing, Typing::Typed] {
            self.here(session, EventKind::IntentMoved { intent, to, why: None });
        }
    }

    fn hops(&self) -> Vec<Hop> {
        self.apply_all().0.hops(&HopFilter { limit: 99, ..HopFilter::default() }).unwrap()
    }

    fn hop(&self) -> Hop {
        self.hops().remove(0)
    }

    /// A completed hop.
    fn completed() -> (Bench, Uid) {
        let (mut bench, hop, typed) = Bench::with_intents();
        bench.type_it("a:1", typed.clear);
        bench.accept_in_project("a:1", CLEARED);
        bench.begin("a:2", SEAT, StartedBy::Clear);
        bench.type_it("a:2", typed.go_on);
        bench.accept_in_project("a:2", prompt("go on"));
        bench.here("a:2", EventKind::HandoffGiven { hop });
        (bench, hop)
    }
}

#[test]
fn an_agent_that_is_asked_for_its_handoff_works_on() {
    let (bench, hop) = Bench::asked();
    let found = bench.hop();
    assert_eq!((found.uid, found.stage, found.asking.percent), (hop, HopStage::Asked, Some(80)));
    assert_eq!(bench.apply_all().0.session(&key("a:1")).unwrap().unwrap().state, SessionState::Working);
}

#[test]
fn a_hop_goes_all_the_way_and_a_rebuilt_database_has_the_same() {
    let (bench, _) = Bench::completed();
    let found = bench.hop();
    assert_eq!((found.stage, &found.successor), (HopStage::Done, &Some(key("a:2"))));
    assert_eq!(found.given.as_ref().map(|(to, _)| to), Some(&key("a:2")));
    let before = bench.hops();
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(bench.home.folder().join(format!("towline.db{suffix}")));
    }
    assert_eq!(bench.hops(), before);
    let store = bench.apply_all().0;
    assert_eq!(store.hop_to(&key("a:2")).unwrap(), before.first().cloned());
    assert_eq!(store.last_hop_of(&key("a:1")).unwrap(), before.first().cloned());
    assert!(store.open_hops().unwrap().is_empty() && store.unreported_hops().unwrap().is_empty());
    let session = store.session(&key("a:2")).unwrap().unwrap();
    assert_eq!(
        (session.prompt.is_none(), store.last_origin(&session).unwrap()),
        (true, Some(PromptOrigin::Continuation))
    );
}

#[test]
fn a_hop_is_not_done_before_the_handoff_was_given() {
    let (mut bench, hop, typed) = Bench::with_intents();
    bench.type_it("a:1", typed.clear);
    bench.accept_in_project("a:1", CLEARED);
    bench.begin("a:2", SEAT, StartedBy::Clear);
    assert_eq!((bench.hop().stage, bench.hop().successor), (HopStage::Continuing, Some(key("a:2"))));
    bench.type_it("a:2", typed.go_on);
    bench.accept_in_project("a:2", prompt("go on"));
    assert_eq!(bench.hop().stage, HopStage::Continuing);
    bench.accept_in_project("a:2", STOP);
    let found = bench.hop();
    assert_eq!(found.stage, HopStage::Failed);
    assert_eq!(found.why.as_deref(), Some("the successor went on without the handoff"));
    bench.here("a:2", EventKind::HandoffGiven { hop });
    assert_eq!(bench.hop().stage, HopStage::Failed, "an end is an end");
}

#[test]
fn a_refused_intent_ends_the_hop_keeps_its_handoff_and_is_reported_once() {
    let (mut bench, hop, typed) = Bench::with_intents();
    let why = Some("typing is paused".to_owned());
    let refused = EventKind::IntentMoved { intent: typed.clear, to: Typing::Refused, why };
    bench.here("a:1", refused);
    let (store, applied) = bench.apply_all();
    let ended =
        |effect: &Effect| matches!(effect, Effect::HopEnded { why, .. } if why == "clear: typing is paused");
    assert_eq!(applied.effects.iter().filter(|effect| ended(effect)).count(), 1);
    let untold = store.unreported_hops().unwrap();
    assert_eq!((untold[0].stage, untold[0].text()), (HopStage::Failed, Some("## Task\nheron")));
    drop(store);
    bench.here("a:1", EventKind::HopTold { hop });
    assert!(bench.apply_all().0.unreported_hops().unwrap().is_empty());
    bench.here("a:1", EventKind::HandoffWritten { hop, text: kept("better"), by: HandoffAuthor::Person });
    assert_eq!((bench.hop().stage, bench.hop().text()), (HopStage::Failed, Some("better")));
}

#[test]
fn a_prompt_of_the_user_ends_the_hop() {
    let (mut bench, _) = Bench::asked();
    bench.accept_in_project("a:1", prompt("wait, something else"));
    let found = bench.hop();
    assert_eq!(
        (found.stage, found.why.as_deref()),
        (HopStage::Failed, Some("somebody went on in the session"))
    );
}

#[test]
fn own_hops_and_compactions_in_a_seat_are_counted_by_time() {
    let (mut bench, _) = Bench::completed();
    let wish = IntentRequest::new(SEAT, IntentPurpose::Compact, "/compact", Timestamp(9_000)).unwrap();
    let compact = bench.here("a:2", EventKind::IntentMade { wish });
    let store = bench.apply_all().0;
    let asked = store.intent(compact).unwrap().unwrap().made_at;
    assert_eq!(store.own_actions(SEAT, Timestamp(0)).unwrap().len(), 2);
    assert_eq!(store.own_actions(SEAT, asked).unwrap(), [(asked, asked)]);
    assert!(store.own_actions("elsewhere", Timestamp(0)).unwrap().is_empty());
    let last = |session| store.last_compaction_asked(&key(session)).unwrap();
    assert_eq!((last("a:1"), last("a:2")), (None, Some(asked)));
}

#[test]
fn most_events_find_no_open_hop_by_one_look_at_an_index() {
    let (bench, _) = Bench::asked();
    assert!(bench.apply_all().0.has_active_hops().unwrap());
    let plan = "explain query plan select h.id from hops h where h.stage in ('asked', 'written', 'clearing', 'continuing')";
    let plan: String = bench.apply_all().0.db.query_row(plan, [], |row| row.get(3)).unwrap();
    assert!(plan.contains("hops_by_stage"), "{plan}");
}

#[test]
fn typed_texts_and_handoffs_never_expired() {
    let words_after_years = |bench: &Bench| {
        let (store, _) = bench.apply_all();
        let retention = Retention { events_days: 30, journal_bytes: u64::MAX };
        let far = Timestamp(bench.clock + 40 * 86_400_000);
        upkeep::run_jobs(&store, retention, far, ClockTrust::Confirmed).unwrap();
        let all = crate::IntentFilter { limit: 99, ..crate::IntentFilter::default() };
        let typed = store.intents(&all).unwrap();
        let handoff = bench.hop().handoff.unwrap().0;
        typed.iter().map(|intent| intent.wish.text.as_str()).collect::<String>() + handoff.as_str()
    };
    assert_eq!(words_after_years(&Bench::completed().0), "");
    let open = words_after_years(&Bench::with_intents().0);
    assert!(open.contains("/clear") && open.contains("heron"), "only what has ended expires: {open}");
}
