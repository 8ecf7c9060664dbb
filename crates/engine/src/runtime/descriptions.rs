//! The descriptions of agents: those that Towline ships, and the user's in `agents/NAME.toml` beside the configuration.
//!
//! Read when a command needs them, never by a hook of an agent with an adapter. A description with a mistake is left out and
//! named; one that replaces a shipped one leaves nothing of it.

use super::env::{Env, variable};
use super::failure::Failure;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towline_agents::Agent;
use towline_agents::described::{Description, Mistake, SHIPPED, TranscriptWriter};

/// Longer than any description.
const LONGEST: u64 = 256 << 10;

/// A description, and where it comes from.
#[derive(Clone, Debug)]
pub struct Described {
    pub description: Arc<Description>,
    /// The user's file; `None` for one that Towline ships.
    pub file: Option<PathBuf>,
}

/// A user's file that cannot be used.
#[derive(Clone, Debug)]
pub struct Unusable {
    pub name: String,
    pub file: PathBuf,
    pub why: String,
}

#[derive(Clone, Debug, Default)]
pub struct Descriptions {
    pub all: Vec<Described>,
    pub unusable: Vec<Unusable>,
}

impl Described {
    /// The agent's folder, if it exists.
    pub fn folder(&self) -> Option<PathBuf> {
        self.description.folder(&variable).filter(|folder| folder.is_dir())
    }

    /// Its transcripts' writer; `None` if the agent has left no folder here.
    pub fn writer(&self) -> Option<TranscriptWriter> {
        Some(TranscriptWriter::Described(Arc::clone(&self.description), self.folder()?))
    }
}

impl Descriptions {
    pub fn load(env: &Env) -> Descriptions {
        let mut found = Descriptions::default();
        for file in files(&folder(env)) {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match read(&name, &file) {
                Ok(description) => {
                    found.all.push(Described { description: Arc::new(description), file: Some(file) });
                }
                Err(why) => found.unusable.push(Unusable { name, file, why }),
            }
        }
        for (name, text) in SHIPPED {
            let is_replaced = found.all.iter().any(|own| own.description.name() == name)
                || found.unusable.iter().any(|own| own.name == name);
            // A test parses each of them.
            if let (false, Ok(description)) = (is_replaced, Description::parse(name, text)) {
                found.all.push(Described { description: Arc::new(description), file: None });
            }
        }
        found.all.sort_by(|left, right| left.description.name().cmp(right.description.name()));
        found
    }

    pub fn named(&self, name: &str) -> Option<&Described> {
        self.all.iter().find(|described| described.description.name() == name)
    }

    /// Those whose agents have left a folder here.
    pub fn present(&self) -> impl Iterator<Item = &Described> {
        self.all.iter().filter(|described| described.folder().is_some())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|described| described.description.name())
    }
}

/// The agent of this name, known or described, as a writer of transcripts. `None` for one that is neither, or that has left
/// no folder here.
pub fn writer_named(env: &Env, name: &str) -> Option<TranscriptWriter> {
    match Agent::from_name(name) {
        Some(agent) => Some(agent.into()),
        None => Descriptions::load(env).named(name)?.writer(),
    }
}

/// The failure for an unusable description.
pub fn refused(unusable: &Unusable) -> Failure {
    Failure::input(format!("the description {} cannot be used", unusable.file.display()))
        .cause(unusable.why.clone())
        .hint(format!("Mend it, then run `tow doctor --agent {}`.", unusable.name))
}

/// The folder of the user's descriptions.
pub fn folder(env: &Env) -> PathBuf {
    env.config_file.with_file_name("agents")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
    files.sort();
    files
}

fn read(name: &str, file: &Path) -> Result<Description, String> {
    let meta = fs::metadata(file).map_err(|error| error.to_string())?;
    if !meta.is_file() || meta.len() > LONGEST {
        return Err(format!("it is no file of at most {} KB", LONGEST >> 10));
    }
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    Description::parse(name, &text).map_err(|mistake: Mistake| mistake.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_store::DataFolder;

    const MINIMAL: &str = "title = 'Own'\nfolder = '.own'\n[process]\nnames = ['own']\n";

    fn loaded(files: &[(&str, &str)]) -> Descriptions {
        let folder = tempfile::tempdir().unwrap();
        let env = Env::at(DataFolder::at(folder.path()), folder.path().join("config.toml"));
        fs::create_dir(folder.path().join("agents")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join("agents").join(name), text).unwrap();
        }
        Descriptions::load(&env)
    }

    #[test]
    fn every_shipped_description_can_be_used() {
        let found = loaded(&[]);
        assert_eq!(found.names().collect::<Vec<_>>(), SHIPPED.map(|(name, _)| name));
        assert!(found.unusable.is_empty());
    }

    #[test]
    fn a_users_description_joins_the_shipped_ones_or_replaces_one_whole() {
        let found = loaded(&[("own.toml", MINIMAL), ("pi.toml", MINIMAL), ("notes.txt", "")]);
        assert_eq!(found.all.len(), SHIPPED.len() + 1);
        let replaced = found.named("pi").unwrap();
        assert_eq!((replaced.description.title(), replaced.file.is_some()), ("Own", true));
        assert!(!replaced.description.capabilities().transcript);
    }

    #[test]
    fn a_mistake_is_named_and_leaves_the_others_usable() {
        let found = loaded(&[("pi.toml", "title = 'x'\nfoldr = 'y'"), ("own.toml", MINIMAL)]);
        let [unusable] = &found.unusable[..] else { unreachable!("{:?}", found.unusable) };
        assert_eq!(
            (unusable.name.as_str(), unusable.why.as_str()),
            ("pi", "line 2: there is no key `foldr`; did you mean `folder`?")
        );
        assert!(found.named("pi").is_none() && found.named("own").is_some());
    }
}
