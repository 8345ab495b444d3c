#!/usr/bin/env bash
# Makes the machine's root file system: Debian trixie's packages of packages.txt, unpacked. usage: rootfs.sh build|where [full|small]
#
# Any user can do this, without user namespaces or fakeroot: packages are unpacked (mmdebstrap's chrootless mode, variant extract) and
# no maintainer script runs, so nothing needs to be root. What a node needs of the scripts' work is done here by hand.
# The small one has all but FRR and what only FRR needs: a wheel brings it along (make wheel), labs without routing daemons run on it.
# Beside the root directory lie `packages`, the versions that it was made of; `SHA256SUMS`, the hashes of their files; `sources`, each
# package with its source package; `licenses`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=images/machine/cache.sh
source "$here/cache.sh"
# shellcheck source=images/machine/mirror.sh
source "$here/mirror.sh"

suite=trixie

key() { cache_key "rootfs-1 $suite $size" "$here/packages.txt" "$here/rootfs.sh"; }

# packages: what is asked for, of this size.
packages() {
  local leave_out='^$'
  if [ "$size" = small ]; then leave_out='^(frr|python3-minimal)$'; fi
  sed -E 's/#.*//' "$here/packages.txt" | xargs printf '%s\n' | grep -Ev -- "$leave_out" | paste -sd,
}

# unpack DIR: every package and its dependencies below DIR/root.
unpack() {
  apt_transport >"$1/transport.conf"
  # mmdebstrap 1.5 (Debian 13) refuses this mode to root for what maintainer scripts might do to the host: none of them runs here.
  # The hook sees the downloaded packages before they are removed; their names carry the versions.
  # shellcheck disable=SC2016  # $1 and the fields are the hook's
  mmdebstrap --quiet --mode=chrootless --skip=check/chrootless --variant=extract --format=directory --architectures=amd64 --aptopt="$1/transport.conf" \
    --include="$(packages)" --extract-hook='for package in "$1"/var/cache/apt/archives/*.deb; do basename "$package" .deb; done >"$1/../packages"' \
    --extract-hook='(cd "$1"/var/cache/apt/archives && sha256sum -- *.deb) >"$1/../SHA256SUMS"' \
    --extract-hook='for package in "$1"/var/cache/apt/archives/*.deb; do dpkg-deb --show --showformat="\${Package} \${Version} \${source:Package} \${source:Version}\n" "$package"; done >"$1/../sources"' \
    "$suite" "$1/root" "$(apt_source "$suite")"
  rm "$1/transport.conf"
}

# licenses ROOT DIR: each package's copyright file, and the licences that these refer to.
licenses() {
  local package
  mkdir "$2"
  for package in "$1"/usr/share/doc/*/copyright; do
    cp -L "$package" "$2/$(basename "$(dirname "$package")")"
  done
  cp -rL "$1/usr/share/common-licenses" "$2/common-licenses"
}

# remove_unneeded ROOT: documentation, translations, package state, start-up files.
remove_unneeded() {
  rm -rf "${1:?}"/usr/share/{doc,man,info,locale,lintian,bug,doc-base,metainfo,common-licenses,menu,pixmaps,mime,dict,zsh,gdb,i18n} \
    "$1"/usr/share/{bash-completion,dbus-1,polkit-1,perl5,perl,systemd,applications} \
    "$1"/usr/lib/{systemd,udev,init,x86_64-linux-gnu/gconv,x86_64-linux-gnu/perl-base,x86_64-linux-gnu/systemd} \
    "$1"/var/{lib/apt,cache,lib/dpkg,run,lock,backups,local,spool} "$1"/etc/{apt,init.d,systemd,dpkg} "${1:?}/boot"
  # FRR's own image has none: where there is one, no daemon reads a file of its own, such as ospfd.conf.
  rm -f "$1"/etc/frr/frr.conf
  # mmdebstrap copies these two from the host.
  rm -f "$1"/etc/{resolv.conf,hostname}
}

# accounts ROOT: base-passwd's own accounts, and frr's as its maintainer script makes them.
accounts() {
  cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd"
  cp "$1/usr/share/base-passwd/group.master" "$1/etc/group"
  sed -i 's/^root:\*:/root:x:/' "$1/etc/passwd"
  echo 'frr:x:100:101:Frr routing suite,,,:/nonexistent:/usr/sbin/nologin' >>"$1/etc/passwd"
  printf '%s\n' 'frrvty:x:100:frr' 'frr:x:101:' >>"$1/etc/group"
  chmod 644 "$1/etc/passwd" "$1/etc/group"
}

# pam ROOT: what pam-auth-update would have made, for a machine where all is root: vtysh asks PAM.
pam() {
  local kind
  for kind in account auth password session; do
    printf '%s required pam_permit.so\n' "$kind" >"$1/etc/pam.d/common-$kind"
  done
}

# alternatives ROOT: the links that update-alternatives would have made.
alternatives() {
  ln -sfn mawk "$1/usr/bin/awk"
  ln -sfn traceroute.db "$1/usr/bin/traceroute"
  ln -sfn traceroute.db "$1/usr/bin/traceroute6"
}

# mount_points ROOT: where PID 1 mounts, and what must exist in a read-only root.
mount_points() {
  mkdir -p "$1"/{dev,proc,sys,run,tmp,job,tools,root,mnt} "$1"/var/{log/frr,log/quagga,log/zebra,lib/frr,tmp,log}
  chmod 755 "$1" "$1/root"
  chmod 1777 "$1/tmp" "$1/var/tmp"
  ln -sfn /run "$1/var/run"
  ln -sfn /run/lock "$1/var/lock"
  ln -sfn /proc/self/mounts "$1/etc/mtab"
  printf '%s\n' '127.0.0.1 localhost' '::1 localhost' >"$1/etc/hosts"
  printf '%s\n' 'passwd: files' 'group: files' 'hosts: files' 'services: files' 'protocols: files' >"$1/etc/nsswitch.conf"
}

# linker_cache ROOT: without it every program searches several directories for every library.
linker_cache() {
  local ldconfig
  ldconfig=$(PATH=$PATH:/usr/sbin:/sbin command -v ldconfig)
  "$ldconfig" -X -r "$1"
}

make_rootfs() {
  if ! command -v mmdebstrap >/dev/null; then
    echo "mmdebstrap is missing: apt-get install mmdebstrap" >&2
    return 1
  fi
  unpack "$1"
  accounts "$1/root"
  pam "$1/root"
  alternatives "$1/root"
  licenses "$1/root" "$1/licenses"
  remove_unneeded "$1/root"
  mount_points "$1/root"
  linker_cache "$1/root"
}

size=${2:-full}
case $size in
  full | small) ;;
  *)
    echo "rootfs.sh: \"$size\" is no size: expected full or small" >&2
    exit 2
    ;;
esac
case ${1:-} in
  build)
    # Assignments: a failure in an argument would be lost.
    key=$(key)
    artefact=$(cache_make rootfs "$key" make_rootfs)
    printf '%s/root\n' "$artefact"
    ;;
  where)
    key=$(key)
    artefact=$(cache_find rootfs "$key")
    printf '%s\n' "${artefact:+$artefact/root}"
    ;;
  *)
    echo "usage: rootfs.sh build|where [full|small]" >&2
    exit 2
    ;;
esac
