//! The viewer's files, compiled in.
//!
//! Nothing is read from a disk: what is not in this list is not there, whatever a path says.

use ring::digest::{SHA256, digest};
use std::sync::LazyLock;

/// One file of the viewer.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    pub name: &'static str,
    pub bytes: &'static [u8],
}

/// A file in `viewer/`, by its name.
macro_rules! file {
    ($name:literal) => {
        Asset { name: $name, bytes: include_bytes!(concat!("../viewer/", $name)) }
    };
}

/// What is served for `/`, but for the version of its files.
const PAGE: Asset = file!("index.html");

/// Served below `/assets/`, and below `/assets/VERSION/` for the page. A new file of the viewer is a new line here.
pub const ASSETS: &[Asset] = &[
    file!("api.js"),
    file!("app.js"),
    file!("changes.js"),
    file!("charts.js"),
    file!("details.js"),
    file!("dialogs.js"),
    file!("diff.js"),
    file!("dom.js"),
    file!("format.js"),
    file!("graph.js"),
    file!("icon.svg"),
    file!("keys.js"),
    file!("list.js"),
    file!("live.js"),
    file!("memory.js"),
    file!("parts.js"),
    file!("projects.js"),
    file!("prose.js"),
    file!("route.js"),
    file!("style.css"),
    file!("theme.js"),
    file!("view-board.js"),
    file!("view-context.js"),
    file!("view-jobs.js"),
    file!("view-memories.js"),
    file!("view-projects.js"),
    file!("view-session.js"),
    file!("view-sessions.js"),
    file!("view-settings.js"),
    file!("view-timeline.js"),
    file!("view-usage.js"),
    file!("views.css"),
];

/// How long a browser may take a file for what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// It asks each time.
    Asked,
    /// The address changes with the file.
    Forever,
}

/// Another one whenever a byte of any file is another.
pub fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let all: String = ASSETS.iter().map(Asset::tag).collect();
        hex(all.as_bytes())
    });
    &VERSION
}

/// The page, which names its files by their version: a browser that has them asks for none of them.
pub fn page() -> &'static Asset {
    static VERSIONED: LazyLock<Asset> = LazyLock::new(|| {
        let text =
            String::from_utf8_lossy(PAGE.bytes).replace("\"/assets/", &format!("\"/assets/{}/", version()));
        Asset { bytes: text.leak().as_bytes(), ..PAGE }
    });
    &VERSIONED
}

pub fn asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

impl Asset {
    pub fn media_type(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js" | "mjs") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            Some("woff2") => "font/woff2",
            Some("json" | "webmanifest") => "application/json",
            _ => "application/octet-stream",
        }
    }

    /// Another one whenever a byte is another.
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
        let page = std::str::from_utf8(PAGE.bytes).unwrap();
        for inline in ["<style", " style=", " onclick=", " onload=", "javascript:"] {
            assert!(!page.contains(inline), "the policy forbids `{inline}`");
        }
        assert!(page.match_indices("<script").all(|(at, _)| page[at..].starts_with("<script src=")
            || page[at..].starts_with("<script type=\"module\" src=")));
    }

    /// What a module needs before it can run.
    fn imports(name: &str) -> Vec<&'static str> {
        let text = std::str::from_utf8(asset(name).unwrap().bytes).unwrap();
        let named = text.split(" from \"./").skip(1);
        named.filter_map(|rest| rest.split('"').next()).collect()
    }

    #[test]
    fn the_page_asks_at_once_for_all_that_the_first_view_waits_for() {
        let page = std::str::from_utf8(PAGE.bytes).unwrap();
        let mut needed = imports("app.js");
        let mut next = 0;
        while let Some(name) = needed.get(next).copied() {
            let new: Vec<_> = imports(name).into_iter().filter(|name| !needed.contains(name)).collect();
            needed.extend(new);
            next += 1;
        }
        for name in &needed {
            let link = format!("<link rel=\"modulepreload\" href=\"/assets/{name}\">");
            assert!(page.contains(&link), "one import after the other is a wait after the other: {link}");
        }
        assert_eq!(page.matches("modulepreload").count(), needed.len());
    }

    #[test]
    fn the_page_names_every_file_by_its_version() {
        let page = std::str::from_utf8(page().bytes).unwrap();
        let named = page.matches("\"/assets/").count();
        assert!(named > 10 && named == page.matches(&format!("\"/assets/{}/", version())).count(), "{page}");
    }

    #[test]
    fn every_file_of_the_viewer_is_in_the_list() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("viewer");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
        for name in files.map(|name| name.into_string().unwrap()).filter(|name| name != PAGE.name) {
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
