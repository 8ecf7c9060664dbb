//! `tow config completions`: prints the man page and the completion scripts, and puts a script where the shell looks.
//!
//! The scripts know no command: they ask `tow complete`, so that they do not go out of date.

use crate::commands::{self, Names};
use crate::scope::Scope;
use clap::{Args, Command, ValueEnum};
use std::fs;
use std::path::{Path, PathBuf};
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
        CompletionTarget::Man => {
            let mut text = vec![];
            man(&mut commands::grammar(Names::Shown), &mut text).map_err(|error| Failure::new(&error))?;
            scope.out.text(&String::from_utf8_lossy(&text));
        }
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

/// The first line of a file that `tow setup` wrote: only such a file is removed.
const ADDED: &str = "# added by `tow setup`";

/// The script for the user's shell, and the file in which that shell looks for it; `None` for a shell without such a folder.
fn file_of_shell() -> Option<(&'static str, PathBuf)> {
    let home = PathBuf::from(variable("HOME")?);
    let folder = |name: &str, usual: &str| variable(name).map_or_else(|| home.join(usual), PathBuf::from);
    match Path::new(&variable("SHELL")?).file_name()?.to_str()? {
        "bash" => {
            Some((BASH, folder("XDG_DATA_HOME", ".local/share").join("bash-completion/completions/tow")))
        }
        "fish" => Some((FISH, folder("XDG_CONFIG_HOME", ".config").join("fish/completions/tow.fish"))),
        _ => None,
    }
}

/// That file, if there is none yet.
pub fn missing_file() -> Option<PathBuf> {
    file_of_shell().map(|(_, file)| file).filter(|file| !file.exists())
}

pub fn install(scope: &Scope, file: &Path) -> Result<(), Failure> {
    let Some((script, _)) = file_of_shell() else { return Ok(()) };
    let text = format!("{ADDED}\n{script}");
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, text))
        .map_err(|error| Failure::about(format!("could not write {}", file.display()), &error))?;
    scope.out.line(&format!("completions: made {}", file.display()));
    Ok(())
}

/// Removes the file that `install` wrote.
pub fn uninstall(scope: &Scope) {
    let Some((_, file)) = file_of_shell() else { return };
    let is_ours = fs::read_to_string(&file).is_ok_and(|text| text.starts_with(ADDED));
    if is_ours && fs::remove_file(&file).is_ok() {
        scope.out.line(&format!("completions: removed {}", file.display()));
    }
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
