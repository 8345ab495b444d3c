#!/usr/bin/env bash
# Makes the machine's kernel: Debian's kernel source, our own files of tree/, patches/<series>/*.patch, tinyconfig and
# ./config. usage: build.sh build|where|source (where the source package is, which it downloads unless it is there)
#
# KERNEL_DEBUG=1 makes one with debug.config on top: slow, and it tells of every misuse of memory and locks.
# KERNEL_SERIES=7.3 takes that series of Debian's instead of 6.12, KERNEL_SOURCE=DIR the user's own tree: it is read, never written. Beside the
# program `linux` lie `config`, the whole configuration, `version`, what it was made of, and `headers`, what a module is compiled with. The
# source package is kept in <cache>/sources.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=images/machine/cache.sh
source "$here/../cache.sh"
# shellcheck source=images/machine/mirror.sh
source "$here/../mirror.sh"

default_series=6.12
package=linux-source-${KERNEL_SERIES:-$default_series}
# Debian trixie has one series, its backports the others.
suite=trixie
if [ "${KERNEL_SERIES:-$default_series}" != "$default_series" ]; then suite=trixie-backports; fi
needed=(gcc make flex bison bc xz patch ar)

key() {
  local files patches source=$package series=${package#linux-source-}
  if [ ! -d "$here/patches/$series" ]; then
    echo "KERNEL_SERIES=$series: there are patches for $(cd "$here/patches" && printf '%s\n' * | paste -sd' ') only; a tree of another one is KERNEL_SOURCE=DIR" >&2
    return 1
  fi
  if [ -n "${KERNEL_SOURCE:-}" ]; then
    source=$(own_tree_state)
    series=$(series "$KERNEL_SOURCE")
  fi
  patches=$(patches_of "$series")
  mapfile -t files < <(find "$patches" "$here/tree" -type f ! -name '*.md' | LC_ALL=C sort)
  if [ -n "${KERNEL_DEBUG:-}" ]; then files+=("$here/debug.config"); fi
  cache_key "kernel-3 $source ${files[*]#"$here"/}" "$here/build.sh" "$here/config" "${files[@]}"
}

# own_tree_state: a hash that changes with any file of the user's tree.
own_tree_state() {
  if [ ! -f "$KERNEL_SOURCE/arch/um/Makefile" ]; then
    echo "KERNEL_SOURCE=$KERNEL_SOURCE is no kernel source tree: it has no arch/um/Makefile" >&2
    return 1
  fi
  (cd "$KERNEL_SOURCE" && find . -path ./.git -prune -o -type f -printf '%p %s %T@\n' | LC_ALL=C sort | sha256sum)
}

# fetch_package: downloads the source package unless the newest one is there, and prints its path. Without a network, the newest one at hand.
fetch_package() {
  local store work lock
  store=$(cache_root)/sources
  cache_directory "$store"
  # One at a time; what one that was killed left behind goes.
  exec {lock}>"$store/.lock"
  flock "$lock"
  rm -rf "$store"/.fetch.*
  work=$(mktemp -d "$store/.fetch.XXXXXX")
  apt_isolated "$work" "$suite"
  if apt-get -q -c "$work/apt.conf" update >&2; then
    download_package "$work" "$store" >&2
  else
    echo "Debian's archive cannot be reached; trying what was downloaded before" >&2
  fi
  rm -rf "$work"
  exec {lock}>&-
  find "$store" -name "${package}_*.deb" -printf '%f\n' | LC_ALL=C sort -V | tail -n 1 | sed "s|^|$store/|" | grep . || {
    echo "no $package in $store and none could be downloaded" >&2
    return 1
  }
}

# download_package WORK STORE: moves the archive's newest package to STORE, whole or not at all.
download_package() {
  local version
  version=$(apt-cache -c "$1/apt.conf" show --no-all-versions "$package" | sed -n 's/^Version: //p')
  if [ -f "$2/${package}_${version//:/%3a}_all.deb" ]; then return; fi
  (cd "$1" && apt-get -q -c "$1/apt.conf" download "$package")
  mv "$1/$package"_*.deb "$2/"
}

# Three quarters of Linux's files are for machines and devices that this kernel can't have. Kconfig files stay: they name each other.
unneeded_architectures=(alpha arc arm arm64 csky hexagon loongarch m68k microblaze mips nios2 openrisc parisc powerpc riscv s390 sh sparc xtensa)
unneeded_drivers=(accel accessibility ata clk comedi cpufreq crypto dma edac extcon firmware gpio gpu hid hwmon i2c iio infiniband/hw infiniband/sw/rdmavt infiniband/sw/siw infiniband/ulp input
  interconnect irqchip isdn leds md media memory mfd misc mmc mtd net/can net/dsa net/ethernet net/fddi net/ipa net/phy net/usb net/wan
  net/wireless net/wwan nvme nvmem pci perf phy pinctrl platform power regulator rtc s390 scsi soc soundwire spi staging thermal usb video
  watchdog)
unneeded_filesystems=(9p afs bcachefs btrfs ceph erofs ext2 ext4 f2fs fat gfs2 jffs2 jfs nfs nfsd nilfs2 ntfs3 ocfs2 reiserfs smb ubifs udf ufs xfs)
unneeded=("${unneeded_drivers[@]/#/drivers/}" "${unneeded_filesystems[@]/#/fs/}" sound)

# unpack_debian DIR: the package's source, but what is unneeded, as DIR/source; DIR/version tells which.
unpack_debian() {
  local deb directory leave=(--exclude='*/Documentation/*/*' --exclude='*/tools/testing' --exclude='*/tools/perf')
  deb=$(fetch_package)
  for directory in "${unneeded_architectures[@]}"; do leave+=(--exclude="*/arch/$directory/*.*"); done
  for directory in "${unneeded[@]}"; do leave+=(--exclude="*/$directory/*.[chS]"); done
  mkdir "$1/source"
  dpkg-deb --fsys-tarfile "$deb" | tar -xO --wildcards "./usr/src/$package.tar.*" |
    tar -x -I 'xz -T0' -C "$1/source" --strip-components=1 "${leave[@]}"
  dpkg-deb -f "$deb" Package Version >"$1/version"
}

# link_own_tree DIR: the user's tree as DIR/source, each file a link, without what an earlier build left in it.
link_own_tree() {
  local tree
  tree=$(cd "$KERNEL_SOURCE" && pwd)
  mkdir "$1/source"
  cp -as "$tree"/* "$1/source/"
  rm -rf "$1/source/include/config" "$1/source/include/generated" "$1"/source/arch/*/include/generated
  printf 'Source: %s\nVersion: %s\n' "$tree" "$(make -s -C "$tree" kernelversion)" >"$1/version"
}

# series SOURCE: such as 6.12.
series() { sed -nE 's/^(VERSION|PATCHLEVEL) = ([0-9]+)$/\2/p' "$1/Makefile" | paste -sd.; }

# patches_of SERIES: the directory of the patches for a series: its own, or that of the nearest one before.
patches_of() {
  local found
  found=$(printf '%s\n' "$here"/patches/*/ | sed 's|.*/patches/||; s|/$||' | { cat; echo "$1 "; } | LC_ALL=C sort -V | sed '/ $/q' | tail -n 2 | head -n 1)
  if [ ! -d "$here/patches/$found" ]; then
    echo "the kernel's series $1 is older than any that has patches here" >&2
    return 1
  fi
  printf '%s\n' "$here/patches/$found"
}

# own_copy SOURCE FILE: a file of the user's tree is a link here; makes it a copy that may be changed.
own_copy() {
  if [ -L "$1/$2" ]; then cp --remove-destination "$(readlink "$1/$2")" "$1/$2"; fi
}

apply_patches() {
  local source=$1 patch file
  for patch in "$2"/*.patch; do
    sed -nE 's|^\+\+\+ b/([^\t]+).*|\1|p' "$patch" | while read -r file; do own_copy "$source" "$file"; done
    if ! patch -s -p1 -N -d "$source" <"$patch"; then
      echo "${patch#"$here"/} does not apply to $(cat "$source/../version")" >&2
      return 1
    fi
  done
}

# add_own_files SOURCE: our own files where Linux would have them. What changes Linux's files is a patch, but for the two lines that make
# our qdisc one of them: they stand at the ends, and need no context.
add_own_files() {
  (cd "$here/tree" && find . -type f ! -name '*.md' -exec cp --parents -t "$1" {} +)
  own_copy "$1" net/sched/Makefile
  own_copy "$1" net/sched/Kconfig
  # shellcheck disable=SC2016  # make's variable, not the shell's
  echo 'obj-$(CONFIG_NET_SCH_SWITCH_PORT) += switch_port/' >>"$1/net/sched/Makefile"
  echo 'source "net/sched/switch_port/Kconfig"' >>"$1/net/sched/Kconfig"
}

# make_linux WORDS...: without pahole, whose version would stand in the program.
make_linux() { make -s ARCH=um PAHOLE=false "$@"; }

# remember_objects DIR: who has ccache compiles a file that is as it was in an earlier kernel no more. It is called by
# the compiler's name, so that the kernel and its headers name a compiler that everybody has. It is told paths from DIR,
# for each build has another, and the program names its files as without it. It knows the headers that are read once
# (tree/precompiled) by a sum of what they say, for the compiler never writes them alike.
remember_objects() {
  local ccache
  if ! ccache=$(command -v ccache); then return; fi
  mkdir "$1/compilers"
  ln -s "$ccache" "$1/compilers/gcc"
  export PATH=$1/compilers:$PATH CCACHE_BASEDIR=$1 CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  export KCFLAGS=-fmacro-prefix-map=../source/=
}

# configure SOURCE OBJECTS FRAGMENT...
configure() {
  local source=$1 objects=$2
  shift 2
  make_linux -C "$source" O="$objects" tinyconfig >/dev/null
  cat "$@" >>"$objects/.config"
  make_linux -C "$source" O="$objects" olddefconfig >/dev/null 2>&1
  check_options "$objects/.config" "$@"
}

# check_options CONFIG FRAGMENT...: every option that a fragment asks for is as it was asked for; of two that name an option the last one counts.
check_options() {
  local config=$1 fragment line number status=0
  shift
  while IFS=: read -r fragment number line; do
    case $line in
      CONFIG_*=*) if grep -qxF -- "$line" "$config"; then continue; fi ;;
      *) if ! grep -q "^$(cut -d' ' -f2 <<<"$line")=" "$config"; then continue; fi ;;
    esac
    echo "${fragment#"$here"/}:$number: \"$line\" did not stick: does the option exist in this kernel, and is all it depends on there?" >&2
    status=1
  done < <(asked_options "$@")
  return $status
}

# asked_options FRAGMENT...: "fragment:number:line" for each option, the last that names it.
asked_options() {
  awk '
    { option = "" }
    /^CONFIG_[A-Z0-9_]+=/ { option = $0; sub(/=.*/, "", option) }
    /^# CONFIG_[A-Z0-9_]+ is not set$/ { option = $2 }
    option != "" {
      if (!(option in asked)) order[++count] = option
      asked[option] = FILENAME ":" FNR ":" $0
    }
    END { for (i = 1; i <= count; i++) print asked[order[i]] }' "$@"
}

# make_kernel DIR: Linux can't be built in a directory with blanks or colons; then it is built among the temporary files.
make_kernel() {
  require_tools
  case $1 in
    *[[:space:]:]*)
      (
        elsewhere=$(mktemp -d)
        # shellcheck disable=SC2064  # the path is wanted as it is now
        trap "$(printf 'rm -rf %q' "$elsewhere")" EXIT
        build_in "$elsewhere"
        mv "$elsewhere"/* "$1/"
      )
      ;;
    *) build_in "$1" ;;
  esac
}

# compile DIR: the program. Headers that most files include are read once (tree/precompiled), which takes half of the time. A tree or a
# configuration of the user's own may have files that can't see more headers than they include, and a compiler may be
# unable to remember any.
compile() {
  if [ -z "${KERNEL_SOURCE:-}${KERNEL_DEBUG:-}" ]; then
    if make_program "$1" KBUILD_PRECOMPILED=1; then return; fi
    echo "building it once more, each file with headers of its own" >&2
  fi
  make_program "$1"
}

# make_program DIR WORDS...: fixed names and times: the same source gives the same program.
make_program() {
  make_linux -C "$1/source" O="$1/objects" -j"$(nproc)" KBUILD_BUILD_USER=fabriclab KBUILD_BUILD_HOST=fabriclab \
    KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' KBUILD_BUILD_VERSION=1 "${@:2}" linux
}

# build_in DIR: the program, its configuration and what it was made of.
build_in() {
  local directory=$1 patches fragments=("$here/config")
  if [ -n "${KERNEL_SOURCE:-}" ]; then link_own_tree "$directory"; else unpack_debian "$directory"; fi
  patches=$(patches_of "$(series "$directory/source")")
  if [ -f "$patches/config" ]; then fragments+=("$patches/config"); fi
  if [ -n "${KERNEL_DEBUG:-}" ]; then fragments+=("$here/debug.config"); fi
  add_own_files "$directory/source"
  apply_patches "$directory/source" "$patches"
  mkdir "$directory/objects"
  remember_objects "$directory"
  configure "$directory/source" "$directory/objects" "${fragments[@]}"
  # What was compiled with other options, ccache would take for the same where no header reads differently: the macros of
  # headers that are read once are in no text that it compares.
  export CCACHE_EXTRAFILES=$directory/objects/.config
  compile "$directory"
  printf 'Compiler: gcc %s\n' "$(gcc -dumpfullversion)" >>"$directory/version"
  cp "$directory/objects/linux" "$directory/linux"
  cp "$directory/objects/.config" "$directory/config"
  keep_headers "$directory/source" "$directory/objects" "$directory/headers"
  rm -rf "$directory/source" "$directory/objects" "$directory/compilers"
}

# keep_headers SOURCE OBJECTS TO: what a user's own algorithm is compiled with, which becomes a module.
#
#   source, objects      the headers that this kernel was itself compiled with, where its build had them: 13 MB
#   flags                the compiler's words, one a line, for a compiler that runs in `objects`
#   symbols              what a module may use, one a line, behind the licence that it needs: any or GPL
#   congestion_controls  names that the kernel has, one a line
#   qdiscs               likewise
keep_headers() {
  local source objects to=$3
  source=$(cd "$1" && pwd -P)
  objects=$(cd "$2" && pwd -P)
  mkdir -p "$to/source" "$to/objects"
  to=$(cd "$to" && pwd -P)
  (cd "$objects" && find include/generated arch/*/include/generated -name '*.h' -exec cp --parents -t "$to/objects" {} +)
  find "$objects" \( -name '.*.o.cmd' -o -name '.*.gch.cmd' \) -exec sed -nE 's/^  ([^ $]+\.h) \\$/\1/p' {} + | LC_ALL=C sort -u |
    (cd "$objects" && xargs realpath -s --) | LC_ALL=C sort -u | { grep -v "^$objects/" || true; } |
    sed -nE "s:^$source/((include|arch)/):\1:p" | (cd "$source" && xargs cp -L --parents -t "$to/source")
  # Those that are for own algorithms alone, no file of the kernel needs.
  (cd "$here/tree" && find include -name '*.h') | (cd "$source" && xargs cp -L --parents -t "$to/source")
  compiler_words "$source" "$objects" >"$to/flags"
  awk -F '\t' '{ print ($4 ~ /GPL/ ? "GPL" : "any"), $2 }' "$objects/vmlinux.symvers" | LC_ALL=C sort >"$to/symbols"
  registered_names "$source" "$objects" tcp_congestion_ops name >"$to/congestion_controls"
  registered_names "$source" "$objects" Qdisc_ops id >"$to/qdiscs"
}

# compiler_words SOURCE OBJECTS: how a file of net/ipv4 was compiled, without what is of that file alone.
compiler_words() {
  sed -n '1s/^savedcmd_[^=]*:= gcc //p' "$2/net/ipv4/.tcp_cong.o.cmd" | xargs -n 1 printf '%s\n' | awk -v source="$1" -v objects="$2" '
    skip { skip = 0; next }
    $0 == "-o" { skip = 1; next }
    $0 == "-include" { getline; if (/\/precompiled\//) next; print "-include" }
    $0 == "-c" || /^-Wp,-MMD/ || /^-D(__)?KBUILD_/ || /^-DFABRICLAB_/ || /\.c$/ || /^-I.*net\/ipv4$/ || /prefix-map/ { next }
    {
      # Beside each other, wherever that is.
      if ((at = index($0, objects)) != 0) $0 = substr($0, 1, at - 1) "." substr($0, at + length(objects))
      if ((at = index($0, source)) != 0) $0 = substr($0, 1, at - 1) "../source" substr($0, at + length(source))
      sub(/^-I\.\.\/(\.\.\/)*(source\/)?/, "-I../source/")
      sub(/^\.\.\/(source\/)?/, "../source/")
      print
    }'
}

# registered_names SOURCE OBJECTS STRUCT FIELD: the names that algorithms of a kind have which were compiled in.
registered_names() {
  local object
  # shellcheck disable=SC2016  # awk's field, not the shell's
  find "$2/net" -name '*.o' | while read -r object; do
    object=$1/${object#"$2"/}
    if [ -f "${object%.o}.c" ]; then printf '%s\n' "${object%.o}.c"; fi
  done | xargs awk -v kind="struct $3 " -v name="[.]$4[ \t]*=" '
    FNR == 1 { inside = 0 }
    index($0, kind) && /=/ { inside = 1 }
    inside && $0 ~ name && split($0, part, "\"") > 1 { print part[2] }
    /^}/ { inside = 0 }' | LC_ALL=C sort -u
}

require_tools() {
  local tool
  for tool in "${needed[@]}"; do
    if ! command -v "$tool" >/dev/null; then
      echo "$tool is missing: make deps" >&2
      return 1
    fi
  done
}

build_kernel() {
  local key path
  key=$(key)
  path=$(cache_make kernel "$key" make_kernel)
  printf '%s/linux\n' "$path"
}

case ${1:-} in
  build) build_kernel ;;
  where)
    key=$(key)
    path=$(cache_find kernel "$key")
    printf '%s\n' "${path:+$path/linux}"
    ;;
  source) fetch_package ;;
  *)
    echo "usage: build.sh build|where|source" >&2
    exit 2
    ;;
esac
