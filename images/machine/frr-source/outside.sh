#!/usr/bin/env bash
# Makes the world in which a source of FRR's is compiled, and runs inside.sh in it.
# usage: outside.sh ROOTFS BUILDER SOURCE WORK JOBS, in namespaces of its own, as their root (frr.sh)
#
# The source's scripts are somebody else's. They find the root file system with the packages of BUILDER over it, and
# WORK/given, where they write, with a copy of SOURCE. Nothing else of the host is there: the old root is let go. There is
# no network, and no capability is left to leave by.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rootfs=$1 builder=$2 source=$3 work=$4 jobs=$5
root=$work/root/union

mount -t tmpfs -o mode=755 tmpfs "$work/root"
mkdir "$work/root"/{upper,layer,union}
mount -t overlay overlay -o "lowerdir=$builder:$rootfs,upperdir=$work/root/upper,workdir=$work/root/layer,userxattr" "$root"
mkdir -p "$root"/{given,dev,proc,tmp}
cp "$here/inside.sh" "$root/inside.sh"
mount --bind "$work/given" "$root/given"
# A copy: to make a mount of the source that can only be read is refused on file systems with nosuid or nodev.
if [ -d "$source" ]; then
  mkdir "$work/given/source"
  tar -c -C "$source" --exclude=./.git . | tar -x -C "$work/given/source" --no-same-owner
else
  cp "$source" "$work/given/archive"
fi
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"

# The links that maintainer scripts would have made.
ln -s gcc "$root/usr/bin/cc"
for program in automake aclocal; do
  for versioned in "$root/usr/bin/$program"-1.*; do ln -sf "${versioned##*/}" "$root/usr/bin/$program"; done
done

cd "$root"
# pivot_root(2), NOTES: with "." twice the old root is stacked on the new one, and no directory for it is needed.
pivot_root . .
umount --lazy .
cd /
exec env --ignore-environment PATH=/usr/bin:/usr/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH=0 \
  setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs bash /inside.sh "$jobs"
