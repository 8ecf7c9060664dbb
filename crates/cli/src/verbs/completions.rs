//! `tow config completions`: prints the man page and the completion scripts, and puts them where `man` and the shell look.
//!
//! The scripts know no command: they ask `tow complete`, so that they do not go out of date.

use crate::commands::{self, Names};
use crate::scope::Scope;
use clap::{Args, Command, ValueEnum};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use towline_agents::settings::quote;
use towline_engine::runtime::{Failure, variable};

const EXAMPLES: &str = "\
Examples:
  tow config completions bash > ~/.local/share/bash-completion/completions/tow
  tow config completions zsh > ~/.zfunc/_tow
  tow config completions fish > ~/.config/fish/completions/tow.fish
  tow config completions man > ~/.local/share/man/man1/tow.1";

/// Print completions for a shell, or the man page.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    target: CompletionTarget,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompletionTarget {
    Bash,
    Zsh,
    Fish,
    Man,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    match arguments.target {
        CompletionTarget::Bash => scope.out.text(BASH),
        CompletionTarget::Zsh => scope.out.text(ZSH),
        CompletionTarget::Fish => scope.out.text(FISH),
        CompletionTarget::Man => scope.out.text(&manual()),
    }
    Ok(())
}

// Each script asks `tow complete` for the words that fit, and offers file names where it knows none.

const BASH: &str = r#"_tow() {
    local IFS=$'\n'
    COMPREPLY=($(tow complete bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _tow tow
"#;

const ZSH: &str = r#"#compdef tow
_tow() {
    local -a found
    found=(${(f)"$(tow complete zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#found )); then _describe -V 'tow' found; else _files; fi
}
if [[ $funcstack[1] == _tow ]]; then _tow "$@"; else compdef _tow tow; fi
"#;

const FISH: &str = r#"function __tow_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (tow complete fish -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c tow -f -k -a '(__tow_complete)'
"#;

/// In a comment of each file that `tow setup` writes: only such a file is replaced or removed.
const ADDED: &str = "added by `tow setup`";

/// A file that `man` or a shell looks for, and its text.
pub struct ShellFile {
    /// The name of the program that reads it.
    reader: &'static str,
    pub path: PathBuf,
    text: String,
}

impl ShellFile {
    /// The word for it in messages to users.
    pub fn kind(&self) -> &'static str {
        if self.reader == "man" { "manual" } else { "completions" }
    }
}

/// The files of every shell, and the manual.
fn shell_files() -> Vec<ShellFile> {
    let Some(home) = variable("HOME").map(PathBuf::from) else { return vec![] };
    let folder = |name: &str, usual: &str| variable(name).map_or_else(|| home.join(usual), PathBuf::from);
    let (data, config) = (folder("XDG_DATA_HOME", ".local/share"), folder("XDG_CONFIG_HOME", ".config"));
    // Zsh reads the first line.
    let zsh = ZSH.replacen('\n', &format!("\n# {ADDED}\n"), 1);
    [
        ("bash", data.join("bash-completion/completions/tow"), format!("# {ADDED}\n{BASH}")),
        ("zsh", data.join("zsh/site-functions/_tow"), zsh),
        ("fish", config.join("fish/completions/tow.fish"), format!("# {ADDED}\n{FISH}")),
        ("man", data.join("man/man1/tow.1"), format!(".\\\" {ADDED}\n{}", manual())),
    ]
    .map(|(reader, path, text)| ShellFile { reader, path, text })
    .into()
}

fn is_ours(text: &str) -> bool {
    text.lines().take(2).any(|line| line.ends_with(ADDED))
}

/// The manual and the script of the user's shell, if missing or of an earlier version. A file of the user's own stays.
pub fn outdated_files() -> Vec<ShellFile> {
    let shell = variable("SHELL").unwrap_or_default();
    let shell = Path::new(&shell).file_name().unwrap_or_default();
    let is_read = |file: &ShellFile| file.reader == "man" || shell == file.reader;
    let is_outdated = |file: &ShellFile| match fs::read_to_string(&file.path) {
        Ok(text) => is_ours(&text) && text != file.text,
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    shell_files().into_iter().filter(is_read).filter(is_outdated).collect()
}

pub fn install(scope: &Scope, files: &[ShellFile]) -> Result<(), Failure> {
    for file @ ShellFile { reader, path, text } in files {
        let folder = path.parent().unwrap_or(path);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(path, text))
            .map_err(|error| Failure::about(format!("could not write {}", path.display()), &error))?;
        scope.out.line(&format!("{}: made {}", file.kind(), path.display()));
        if *reader == "zsh" {
            scope.out.line(&format!(
                "completions: put this line into your .zshrc, before compinit: fpath=({} $fpath)",
                quote(&folder.to_string_lossy())
            ));
        }
    }
    Ok(())
}

/// Removes the files that `install` wrote, and their folders if nothing else is in them.
pub fn uninstall(scope: &Scope) {
    for file in shell_files() {
        let path = &file.path;
        let is_removed =
            fs::read_to_string(path).is_ok_and(|text| is_ours(&text)) && fs::remove_file(path).is_ok();
        if is_removed {
            scope.out.line(&format!("{}: removed {}", file.kind(), path.display()));
            // A folder that holds anything else cannot be removed this way.
            let _ = path.ancestors().skip(1).take(2).try_for_each(fs::remove_dir);
        }
    }
}

fn manual() -> String {
    let mut text = vec![];
    // Writing to memory cannot fail.
    let _ = man(&mut commands::grammar(Names::Shown), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// One page for the program and all its commands. The list of commands is that of `tow --help`; the generated one refers to
/// a page of its own for each.
fn man(grammar: &mut Command, text: &mut Vec<u8>) -> std::io::Result<()> {
    grammar.build();
    let page = clap_mangen::Man::new(grammar.clone());
    page.render_title(text)?;
    page.render_name_section(text)?;
    page.render_synopsis_section(text)?;
    page.render_options_section(text)?;
    text.extend(laid_out(|part| page.render_extra_section(part), ".SH COMMANDS\n")?);
    sections(grammar, "tow", text)?;
    page.render_version_section(text)
}

fn sections(grammar: &Command, path: &str, text: &mut Vec<u8>) -> std::io::Result<()> {
    for command in grammar.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        let path = format!("{path} {}", command.get_name());
        text.extend(format!(".SH {}\n", path.to_uppercase()).into_bytes());
        let page = clap_mangen::Man::new(command.clone());
        text.extend(laid_out(|part| page.render_description_section(part), "")?);
        text.extend(laid_out(|part| page.render_options_section(part), ".SS Options\n")?);
        text.extend(laid_out(|part| page.render_extra_section(part), ".SS Notes\n")?);
        sections(command, &path, text)?;
    }
    Ok(())
}

/// A generated section under another heading. Examples are laid out already and must not be filled.
fn laid_out(render: impl Fn(&mut Vec<u8>) -> std::io::Result<()>, heading: &str) -> std::io::Result<Vec<u8>> {
    let mut part = vec![];
    render(&mut part)?;
    let part = String::from_utf8_lossy(&part).into_owned();
    let Some((_, body)) = part.split_once(".SH ").and_then(|(_, rest)| rest.split_once('\n')) else {
        return Ok(part.into_bytes());
    };
    let body = if part.contains(".SH EXTRA\n") { format!(".nf\n{body}.fi\n") } else { body.to_owned() };
    Ok(format!("{heading}{body}").into_bytes())
}
