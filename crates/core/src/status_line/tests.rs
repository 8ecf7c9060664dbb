//! Tests of rendered lines: shown parts, omitted parts, and lack of room.

use super::*;

const PLAIN: StatusCanvas = StatusCanvas { columns: None, colours: StatusColours::Hidden };

fn facts() -> StatusFacts {
    let now = Timestamp(1_794_744_000_000);
    let limit = |span, percent, minutes: i64| UsageLimit {
        span,
        percent,
        resets_at: Some(now.plus_ms(minutes * 60_000)),
    };
    StatusFacts {
        model: Some("Big 5".into()),
        fill: ContextUsage::from_display(84_000, 200_000),
        project: Some("app".into()),
        branch: Some("main".into()),
        cost: Some(Cost(1_234_000_000_000)),
        limits: vec![limit(LimitPeriod::FiveHours, 23, 133), limit(LimitPeriod::Week, 91, 3 * 1440 + 61)],
        others: Some(vec![SeatLight::Idle, SeatLight::Working, SeatLight::Working, SeatLight::Blocked]),
        now,
    }
}

#[track_caller]
fn check(template: &str, facts: &StatusFacts, expected: &str) {
    assert_eq!(StatusTemplate::parse(template).unwrap().draw(facts, PLAIN), expected, "{template}");
}

#[test]
fn every_part_is_rendered() {
    check("{model} {percent} {tokens}", &facts(), "Big 5 42% 84.0k/200.0k");
    check("{context}|{place}|{project}|{branch}", &facts(), "▓▓▓▓▓░░░░░ 42%|app/main|app|main");
    check("{cost} {limits}", &facts(), "$1.23 5h 23% ↻2h13m 7d 91% ↻3d1h");
    check("{limit_5h}, {limit_7d}", &facts(), "5h 23% ↻2h13m, 7d 91% ↻3d1h");
    check("{agents}", &facts(), "1 waiting, 2 working, 1 idle");
}

#[test]
fn a_section_with_an_unknown_part_is_omitted_and_other_text_stays() {
    let bare = StatusFacts { model: Some("Big 5".into()), ..StatusFacts::default() };
    check("{model}[  {context}][ · {cost}][  {agents}]", &bare, "Big 5");
    check("on {branch}!", &bare, "on !");
    check("[{limits} left]x", &bare, "x");
    let alone = StatusFacts { others: Some(vec![]), ..facts() };
    check("{model}[, {agents}]", &alone, "Big 5");
}

#[test]
fn the_last_sections_are_dropped_first_if_there_is_no_room() {
    let template = StatusTemplate::parse("{model}[  {context}][  {place}]").unwrap();
    let draw = |columns| template.draw(&facts(), StatusCanvas { columns: Some(columns), ..PLAIN });
    assert_eq!(draw(31), "Big 5  ▓▓▓▓▓░░░░░ 42%  app/main");
    assert_eq!(draw(30), "Big 5  ▓▓▓▓▓░░░░░ 42%");
    assert_eq!((draw(10).as_str(), draw(4).as_str(), draw(0).as_str()), ("Big 5", "Big…", ""));
    let wide = StatusFacts { project: Some("日本語の計画".into()), branch: None, ..facts() };
    let template = StatusTemplate::parse("{place}").unwrap();
    assert_eq!(template.draw(&wide, StatusCanvas { columns: Some(7), ..PLAIN }), "日本語…");
}

#[test]
fn a_part_has_the_requested_colour_or_its_own() {
    let canvas = StatusCanvas { columns: Some(80), colours: StatusColours::Shown };
    let draw = |text: &str| StatusTemplate::parse(text).unwrap().draw(&facts(), canvas);
    assert_eq!(draw("{model:cyan} {branch:plain}"), "\u{1b}[36mBig 5\u{1b}[0m main");
    assert_eq!(draw("{percent}"), "\u{1b}[32m42%\u{1b}[0m");
    assert!(draw("{limits}").starts_with("\u{1b}[31m5h"), "the tightest decides");
    assert_eq!(draw("{percent:plain}{cost:bold}"), "42%\u{1b}[1m$1.23\u{1b}[0m");
}

#[test]
fn names_are_escaped_for_the_terminal() {
    let nasty = StatusFacts { branch: Some("a\u{1b}[31mb\u{202e}".into()), ..facts() };
    let line = StatusTemplate::parse("{branch}\u{7}").unwrap().draw(&nasty, PLAIN);
    assert!(!line.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{line:?}");
}

#[test]
fn an_invalid_template_names_the_invalid_part() {
    let wrong = |text: &str| StatusTemplate::parse(text).unwrap_err().to_string();
    assert!(wrong("{modle}").starts_with("there is no `{modle}`, there are model, context"));
    assert!(wrong("{model:pink}").starts_with("there is no colour `pink`, there are auto"));
    for text in ["{model", "model}", "[{model}", "{model}]", "[[[x", "[a[b]]"] {
        assert!(wrong(text).ends_with("has no other half; write it twice to show it"), "{text}");
    }
    check("{{[[{model}]]}}", &facts(), "{[Big 5]}");
}

#[test]
fn the_bar_fills_up_to_its_end() {
    let bar = |tokens| bar(ContextUsage::from_display(tokens, 1000).unwrap());
    assert_eq!(bar(0), "░░░░░░░░░░ 0%");
    assert_eq!(bar(10), "▓░░░░░░░░░ 1%");
    assert_eq!(bar(2000), "▓▓▓▓▓▓▓▓▓▓ 100%");
}

#[test]
fn a_limit_without_a_future_reset_shows_only_its_percentage() {
    let limit = |resets_at| StatusFacts {
        limits: vec![UsageLimit { span: LimitPeriod::Week, percent: 5, resets_at }],
        ..facts()
    };
    check("{limits}", &limit(None), "7d 5%");
    check("{limits}", &limit(Some(Timestamp(0))), "7d 5%");
    check("{limits}", &limit(Some(facts().now.plus_ms(9 * 60_000))), "7d 5% ↻9m");
}
