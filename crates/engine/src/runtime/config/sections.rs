//! Sections whose keys need no rules beyond those of `ranges`: `memory`, `mcp`, `distil`, `work`, `limits`, `typing`, `continue`.
//!
//! Pure. Whatever types into a terminal is off until the user enables it.

use super::patterns::fits;
use super::rules::require;
use super::values::{key, section};
use towline_core::continuing::{HandoffMethod, HopLimits};
use towline_core::typing::{LONGEST_BYTES, TerminalAbility};

section! {
    /// Which memories a session receives.
    pub struct Memory in "memory" {
        /// A session receives memories with its first prompt.
        give: bool,
        /// Older memories are searched by the words of the prompt.
        older: bool,
        /// The user sees one line about it.
        notice: bool,
        /// A session is warned about known problems of a file before it touches the file.
        gotchas: bool,
    }
}

towline_core::named_enum! {
    /// The projects that models may read by our tools.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum McpProjects as named {
        /// The one they work in.
        #[default]
        Own = "own",
        All = "all",
    }
}

section! {
    pub struct Mcp in "mcp" {
        projects: McpProjects = |values| {
            values.named(key!("mcp.projects"), McpProjects::named).unwrap_or_default()
        },
    }
}

section! {
    /// How captured turns become memories. Tool patterns have the syntax of `privacy.exclude_tools`.
    pub struct Distil in "distil" {
        /// Extraction by rules, without a model.
        rules: bool,
        skip_tools: Vec<String>,
    }
}

impl Distil {
    /// Whether actions of this tool are excluded from memories.
    pub fn skips(&self, tool: &str) -> bool {
        self.skip_tools.iter().any(|pattern| fits(pattern, tool))
    }
}

section! {
    /// How much of the machine `tow data work` uses.
    pub struct Work in "work" {
        /// Processor time per hour for distilling, the search index and embeddings; 0 is no limit.
        cpu_minutes_per_hour: u32,
    }
}

section! {
    /// Whether a session resumes by itself when its usage limit ends.
    pub struct Limits in "limits" {
        resume: bool,
        /// The prompt typed on resume.
        words: String,
    }
}

pub(super) fn is_prompt(words: &str) -> Result<(), String> {
    let is_command = words.starts_with(['/', '$', '!', '#', '@']);
    let is_line = !words.trim().is_empty() && !words.contains('\n') && words.len() <= LONGEST_BYTES;
    require(is_line && !is_command, "one line that no agent takes for a command")
}

section! {
    /// Whether Towline types into the user's terminal, and how carefully.
    pub struct Typing in "typing" {
        enabled: bool,
        /// How long the user must not have typed in the seat.
        quiet_ms: i64 = |values| values.ms(key!("typing.quiet_s")),
        /// How long a text waits for a chance to be typed.
        limit_ms: i64 = |values| values.ms(key!("typing.limit_s")),
        /// How long the agent has to confirm the prompt.
        confirm_ms: i64 = |values| values.ms(key!("typing.confirm_s")),
        /// The abilities the user waives: a fact that no terminal reports is unsafe otherwise.
        without: Vec<TerminalAbility> = |values| {
            let names: Vec<String> = values.get(key!("typing.without"));
            names.iter().filter_map(|name| TerminalAbility::named(name)).collect()
        },
    }
}

section! {
    /// When and how often work continues in a fresh session; `guard` decides whether.
    pub struct Continuing in "continue" {
        at_percent: u8,
        written: HandoffMethod = |values| {
            values.named(key!("continue.handoff"), HandoffMethod::named).unwrap_or(HandoffMethod::Asked)
        },
        file_by_presence: bool,
        limits: HopLimits = |values| HopLimits {
            most_hops: values.get(key!("continue.most_hops")),
            per_hour: values.get(key!("continue.per_hour")),
            per_day: values.get(key!("continue.per_day")),
            cooldown_ms: values.ms(key!("continue.cooldown_s")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, layered};
    use super::*;

    #[test]
    fn tools_are_skipped_by_name_and_by_pattern() {
        let distil = layered("[distil]\nskip_tools = ['mcp__chat__*', 'Skill']").config.distil;
        let skipped = ["mcp__chat__post", "Skill", "Skills", "TodoWrite"].map(|tool| distil.skips(tool));
        assert_eq!((distil.rules, skipped), (true, [true, true, false, false]));
        assert!(!layered("[distil]\nrules = false").config.distil.rules);
        assert_eq!(layered("[distil]\nskip_tools = ['']").mistakes.len(), 1);
    }

    #[test]
    fn all_of_typing_can_be_set() {
        let found = layered(
            "[typing]\nenabled = true\nquiet_s = 0\nlimit_s = 5\nconfirm_s = 7\nwithout = ['mode', 'activity']",
        );
        let without = vec![TerminalAbility::Mode, TerminalAbility::Activity];
        assert_eq!(found.mistakes, []);
        assert_eq!(
            *found.config.typing,
            Typing { enabled: true, quiet_ms: 0, limit_ms: 5_000, confirm_ms: 7_000, without }
        );
    }

    #[test]
    fn what_makes_no_sense_is_named_and_leaves_typing_off() {
        let check = |user: &str, expected: &str| {
            let found = layered(&format!("[typing]\n{user}"));
            let mistakes: Vec<String> = found.mistakes.iter().map(ToString::to_string).collect();
            assert_eq!(mistakes, [format!("line 2: {expected}")]);
            assert_eq!(found.config.typing, Config::compiled_in().typing);
        };
        check("enabled = 'yes'", "`typing.enabled` must be a boolean and is a string");
        check("quiet_s = -1", "`typing.quiet_s` must be from 0 to 3600");
        check("limit_s = 0", "`typing.limit_s` must be from 1 to 3600");
        check("confirm_s = 601", "`typing.confirm_s` must be from 1 to 600");
        check(
            "without = ['eyes']",
            "`typing.without` must be made of identity, foreground, screen, mode, activity",
        );
    }

    #[test]
    fn all_of_continuing_can_be_set() {
        let found = layered(
            "[continue]\nat_percent = 60\nhandoff = 'mechanical'\nmost_hops = 2\nper_hour = 3\n\
             per_day = 4\ncooldown_s = 5\nfile_by_presence = true",
        );
        assert_eq!(found.mistakes, []);
        let found = found.config.continuing;
        assert!(found.file_by_presence && !Config::compiled_in().continuing.file_by_presence);
        let limits = HopLimits { most_hops: 2, per_hour: 3, per_day: 4, cooldown_ms: 5_000 };
        assert_eq!(
            (found.at_percent, found.written, found.limits),
            (60, HandoffMethod::Mechanically, limits)
        );
    }

    #[test]
    fn what_makes_no_sense_is_named_and_the_usual_holds() {
        let check = |user: &str, expected: &str| {
            let found = layered(&format!("[continue]\n{user}"));
            let mistakes: Vec<String> = found.mistakes.iter().map(ToString::to_string).collect();
            assert_eq!(mistakes, [format!("line 2: {expected}")]);
            assert_eq!(found.config.continuing, Config::compiled_in().continuing);
        };
        check("at_percent = 0", "`continue.at_percent` must be from 1 to 100");
        check("handoff = 'guess'", "`continue.handoff` must be one of ask, mechanical");
        check("cooldown_s = -1", "`continue.cooldown_s` must be from 0 to 86400");
    }
}
