//! `tow completions`: prints shell completions and the man page, generated from the clap grammar.
//!
//! Contains no hand-written text, so the output cannot go out of date.

use crate::scope::Scope;
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow completions bash > ~/.local/share/bash-completion/completions/tow
  tow completions zsh > ~/.zfunc/_tow
  tow completions fish > ~/.config/fish/completions/tow.fish
  tow completions man > ~/.local/share/man/man1/tow.1";

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

pub fn run(scope: &Scope, arguments: &Arguments, mut grammar: Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    match arguments.target {
        CompletionTarget::Bash => clap_complete::generate(Shell::Bash, &mut grammar, "tow", &mut text),
        CompletionTarget::Zsh => clap_complete::generate(Shell::Zsh, &mut grammar, "tow", &mut text),
        CompletionTarget::Fish => clap_complete::generate(Shell::Fish, &mut grammar, "tow", &mut text),
        CompletionTarget::Man => man(&mut grammar, &mut text).map_err(|error| Failure::new(&error))?,
    }
    scope.out.text(&String::from_utf8_lossy(&text));
    Ok(())
}

/// One page for the program and all its verbs: the front matter once, then the options of each verb.
fn man(grammar: &mut Command, text: &mut Vec<u8>) -> std::io::Result<()> {
    grammar.build();
    clap_mangen::Man::new(grammar.clone()).render(text)?;
    for verb in grammar.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let title = format!(".SH TOW {}\n", verb.get_name().to_uppercase());
        text.extend(title.into_bytes());
        let page = clap_mangen::Man::new(verb.clone());
        page.render_description_section(text)?;
        page.render_options_section(text)?;
        page.render_extra_section(text)?;
    }
    Ok(())
}
