#!/usr/bin/env bash
# Makes a layer of the root file system: Debian packages that a lab names, and what they need that the root file system
# has not. usage: layer.sh build|where ROOTFS PACKAGE...
#
# Packages come from where those of the root file system came from (mirror.sh) and are unpacked as those are
# (rootfs.sh): no maintainer script runs. Beside the root directory lie `packages`, the versions that it was made of,
# `SHA256SUMS`, the hashes of their files, and `size`, how many bytes it has.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=images/machine/cache.sh
source "$here/cache.sh"
# shellcheck source=images/machine/mirror.sh
source "$here/mirror.sh"
# shellcheck source=images/machine/layers.sh
source "$here/layers.sh"

suite=trixie

# key: a layer lies over one root file system only, which may have what another lacks.
key() { cache_key "layer-1 $suite $(basename "$(dirname "$rootfs")") ${packages[*]}" "$here/layer.sh"; }

# as_installed: the packages of the root file system, as dpkg would have noted them, so that apt leaves them out. Of a
# version that the archive no longer has, the newest one's fields: they say what it provides.
as_installed() {
  local listing=${rootfs%/*}/packages
  sed 's/_.*//' "$listing" | xargs apt-cache -c "$1/apt.conf" show --no-all-versions 2>/dev/null |
    awk -v listing="$listing" '
      BEGIN {
        while ((getline line <listing) > 0) { split(line, part, "_"); gsub(/%3a/, ":", part[2]); version[part[1]] = part[2] }
      }
      /^Package:/ { name = $2 }
      /^Version:/ { print "Version: " version[name] "\nStatus: install ok installed"; next }
      # What the root file system lacks of these it has done without so far.
      /^(Depends|Pre-Depends|Filename|Size|SHA256|MD5sum):/ { next }
      { print }' || true
}

# download DIR: the packages, and those that they need, into DIR/cache/archives.
download() {
  apt_isolated "$1" "$suite"
  apt_transport >>"$1/apt.conf"
  apt-get -c "$1/apt.conf" -qq update
  as_installed "$1" >"$1/installed"
  mv "$1/installed" "$1/status"
  apt-get -c "$1/apt.conf" -qq --yes --download-only --no-install-recommends install "${packages[@]}"
}

# unpack ARCHIVES ROOT: what lies in a directory that is a link in the root file system must go where that leads.
unpack() {
  local archive link
  for link in bin sbin lib lib64 var/run var/lock; do
    if [ -L "$rootfs/$link" ]; then
      mkdir -p "$2/$(dirname "$link")"
      cp -d "$rootfs/$link" "$2/$link"
    fi
  done
  for archive in "$1"/*.deb; do
    dpkg-deb --fsys-tarfile "$archive" | tar -x -C "$2" --keep-directory-symlink --no-same-owner
  done
  rm -f "$2"/{bin,sbin,lib,lib64,var/run,var/lock} 2>/dev/null || true
}

# programs ROOT: the links in /usr/bin that update-alternatives would have made, for Java.
programs() {
  local program
  for program in "$1"/usr/lib/jvm/java-*/bin/*; do
    if [ -x "$program" ]; then ln -sfn "${program#"$1"}" "$1/usr/bin/${program##*/}"; fi
  done
}

remove_unneeded() {
  rm -rf "${1:?}"/usr/share/{doc,man,info,locale,lintian,bug,doc-base,metainfo,menu,pixmaps,icons,zsh,bash-completion} \
    "$1"/usr/lib/systemd "$1"/etc/{init.d,systemd,cron.d,logrotate.d}
}

# linker_cache ROOT DIR: of the libraries of both together, as the node will see them.
linker_cache() {
  local ldconfig
  mkdir -p "$2/etc" "$1/etc"
  cp -al "$rootfs/usr" "$2/usr" 2>/dev/null || cp -a "$rootfs/usr" "$2/usr"
  cp -a "$rootfs"/etc/ld.so.conf* "$2/etc/"
  cp -d "$rootfs"/lib* "$2/"
  cp -al --remove-destination "$1/usr/." "$2/usr/" 2>/dev/null || cp -a --remove-destination "$1/usr/." "$2/usr/"
  if [ -d "$1/etc/ld.so.conf.d" ]; then cp -a "$1/etc/ld.so.conf.d/." "$2/etc/ld.so.conf.d/"; fi
  ldconfig=$(PATH=$PATH:/usr/sbin:/sbin command -v ldconfig)
  "$ldconfig" -r "$2"
  cp "$2/etc/ld.so.cache" "$1/etc/ld.so.cache"
}

make_layer() {
  local archive start=$SECONDS
  say "unpacking Debian's ${packages[*]} over the machine's root file system (about a minute); it stays in $(cache_root)"
  mkdir "$1/root"
  download "$1/apt"
  unpack "$1/apt/cache/archives" "$1/root"
  for archive in "$1"/apt/cache/archives/*.deb; do basename "$archive" .deb; done >"$1/packages"
  (cd "$1/apt/cache/archives" && sha256sum -- *.deb) >"$1/SHA256SUMS"
  rm -rf "$1/apt"
  programs "$1/root"
  remove_unneeded "$1/root"
  linker_cache "$1/root" "$1/union"
  rm -rf "$1/union"
  du -sb "$1/root" | cut -f1 >"$1/size"
  say "done in $((SECONDS - start)) s: $(wc -l <"$1/packages") packages, $(du -sm "$1/root" | cut -f1) MB"
}

asked "layer.sh build|where ROOTFS PACKAGE..." 3 "$@"
rootfs=$2
mapfile -t packages < <(printf '%s\n' "${@:3}" | sort -u)
key=$(key)
answer "$1" "$key"
