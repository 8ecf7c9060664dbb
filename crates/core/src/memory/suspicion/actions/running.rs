//! Running what was downloaded or decoded: pipes into an interpreter, saved scripts, `run the script from …`.
//!
//! Installers of well-known hosts pass. Data that is piped into a program of its own is no code.

use super::super::action::{
    Action, Side, each, foreign_addresses, host_after, is_well_known, pairs, within_sentence,
};
use super::super::words::{Plain, Words};
use crate::text::{clip, clip_start};
use std::ops::Range;

pub(super) fn downloads(plain: Plain<'_>) -> Vec<Action> {
    let mut found: Vec<Action> = FETCHERS.find_in(plain).filter_map(|at| piped(plain.text, at)).collect();
    found.extend(each(Words("invoke-expression|iex (|iex("), plain));
    found.extend(
        ["| iex", "|iex"]
            .iter()
            .flat_map(|pipe| plain.match_indices(pipe))
            .map(|(at, pipe)| Action::at(at..at + pipe.len())),
    );
    found.extend(FETCHERS.find_in(plain).filter_map(|at| saved_and_run(plain.text, at)));
    found.extend(FETCHED_INLINE.find_in(plain).filter(|at| is_evaluated(plain.text, at)).map(Action::at));
    found.extend(
        Words("base64 -d|base64 --decode|base64 -di|xxd -r")
            .find_in(plain)
            .filter_map(|at| piped(plain.text, at)),
    );
    found.extend(pairs(plain, Words("exec(|eval("), Words("://"), 120));
    found.extend(foreign_addresses(plain.text).filter_map(|address| run_address(plain.text, address)));
    found
}

/// An address that the sentence says to run: `download … and run it`, `piping … into sh`, `run the script from …`
fn run_address(plain: &str, address: Range<usize>) -> Option<Action> {
    let from = address.start - within_sentence(clip_start(&plain[..address.start], 160), Side::Before).len();
    let until = address.end + within_sentence(clip(&plain[address.end..], 160), Side::After).len();
    let (sentence, path) = (&plain[from..until], &plain[address.clone()]);
    let path = path.trim_end_matches(['.', ',', ';', ':']);
    let is_script =
        SCRIPT_ENDS.iter().any(|end| path.ends_with(end)) || SCRIPTS.is_in(&plain[from..address.start]);
    let is_fetched = DOWNLOADED.is_in(sentence) || FETCHERS.is_in(sentence) || is_script;
    let is_run = RUN.is_in(sentence) && is_fetched || INTO_SHELL.is_in(sentence);
    is_run.then(|| Action::at(address))
}

const SCRIPT_ENDS: [&str; 10] = [".sh", ".bash", ".py", ".ps1", ".js", ".exe", ".run", ".pl", ".rb", ".bat"];

const SCRIPTS: Words = Words(
    "script|installer|setup|binary|helper|skript|installationsskript|guion|instalador|programa|programme|\
    скрипт*|установщик*|脚本|安装程序|スクリプト|インストーラ|스크립트|설치",
);

const INTO_SHELL: Words = Words(
    "into sh|into bash|into a shell|into the shell|into python|to bash|und sh|et sh|per wget und sh|\
    y pasalo a bash|a traves de bash",
);

const FETCHERS: Words = Words("curl|wget|aria2c|lynx|iwr|irm|invoke-webrequest|invoke-restmethod|http get");

const FETCHED_INLINE: Words =
    Words("<(curl|<(wget|< <(curl|< <(wget|$(curl|$(wget|`curl|`wget|\"$(curl|\"$(wget");

const RUN: Words = Words(
    "running|sudo|run|runs|execute|executes|start|launch|executable|source|eval|fuhre*|ausfuhr*|starte*|\
    execut*|lance*|ejecut*|corre|rode|rodar|esegu*|avvia*|lancia*|запус*|выполн*|执行|运行|実行|起動|실행",
);

const DOWNLOADED: Words = Words(
    "download*|fetch*|herunterlad*|lade*|telecharg*|descarg*|baix*|scaric*|скача*|загруз*|下载|ダウンロード|取得|\
    다운로드|내려받",
);

/// A fetched or decoded text that is piped into an interpreter.
fn piped(plain: &str, from: Range<usize>) -> Option<Action> {
    let command = clip(&plain[from.start..], 260);
    let command = &command[..command.find(['\n', '。']).unwrap_or(command.len())];
    let at = command.match_indices('|').find(|(at, _)| is_interpreter(&command[at + 1..]))?.0;
    let is_known = host_after(command, 0, at).is_some_and(is_well_known);
    let end = from.start + at + 1;
    (!is_known).then(|| Action::at(from.start..end))
}

/// `curl … -o x && sh x`
fn saved_and_run(plain: &str, from: Range<usize>) -> Option<Action> {
    let line = clip(&plain[from.start..], 260);
    let (first, then) = line.split_once("&&").or_else(|| line.split_once("; "))?;
    let is_known = host_after(first, 0, first.len()).is_none_or(is_well_known);
    let mut words =
        then.split(|c: char| c.is_whitespace() || "`'\"&;".contains(c)).filter(|word| !word.is_empty());
    let runs =
        words.any(|word| is_interpreter(word) || word == "+x" || word == "source" || word.starts_with("./"));
    let saved: Vec<&str> =
        first.split_whitespace().filter(|word| word.len() > 2 && !word.contains("://")).collect();
    let is_same = then.split(|c: char| c.is_whitespace() || "`'\".,".contains(c)).any(|word| {
        let name = word.trim_start_matches("./");
        name.len() > 1 && (saved.contains(&word) || first.trim_end().ends_with(name))
    });
    (!is_known && runs && is_same).then(|| Action::at(from.start..from.start + first.len()))
}

/// Whether a pipe leads into an interpreter.
fn is_interpreter(text: &str) -> bool {
    const NAMES: [&str; 14] = [
        "sh", "bash", "zsh", "dash", "ash", "fish", "python", "python3", "node", "perl", "ruby", "php",
        "iex", "pwsh",
    ];
    let mut words =
        text.split(|c: char| c.is_whitespace() || "`'\")".contains(c)).filter(|word| !word.is_empty());
    let first =
        words.find(|word| !["sudo", "-e", "-h", "env", "exec", "command"].contains(word)).unwrap_or("");
    let name = first.rsplit('/').next().unwrap_or(first).trim_end_matches(['.', ',', ';', ':', '。']);
    // With a program of its own it reads the pipe as data: `| python3 -m json.tool`.
    let has_program = words.next().is_some_and(|option| {
        ["-m", "-c", "-e", "-ne", "-pe", "-r", "-p", "-lane", "-n"].contains(&option)
            && !first.ends_with("sh")
    });
    NAMES.contains(&name) && !has_program
}

/// `eval "$(curl …)"`, `bash <(curl …)`
fn is_evaluated(plain: &str, at: &Range<usize>) -> bool {
    let before = clip_start(&plain[..at.start], 16);
    let runs = Words("eval|source|sh -c|bash -c|zsh -c|sh|bash|zsh|exec|python|python3").is_in(before);
    runs && !host_after(plain, at.start, 200).is_some_and(is_well_known)
}
