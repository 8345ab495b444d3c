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
  libelf-dev libjson-c-dev libpam0g-dev libprotobuf-c-dev libreadline-dev libtool libyang-dev make perl
  pkgconf protobuf-c-compiler python3-dev tar xz-utils
)
# Files that are compiled of FRR 10.5.
usual_files=850

key() {
  cache_key "frr-1 $(basename "$(dirname "$rootfs")") $(basename "${builder%/root}") $version $sha256" \
    "$here/frr.sh" "$here"/frr-source/{outside,inside}.sh
}

# logged: the steps of the build so far, each with the second in which it began. What the source's scripts say is in the
# log, too: nothing but words and a number is taken from it.
logged() { sed -nE 's/^== ([a-z ]{1,40}) @([0-9]{10})$/\1@\2/p' "$work/log" 2>/dev/null || true; }

# at_step SECONDS: what the build is at, and how long it will still take, if it can tell.
at_step() {
  local step count left=''
  step=$(logged | tail -n 1)
  if [[ $step == compiling@* ]]; then
    count=$(grep -c '^  CC ' "$work/log" || true)
    if [ "$count" -gt 40 ] && [ "$count" -lt "$usual_files" ]; then
      left=$((($(date +%s) - ${step#*@}) * (usual_files - count) / count))
    fi
    step="compiling, $count of about $usual_files files@"
  fi
  step=${step%@*}
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
  step=$(logged | tail -n 1)
  log=$(cache_root)/frr/$version.log
  mkdir -p "${log%/*}"
  cp "$work/log" "$log"
  if [ -z "$step" ]; then
    echo "the namespaces in which FRR is built can't be made: this host must allow user namespaces, and overlays in them (Linux 5.11)" >&2
  fi
  # Somebody else's words: none of them may command the terminal.
  tail -n 12 "$work/log" | LC_ALL=C tr -cd '[:print:]\n' >&2
  if grep -qE 'libyang.* (required|not found)' "$work/log"; then
    echo "the virtual machine's Debian has libyang $(sed -n 's/^libyang-dev_\([^_]*\)_.*/\1/p' "${builder%/root}/packages"), which this FRR can't use" >&2
  fi
  echo "FRR $version was not built: it failed while ${step%@*}; all that was said is in $log" >&2
}

# bring_libraries ROOT: those that the root file system lacks, as Debian has them, where all programs look.
bring_libraries() {
  local name libraries=usr/lib/x86_64-linux-gnu
  while read -r name; do
    # Somebody else's word, which is to be no path and no command to a terminal.
    if [[ ! $name =~ ^[A-Za-z0-9][A-Za-z0-9._+-]*$ ]] || [ -e "$rootfs/$libraries/$name" ] || [ -e "$1/$libraries/frr/$name" ]; then continue; fi
    if [ ! -f "$builder/$libraries/$name" ]; then
      echo "FRR $version was not built: it needs the library $name, which neither it nor Debian's packages have" >&2
      return 1
    fi
    mkdir -p "$1/$libraries"
    cp -L "$builder/$libraries/$name" "$1/$libraries/$name"
  done <"$work/given/needed"
}

make_layer() {
  local status=0
  work=$1/work
  mkdir -p "$work/given" "$work/root"
  progress "FRR $version" at_step compile || status=$?
  if [ "$status" != 0 ]; then
    # Interrupted: nobody asks why.
    if [ "$status" != 130 ]; then failed; fi
    chmod -R u+rwX "$work"
    return 1
  fi
  if [ -L "$work/given/out" ] || [ ! -d "$work/given/out" ] ||
    [ -L "$work/given/needed" ] || [ ! -f "$work/given/needed" ]; then
    echo "FRR $version was not built: its build scripts have put something else where it is installed" >&2
    return 1
  fi
  mv "$work/given/out" "$1/root"
  bring_libraries "$1/root"
  chmod -R u+rwX "$work"
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
echo "the compiler and the libraries that FRR needs are Debian's; they are fetched once (375 MB)" >&2
builder=$("$here/layer.sh" build "$rootfs" "${needed[@]}")/root
key=$(key)
layer=$(cache_make layers "$key" make_layer)
name_it "$layer"
printf '%s\n' "$layer"
