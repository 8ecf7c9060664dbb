//! Tests for usage readings, and for thresholds over rising and falling usage.

use super::guard::ContextStrategy;
use super::*;
use crate::event::{EventKind, PromptOrigin};
use crate::text::SafeText;
use proptest::prelude::*;
use std::collections::BTreeMap;

const AT: Timestamp = Timestamp(7);

fn thresholds() -> BTreeMap<u8, String> {
    [40, 50, 60, 70].map(|percent| (percent, format!("from {percent}: {{remaining}} left"))).into()
}

fn shown(percent: u8) -> ContextUsage {
    ContextUsage::from_display(u64::from(percent) * 2_000, 200_000).unwrap()
}

/// The thresholds announced to one audience over these usage values.
fn announced(usage: &[u8]) -> Vec<u8> {
    let (mut meter, thresholds, mut said) = (UsageMeter::default(), thresholds(), vec![]);
    for percent in usage {
        meter.measured(shown(*percent), AT);
        if let Some(notice) = due(&thresholds, *percent, meter.told.model) {
            said.push(notice.percent);
            meter.told = meter.told.and(NoticeAudience::Model, notice.percent);
        }
    }
    said
}

#[test]
fn each_threshold_is_announced_once_and_of_several_the_highest() {
    assert_eq!(announced(&[10, 39, 40, 41, 45, 49]), [40]);
    assert_eq!(announced(&[41, 52, 63, 74, 99]), [40, 50, 60, 70]);
    assert_eq!(announced(&[5, 72, 73]), [70]);
}

#[test]
fn a_share_that_fell_back_is_announced_again_but_not_for_a_wobble() {
    assert_eq!(announced(&[51, 49, 51, 46, 50]), [50]);
    assert_eq!(announced(&[51, 45, 51]), [50, 50]);
    assert_eq!(announced(&[75, 20, 45, 75]), [70, 40, 70]);
}

#[test]
fn a_compaction_makes_everything_news_and_is_remembered() {
    let mut meter = UsageMeter::default();
    meter.measured(shown(81), AT);
    meter.told = meter.told.and(NoticeAudience::Person, 70);
    meter.compacted(AT);
    let cut = UsageMeter { compacted_at: Some(AT), compacted_percent: Some(81), ..UsageMeter::default() };
    assert_eq!(meter, cut);
    let said = |at: Option<i64>| ReportedContext { tokens: 1, window: None, at: at.map(Timestamp) };
    let counts = [Some(6), Some(7), Some(8), None].map(|at| meter.counts(said(at)));
    assert_eq!(counts, [false, false, true, false], "what was said before the cut is in the file still");
    assert!(UsageMeter::default().counts(said(None)));
    meter.compacted(Timestamp(9));
    assert_eq!(meter.compacted_percent, Some(81));
}

#[test]
fn a_display_that_still_shows_what_there_was_before_a_compaction_brings_no_news() {
    let mut meter = UsageMeter::default();
    meter.measured(shown(45), AT);
    meter.compacted(AT);
    meter.measured(shown(45), AT);
    assert_eq!(meter.fill(), None);
    meter.measured(shown(12), AT);
    meter.measured(shown(45), AT);
    assert_eq!(meter.fill(), Some(shown(45)), "it has filled up again");
}

#[test]
fn model_and_user_are_notified_independently() {
    let told = NotifiedThresholds::default().and(NoticeAudience::Person, 50);
    assert_eq!((told.of(NoticeAudience::Model), told.of(NoticeAudience::Person)), (0, 50));
    assert!(due(&thresholds(), 55, told.person).is_none());
    assert_eq!(due(&thresholds(), 55, told.model).unwrap().percent, 50);
}

#[test]
fn the_end_of_a_turn_is_for_the_person_alone_and_a_bookmark_for_nobody() {
    let prompt = |origin| EventKind::PromptSubmitted { prompt: SafeText::default(), origin, own: None };
    let stop = EventKind::TurnEnded { background: None, answer: None };
    assert_eq!(
        NoticeAudience::at(&prompt(PromptOrigin::Human)),
        [NoticeAudience::Model, NoticeAudience::Person]
    );
    assert_eq!(
        NoticeAudience::at(&EventKind::ToolsFinished),
        [NoticeAudience::Model, NoticeAudience::Person]
    );
    assert_eq!(NoticeAudience::at(&stop), [NoticeAudience::Person]);
    assert_eq!(NoticeAudience::at(&prompt(PromptOrigin::Bookmark)), []);
    assert_eq!(NoticeAudience::at(&EventKind::Seen), []);
}

#[test]
fn a_notice_says_how_full_it_is_and_what_is_left() {
    let thresholds = BTreeMap::from([(40, "{percent} of {session}, {remaining} left.".to_owned())]);
    let said = |fill: ContextUsage| due(&thresholds, 60, 0).unwrap().message(fill, "a:1");
    assert_eq!(said(shown(60)), "towline: the context is 60 % full. 60 of a:1, 80000 left.");
    let guess = ContextUsage::read(ReportedContext { tokens: 120_000, window: None, at: None });
    assert_eq!(said(guess), "towline: the context is about 60 % full. 60 of a:1, 80000 left.");
    assert_eq!(unknown_placeholder("{percent} {left}"), Some("left"));
    assert_eq!(unknown_placeholder("{percent} { remaining"), None);
}

#[test]
fn helpers_are_refused_from_the_limit_on_and_never_by_a_guess() {
    assert!(refusal(shown(84), 85).is_none());
    let reason = refusal(shown(85), 85).unwrap();
    assert!(reason.contains("85 % full") && reason.contains("guard.refuse_helpers_at"), "{reason}");
    assert!(refusal(shown(100), 0).is_none());
    assert!(
        refusal(ContextUsage::read(ReportedContext { tokens: 190_000, window: None, at: None }), 85)
            .is_none()
    );
}

#[test]
fn both_windows_are_measured_by_their_own_size() {
    assert_eq!(ContextUsage::from_display(150_000, 1_000_000).map(ContextUsage::percent), Some(15));
    assert_eq!(ContextUsage::from_display(150_000, 200_000).map(ContextUsage::percent), Some(75));
    assert_eq!(ContextUsage::from_display(5, 0), None);
}

#[test]
fn the_window_reported_by_the_agent_is_kept_while_the_tokens_fit() {
    let told = ContextUsage::from_display(10_000, 1_000_000).unwrap();
    let read = |tokens| ContextUsage::read(ReportedContext { tokens, window: Some(200_000), at: None });
    assert_eq!(read(20_000).after(Some(told)).window, 1_000_000);
    assert_eq!(read(20_000).after(None).window, 200_000);
    let small = ContextUsage::from_display(10_000, 200_000).unwrap();
    let large = ContextUsage::read(ReportedContext { tokens: 300_000, window: Some(1_000_000), at: None });
    assert_eq!(large.after(Some(small)).window, 1_000_000);
}

#[test]
fn a_guess_never_takes_the_place_of_a_number() {
    let known = shown(30);
    assert_eq!(ContextUsage::guessed(1_000_000).after(Some(known)), known);
    assert_eq!(known.after(Some(ContextUsage::guessed(1_000_000))), known);
    assert_eq!(ContextUsage::guessed(80_000).percent(), 5);
    assert_eq!(ContextUsage::guessed(80_000).exact, Exactness::Estimated);
}

#[test]
fn an_answer_without_a_window_says_nothing_by_itself() {
    let mut meter = UsageMeter::default();
    meter.answered(5_000, AT);
    assert_eq!(meter, UsageMeter::default());
    meter
        .measured(ContextUsage::read(ReportedContext { tokens: 1_000, window: Some(272_000), at: None }), AT);
    meter.answered(136_000, AT);
    let fill = meter.fill().unwrap();
    assert_eq!((fill.percent(), fill.source, fill.exact), (50, UsageSource::Hook, Exactness::Exact));
}

#[test]
fn every_name_parses_back() {
    assert!(UsageSource::ALL.into_iter().all(|source| UsageSource::named(source.name()) == Some(source)));
    assert!(Exactness::ALL.into_iter().all(|exact| Exactness::named(exact.name()) == Some(exact)));
    assert!(ContextStrategy::ALL.into_iter().all(|it| ContextStrategy::named(it.name()) == Some(it)));
    assert_eq!(
        (UsageSource::named("x"), Exactness::named("x"), ContextStrategy::named("x")),
        (None, None, None)
    );
}

proptest! {
    #[test]
    fn rising_usage_announces_each_threshold_once(usage in proptest::collection::vec(0u8..=100, 1..40)) {
        let mut rising = usage.clone();
        rising.sort_unstable();
        let said = announced(&rising);
        prop_assert!(said.windows(2).all(|pair| pair[0] < pair[1]), "{said:?}");
        let top = rising.last().copied().unwrap_or(0);
        prop_assert_eq!(said.last().copied(), thresholds().range(..=top).next_back().map(|(percent, _)| *percent));
    }

    #[test]
    fn a_threshold_is_announced_again_only_after_usage_fell_below_it(usage in proptest::collection::vec(0u8..=100, 1..60)) {
        let (mut meter, thresholds) = (UsageMeter::default(), thresholds());
        let mut lowest_since: BTreeMap<u8, u8> = BTreeMap::new();
        for percent in usage {
            meter.measured(shown(percent), AT);
            lowest_since.values_mut().for_each(|lowest| *lowest = percent.min(*lowest));
            if let Some(notice) = due(&thresholds, percent, meter.told.model) {
                let before = lowest_since.insert(notice.percent, percent);
                prop_assert!(before.is_none_or(|lowest| lowest < notice.percent));
                meter.told = meter.told.and(NoticeAudience::Model, notice.percent);
            }
        }
    }

    #[test]
    fn percent_and_remaining_stay_in_bounds(tokens: u64, window in 1u64.., known in proptest::option::of(any::<(u64, u64)>())) {
        let known = known.and_then(|(tokens, window)| ContextUsage::from_display(tokens, window));
        let read = ContextUsage::read(ReportedContext { tokens, window: Some(window), at: None });
        for fill in [read, read.after(known), ContextUsage::guessed(tokens), ContextUsage::read(ReportedContext { tokens, window: None, at: None })] {
            prop_assert!(fill.percent() <= 100 && fill.remaining() <= fill.window && fill.window > 0);
        }
    }
}

#[track_caller]
fn check_percent(tokens: u64, window: Option<u64>, expected: Option<u8>) {
    assert_eq!(ReportedContext { tokens, window, at: None }.percent(), expected);
}

#[test]
fn the_share_is_cut_to_whole_percent_and_never_above_all_of_it() {
    check_percent(0, Some(200_000), Some(0));
    check_percent(1999, Some(200_000), Some(0));
    check_percent(150_000, Some(1_000_000), Some(15));
    check_percent(200_001, Some(200_000), Some(100));
    check_percent(u64::MAX, Some(1), Some(100));
}

#[test]
fn there_is_no_share_of_a_window_that_is_not_known() {
    check_percent(5, None, None);
    check_percent(5, Some(0), None);
}
