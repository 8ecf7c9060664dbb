//! Frames as text, key sequences, and every terminal size.
//!
//! No terminal, no clock: the same frame on every machine.

use crate::model::{EndedRows, MonitorModel, SortKey, SortOrder};
use crate::row::{MonitorRow, SessionDetail, TurnLine};
use crate::style::ColourMode;
use crate::update::{self, MonitorAction, MonitorInput};
use crate::view::{page, view};
use crate::{Frame, KeyPress, ScreenSize};
use proptest::prelude::*;
use towline_core::bar::BarNotes;
use towline_core::event::BlockReason;
use towline_core::meter::{ContextUsage, Exactness, UsageSource};
use towline_core::piece::TokenCounts;
use towline_core::session::SessionState;
use towline_core::shown::SeatView;
use towline_core::time::Timestamp;
use towline_core::usage::{Cost, UsageTotal};

const NOW: Timestamp = Timestamp(100_000_000);

fn update(mut model: MonitorModel, input: MonitorInput) -> (MonitorModel, MonitorAction) {
    let action = update::update(&mut model, input);
    (model, action)
}

impl MonitorModel {
    /// The model after these keys, ignoring actions.
    fn after(self, keys: &str) -> MonitorModel {
        crate::keys::pressed(keys.as_bytes())
            .into_iter()
            .fold(self, |model, key| update(model, MonitorInput::Key(key)).0)
    }
}

pub fn model(rows: Vec<MonitorRow>) -> MonitorModel {
    let model = MonitorModel::new(NOW, ColourMode::Shown, EndedRows::Hidden);
    update(model, MonitorInput::Rows(rows)).0
}

fn row(id: &str, state: SessionState, project: &str, branch: &str, minutes: i64) -> MonitorRow {
    let since = NOW.plus_ms(-minutes * 60_000 - 5000);
    let shown = SeatView {
        session: Some(format!("alpha:{id}")),
        state,
        seen: false,
        project: Some(project.into()),
        branch: Some(branch.into()),
        prompt: Some(format!("do what is to be done for {project}")),
        model: Some("alpha-poem-4-5".into()),
        pane: Some(format!("%{minutes}")),
        ..SeatView::at(format!("seat-{id}"), "alpha", since)
    };
    MonitorRow {
        thresholds: vec![40, 50, 60, 70],
        started_at: Some(since.plus_ms(-7_200_000)),
        active_at: Some(NOW.plus_ms(-9000)),
        ..MonitorRow::of(shown)
    }
}

fn filled(row: MonitorRow, percent: u64, exact: Exactness) -> MonitorRow {
    let fill = ContextUsage { tokens: percent * 2000, window: 200_000, exact, source: UsageSource::Client };
    MonitorRow { fill: Some(fill), ..row }
}

/// `micros` is a cost in millionths of a dollar.
fn spent(row: MonitorRow, tokens: u64, micros: u64) -> MonitorRow {
    let cache_read = tokens / 6 * 5;
    let tokens = TokenCounts { input: tokens - cache_read, cache_read, ..TokenCounts::default() };
    let cost = Cost(u128::from(micros) * 1_000_000);
    MonitorRow { spent: Some(UsageTotal { messages: 3, tokens, cost, ..UsageTotal::default() }), ..row }
}

/// Sessions in all states, with names of all widths.
pub fn crowd() -> MonitorModel {
    let blocked = SessionState::Blocked(BlockReason::Permission);
    let mut first = row("aaaa1111-2222", blocked, "日本語プロジェクト", "機能/長い枝の名前", 3);
    first.shown.tool = Some("Bash".into());
    let mut limited = row("cccc", SessionState::Limited, "limits", "main", 50);
    limited.shown.until = Some(NOW.plus_ms(2_520_000));
    let mut beta = row("dddd", SessionState::Working, "🚀rocket👩\u{200d}💻", "main", 0);
    beta.shown.agent = "beta".into();
    beta.shown.session = Some("beta:dddd".into());
    beta.shown.model = Some("swift-5.2-max".into());
    beta.shown.subagents = 3;
    let mut unpriced = spent(beta, 34_567_890, 12_345_678);
    if let Some(spent) = &mut unpriced.spent {
        spent.unpriced = 5;
    }
    let stray = MonitorRow::of(SeatView::at("seat-e", "beta", NOW.plus_ms(-400_000)));
    let done = row("ffff", SessionState::Completed, "towline", "main", 12);
    let ended = row("gggg", SessionState::Ended, "yesterday", "main", 1500);
    model(vec![
        spent(filled(first, 72, Exactness::Exact), 1_234_567, 1_234_567),
        spent(filled(limited, 55, Exactness::Estimated), 84_000, 120_000),
        filled(done, 12, Exactness::Exact),
        filled(unpriced, 45, Exactness::Exact),
        stray,
        ended,
    ])
}

fn detail() -> SessionDetail {
    let turn = |at: &str, line: &str| TurnLine { at: at.into(), mark: '>', line: line.into() };
    SessionDetail {
        folder: Some("/home/someone/日本語".into()),
        turns: vec![
            turn("14:01", "read the plan; changed src/lib.rs (2 edits)"),
            turn(
                "14:05",
                "テストを直して: ran cargo test 3 times, the last one failed; changed tests/all.rs",
            ),
        ],
        bookmarks: vec![("14:03".into(), "before the refactoring".into())],
        inheritance: vec!["goes on with alpha:0000 (cleared)".into()],
    }
}

fn draw(model: &MonitorModel, columns: u16, rows: u16) -> Frame {
    view(model, ScreenSize { columns, rows })
}

#[test]
fn a_narrow_screen_has_state_project_context_and_time() {
    insta::assert_snapshot!(draw(&crowd(), 40, 12).text());
}

#[test]
fn a_usual_screen_has_bars_costs_and_models() {
    insta::assert_snapshot!(draw(&crowd(), 80, 12).text());
}

#[test]
fn a_wide_screen_shows_the_chosen_one_closely() {
    let model = update(crowd(), MonitorInput::Detail("alpha:aaaa1111-2222".into(), detail())).0;
    insta::assert_snapshot!(draw(&model, 200, 26).text());
}

#[test]
fn the_chosen_one_is_shown_below_the_list_on_a_usual_screen() {
    let model = update(crowd(), MonitorInput::Detail("alpha:aaaa1111-2222".into(), detail())).0;
    insta::assert_snapshot!(draw(&model.after("\t"), 80, 30).text());
}

#[test]
fn nobody_anywhere_is_said() {
    insta::assert_snapshot!(draw(&model(vec![]), 60, 8).text());
    let before = MonitorModel::new(NOW, ColourMode::Shown, EndedRows::Hidden);
    assert!(draw(&before, 60, 8).text().contains("looking …"));
}

#[test]
fn many_sessions_scroll_with_the_choice() {
    let rows =
        (0..500).map(|n| row(&format!("s{n}"), SessionState::Working, &format!("project{n}"), "main", n));
    let model = model(rows.collect());
    let top = draw(&model, 80, 10).text();
    assert!(top.contains("project0/") && !top.contains("project9/"), "{top}");
    let bottom = draw(&model.clone().after("G"), 80, 10).text();
    assert!(bottom.contains("project499/"), "{bottom}");
    insta::assert_snapshot!(draw(&model.after("\x1b[6~\x1b[6~j"), 80, 10).text());
}

#[test]
fn a_filter_is_typed_and_shown_and_leaves_what_holds_all_its_words() {
    let typing = crowd().after("/日本 BLOCK");
    insta::assert_snapshot!(draw(&typing, 80, 8).text());
    let kept = typing.after("\r");
    assert!(draw(&kept, 80, 8).text().contains("/日本 BLOCK (Esc: all)"));
    assert_eq!(kept.selected_row().unwrap().key(), "alpha:aaaa1111-2222");
    let wrong = kept.clone().after("/x\r");
    assert!(draw(&wrong, 80, 8).text().contains("nothing fits the filter"));
    assert_eq!(kept.after("\x1b").visible().len(), 5);
}

#[test]
fn help_covers_the_list() {
    insta::assert_snapshot!(draw(&crowd().after("?"), 80, 16).text());
    assert!(draw(&crowd().after("?x"), 80, 16).text().contains("blocked"));
}

#[test]
fn a_page_is_all_of_it_as_text() {
    insta::assert_snapshot!(page(&crowd(), 120));
    assert!(page(&model(vec![]), 40).contains("no agent is running"));
}

#[test]
fn what_has_ended_is_shown_when_asked_for() {
    let (shown, action) = update(crowd(), MonitorInput::Key(KeyPress::Letter('a')));
    assert_eq!((action, shown.needs_ended_sessions(), shown.visible().len()), (MonitorAction::Look, true, 6));
    assert!(draw(&shown, 80, 12).text().contains("- ended"));
    assert_eq!(shown.after("a").visible().len(), 5);
}

#[test]
fn rows_are_sorted_by_what_is_asked_for_and_the_other_way_round() {
    let first = |model: &MonitorModel| model.visible()[0].key().to_owned();
    let model = crowd().after("s");
    assert_eq!(
        ((model.sort, model.order), first(&model)),
        ((SortKey::Context, SortOrder::Usual), "alpha:aaaa1111-2222".into())
    );
    let model = model.after("s");
    assert_eq!((model.sort, first(&model)), (SortKey::Cost, "beta:dddd".into()));
    let model = model.after("S");
    assert_eq!((model.order, first(&model)), (SortOrder::Reversed, "seat-e".into()));
    let model = model.after("sssss");
    assert_eq!((model.sort, model.order), (SortKey::Urgency, SortOrder::Usual));
}

#[test]
fn the_choice_stays_with_its_session_wherever_it_goes() {
    let model = crowd().after("j");
    assert_eq!(model.selected_row().unwrap().key(), "alpha:cccc");
    let mut rows = model.all().to_vec();
    rows.rotate_left(1);
    let moved = update(model, MonitorInput::Rows(rows.clone())).0;
    assert_eq!(moved.selected_row().unwrap().key(), "alpha:cccc");
    rows.retain(|row| row.key() != "alpha:cccc");
    let gone = update(moved, MonitorInput::Rows(rows)).0;
    assert_eq!(gone.selected_row().unwrap().key(), "beta:dddd", "what is in its place");
}

#[test]
fn enter_leads_to_the_chosen_one_and_n_to_the_one_that_waits() {
    let press = |model: MonitorModel, key: KeyPress| update(model, MonitorInput::Key(key));
    assert_eq!(press(crowd().after("jj"), KeyPress::Enter).1, MonitorAction::Go("alpha:ffff".into()));
    assert_eq!(
        press(crowd().after("G"), KeyPress::Letter('n')).1,
        MonitorAction::Go("alpha:aaaa1111-2222".into())
    );
    let idle = model(vec![row("a", SessionState::Working, "p", "b", 1)]);
    let (refused, action) = press(idle, KeyPress::Letter('n'));
    assert_eq!(action, MonitorAction::Nothing);
    assert!(draw(&refused, 80, 8).text().contains("nobody waits for you"));
    assert!(!draw(&refused.after("j"), 80, 8).text().contains("nobody waits for you"));
    assert_eq!(press(model(vec![]), KeyPress::Enter).1, MonitorAction::Nothing);
}

#[test]
fn escape_leaves_one_thing_after_the_other() {
    let press = |model: MonitorModel, key: KeyPress| update(model, MonitorInput::Key(key));
    let (model, action) = press(crowd().after("/x\r"), KeyPress::Escape);
    assert_eq!(action, MonitorAction::Nothing);
    let (_, action) = press(model, KeyPress::Escape);
    assert_eq!(action, MonitorAction::Quit);
    assert_eq!(
        press(crowd().after("/"), KeyPress::Letter('q')).1,
        MonitorAction::Nothing,
        "a letter like any other"
    );
    assert_eq!(press(crowd().after("/"), KeyPress::Control('c')).1, MonitorAction::Quit);
}

#[test]
fn tab_takes_away_what_a_wide_screen_shows_by_itself() {
    let wide = ScreenSize { columns: 200, rows: 30 };
    let model = update(crowd(), MonitorInput::Size(wide)).0;
    assert!(model.detail_row().is_some());
    assert!(model.clone().after("\t").detail_row().is_none());
    assert!(model.after("\t\t").detail_row().is_some());
    assert!(crowd().detail_row().is_none());
    assert!(crowd().after("\t").detail_row().is_some());
}

#[test]
fn a_look_that_failed_is_said_until_one_works() {
    let model = update(crowd(), MonitorInput::Trouble("the store is locked".into())).0;
    assert!(draw(&model, 80, 8).text().contains("the store is locked"));
    let rows = model.all().to_vec();
    let model = update(model, MonitorInput::Rows(rows)).0;
    assert!(!draw(&model, 80, 8).text().contains("the store is locked"));
}

#[test]
fn time_alone_is_due_when_something_shown_changes() {
    assert_eq!(crowd().next_tick_ms(), Some(1000), "seconds are shown");
    let mut quiet = row("a", SessionState::Idle, "p", "b", 5);
    (quiet.started_at, quiet.active_at) = (None, None);
    let quiet = model(vec![quiet]);
    assert_eq!(quiet.next_tick_ms(), Some(55_000));
    let later = update(quiet.clone(), MonitorInput::Now(NOW.plus_ms(54_999))).0;
    assert_eq!(draw(&later, 200, 20).over(Some(&draw(&quiet, 200, 20))), "");
    assert_eq!(model(vec![]).next_tick_ms(), None);
}

#[test]
fn colours_are_left_out_where_they_are_not_wanted() {
    let plain = MonitorModel { colours: ColourMode::Hidden, ..crowd() };
    let sent = draw(&plain, 80, 12).over(None);
    assert!(!sent.contains(";31m") && !sent.contains(";33m") && !sent.contains("31m"), "{sent:?}");
    let coloured = draw(&crowd(), 80, 12).over(None);
    assert!(coloured.contains("31m") && coloured.contains("33m"), "{coloured:?}");
}

#[test]
fn hostile_names_are_text() {
    let mut hostile = row("a", SessionState::Working, "\u{1b}[2J\u{7}evil\u{202e}", "\u{1b}]2;x\u{7}", 1);
    hostile.shown.prompt = Some("\u{1b}[31mred\n\rnew line\u{9b}m".into());
    hostile.shown.tool = Some("\u{1b}c".into());
    let model = update(model(vec![hostile]), MonitorInput::Refused("\u{1b}[2J no".into())).0.after("\t");
    for (columns, rows) in [(200, 30), (80, 20), (40, 10)] {
        let sent = draw(&model, columns, rows).text();
        assert!(sent.chars().all(|c| c == '\n' || !c.is_control()), "{sent:?}");
        assert!(!sent.contains('\u{202e}'), "{sent:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_size_and_no_key_breaks_a_frame(
        columns in 1_u16..300, rows in 1_u16..100, keys in "[jkgGsSa?/nrxq漢🚀\t\r\x7f]{0,12}",
        name in "\\PC{0,40}", prompt in ".{0,200}", percent in 0_u64..130, number in 0_usize..40,
    ) {
        let mut all = crowd().all().to_vec();
        for n in 0..number {
            let mut odd = row(&format!("n{n}"), SessionState::Completed, &name, &prompt, n as i64 * 37);
            odd.shown.prompt = Some(prompt.clone());
            odd.thresholds = vec![0, 100, 255];
            all.push(spent(filled(odd, percent, Exactness::Estimated), percent << 40, percent << 30));
        }
        let key = all.last().unwrap().key().to_owned();
        let model = update(model(all), MonitorInput::Size(ScreenSize { columns, rows })).0;
        let model = update(model, MonitorInput::Detail(key, detail())).0.after(&keys);
        let frame = draw(&model, columns, rows);
        prop_assert_eq!(frame.size(), ScreenSize { columns, rows });
        let text = frame.text();
        prop_assert_eq!(text.lines().count(), usize::from(rows));
        for line in text.lines() {
            prop_assert!(unicode_width::UnicodeWidthStr::width(line) <= usize::from(columns), "{}", line);
        }
        let sent = frame.over(Some(&draw(&crowd(), columns, rows)));
        prop_assert!(sent.is_empty() || sent.ends_with("\x1b[?2026l"));
        page(&model, columns);
    }
}

#[test]
fn every_size_can_be_drawn() {
    let model = update(crowd(), MonitorInput::Detail("alpha:aaaa1111-2222".into(), detail())).0.after("\t");
    for columns in 1..300 {
        for rows in (1..12).chain([20, 50, 100]) {
            let frame = draw(&model, columns, rows);
            assert_eq!(frame.size(), ScreenSize { columns, rows });
        }
    }
}

#[test]
fn open_proposals_are_named_in_the_last_line() {
    let notes = BarNotes { open_proposals: 2, ..BarNotes::default() };
    let model = update(model(vec![]), MonitorInput::Notes(notes)).0;
    let size = ScreenSize { columns: 80, rows: 10 };
    let last = view(&model, size).text().lines().last().unwrap_or_default().to_owned();
    assert!(last.starts_with("2 proposals: tow memory proposals  ? help"), "{last}");
}

#[test]
fn a_broken_configuration_is_named_in_the_last_line_until_it_is_mended() {
    let size = ScreenSize { columns: 80, rows: 10 };
    let last = |model: &MonitorModel| view(model, size).text().lines().last().unwrap_or_default().to_owned();
    let warning = "config.toml has a mistake (fix: `tow config edit`): line 2: there is no key";
    let broken = update(model(vec![]), MonitorInput::Warning(Some(warning.to_owned()))).0;
    assert_eq!(last(&broken), warning);
    let failed = update(broken, MonitorInput::Trouble("the store is gone".to_owned())).0;
    assert_eq!(last(&failed), "the store is gone", "what stops the monitor comes first");
    let mended = update(model(vec![]), MonitorInput::Warning(None)).0;
    assert!(last(&mended).starts_with("? help"), "{}", last(&mended));
}
