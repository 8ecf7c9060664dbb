//! `tow usage`: tokens used and their cost, as a table with bars.
//!
//! Only draws the sums of `query::usage`. Escapes names before printing.

use crate::output::Tone;
use crate::scope::Scope;
use crate::strokes::strokes;
use clap::Args;
use towline_core::escape::{escape_for_terminal, pad, width};
use towline_core::usage::{Cost, CostEstimate, UsageTotal, short_count};
use towline_engine::query::usage::{self, By, Group, UsageReport, UsageRequest};
use towline_engine::runtime::Failure;
use towline_engine::runtime::config::listed;
use towline_render::usage_json;

const EXAMPLES: &str = "\
Examples:
  tow usage                        the last seven days, day by day
  tow usage today                  by project; also: week, month, all
  tow usage month --by model       also: day, week, month, session, agent
  tow usage 30d --by session --project app --limit 5
  tow usage all --chart            bars, month by month
  tow usage all --json | jq '.total.cost_usd'

A week begins on Monday, and days are those of your own clock (TZ). Tokens
come from the agents' own records. Each response counts once, however often
it was written or copied by a fork; subagents count with their session.
Costs are estimates at list prices; a subscription is not billed by them.
`?` is the cost of a model without a price, `>` of a sum with such a part:
set a price with [prices] in config.toml (`tow config path`).";

/// Show the tokens used and their cost.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// today, week, month, all, or what --since takes [default: 7d]
    #[arg(value_name = "TIME", conflicts_with = "since")]
    time: Option<String>,
    /// The grouping of the rows; without it, one that suits the time.
    #[arg(long, value_parser = By::ALL.map(By::name))]
    by: Option<String>,
    /// Since this time: today, week, month, 7d (seven days, today included), 12h, a time or a date, or `all`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only this project, by name or by a folder in it.
    #[arg(long, value_name = "NAME|PATH")]
    project: Option<String>,
    /// Only this agent.
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Show at most N rows; days, weeks and months are always all shown.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Draw bars instead of the table.
    #[arg(long)]
    chart: bool,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "chart")]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let by = arguments.by.as_deref().and_then(By::from_name);
    let since = arguments.time.as_deref().or(arguments.since.as_deref()).unwrap_or("7d");
    let (project, agent) = (arguments.project.clone(), arguments.agent.clone());
    let shown = usage::report(&scope.env, &UsageRequest { by, since, project, agent })?;
    if arguments.json {
        scope.out.json(&usage_json(&shown));
    } else if usage::total(&shown.sums).messages == 0 {
        scope.out.line("nothing was used in that time, as far as was captured");
        scope.out.line(
            "next: `tow usage all` looks further back, `tow data import` takes in what the agents wrote",
        );
    } else if arguments.chart {
        chart(scope, &cut(&shown, arguments.limit));
        notes(scope, &shown);
    } else {
        table(scope, &cut(&shown, arguments.limit));
        notes(scope, &shown);
    }
    Ok(())
}

/// The rows up to the limit, and one more with the sum of the rest.
fn cut(shown: &UsageReport, limit: usize) -> Vec<(String, UsageTotal)> {
    let named = |(group, spent): &(Group, UsageTotal)| (escape_for_terminal(&group.name()), spent.clone());
    let mut rows: Vec<(String, UsageTotal)> = shown.sums.iter().map(named).collect();
    if !shown.by.is_period() && rows.len() > limit {
        let rest = rows.split_off(limit.max(1));
        let sum = rest.iter().fold(UsageTotal::default(), |sum, (_, spent)| sum.plus(spent));
        rows.push((format!("{} more", rest.len()), sum));
    }
    rows
}

/// Widest name and widest bar, in columns.
const WIDEST_NAME: usize = 32;
const WIDEST_BAR: usize = 30;
const NARROWEST_BAR: usize = 6;

/// A column: head, width, and priority of removal when the terminal is too narrow.
struct Figure {
    head: &'static str,
    columns: usize,
    goes: u8,
    shown: fn(&UsageTotal) -> String,
}

const FIGURES: [Figure; 6] = [
    Figure { head: "tokens", columns: 9, goes: 0, shown: |spent| short_count(spent.tokens.total()) },
    Figure {
        head: "input",
        columns: 9,
        goes: 3,
        shown: |spent| short_count(spent.tokens.input + spent.tokens.cache_write),
    },
    Figure {
        head: "cached",
        columns: 8,
        goes: 1,
        shown: |spent| spent.cache_percent().map_or_else(|| "-".to_owned(), |percent| format!("{percent}%")),
    },
    Figure { head: "output", columns: 9, goes: 2, shown: |spent| short_count(spent.tokens.output) },
    Figure { head: "messages", columns: 10, goes: 4, shown: |spent| spent.messages.to_string() },
    Figure { head: "cost", columns: 11, goes: 0, shown: |spent| spent.bill().display() },
];

/// The columns that fit.
fn fitting(columns: usize) -> Vec<&'static Figure> {
    let mut figures: Vec<&Figure> = FIGURES.iter().collect();
    for goes in [4, 3, 2, 1] {
        if figures.iter().map(|figure| figure.columns).sum::<usize>() > columns {
            figures.retain(|figure| figure.goes != goes);
        }
    }
    figures
}

fn table(scope: &Scope, rows: &[(String, UsageTotal)]) {
    let name_width = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0).clamp(14, WIDEST_NAME);
    let room = scope.out.columns().saturating_sub(name_width);
    let figures = fitting(room);
    let bar_width = room.saturating_sub(figures.iter().map(|figure| figure.columns).sum::<usize>() + 2);
    let bar_width = if bar_width < NARROWEST_BAR { 0 } else { bar_width.min(WIDEST_BAR) };
    let heads: String = figures.iter().map(|figure| right(figure.head, figure.columns)).collect();
    scope.out.line(&scope.out.tint(Tone::Faint, &format!("{}{heads}", pad("", name_width))));
    let largest = rows.iter().map(|(_, spent)| weight(spent)).max().unwrap_or(0);
    for (name, spent) in rows {
        let bar = strokes().bar(weight(spent), largest, bar_width.max(1));
        let bar = if bar_width == 0 { String::new() } else { format!("  {bar}") };
        scope.out.line(format!("{}{}{bar}", pad(name, name_width), cells(spent, &figures)).trim_end());
    }
    let total = rows.iter().fold(UsageTotal::default(), |total, (_, spent)| total.plus(spent));
    scope.out.line(&format!("{}{}", pad("total", name_width), cells(&total, &figures)));
}

fn cells(spent: &UsageTotal, figures: &[&Figure]) -> String {
    match spent.messages {
        0 => right("-", FIGURES[0].columns),
        _ => figures.iter().map(|figure| right(&(figure.shown)(spent), figure.columns)).collect(),
    }
}

fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The length of a bar: the known cost, 0 if there is none.
fn weight(spent: &UsageTotal) -> i64 {
    let weight = match spent.bill() {
        CostEstimate::Whole(Cost(pico)) | CostEstimate::AtLeast(Cost(pico)) => pico / 1_000_000,
        CostEstimate::Unknown => 0,
    };
    i64::try_from(weight).unwrap_or(i64::MAX)
}

/// Prints one line per row: name, bar, cost.
fn chart(scope: &Scope, rows: &[(String, UsageTotal)]) {
    let by_tokens = rows.iter().all(|(_, spent)| weight(spent) == 0);
    let measure = |spent: &UsageTotal| match by_tokens {
        true => (i64::try_from(spent.tokens.total()).unwrap_or(i64::MAX), short_count(spent.tokens.total())),
        false => (weight(spent), spent.bill().display()),
    };
    let name_width = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0).clamp(14, WIDEST_NAME);
    let bar_width = scope.out.columns().saturating_sub(name_width + 15).clamp(4, 100);
    let largest = rows.iter().map(|(_, spent)| measure(spent).0).max().unwrap_or(0);
    for (name, spent) in rows {
        let (value, label) = measure(spent);
        let label = if spent.messages == 0 { "-".to_owned() } else { label };
        let bar = strokes().bar(value, largest, bar_width);
        let space = if bar.is_empty() { "" } else { " " };
        scope.out.line(&format!("{}  {bar}{space}{label}", pad(name, name_width)));
    }
    let total = rows.iter().fold(UsageTotal::default(), |total, (_, spent)| total.plus(spent));
    let tokens = short_count(total.tokens.total());
    scope.out.line(&format!("{}  {}, {tokens} tokens", pad("total", name_width), total.bill().display()));
}

/// Explains the figures, and which prices are missing.
fn notes(scope: &Scope, shown: &UsageReport) {
    let total = usage::total(&shown.sums);
    scope.out.line("");
    if !total.unpriced_models.is_empty() {
        let models: Vec<String> =
            total.unpriced_models.iter().map(|model| escape_for_terminal(model)).collect();
        let words =
            format!("no price is known for {}: set one with [prices] in config.toml", models.join(", "));
        scope.out.line(&scope.out.tint(Tone::Warning, &words));
    }
    let words = format!("costs are estimates at list prices of {}", listed().dated);
    scope.out.line(&scope.out.tint(Tone::Faint, &words));
}
