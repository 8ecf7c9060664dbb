#!/usr/bin/env bash
# Builds the release, puts `tow` on the PATH, registers its hooks with the agents it finds, and checks the result.
# Safe to run twice: the second run upgrades in place.
#
# TOWLINE_BIN   folder for the binary (default: ~/.local/bin)
set -euo pipefail
caller="$PWD"
cd "$(dirname "$0")"

say() { printf '%s\n' "install.sh: $*"; }
fail() { printf '%s\n' "install.sh: $*" >&2; exit 1; }

check_tools() {
  command -v cargo >/dev/null || fail "missing: cargo. Install a Rust toolchain (https://rustup.rs), then run this again."
  command -v cc >/dev/null || get_packages gcc libc6-dev
  command -v cc >/dev/null || fail "missing: a C compiler. Install one (Debian: apt-get install gcc libc6-dev), then run this again."
}

# Tries to install; whether it worked is seen by looking again.
get_packages() {
  if command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; } >&2 || true
  fi
}

has_target() {
  [ -d "$(rustc --print target-libdir --target "$1" 2>/dev/null)" ]
}

get_static_tools() {
  has_target "$1" || { command -v rustup >/dev/null && rustup target add "$1" >&2; } || true
  command -v musl-gcc >/dev/null || get_packages musl-tools
}

# Prints the target to build for. A static binary starts fastest; one for this host works as well.
chosen_target() {
  local static host
  static="$(uname -m)-unknown-linux-musl"
  host="$(rustc -vV | sed -n 's/^host: //p')"
  if [ "$static" = x86_64-unknown-linux-musl ] && [ "$(uname -s)" = Linux ]; then
    get_static_tools "$static"
    if has_target "$static" && command -v musl-gcc >/dev/null; then
      printf '%s\n' "$static"
      return
    fi
    say "no static build: it needs \`rustup target add $static\` and musl-tools (Debian: apt-get install musl-tools)." >&2
    say "Building for $host instead: hooks will start a little slower." >&2
  fi
  printf '%s\n' "$host"
}

# Replaces the binary in one step: a hook that starts meanwhile sees the old one or the new one.
put() {
  local new="$bin/.tow.new.$$"
  mkdir -p "$bin"
  cp "$1" "$new"
  chmod 755 "$new"
  mv -f "$new" "$bin/tow"
  say "installed $bin/tow"
}

tell_about_path() {
  case ":$PATH:" in
    *":$bin:"*) ;;
    *) say "$bin is not on your PATH. Add this line to your shell's start-up file:"
       # The line is for the user's shell, which expands PATH.
       # shellcheck disable=SC2016
       printf '  export PATH="%s:$PATH"\n' "$bin" ;;
  esac
}

check_tools
bin="${TOWLINE_BIN:-${HOME:?HOME is not set: say where to install with TOWLINE_BIN}/.local/bin}"
case "$bin" in /*) ;; *) bin="$caller/$bin" ;; esac
target="$(chosen_target)"
say "building for $target"
cargo build --locked --release --package tow --target "$target"
put "${CARGO_TARGET_DIR:-target}/$target/release/tow"
tell_about_path

# The hooks and the checks must find the binary that was just installed.
export PATH="$bin:$PATH"
"$bin/tow" install
status=0
"$bin/tow" doctor || status=$?
if [ "$status" -ne 0 ]; then
  say "warning: \`tow doctor\` ended with $status. What it lists above is worth mending; towline itself is installed."
fi
