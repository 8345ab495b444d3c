#!/usr/bin/env bash
# Makes a layer of the root file system: FRR, built from a source that the user gives.
# usage: frr.sh build ROOTFS VERSION SHA256 SOURCE
#
# SOURCE is an archive of FRR's source, or its directory; SHA256 is the hash of what it has. It is compiled by Debian's
# packages of the root file system's release, in namespaces in which nothing else of the host is there (frr-source).
# Beside the layer's root directory lie `packages`, the version, and `size`, how many bytes it has. A link
# <cache>/frr/<root file system>/<version> leads to the layer.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=images/machine/cache.sh
source "$here/cache.sh"
# shellcheck source=images/machine/progress.sh
source "$here/progress.sh"

# What FRR's configure and its build ask for (FRR's developer's guide, "Building FRR"), but for documentation and SNMP.
needed=(
  autoconf automake bison bzip2 cpp diffutils findutils flex gcc gzip libc-ares-dev libc6-dev libcap-dev libcrypt-dev
  libelf-dev libjson-c-dev libpam0g-dev libpcre2-dev libprotobuf-c-dev libreadline-dev libtool libyang-dev make perl
  pkgconf protobuf-c-compiler python3-dev tar xz-utils
)
# Files that are compiled of FRR 10.5.
usual_files=850

key() {
  cache_key "frr-1 $(basename "$(dirname "$rootfs")") $(basename "${builder%/root}") $version $sha256" \
    "$here/frr.sh" "$here"/frr-source/{outside,inside}.sh
}

# at_step SECONDS: what the build is at, and how long it will still take, if it can tell.
at_step() {
  local step count began left=''
  step=$(cat "$work/given/step" 2>/dev/null || echo 'unpacking the source')
  if [ "$step" = compiling ]; then
    count=$(grep -c '^  CC ' "$work/log" || true)
    if [ "$count" -gt 40 ] && [ "$count" -lt "$usual_files" ]; then
      began=$(stat -c %Y "$work/given/step")
      left=$((($(date +%s) - began) * (usual_files - count) / count))
    fi
    step="compiling, $count of about $usual_files files"
  fi
  printf '%s%s\n' "$step" "${left:+$'\t'$left}"
}

# compile: in namespaces; nothing of it outlives us. What it says goes to the log.
compile() {
  setpriv --pdeathsig KILL -- unshare --user --map-root-user --mount --net --ipc --uts --pid --fork --kill-child \
    nice bash "$here/frr-source/outside.sh" "$rootfs" "$builder" "$source" "$work" "$(nproc)" >"$work/log" 2>&1 </dev/null
}

# failed: which step failed, why, and where the log is.
failed() {
  local step log
  step=$(cat "$work/given/step" 2>/dev/null || echo starting)
  log=$(cache_root)/frr/$version.log
  mkdir -p "${log%/*}"
  cp "$work/log" "$log"
  if [ ! -f "$work/given/step" ]; then
    echo "the namespaces in which FRR is built can't be made: this host must allow user namespaces, and overlays in them (Linux 5.11)" >&2
  fi
  tail -n 12 "$work/log" >&2
  if grep -qE 'libyang.* (required|not found)' "$work/log"; then
    echo "the virtual machine's Debian has libyang $(sed -n 's/^libyang-dev_\([^_]*\)_.*/\1/p' "${builder%/root}/packages"), which this FRR can't use" >&2
  fi
  echo "FRR $version was not built: it failed while $step; all that was said is in $log" >&2
}

make_layer() {
  work=$1/work
  mkdir -p "$work/given" "$work/root"
  if ! progress "FRR $version" at_step compile; then
    failed
    return 1
  fi
  mv "$work/given/out" "$1/root"
  rm -rf "$work"
  printf 'frr_%s_source\n' "$version" >"$1/packages"
  printf '%s  frr_%s_source\n' "$sha256" "$version" >"$1/SHA256SUMS"
  du -sb "$1/root" | cut -f1 >"$1/size"
}

# name_it LAYER: by its version, for this root file system.
name_it() {
  local place
  place=$(cache_root)/frr/$(basename "$(dirname "$rootfs")")
  mkdir -p "$place"
  ln -sfn "../../layers/${1##*/}" "$place/.$version.$$"
  mv -T "$place/.$version.$$" "$place/$version"
}

if [ $# != 5 ] || [ "$1" != build ]; then
  echo "usage: frr.sh build ROOTFS VERSION SHA256 SOURCE" >&2
  exit 2
fi
rootfs=$2 version=$3 sha256=$4 source=$5
echo "the compiler and the libraries that FRR needs are Debian's; they are fetched once (400 MB)" >&2
builder=$("$here/layer.sh" build "$rootfs" "${needed[@]}")/root
key=$(key)
layer=$(cache_make layers "$key" make_layer)
name_it "$layer"
printf '%s\n' "$layer"
