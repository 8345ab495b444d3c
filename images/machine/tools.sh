#!/usr/bin/env bash
# Makes the machine's tools: PID 1, confine (which starts the kernel on the host), the flow replay, the sampler and the gauge, static; what daemons and programs are preloaded with. usage: tools.sh build|where
#
# The directory is also the machine's first root (read-only), so it holds the mount points that PID 1 needs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
# shellcheck source=images/machine/cache.sh
source "$here/cache.sh"

target=x86_64-unknown-linux-gnu
crates=(images/machine/init images/machine/confine traffic/replay probes/netlink probes/sampler probes/tcp-info probes/gauge)
daemons=$here/preload/daemons.c
verbs=$here/preload/verbs.c
program=("$here"/preload/{calls,charges,costs,disk,dscp}.c)
binaries=(init confine replay sampler gauge)

key() {
  local sources
  # Paths count too: a moved file is another program.
  mapfile -t sources < <(cd "$repository" && find Cargo.toml Cargo.lock "${crates[@]/%//Cargo.toml}" "${crates[@]/%//src}" -type f | LC_ALL=C sort)
  (cd "$repository" && cache_key "tools-2 $target ${sources[*]}" "$here/tools.sh" "$daemons" "$verbs" "${program[@]}" "$here"/preload/{costs,program}.h "${sources[@]}")
}

make_tools() {
  local binary target_directory=$repository/target/machine
  if ! command -v cargo >/dev/null; then
    echo "cargo is missing: make deps" >&2
    return 1
  fi
  (
    cd "$repository"
    CARGO_TARGET_DIR=$target_directory RUSTFLAGS="-C target-feature=+crt-static" \
      cargo build --quiet --release --locked --target "$target" -p fabriclab-init -p confine -p replay -p sampler -p gauge
  )
  for binary in "${binaries[@]}"; do
    strip -o "$1/$binary" "$target_directory/$target/release/$binary"
    chmod 755 "$1/$binary"
  done
  cc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$1/daemons.so" "$daemons"
  cc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$1/program.so" "${program[@]}"
  cc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$1/verbs.so" "$verbs"
  strip --strip-unneeded "$1"/{daemons,program,verbs}.so
  printf 'Compilers: %s; gcc %s\n' "$(rustc --version)" "$(cc -dumpfullversion)" >"$1/version"
  mkdir "$1"/{dev,proc,sys,run,tmp,rootfs,job,tools,root}
}

case ${1:-} in
  build)
    key=$(key)
    cache_make tools "$key" make_tools
    ;;
  where)
    key=$(key)
    cache_find tools "$key"
    ;;
  *)
    echo "usage: tools.sh build|where" >&2
    exit 2
    ;;
esac
