//! `tow remember`: stores a memory in the user's own words.
//!
//! Never truncates: too long a text is refused. Reports which memory it replaces, or that it was known.

use crate::scope::Scope;
use clap::Args;
use std::io::{self, Read};
use towline_engine::curate::{Actor, RememberRequest, remember};
use towline_engine::runtime::Failure;
use towline_render::{remember_json, remember_text};

const EXAMPLES: &str = "\
Examples:
  tow remember \"deploy on Tuesdays only\"
  tow remember --pin \"never push to main\"       given to every session of this project
  tow remember --type gotcha --file src/paint.rs \"restart after a change\"
  tow remember --title \"How we deploy\" - < deploy.txt
  tow remember --project app \"use pnpm instead of npm\"

It belongs to the project of this folder. What it takes the place of is told, and `tow memory undo` takes that back.";

/// Keep something worth knowing later, in your own words.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The text to remember; `-` reads it from standard input.
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Give it to every session from now on. An agent's pin is a proposal: `tow memory proposals`.
    #[arg(long)]
    pin: bool,
    /// decision, preference, gotcha, discovery, … or a word of your own; guessed if not given.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// A title; the text follows below it.
    #[arg(long)]
    title: Option<String>,
    /// A file that it is about; may be given several times.
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// A keyword; may be given several times.
    #[arg(long = "concept", value_name = "WORD")]
    concepts: Vec<String>,
    /// This project, by name or by a folder in it, instead of that of the current folder.
    #[arg(long, value_name = "NAME|PATH")]
    project: Option<String>,
    /// Said by an agent, not by the user: trusted less, and held back if it gives orders.
    #[arg(long, hide = true)]
    by_agent: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let typed = arguments.text.join(" ");
    let request = RememberRequest {
        text: if typed == "-" { from_stdin()? } else { typed },
        title: arguments.title.clone(),
        kind: arguments.kind.clone(),
        files: arguments.files.clone(),
        concepts: arguments.concepts.clone(),
        project: arguments.project.clone(),
        is_pinned: arguments.pin,
    };
    let actor = match arguments.by_agent {
        true => Actor::tool(&scope.env),
        false => Actor::of_caller(&scope.env)?,
    };
    let remembered = remember(&scope.env, &actor, &request)?;
    let text = || remember_text(&remembered, scope.out.style());
    scope.out.print(arguments.json, || remember_json(&remembered), text);
    Ok(())
}

fn from_stdin() -> Result<String, Failure> {
    let mut bytes = vec![];
    io::stdin()
        .take(1 << 20)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::about("could not read the text", &error).hint("Give it as an argument."))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
