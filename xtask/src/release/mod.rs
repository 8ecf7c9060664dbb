//! `cargo xtask release`: the binary, an archive, a Debian package, an SBOM and checksums for one target.
//!
//! Works offline. The files depend on the commit, the target and the compiler alone: times are the commit's and no path of
//! the machine is kept. Publishes nothing.

mod archive;
mod build;
mod sbom;
#[cfg(test)]
mod tests;

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use ring::digest::{SHA256, digest};
use towline_core::time::Timestamp;

use crate::files;
use crate::outcome::{Failure, Result, Verdict, output_of};
use crate::repository::{Reach, Repository};
use archive::{Entry, deb, gz, tar_gz};

#[derive(Args)]
pub struct Options {
    /// Folder for the files
    #[arg(long, value_name = "FOLDER", default_value = "target/dist")]
    out: PathBuf,
    /// Platform to build for; without it, a static Linux binary for this machine, or this Mac
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Package this binary instead of building one
    #[arg(long, value_name = "PATH")]
    tow: Option<PathBuf>,
}

/// What is built, and when it was committed.
pub struct Stamp {
    /// As `tow --version` shows it.
    pub commit: String,
    /// Seconds since 1970.
    pub epoch: u64,
}

/// A finished file of the release.
struct Product {
    name: String,
    bytes: Vec<u8>,
}

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let target = options.target.clone().map_or_else(usual_target, Ok)?;
    let stamp = Stamp::of(repository)?;
    writeln!(out, "{} for {target}", stamp.commit)?;
    let tow = match &options.tow {
        Some(path) => path.canonicalize().map_err(Failure::read(path))?,
        None => build::built(repository, &target, &stamp)?,
    };
    let products = products(repository, &tow, &target, &stamp)?;
    let folder = repository.root().join(&options.out);
    files::create_folder(&folder)?;
    for Product { name, bytes } in &products {
        let path = folder.join(name);
        std::fs::write(&path, bytes).map_err(Failure::write(&path))?;
        if name.starts_with("tow-") {
            std::fs::set_permissions(&path, Permissions::from_mode(0o755)).map_err(Failure::write(&path))?;
        }
        writeln!(out, "{}  {:>9}  {}", checksum(bytes), bytes.len(), path.display())?;
    }
    let sums = products.iter().map(|product| format!("{}  {}\n", checksum(&product.bytes), product.name));
    files::write(&folder.join("SHA256SUMS"), sums.collect::<String>())?;
    Ok(Verdict::Holds)
}

fn usual_target() -> Result<String> {
    let told = output_of("rustc -vV", Command::new("rustc").arg("-vV"))?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    Ok(host.replace("-linux-gnu", "-linux-musl"))
}

impl Stamp {
    fn of(repository: &Repository) -> Result<Stamp> {
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "safe.directory=*"]).args(arguments).current_dir(repository.root());
            output_of("git", &mut command).map(|answer| answer.trim().to_owned())
        };
        let commit = git(&["log", "-1", "--abbrev=12", "--format=%h of %cs"])?;
        let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
        let epoch = git(&["log", "-1", "--format=%ct"])?;
        let epoch = epoch.parse().map_err(|error| Failure::malformed("the commit's time", error))?;
        let commit = if changes.is_empty() { commit } else { format!("{commit} with changes") };
        Ok(Stamp { commit, epoch })
    }

    pub fn utc(&self) -> String {
        Timestamp(i64::try_from(self.epoch).unwrap_or(0) * 1000).to_utc()
    }
}

/// The binary and what it prints for shells and readers.
struct Contents {
    tow: Vec<u8>,
    bash: String,
    zsh: String,
    fish: String,
    man: String,
}

impl Contents {
    fn of(tow: &Path) -> Result<Contents> {
        let printed = |what: &str| {
            output_of("tow config completions", Command::new(tow).args(["config", "completions", what]))
        };
        Ok(Contents {
            tow: std::fs::read(tow).map_err(Failure::read(tow))?,
            bash: printed("bash")?,
            zsh: printed("zsh")?,
            fish: printed("fish")?,
            man: printed("man")?,
        })
    }
}

fn products(repository: &Repository, tow: &Path, target: &str, stamp: &Stamp) -> Result<Vec<Product>> {
    let packages = repository.metadata(Reach::Workspace)?.packages;
    let version = packages.into_iter().find(|package| package.name == "tow").map(|package| package.version);
    let version = version.unwrap_or_default();
    let contents = Contents::of(tow)?;
    let base = format!("towline-{version}-{target}");
    let mut products = vec![
        Product {
            name: format!("{base}.tar.gz"),
            bytes: tar_gz(&unpacked(repository, &base, &contents)?, stamp.epoch)?,
        },
        Product {
            name: format!("{base}.cdx.json"),
            bytes: sbom::sbom(repository, target, stamp)?.into_bytes(),
        },
    ];
    if let Some(architecture) = debian_architecture(target) {
        let files = installed(repository, &contents)?;
        let bytes = deb(&control(&version, architecture, &files), &files, stamp.epoch)?;
        products.push(Product { name: format!("towline_{version}_{architecture}.deb"), bytes });
    }
    products.push(Product { name: format!("tow-{version}-{target}"), bytes: contents.tow });
    Ok(products)
}

fn entry(path: impl Into<String>, mode: u32, bytes: impl Into<Vec<u8>>) -> Entry {
    Entry { path: path.into(), mode, bytes: bytes.into() }
}

/// The files of the archive, in one folder.
fn unpacked(repository: &Repository, folder: &str, contents: &Contents) -> Result<Vec<Entry>> {
    let file = |path: &str, bytes: &str| entry(format!("{folder}/{path}"), 0o644, bytes);
    let mut entries = vec![
        file("LICENSE", &repository.read("LICENSE")?),
        file("completions/_tow", &contents.zsh),
        file("completions/tow.bash", &contents.bash),
        file("completions/tow.fish", &contents.fish),
        entry(format!("{folder}/install.sh"), 0o755, repository.read("install.sh")?),
        file("man/tow.1", &contents.man),
        entry(format!("{folder}/tow"), 0o755, contents.tow.clone()),
    ];
    for path in repository.paths()?.into_iter().filter(|path| is_document(path)) {
        let full = repository.root().join(&path);
        let bytes = std::fs::read(&full).map_err(Failure::read(&full))?;
        entries.push(entry(format!("{folder}/{path}"), 0o644, bytes));
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(entries)
}

/// The pages, and the pictures and examples that they link to.
fn is_document(path: &str) -> bool {
    path.starts_with("docs/")
        || path.starts_with("examples/")
        || (path.ends_with(".md") && !path.contains('/'))
}

/// Debian's name of the processor, for the targets that get a package.
fn debian_architecture(target: &str) -> Option<&'static str> {
    match target {
        "x86_64-unknown-linux-musl" => Some("amd64"),
        "aarch64-unknown-linux-musl" => Some("arm64"),
        _ => None,
    }
}

/// The files of the Debian package, where Debian expects them.
fn installed(repository: &Repository, contents: &Contents) -> Result<Vec<Entry>> {
    Ok(vec![
        entry("usr/bin/tow", 0o755, contents.tow.clone()),
        entry("usr/share/bash-completion/completions/tow", 0o644, contents.bash.as_str()),
        entry("usr/share/doc/towline/changelog.gz", 0o644, gz(repository.read("CHANGELOG.md")?.as_bytes())?),
        entry("usr/share/doc/towline/copyright", 0o644, repository.read("LICENSE")?),
        entry("usr/share/fish/vendor_completions.d/tow.fish", 0o644, contents.fish.as_str()),
        entry("usr/share/man/man1/tow.1.gz", 0o644, gz(contents.man.as_bytes())?),
        entry("usr/share/zsh/vendor-completions/_tow", 0o644, contents.zsh.as_str()),
    ])
}

fn control(version: &str, architecture: &str, files: &[Entry]) -> String {
    let kilobytes = files.iter().map(|file| file.bytes.len()).sum::<usize>().div_ceil(1024);
    format!(
        "Package: towline\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: The Towline contributors\n\
         Installed-Size: {kilobytes}\nRecommends: tmux\nSection: devel\nPriority: optional\n\
         Description: See, resume and search everything your coding agents do\n \
         Run `tow install` as the user whose agents it is to follow.\n"
    )
}

fn checksum(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
