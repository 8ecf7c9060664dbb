//! Which values a key may have, beyond its type.
//!
//! Pure. An error completes the sentence "`key` must be …".

use super::enrich::ProviderName;
use super::hub::HubTls;
use super::rules::{all, one_of, require};
use super::search::SearchTier;
use super::sections::McpProjects;
use super::settings::JournalSync;
use super::{bookmarks, guard, notify, otlp, prices, search, sections};
use crate::runtime::hub_url;
use toml_edit::Value;
use towline_core::bookmark::BookmarkMode;
use towline_core::continuing::HandoffMethod;
use towline_core::inherit::OnClear;
use towline_core::meter::ContextStrategy;
use towline_core::status_line::StatusTemplate;
use towline_core::telling::TerminalSignal;
use towline_core::typing::TerminalAbility;
use towline_store::archive::ShareLevel;

/// More than any session reaches; setting a threshold to it disables the rule.
const MOST: i64 = 1_000_000_000;

/// The least and the largest value of each integer.
const INTEGERS: [(&str, i64, i64); 38] = [
    ("hook.patience_ms", 0, 2_000),
    ("hook.deadline_ms", 100, 2_500),
    ("keep.prompt_bytes", 80, 100_000),
    ("keep.answer_bytes", 0, 100_000),
    ("keep.events_days", 1, 36_500),
    ("keep.journal_mb", 8, 100_000),
    ("archive.words_days", 0, 36_500),
    ("archive.details_days", 0, 36_500),
    ("archive.thinking_days", 0, 36_500),
    ("archive.most_mb", 64, 10_000_000),
    ("work.cpu_minutes_per_hour", 0, 600),
    ("distil.daily_tokens", 0, 1_000_000_000),
    ("distil.per_memory_tokens", 1_000, 100_000),
    ("distil.attempts", 1, 100),
    ("distil.timeout_s", 5, 3_600),
    ("typing.quiet_s", 0, 3_600),
    ("typing.limit_s", 1, 3_600),
    ("typing.confirm_s", 1, 600),
    ("bookmarks.min_tokens", 0, MOST),
    ("bookmarks.min_tool_calls", 0, MOST),
    ("bookmarks.min_seconds", 0, MOST),
    ("bookmarks.agent_burst", 0, MOST),
    ("bookmarks.cooldown_seconds", 0, MOST),
    ("continue.at_percent", 1, 100),
    ("continue.most_hops", 0, 1_000),
    ("continue.per_hour", 0, 1_000),
    ("continue.per_day", 0, 1_000),
    ("continue.cooldown_s", 0, 86_400),
    ("notify.desktop_after_s", -1, 86_400),
    ("notify.phone_after_s", -1, 86_400),
    ("notify.debounce_s", 0, 3_600),
    ("guard.refuse_helpers_at", 0, 100),
    ("statusline.columns", 0, 1_000),
    ("hub.every_s", 5, 86_400),
    ("hub.search_ms", 20, 60_000),
    ("hub.max_queue", 1_000, 10_000_000),
    ("otlp.batch", 1, 10_000),
    ("otlp.timeout_s", 1, 300),
];

/// Validates a value of the right type. `Err` completes "must be".
pub(super) fn range_of(key: &str, value: &Value) -> Result<(), String> {
    let text = value.as_str().unwrap_or("");
    match key {
        "inherit.on_clear" => one_of(text, &OnClear::ALL.map(OnClear::name)),
        "journal.sync" => one_of(text, &JournalSync::ALL.map(JournalSync::name)),
        "distil.provider" => one_of(text, &ProviderName::all()),
        "search.tier" => one_of(text, &SearchTier::ALL.map(SearchTier::name)),
        "bookmarks.mode" => one_of(text, &BookmarkMode::ALL.map(BookmarkMode::name)),
        "mcp.projects" => one_of(text, &McpProjects::ALL.map(McpProjects::name)),
        "continue.handoff" => one_of(text, &HandoffMethod::ALL.map(HandoffMethod::name)),
        "notify.terminal" => one_of(text, &TerminalSignal::ALL.map(TerminalSignal::name)),
        "guard.strategy" => one_of(text, &ContextStrategy::ALL.map(ContextStrategy::name)),
        "hub.tls" => one_of(text, &HubTls::ALL.map(HubTls::name)),
        "hub.extent" => one_of(text, &ShareLevel::ALL.map(ShareLevel::name)),
        "privacy.exclude_projects" | "inherit.never_in" => {
            all(value, |path| path.starts_with('/'), "made of whole paths that begin with `/`")
        }
        "privacy.exclude_tools" | "privacy.exclude_paths" | "distil.skip_tools" => {
            all(value, |name| !name.trim().is_empty(), "made of names in quotes")
        }
        "distil.key_command" | "hub.password_command" => all(value, |_| true, "a list of words in quotes"),
        "typing.without" => {
            let names = TerminalAbility::ALL.map(TerminalAbility::name);
            all(value, |name| names.contains(&name), &format!("made of {}", names.join(", ")))
        }
        "notify.mute_projects" => all(value, |_| true, notify::TEXTS),
        "distil.base_url" | "search.model_url" => {
            let is_address = text.is_empty() || text.starts_with("https://") || text.starts_with("http://");
            require(is_address, "an address that begins with https:// or http://")
        }
        // Rejects a secret entered by mistake: it would be displayed and copied with the rest of the file.
        "distil.key_env" => require(is_variable(text), "the name of a variable in capitals, not a key"),
        "hub.password_env" => {
            require(is_variable(text), "the name of a variable in capitals, not a password")
        }
        "otlp.headers_env" => require(is_variable(text), "the name of a variable in capitals, not a header"),
        "otlp.endpoint" => otlp::is_endpoint(text),
        "otlp.signals" => otlp::are_signals(value),
        "hub.url" if text.is_empty() => Ok(()),
        "hub.url" => hub_url::parse(text).map(drop).map_err(|error| error.requirement()),
        "hub.ca" | "otlp.ca" | "otlp.headers_file" => {
            let is_path = text.is_empty() || text.starts_with('/');
            require(is_path, "the whole path of a file, which begins with `/`")
        }
        "statusline.template" => {
            StatusTemplate::parse(text).map(drop).map_err(|error| format!("a template: {error}"))
        }
        "projects.names" => {
            let names = || value.as_inline_table().into_iter().flatten();
            let is_whole = names().all(|(path, _)| path.starts_with('/'));
            require(is_whole, "made of whole paths that begin with `/`")?;
            require(names().all(|(_, name)| name.is_str()), "names in quotes")
        }
        "search.model_sha256" => search::checksums_are_complete(value),
        "limits.words" => sections::is_prompt(text),
        "bookmarks.marker" => bookmarks::is_marker(text),
        "guard.thresholds" => guard::thresholds_are_valid(value),
        "guard.projects" => guard::projects_are_valid(value),
        "notify.states" => notify::are_states(value),
        "notify.phone" => notify::is_command(value),
        "prices" => prices::range_of(value),
        _ if key.starts_with("notify.on_") => notify::is_command(value),
        _ => within(key, value),
    }
}

fn within(key: &str, value: &Value) -> Result<(), String> {
    let range = INTEGERS.iter().find(|(name, ..)| *name == key);
    match (range, value.as_integer()) {
        (Some((_, least, most)), Some(number)) if !(*least..=*most).contains(&number) => {
            Err(format!("from {least} to {most}"))
        }
        _ => Ok(()),
    }
}

fn is_variable(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}
