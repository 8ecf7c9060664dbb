//! Instructions to get back to an earlier point of a conversation, for each agent.
//!
//! Text only: nothing is typed, forked or reverted from here.

use towline_core::text::clip;

/// How far back a point lies.
#[derive(Clone, Copy, Debug)]
pub struct RewindPoint<'a> {
    /// The session's own id.
    pub session: &'a str,
    /// The number of prompts since that point.
    pub prompts: usize,
    /// The first of those prompts; the conversation is to be cut off before it.
    pub first: &'a str,
}

/// Claude Code lists the prompts, newest last, and rewinds to before the selected one.
pub(crate) fn by_list(way: &RewindPoint<'_>) -> Vec<String> {
    if way.prompts == 0 {
        return vec![format!("nothing was asked since: `claude --resume {}` is there", way.session)];
    }
    vec![
        format!("in the session (or after `claude --resume {}`), type /rewind", way.session),
        format!("press Up {}: the entry “{}”", times(way.prompts), beginning(way.first)),
        "press Enter, and choose whether the code, the conversation or both go back".to_owned(),
    ]
}

/// Codex forks the whole conversation; the user then cuts the fork off, and the original stays.
pub(crate) fn by_fork(way: &RewindPoint<'_>) -> Vec<String> {
    let fork = format!("run `codex fork {}`: the conversation of now stays as it is", way.session);
    if way.prompts == 0 {
        return vec![fork];
    }
    let back = match way.prompts - 1 {
        0 => String::new(),
        more => format!(", then Left {}", times(more)),
    };
    vec![
        fork,
        format!("in the fork, press Esc twice{back}, until “{}” is chosen", beginning(way.first)),
        "press Enter: the fork ends before that prompt, which stands in the input again".to_owned(),
    ]
}

/// Agents that rewind by a list of their own: the number of prompts tells how far.
pub(crate) fn by_resuming(way: &RewindPoint<'_>, resume: &str) -> Vec<String> {
    if way.prompts == 0 {
        return vec![format!("nothing was asked since: `{resume} {}` is there", way.session)];
    }
    vec![
        format!("in the session (or after `{resume} {}`), type /rewind", way.session),
        format!("choose “{}”, {} back from the end", beginning(way.first), times(way.prompts)),
    ]
}

/// Copilot lists the prompts, newest first, and cuts the conversation off before the selected one.
pub(crate) fn by_menu(way: &RewindPoint<'_>) -> Vec<String> {
    let resume = format!("`copilot --resume={}`", way.session);
    let Some(more) = way.prompts.checked_sub(1) else {
        return vec![format!("nothing was asked since: {resume} is there")];
    };
    let down = if more == 0 { String::new() } else { format!(", then Down {}", times(more)) };
    vec![
        format!("in the session (or after {resume}), press Esc twice"),
        format!("the newest prompt is chosen{down}: the entry “{}”", beginning(way.first)),
        "press Enter, and choose whether the files go back too".to_owned(),
    ]
}

/// Agents that take back one prompt at a time.
pub(crate) fn by_undo(way: &RewindPoint<'_>, resume: &str) -> Vec<String> {
    if way.prompts == 0 {
        return vec![format!("nothing was asked since: `{resume} {}` is there", way.session)];
    }
    vec![
        format!("in the session (or after `{resume} {}`), type /undo {}", way.session, times(way.prompts)),
        format!("“{}” stands in the input again; changed files go back, too", beginning(way.first)),
    ]
}

fn times(number: usize) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        number => format!("{number} times"),
    }
}

fn beginning(prompt: &str) -> String {
    let line = prompt.trim().lines().next().unwrap_or("");
    if line.len() <= 50 { line.to_owned() } else { format!("{}…", clip(line, 50).trim_end()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Agent;

    #[track_caller]
    fn check(agent: Agent, prompts: usize, expected: &[&str]) {
        let way = RewindPoint { session: "s-1", prompts, first: "now paint\nthe mast" };
        assert_eq!(agent.rewind_steps(&way), expected);
    }

    #[test]
    fn each_agent_has_its_own_way_back_and_the_prompt_to_look_for_is_named() {
        let choose = "press Enter, and choose whether the code, the conversation or both go back";
        let claude = "in the session (or after `claude --resume s-1`), type /rewind";
        check(Agent::Claude, 1, &[claude, "press Up once: the entry “now paint”", choose]);
        check(Agent::Claude, 3, &[claude, "press Up 3 times: the entry “now paint”", choose]);
        let gemini = "in the session (or after `gemini --resume s-1`), type /rewind";
        check(Agent::Gemini, 2, &[gemini, "choose “now paint”, twice back from the end"]);
        let codex = "run `codex fork s-1`: the conversation of now stays as it is";
        let end = "press Enter: the fork ends before that prompt, which stands in the input again";
        check(Agent::Codex, 1, &[codex, "in the fork, press Esc twice, until “now paint” is chosen", end]);
        let left = "in the fork, press Esc twice, then Left twice, until “now paint” is chosen";
        check(Agent::Codex, 3, &[codex, left, end]);
    }

    #[test]
    fn a_point_without_later_prompts_needs_no_rewind() {
        check(Agent::Claude, 0, &["nothing was asked since: `claude --resume s-1` is there"]);
        check(Agent::Codex, 0, &["run `codex fork s-1`: the conversation of now stays as it is"]);
    }
}
