//! Packages of a source other than the usual one: options, settings, mirrors and plain addresses.
//!
//! Needs an address: the mere name of an option says nothing.

use super::super::action::{Action, Side, foreign_addresses, host_after, is_well_known, within_sentence};
use super::super::words::{Plain, Words};
use crate::text::{clip, clip_start};
use std::ops::Range;

pub(super) fn foreign_packages(plain: Plain<'_>) -> Vec<Action> {
    const SOURCES: Words = Words(
        "--index-url|--extra-index-url|-i http|--index|--registry|set registry|registry=*|registry =|\
        pip_index_url*|pip_extra_index_url*|npm_config_registry*|--find-links|-f http|goproxy*|gem sources|\
        source add|--source http|npmregistryserver|[registries*|[source.*|add-apt-repository|deb http|\
        deb https|deb [*|apt-key|--repository|config set index|global.index-url*|mirror|mirrors|miroir*|\
        espejo*|espelho*|specchio*|spiegel*|зеркал*|镜像|ミラー|미러",
    );
    let is_foreign =
        |at: &Range<usize>| host_after(plain.text, at.end, 80).is_some_and(|host| !is_well_known(host));
    let about_packages = |at: &Range<usize>| {
        let near = clip(&plain[at.start - clip_start(&plain[..at.start], 100).len()..], 300);
        PACKAGES.is_in(near)
    };
    let found = SOURCES.find_in(plain).filter(is_foreign).filter(about_packages);
    found.map(Action::at).chain(installs_from_address(plain.text)).collect()
}

/// `Install … from http://…`: an installer and a plain address in one sentence.
fn installs_from_address(plain: &str) -> Vec<Action> {
    let is_install = |address: &Range<usize>| {
        let before = within_sentence(clip_start(&plain[..address.start], 100), Side::Before);
        let after = within_sentence(clip(&plain[address.end..], 60), Side::After);
        let path = &plain[address.clone()];
        let is_forge = ["github.com/", "gitlab.com/", "codeberg.org/"].iter().any(|host| path.contains(host));
        let is_plain = path.starts_with("http://") || before.contains("--git ") && !is_forge;
        let is_mirror = MIRRORS.is_in(after) && PACKAGES.is_in(after);
        is_plain
            && (is_mirror || INSTALL.is_in(before) && (INSTALLERS.is_in(before) || INSTALLERS.is_in(after)))
    };
    foreign_addresses(plain).filter(is_install).map(Action::at).collect()
}

const INSTALL: Words = Words(
    "install|installiere*|installe*|instala*|instale*|installa*|установ*|устанавлив*|安装|インストール|설치|\
    config mirror*",
);

const MIRRORS: Words =
    Words("mirror|mirrors|miroir*|espejo*|espelho*|specchio*|spiegel*|зеркал*|镜像|ミラー|미러");

const INSTALLERS: Words = Words("pip|pip3|npm|pnpm|yarn|cargo|gem|bundle|go|apt|brew|uv|poetry|composer");

const PACKAGES: Words = Words(
    "pip|pip3|uv|poetry|npm|pnpm|yarn|bun|cargo|crates-io|crate*|gem|go get|go mod|goproxy*|apt|apt-get|\
    install|install*|package*|dependenc*|paket*|paquet*|paquete*|pacote*|pacchett*|dipendenz*|abhangig*|\
    пакет*|зависимост*|依赖|包|パッケージ|依存|패키지|의존성",
);
