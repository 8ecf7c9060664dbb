//! `cargo xtask secrets`: measures redaction on ordinary code and logs: findings by kind, rate and speed.
//!
//! Changes nothing in the folders that it reads. A sample shows the position of a finding and the text before
//! it, never the finding itself: the folders may contain real secrets.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use towline_core::redact::{SecretKind, SecretMatch, findings};

use crate::files;
use crate::outcome::{Failure, Result, Verdict};
use crate::repository::Repository;

#[derive(Args)]
pub struct Options {
    /// Folders or files of ordinary text; the repository itself if none is named
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How many findings of each kind to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    samples: usize,
    /// Show the findings themselves: only for text that holds no real secret
    #[arg(long)]
    unmasked: bool,
}

/// At most one finding in this many bytes of ordinary text.
const BYTES_PER_FINDING: usize = 50_000;

/// Larger files are data, not text that people read.
const LARGEST_FILE: u64 = 8 * 1024 * 1024;

/// How many characters of the line are shown before a finding.
const SHOWN_BEFORE: usize = 60;
const SHOWN_FINDING: usize = 80;

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let mut tally = Tally::default();
    if options.paths.is_empty() {
        for file in repository.files()? {
            tally.scan(Path::new(&file.path), &file.text, options);
        }
    }
    for path in &options.paths {
        for file in files::below(path)? {
            let size = fs::metadata(&file).map_err(Failure::read(&file))?.len();
            if size <= LARGEST_FILE {
                let bytes = fs::read(&file).map_err(Failure::read(&file))?;
                String::from_utf8(bytes).iter().for_each(|text| tally.scan(&file, text, options));
            }
        }
    }
    tally.report(out)
}

/// The findings so far.
#[derive(Default)]
struct Tally {
    files: usize,
    bytes: usize,
    time: Duration,
    kinds: BTreeMap<SecretKind, Hits>,
}

/// The findings of one kind.
#[derive(Default)]
struct Hits {
    count: usize,
    samples: Vec<String>,
}

impl Tally {
    fn scan(&mut self, path: &Path, text: &str, options: &Options) {
        let begun = Instant::now();
        let found: Vec<SecretMatch> = findings(text).collect();
        self.time += begun.elapsed();
        self.files += 1;
        self.bytes += text.len();
        for finding in found {
            let hits = self.kinds.entry(finding.kind).or_default();
            hits.count += 1;
            if hits.samples.len() < options.samples {
                hits.samples.push(sample(path, text, &finding, options));
            }
        }
    }

    fn report(&self, out: &mut impl Write) -> Result<Verdict> {
        for (kind, hits) in &self.kinds {
            writeln!(out, "{kind}: {}", hits.count)?;
            for sample in &hits.samples {
                writeln!(out, "  {sample}")?;
            }
        }
        let count: usize = self.kinds.values().map(|hits| hits.count).sum();
        let per_part = count as f64 * BYTES_PER_FINDING as f64 / self.bytes.max(1) as f64;
        let megabytes = self.bytes as f64 / 1e6;
        let speed = megabytes / self.time.as_secs_f64().max(1e-9);
        writeln!(out, "{} files, {megabytes:.1} MB, {count} findings", self.files)?;
        writeln!(out, "{per_part:.3} findings in {} kB, {speed:.0} MB/s", BYTES_PER_FINDING / 1000)?;
        Ok(Verdict::of(per_part < 1.0))
    }
}

/// The position of a finding, and the end of the text before it on its line.
fn sample(path: &Path, text: &str, finding: &SecretMatch, options: &Options) -> String {
    let before = &text[..finding.start];
    let line = before.matches('\n').count() + 1;
    let context = before.rsplit('\n').next().unwrap_or_default();
    let context: String =
        context.chars().rev().take(SHOWN_BEFORE).collect::<Vec<_>>().into_iter().rev().collect();
    let secret = &text[finding.start..finding.end];
    let shown = if options.unmasked {
        let head: String = secret.chars().take(SHOWN_FINDING).collect();
        head.escape_debug().to_string()
    } else {
        format!("<{} bytes>", secret.len())
    };
    format!("{}:{line}: {}{shown}", path.display(), context.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally_of(text: &str) -> (String, Verdict) {
        let options = Options { paths: Vec::new(), samples: 1, unmasked: false };
        let mut tally = Tally::default();
        tally.scan(Path::new("a.txt"), text, &options);
        let mut out = Vec::new();
        let verdict = tally.report(&mut out).unwrap();
        (String::from_utf8(out).unwrap(), verdict)
    }

    #[test]
    fn sample_names_the_place_and_hides_the_finding() {
        let (report, verdict) = tally_of("x\n  DB_PASSWORD=hunter22\n");
        assert!(report.starts_with("password: 1\n  a.txt:2: DB_PASSWORD=<8 bytes>\n"), "{report}");
        assert_eq!(verdict, Verdict::Broken);
    }

    #[test]
    fn text_without_findings_holds() {
        assert_eq!(tally_of("fn main() {}").1, Verdict::Holds);
    }
}
