//! The format of a description: TOML in, a checked [`Description`] out, or the first mistake with its line.
//!
//! Strict: a misspelt key, a key that a rule has no use for, a path out of the agent's folder and a pattern that cannot be
//! read are mistakes. Reads no file.

use super::fields::{Fields, Mistake, document};
use super::json_path::JsonPath;
use super::mapping::{Condition, Gives, Mapping, Rule, Test, UsagePaths, ValuePath, Wanted};
use super::pattern::{LinePattern, Sights, Surface};
use super::place::{FilePattern, is_below};
use super::tools::{ToolRule, ToolVerb};
use super::{Description, Format, ProcessNames, Stored};
use crate::agent::Agent;
use crate::transcript::checksum;
use std::sync::Arc;
use towline_core::id::AgentName;
use towline_core::piece::StopReason;

/// How much of a screen is compared if the description does not say.
const LINES: i64 = 12;

pub(super) fn parse(name: &str, text: &str) -> Result<Description, Mistake> {
    let at_start = |what: &str| Mistake { line: 1, what: what.to_owned() };
    let is_plain = AgentName::parse(name).is_ok() && !name.contains(|char: char| char.is_ascii_uppercase());
    if !is_plain {
        return Err(at_start("the file's name must be 1 to 32 of a-z, 0-9, `-` and `_`, before `.toml`"));
    }
    if Agent::from_name(name).is_some() {
        return Err(at_start(&format!("`{name}` is supported without a description: choose another name")));
    }
    let document = document(text)?;
    let mut fields = Fields::of(text, &document);
    let description = Description {
        name: name.to_owned(),
        title: fields.required("title")?,
        proven: fields.text("proven")?,
        folder: below_home(&mut fields)?,
        folder_variable: own_variable(&mut fields)?,
        process: process(&mut fields)?,
        sights: sights(&mut fields)?,
        resume: resume(&mut fields)?,
        stored: stored(&mut fields, text)?,
        tools: tools(&mut fields)?,
    };
    fields.end()?;
    Ok(description)
}

fn below_home(fields: &mut Fields<'_>) -> Result<String, Mistake> {
    let folder = fields.required("folder")?;
    let folder = folder.strip_prefix("~/").unwrap_or(&folder).trim_end_matches('/').to_owned();
    if is_below(&folder) {
        Ok(folder)
    } else {
        Err(fields.wrong("folder", "must be a folder below your home, without `..`"))
    }
}

/// A variable that is not everybody's: the agent's folder must not be the whole home.
fn own_variable(fields: &mut Fields<'_>) -> Result<Option<String>, Mistake> {
    let variable = fields.text("folder_variable")?;
    let is_shared = |name: &String| {
        ["HOME", "PWD", "OLDPWD", "TMPDIR"].contains(&name.as_str()) || name.starts_with("XDG_")
    };
    match variable {
        Some(name) if is_shared(&name) => {
            Err(fields
                .wrong("folder_variable", "must be a variable of the agent's own, that holds its folder"))
        }
        other => Ok(other),
    }
}

fn process(fields: &mut Fields<'_>) -> Result<ProcessNames, Mistake> {
    let Some(mut process) = fields.table("process")? else {
        return Err(fields.mistake("there is no `[process]`, which is needed: it names the agent's process"));
    };
    let names = ProcessNames {
        names: process.texts("names")?,
        scripts: process.texts("scripts")?,
        headless: process.texts("headless")?,
    };
    process.end()?;
    if names.names.is_empty() && names.scripts.is_empty() {
        return Err(process.mistake("`process.names` or `process.scripts` is needed"));
    }
    let is_name = |name: &String| !name.contains('/');
    if !names.names.iter().chain(&names.scripts).all(is_name) {
        return Err(process.wrong("names", "must be names of programs and scripts, without their folders"));
    }
    Ok(names)
}

fn sights(fields: &mut Fields<'_>) -> Result<Sights, Mistake> {
    let mut sights = Sights { lines: usize::try_from(LINES).unwrap_or(0), ..Sights::default() };
    if let Some(mut screen) = fields.table("screen")? {
        let lines = screen.number("lines", 1..=100)?.unwrap_or(LINES);
        sights.lines = usize::try_from(lines).unwrap_or(0);
        let input = patterns(&mut screen, "input")?;
        sights.screen = Surface { input, ..surface(&mut screen)? };
        screen.end()?;
    }
    if let Some(mut title) = fields.table("pane_title")? {
        sights.title = surface(&mut title)?;
        title.end()?;
    }
    Ok(sights)
}

fn surface(fields: &mut Fields<'_>) -> Result<Surface, Mistake> {
    Ok(Surface {
        waiting: patterns(fields, "waiting")?,
        working: patterns(fields, "working")?,
        idle: patterns(fields, "idle")?,
        input: vec![],
    })
}

fn patterns(fields: &mut Fields<'_>, key: &'static str) -> Result<Vec<LinePattern>, Mistake> {
    let texts = fields.texts(key)?;
    let pattern = |text: &String| {
        LinePattern::parse(text)
            .map_err(|bad| fields.wrong(key, format!("has the pattern `{text}`, which {bad}")))
    };
    texts.iter().map(pattern).collect()
}

fn resume(fields: &mut Fields<'_>) -> Result<Vec<String>, Mistake> {
    let Some(mut resume) = fields.table("resume")? else { return Ok(vec![]) };
    let command = resume.texts("command")?;
    let is_word = |word: &String| !word.chars().any(|char| char.is_whitespace() || char.is_control());
    if command.is_empty() || !command.iter().all(is_word) || command[0].contains("{session}") {
        return Err(resume.wrong("command", "must be a program and its arguments, each without blanks"));
    }
    if !command.iter().any(|word| word.contains("{session}")) {
        return Err(resume.wrong("command", "must name the session to resume: `{session}`"));
    }
    resume.end()?;
    Ok(command)
}

fn stored(fields: &mut Fields<'_>, text: &str) -> Result<Option<Stored>, Mistake> {
    let Some(mut transcript) = fields.table("transcript")? else { return Ok(None) };
    let format = match transcript.text("format")?.as_deref() {
        None | Some("jsonl") => Format::Lines,
        Some("json") => Format::Document,
        Some(_) => {
            let known =
                "must be `jsonl` or `json`: sessions in a database such as SQLite cannot be described";
            return Err(transcript.wrong("format", known));
        }
    };
    let files = file_patterns(&mut transcript, "files")?;
    if files.is_empty() {
        return Err(transcript
            .mistake("`transcript.files` is needed: where the transcripts are, below the agent's folder"));
    }
    if !files.iter().all(FilePattern::names_session) {
        return Err(transcript.wrong("files", "must say where the session's id stands: `{session}`"));
    }
    let mut about = file_patterns(&mut transcript, "about")?;
    if about.len() > 1 {
        return Err(transcript.wrong("about", "must be one path: one file tells about a session"));
    }
    let about = about.pop();
    let entries = transcript.texts("entries")?;
    let entries: Vec<JsonPath> =
        entries.iter().map(|text| json_path(&transcript, "entries", text)).collect::<Result<_, _>>()?;
    if format == Format::Document && entries.is_empty() {
        return Err(transcript
            .mistake("`transcript.entries` is needed for a whole JSON file: the path to its entries"));
    }
    let time = transcript.required("time")?;
    let mapping = Mapping {
        time: json_path(&transcript, "time", &time)?,
        id: optional_path(&mut transcript, "id")?,
        folder: optional_path(&mut transcript, "folder")?,
        entries: if format == Format::Lines { entries.clone() } else { vec![] },
        rules: rules(&mut transcript)?,
        version: checksum(&[text.as_bytes()]),
    };
    transcript.end()?;
    Ok(Some(Stored { format, files, about, entries, mapping: Arc::new(mapping) }))
}

fn file_patterns(fields: &mut Fields<'_>, key: &'static str) -> Result<Vec<FilePattern>, Mistake> {
    let texts = fields.texts(key)?;
    let pattern = |text: &String| {
        FilePattern::parse(text).map_err(|bad| fields.wrong(key, format!("has `{text}`, which {bad}")))
    };
    texts.iter().map(pattern).collect()
}

fn json_path(fields: &Fields<'_>, key: &str, text: &str) -> Result<JsonPath, Mistake> {
    JsonPath::parse(text).map_err(|bad| fields.wrong(key, format!("has the path `{text}`, which {bad}")))
}

fn optional_path(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<JsonPath>, Mistake> {
    let text = fields.text(key)?;
    text.map(|text| json_path(fields, key, &text)).transpose()
}

fn rules(transcript: &mut Fields<'_>) -> Result<Vec<Rule>, Mistake> {
    let rules: Vec<Rule> = transcript.tables("pieces")?.into_iter().map(rule).collect::<Result<_, _>>()?;
    if !rules.iter().any(|rule| matches!(rule.gives, Gives::Prompt { .. })) {
        return Err(transcript.mistake("no `[[transcript.pieces]]` is a `prompt`: turns begin with prompts"));
    }
    Ok(rules)
}

fn rule(mut fields: Fields<'_>) -> Result<Rule, Mistake> {
    let kind = fields.required("is")?;
    let each = optional_path(&mut fields, "each")?;
    let when = fields.texts("when")?;
    let when = when.iter().map(|text| condition(&fields, "when", text)).collect::<Result<_, _>>()?;
    let gives = match kind.as_str() {
        "prompt" => Gives::Prompt { text: from(&mut fields, "text")?, between: between(&mut fields)? },
        "answer" => Gives::Answer { text: from(&mut fields, "text")? },
        "thinking" => Gives::Thinking { text: from(&mut fields, "text")? },
        "note" => Gives::Note { text: from(&mut fields, "text")? },
        "compacted" => Gives::Compacted { text: from(&mut fields, "text")? },
        "tool_call" => Gives::ToolCall {
            call: from(&mut fields, "call")?,
            tool: from(&mut fields, "tool")?,
            input: from(&mut fields, "input")?,
        },
        "tool_result" => Gives::ToolResult {
            call: from(&mut fields, "call")?,
            output: from(&mut fields, "output")?,
            failed: optional_condition(&mut fields, "failed")?,
        },
        "stopped" => Gives::Stopped { how: how(&mut fields)?, text: optional_from(&mut fields, "text")? },
        "usage" => Gives::Usage(usage(&mut fields)?),
        _ => {
            let kinds = "prompt, answer, thinking, note, compacted, tool_call, tool_result, stopped, usage";
            return Err(fields.wrong("is", format!("must be one of {kinds}")));
        }
    };
    fields
        .end()
        .map_err(|mistake| Mistake { what: format!("{} (in a `{kind}`)", mistake.what), ..mistake })?;
    Ok(Rule { when, each, gives })
}

fn from(fields: &mut Fields<'_>, key: &'static str) -> Result<ValuePath, Mistake> {
    let text = fields.required(key)?;
    parse_from(fields, key, &text)
}

fn optional_from(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<ValuePath>, Mistake> {
    let text = fields.text(key)?;
    text.map(|text| parse_from(fields, key, &text)).transpose()
}

/// A path from the entry, or behind `@.` from the part that `each` names.
fn parse_from(fields: &Fields<'_>, key: &str, text: &str) -> Result<ValuePath, Mistake> {
    if text.starts_with('@') && !fields.has("each") {
        return Err(
            fields.wrong(key, "has `@`, the part of an entry, but there is no `each` that names the parts")
        );
    }
    match text.strip_prefix('@') {
        None => Ok(ValuePath::Entry(json_path(fields, key, text)?)),
        Some("") => Ok(ValuePath::WholePart),
        Some(rest) => Ok(ValuePath::Part(json_path(fields, key, rest.strip_prefix('.').unwrap_or(rest))?)),
    }
}

/// `path=value`, `path!=value`, `path` (it exists) or `!path` (it does not).
fn condition(fields: &Fields<'_>, key: &str, text: &str) -> Result<Condition, Mistake> {
    let wanted = |value: &str| match value.contains('*') {
        true => LinePattern::parse(value)
            .map(Wanted::Like)
            .map_err(|bad| fields.wrong(key, format!("has the pattern `{value}`, which {bad}"))),
        false => Ok(Wanted::Text(value.to_owned())),
    };
    let (path, test) = if let Some((path, value)) = split_at_sign(text, "!=") {
        (path, Test::IsNot(wanted(value)?))
    } else if let Some((path, value)) = split_at_sign(text, "=") {
        (path, Test::Is(wanted(value)?))
    } else if let Some(path) = text.strip_prefix('!') {
        (path, Test::Lacks)
    } else {
        (text, Test::Exists)
    };
    Ok(Condition { of: parse_from(fields, key, path.trim())?, test })
}

/// Splits at the first sign outside of brackets.
fn split_at_sign<'t>(text: &'t str, sign: &str) -> Option<(&'t str, &'t str)> {
    let mut depth = 0_usize;
    let at = text.char_indices().find_map(|(at, char)| {
        match char {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0 && text[at..].starts_with(sign)).then_some(at)
    })?;
    Some((&text[..at], text[at + sign.len()..].trim()))
}

fn optional_condition(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<Condition>, Mistake> {
    let text = fields.text(key)?;
    text.map(|text| condition(fields, key, &text)).transpose()
}

fn between(fields: &mut Fields<'_>) -> Result<Option<(String, String)>, Mistake> {
    match <[String; 2]>::try_from(fields.texts("between")?) {
        Ok([begin, end]) => Ok(Some((begin, end))),
        Err(none) if none.is_empty() => Ok(None),
        Err(_) => Err(fields.wrong("between", "must be two texts: the marks before and after the prompt")),
    }
}

fn how(fields: &mut Fields<'_>) -> Result<StopReason, Mistake> {
    let name = fields.required("how")?;
    StopReason::named(&name).ok_or_else(|| fields.wrong("how", "must be one of interrupted, failed, limited"))
}

fn usage(fields: &mut Fields<'_>) -> Result<UsagePaths, Mistake> {
    Ok(UsagePaths {
        model: optional_from(fields, "model")?,
        input: from(fields, "input")?,
        output: from(fields, "output")?,
        cache_read: optional_from(fields, "cache_read")?,
        cache_write: optional_from(fields, "cache_write")?,
        input_holds_cache: fields.flag("input_holds_cache")?,
    })
}

fn tools(fields: &mut Fields<'_>) -> Result<Vec<ToolRule>, Mistake> {
    let tool = |mut fields: Fields<'_>| {
        let is = fields.required("is")?;
        let does = ToolVerb::named(&is).ok_or_else(|| {
            fields.wrong("is", format!("must be one of {}", ToolVerb::ALL.map(ToolVerb::name).join(", ")))
        })?;
        let (names, arguments) = (fields.texts("names")?, fields.texts("argument")?);
        if names.is_empty() || arguments.is_empty() {
            return Err(fields.mistake("`names` and `argument` are needed in `[[tools]]`"));
        }
        fields.end()?;
        Ok(ToolRule { names, does, arguments })
    };
    fields.tables("tools")?.into_iter().map(tool).collect()
}
