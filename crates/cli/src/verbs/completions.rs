//! `tow config completions`: prints shell completions and the man page, generated from the clap grammar; for `tow setup`,
//! puts them where the shell looks.
//!
//! Contains no hand-written text, so the output cannot go out of date.

use crate::commands::{self, Names};
use crate::scope::Scope;
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;
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
    let (mut text, mut grammar) = (Vec::new(), commands::grammar(Names::Shown));
    match arguments.target {
        CompletionTarget::Bash => clap_complete::generate(Shell::Bash, &mut grammar, "tow", &mut text),
        CompletionTarget::Zsh => clap_complete::generate(Shell::Zsh, &mut grammar, "tow", &mut text),
        CompletionTarget::Fish => clap_complete::generate(Shell::Fish, &mut grammar, "tow", &mut text),
        CompletionTarget::Man => man(&mut grammar, &mut text).map_err(|error| Failure::new(&error))?,
    }
    scope.out.text(&String::from_utf8_lossy(&text));
    Ok(())
}

/// The first line of a file that `tow setup` wrote: only such a file is removed.
const ADDED: &str = "# added by `tow setup`";

/// The file in which the user's shell looks for completions of `tow`; `None` for a shell without such a folder.
fn file_of_shell() -> Option<(Shell, PathBuf)> {
    let home = PathBuf::from(variable("HOME")?);
    let folder = |name: &str, usual: &str| variable(name).map_or_else(|| home.join(usual), PathBuf::from);
    match Path::new(&variable("SHELL")?).file_name()?.to_str()? {
        "bash" => Some((
            Shell::Bash,
            folder("XDG_DATA_HOME", ".local/share").join("bash-completion/completions/tow"),
        )),
        "fish" => Some((Shell::Fish, folder("XDG_CONFIG_HOME", ".config").join("fish/completions/tow.fish"))),
        _ => None,
    }
}

/// That file, if there is none yet.
pub fn missing_file() -> Option<PathBuf> {
    file_of_shell().map(|(_, file)| file).filter(|file| !file.exists())
}

pub fn install(scope: &Scope, file: &Path) -> Result<(), Failure> {
    let Some((shell, _)) = file_of_shell() else { return Ok(()) };
    let mut text = format!("{ADDED}\n").into_bytes();
    clap_complete::generate(shell, &mut commands::grammar(Names::Shown), "tow", &mut text);
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

/// One page for the program and all its commands: the front matter once, then the options of each command.
fn man(grammar: &mut Command, text: &mut Vec<u8>) -> std::io::Result<()> {
    grammar.build();
    clap_mangen::Man::new(grammar.clone()).render(text)?;
    sections(grammar, "TOW", text)
}

fn sections(grammar: &Command, path: &str, text: &mut Vec<u8>) -> std::io::Result<()> {
    for command in grammar.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        let path = format!("{path} {}", command.get_name().to_uppercase());
        text.extend(format!(".SH {path}\n").into_bytes());
        let page = clap_mangen::Man::new(command.clone());
        page.render_description_section(text)?;
        page.render_options_section(text)?;
        page.render_extra_section(text)?;
        sections(command, &path, text)?;
    }
    Ok(())
}
