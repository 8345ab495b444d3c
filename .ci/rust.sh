# shellcheck shell=bash
# Where a Rust is that is new enough, sourced by what looks for one. Cargo.toml's rust-version is the owner of how new
# that is.

rust_needed() { sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../Cargo.toml"; }

# at_least VERSION WANTED
at_least() { [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# rust_version: that of the first rustc of PATH; nothing where there is none, or where it does not run: rustup's stand
# there without a toolchain, too.
rust_version() { if rustc --version >/dev/null 2>&1; then rustc --version | cut -d' ' -f2; fi; }

# rust_directory: Ubuntu has newer Rusts beside its own, whose programs lie in a directory each: the newest, where
# PATH's is too old.
rust_directory() {
  local directory found version
  version=$(rust_version)
  if [ -n "$version" ] && at_least "$version" "$(rust_needed)"; then return; fi
  for directory in "${RUST_DIRECTORIES:-/usr/lib}"/rust-[0-9]*/bin; do
    version=${directory%/bin}
    version=${version##*/rust-}
    if [ -x "$directory/cargo" ] && at_least "$version" "$(rust_needed)"; then found+=$version:$directory$'\n'; fi
  done
  sort -V <<<"${found:-}" | tail -n 1 | cut -d: -f2-
}
