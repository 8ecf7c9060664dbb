//! The viewer's files, compiled into the binary.
//!
//! Reads no file from disk: a path that is not in this list does not exist. The page renders without another
//! request: its styles and first script are inlined, and its policy allows them by digest.

use crate::http::joined::joined;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::digest::{SHA256, digest};
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug)]
pub struct Asset {
    pub name: &'static str,
    pub bytes: &'static [u8],
}

/// Includes files of `viewer/` by name.
macro_rules! files {
    ($($name:literal)*) => {
        [$(Asset { name: $name, bytes: include_bytes!(concat!("../../viewer/", $name)) }),*]
    };
}

/// The template of `/`, before styles and script are inlined.
const PAGE: Asset = files!("index.html")[0];

/// The template of a refusal, for a browser that navigates.
const REFUSED: Asset = files!("refused.html")[0];

/// The first script of the page: the only one that is not a module.
const BEGIN: &str = "begin.js";

/// The bundle of all modules; generated, not a file of `viewer/`.
const JOINED: &str = "viewer.js";

/// Served at `/assets/` and, for the page, at `/assets/VERSION/`. List each new viewer file here.
pub const ASSETS: &[Asset] = &files! {
    "api.js" "app.js" "begin.js" "changes.js" "charts.js" "details.js" "dialogs.js" "diff.js" "dom.js"
    "format.js" "graph.js" "icon.svg" "keys.js" "list.js" "live.js" "memory.js" "parts.js" "projects.js"
    "prose.js" "route.js" "style.css" "theme.js" "view-board.js" "view-context.js" "view-jobs.js"
    "view-memories.js" "view-projects.js" "view-session.js" "view-sessions.js" "view-settings.js"
    "view-timeline.js" "view-usage.js" "views.css"
};

/// How long a browser may cache a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// Revalidate on each use.
    Asked,
    /// Cache for ever: the address contains the version.
    Forever,
}

/// The page as it is sent, with the digests of its inline scripts and styles.
pub struct Page {
    pub asset: Asset,
    pub scripts: String,
    pub styles: String,
}

/// Changes whenever a byte of any file changes.
pub fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let all: String = ASSETS.iter().chain([modules()]).map(Asset::tag).collect();
        hex(all.as_bytes())
    });
    &VERSION
}

/// The page with versioned asset addresses, so that a browser requests only files that changed.
pub fn page() -> &'static Page {
    static WRITTEN: LazyLock<Page> = LazyLock::new(|| Page::written(PAGE));
    &WRITTEN
}

/// The page of a refusal, with `{title}`, `{says}` and `{next}` to be filled in. Names no file: strangers get none.
pub fn refusal_page() -> &'static Page {
    static WRITTEN: LazyLock<Page> = LazyLock::new(|| Page::written(REFUSED));
    &WRITTEN
}

/// Inlines the files that tags refer to, and returns the text and their digests in CSP syntax.
fn written_in(mut text: String, before: &str, after: &str, tag: &str) -> (String, String) {
    let mut digests = String::new();
    while let Some((head, rest)) = text.split_once(before) {
        let Some((path, rest)) = rest.split_once(after) else { break };
        let inside = versioned(path.rsplit('/').next().and_then(asset).map_or("", text_of));
        digests += &format!(" 'sha256-{}'", BASE64_STANDARD.encode(digest(&SHA256, inside.as_bytes())));
        text = format!("{head}<{tag}>{inside}</{tag}>{rest}");
    }
    (text, digests)
}

/// Inserts the version into asset addresses.
fn versioned(text: &str) -> String {
    text.replace("\"/assets/", &format!("\"/assets/{}/", version()))
}

fn modules() -> &'static Asset {
    static MODULES: LazyLock<Asset> = LazyLock::new(|| {
        let modules = ASSETS.iter().filter(|asset| asset.name.ends_with(".js") && asset.name != BEGIN);
        let text = joined(modules.map(|asset| (asset.name, text_of(asset))), "app.js");
        Asset { name: JOINED, bytes: text.leak().as_bytes() }
    });
    &MODULES
}

pub fn asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().chain([modules()]).find(|asset| asset.name == name)
}

fn text_of(asset: &Asset) -> &'static str {
    std::str::from_utf8(asset.bytes).unwrap_or_default()
}

impl Page {
    fn written(template: Asset) -> Page {
        let text = versioned(text_of(&template));
        let (text, styles) = written_in(text, "<link rel=\"stylesheet\" href=\"", "\">", "style");
        let (text, scripts) = written_in(text, "<script src=\"", "\"></script>", "script");
        Page { asset: Asset { bytes: text.leak().as_bytes(), ..template }, scripts, styles }
    }

    pub fn text(&self) -> &'static str {
        text_of(&self.asset)
    }
}

impl Asset {
    pub fn media_type(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/octet-stream",
        }
    }

    /// The entity tag: changes whenever a byte of the file changes.
    pub fn tag(&self) -> String {
        format!("\"{}\"", hex(self.bytes))
    }
}

fn hex(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_a_type_that_browsers_take_and_no_line_runs_code() {
        for asset in ASSETS.iter().chain([&PAGE]) {
            assert_ne!(asset.media_type(), "application/octet-stream", "{}", asset.name);
        }
        let page = text_of(&PAGE);
        for inline in ["<style", " style=", " onclick=", " onload=", "javascript:"] {
            assert!(!page.contains(inline), "the policy forbids `{inline}`");
        }
        assert!(page.match_indices("<script").all(|(at, _)| {
            ["<script src=", "<script defer src="].iter().any(|tag| page[at..].starts_with(tag))
        }));
    }

    #[test]
    fn the_page_is_seen_before_anything_is_asked_for() {
        let page = page();
        let text = text_of(&page.asset);
        assert!(!text.contains("stylesheet") && !text.contains("<script src="), "{text}");
        assert_eq!((text.matches("</style>").count(), text.matches("</script>").count()), (2, 2));
        for (tag, digests) in [("style", &page.styles), ("script", &page.scripts)] {
            for inside in text.split(&format!("<{tag}>")).skip(1) {
                let inside = inside.split(&format!("</{tag}>")).next().unwrap();
                let digest = BASE64_STANDARD.encode(digest(&SHA256, inside.as_bytes()));
                assert!(digests.contains(&format!(" 'sha256-{digest}'")), "{tag} is not in {digests}");
            }
        }
    }

    /// The bundle contains every module, and each is written in the form that the bundler understands.
    #[test]
    fn every_module_is_joined_and_none_is_left_with_an_import() {
        let joined = text_of(modules());
        for line in joined.lines() {
            assert!(!line.starts_with("import ") && !line.starts_with("export "), "{line}");
            assert!(!line.contains("import("), "{line}");
        }
        let named = |line: &'static str| line.split("take(\"./").nth(1)?.split('"').next();
        for name in joined.lines().filter_map(named) {
            assert!(joined.contains(&format!("\n\"./{name}\"() {{\n")), "{name}");
        }
        assert!(joined.contains("./view-board.js"), "{joined}");
    }

    #[test]
    fn the_page_names_every_file_by_its_version() {
        let page = text_of(&page().asset);
        let named = page.matches("\"/assets/").count();
        assert!(named >= 1 && named == page.matches(&format!("\"/assets/{}/", version())).count(), "{page}");
    }

    #[test]
    fn every_file_of_the_viewer_is_in_the_list() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("viewer");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
        for name in files
            .map(|name| name.into_string().unwrap())
            .filter(|name| ![PAGE.name, REFUSED.name].contains(&name.as_str()))
        {
            assert!(asset(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn only_files_of_the_list_are_there() {
        assert!(asset("app.js").is_some());
        for name in ["", ".", "..", "../Cargo.toml", "..%2f", "index.html", "/etc/passwd"] {
            assert!(asset(name).is_none(), "{name}");
        }
    }
}
