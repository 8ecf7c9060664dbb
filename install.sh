#!/usr/bin/env bash
# Installs `tow` from a prebuilt archive, or builds it from source if there is none; then registers its hooks with the
# agents it finds, and checks the result. Safe to run twice: the second run upgrades in place.
#
#   ./install.sh [--yes] [--build] [ARCHIVE]
#
#   ARCHIVE      a towline-VERSION-TARGET.tar.gz: a file, or a URL with SHA256SUMS beside it
#   --yes        install missing system packages without asking
#   --build      build from source, even if there is an archive
#
# TOWLINE_ARCHIVE   the same as ARCHIVE
# TOWLINE_BIN       folder for the binary (default: ~/.local/bin)
set -euo pipefail
caller="$PWD"
here="$(cd "$(dirname "$0")" && pwd)"
work=""
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

say() { printf '%s\n' "install.sh: $*"; }
fail() { printf '%s\n' "install.sh: $*" >&2; exit 1; }

# --- what to install -----------------------------------------------------------------------------------------------

# The target of this machine's prebuilt archive; empty if there is none.
machine_target() {
  case "$(uname -s) $(uname -m)" in
    "Linux x86_64") echo x86_64-unknown-linux-musl ;;
    "Linux aarch64" | "Linux arm64") echo aarch64-unknown-linux-musl ;;
    "Darwin arm64") echo aarch64-apple-darwin ;;
    "Darwin x86_64") echo x86_64-apple-darwin ;;
  esac
}

# The newest archive for this machine beside this script, or where `cargo xtask release` puts it.
nearby_archive() {
  local name
  name="towline-*-$(machine_target).tar.gz"
  # The names are ours and hold no blanks.
  # shellcheck disable=SC2012,SC2086
  ls -t "$here"/$name "$here"/target/dist/$name 2>/dev/null | head -n 1 || true
}

# Sets `source` to a URL, an archive, the folder of an unpacked one, or `build`.
find_source() {
  if [ -n "$build" ]; then
    source=build
  elif [ -n "$archive" ]; then
    source="$archive"
  elif [ -x "$here/tow" ] && [ ! -f "$here/Cargo.toml" ]; then
    source="$here"
  else
    source="$(nearby_archive)"
    source="${source:-build}"
  fi
  [ "$source" != build ] || [ -f "$here/Cargo.toml" ] || fail \
    "there is neither an archive nor the source here. Say where one is: TOWLINE_ARCHIVE=FILE|URL ./install.sh"
}

say_plan() {
  say "this will"
  if [ "$source" = build ]; then
    say "  build tow from source for $target (some minutes), because there is no prebuilt archive"
    [ "${#packages[@]}" -eq 0 ] || say "  install system packages: ${packages[*]}"
    [ -z "$add_target" ] || say "  run rustup target add $add_target"
  else
    say "  take tow from $source"
  fi
  say "  install it as $bin/tow"
  say "  register hooks, skills and tools with the agents it finds (\`tow uninstall\` takes them out again)"
}

# --- from an archive -----------------------------------------------------------------------------------------------

fetch() {
  if command -v curl >/dev/null; then
    curl -fsSL --retry 2 -o "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1"
  else
    fail "missing: curl or wget. Download $1 yourself and name the file: ./install.sh FILE"
  fi
}

sum_of() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Compares an archive with the list of checksums beside it.
check_sum() {
  local file="$1" sums="$2" name="${1##*/}" wanted
  wanted="$(sed -n "s/^\([0-9a-f]*\)  $name\$/\1/p" "$sums")"
  [ -n "$wanted" ] || fail "$sums does not name $name: nothing was installed."
  [ "$(sum_of "$file")" = "$wanted" ] || fail "the checksum of $name is not that of $sums: nothing was installed. Download it again."
}

# Prints the folder with the unpacked archive.
unpack() {
  local file="$source"
  [ -f "$source/tow" ] && { printf '%s\n' "$source"; return; }
  case "$source" in
    *://*)
      file="$work/${source##*/}"
      fetch "$source" "$file" || fail "could not download $source: nothing was installed."
      fetch "${source%/*}/SHA256SUMS" "$work/SHA256SUMS" || fail "no ${source%/*}/SHA256SUMS to check it with: nothing was installed."
      check_sum "$file" "$work/SHA256SUMS" ;;
    *)
      [ -f "$file" ] || fail "there is no archive $file."
      if [ -f "$(dirname "$file")/SHA256SUMS" ]; then check_sum "$file" "$(dirname "$file")/SHA256SUMS"; fi ;;
  esac
  tar -xzf "$file" -C "$work" || fail "$file is no archive of tow: nothing was installed."
  printf '%s\n' "$work"/towline-*/
}

# --- from source ---------------------------------------------------------------------------------------------------

has_target() {
  [ -d "$(rustc --print target-libdir --target "$1" 2>/dev/null)" ]
}

# Sets `target`, `packages` and `add_target`. A static binary starts fastest; one for this host works as well.
plan_build() {
  command -v cargo >/dev/null || fail "missing: cargo. Install a Rust toolchain (https://rustup.rs), then run this again."
  local static
  static="$(machine_target)"
  target="$(rustc -vV | sed -n 's/^host: //p')"
  command -v cc >/dev/null || packages+=(gcc libc6-dev)
  case "$static" in
    *-linux-musl)
      command -v musl-gcc >/dev/null || packages+=(musl-tools)
      has_target "$static" || ! command -v rustup >/dev/null || add_target="$static"
      target="$static" ;;
  esac
}

# Installs the missing packages, if the user agrees: whether it worked is seen by looking again.
get_packages() {
  [ "${#packages[@]}" -gt 0 ] || return 0
  local agreed="$yes" sudo=()
  if [ -z "$agreed" ] && [ -t 0 ]; then
    read -r -p "install.sh: install ${packages[*]} with apt-get? [y/N] " agreed
    case "$agreed" in [yY]*) ;; *) agreed="" ;; esac
  fi
  if [ -z "$agreed" ] || ! command -v apt-get >/dev/null; then
    say "not installing ${packages[*]}: agree with --yes, or install them yourself."
    return 0
  fi
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  { "${sudo[@]}" apt-get update -qq && "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}"; } >&2 || true
}

# Falls back to a binary for this host where a static one cannot be built.
settle_target() {
  [ -z "$add_target" ] || rustup target add "$add_target" >&2 || true
  command -v cc >/dev/null || fail "missing: a C compiler. Install one (Debian: apt-get install gcc libc6-dev), then run this again."
  case "$target" in
    *-linux-musl)
      if ! has_target "$target" || ! command -v musl-gcc >/dev/null; then
        target="$(rustc -vV | sed -n 's/^host: //p')"
        say "no static build without musl-tools and its Rust target: building for $target. Hooks will start a little slower."
      fi ;;
  esac
}

# One line that counts, instead of cargo's output, which is shown if the build fails.
build_it() {
  local log="$work/build.log" line
  say "building for $target …"
  (cd "$here" && CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=60 \
    cargo build --locked --release --package tow --target "$target" 2>&1; echo $? >"$work/status") | tee "$log" |
    while IFS= read -r -d $'\r' line; do
      case "$line" in
        *"] "*/*:*) [ ! -t 1 ] || { line="${line##*] }"; printf '\rinstall.sh: %s crates ' "${line%%:*}"; } ;;
      esac
    done || true
  [ ! -t 1 ] || printf '\r\033[K'
  [ "$(cat "$work/status")" = 0 ] || { tail -n 40 "$log" >&2; fail "the build failed; the lines above say why."; }
}

# --- steps ---------------------------------------------------------------------------------------------------------

# Replaces the binary in one step: a hook that starts meanwhile sees the old one or the new one.
put() {
  local new="$bin/.tow.new.$$"
  "$1" --version >/dev/null 2>&1 || fail "$1 does not run on this machine ($(uname -sm)): nothing was installed."
  mkdir -p "$bin"
  cp "$1" "$new"
  chmod 755 "$new"
  mv -f "$new" "$bin/tow"
  say "installed $bin/tow: $("$bin/tow" --version)"
}

tell_about_path() {
  case ":$PATH:" in
    *":$bin:"*) ;;
    *) say "$bin is not on your PATH. Run this line, and add it to your shell's start-up file:"
       # The line is for the user's shell, which expands PATH.
       # shellcheck disable=SC2016
       printf '  export PATH="%s:$PATH"\n' "${bin/#"${HOME:-/}"\//\$HOME/}" ;;
  esac
}

yes="" build="" archive="${TOWLINE_ARCHIVE:-}" source="" target="" add_target="" packages=()
for argument in "$@"; do
  case "$argument" in
    --yes) yes=1 ;;
    --build) build=1 ;;
    -h | --help) sed -n '2,/^set /{s/^# \{0,1\}//;/^set /d;p;}' "$0"; exit 0 ;;
    -*) fail "unknown option $argument. See ./install.sh --help" ;;
    *) archive="$argument" ;;
  esac
done
case "$archive" in "" | /* | *://*) ;; *) archive="$caller/$archive" ;; esac
bin="${TOWLINE_BIN:-${HOME:?HOME is not set: say where to install with TOWLINE_BIN}/.local/bin}"
case "$bin" in /*) ;; *) bin="$caller/$bin" ;; esac
work="$(mktemp -d)"

find_source
[ "$source" != build ] || plan_build
say_plan
if [ "$source" = build ]; then
  get_packages
  settle_target
  build_it
  built="${CARGO_TARGET_DIR:-$here/target}/$target/release/tow"
else
  built="$(unpack)"
  built="${built%/}/tow"
fi
put "$built"
tell_about_path

# The hooks and the checks must find the binary that was just installed.
export PATH="$bin:$PATH"
"$bin/tow" install
status=0
# Only what needs attention: a newcomer has no use for thirty lines that say ok.
"$bin/tow" doctor | awk '/^ok /{ok=1} /^[^ o]/{ok=0} !ok' || status=$?
if [ "$status" -ne 0 ]; then
  say "warning: \`tow doctor\` ended with $status. What it lists above is worth fixing; towline itself is installed."
fi
say "done in $SECONDS s. Next: $bin/tow setup asks about tmux, notifications, completions and your past sessions."
