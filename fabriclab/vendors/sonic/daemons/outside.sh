#!/bin/sh
# Lays a writable layer over SONiC's root file system, and runs inside.sh in it. usage: outside.sh ROOT WORK
# In namespaces of its own (see run.py): what is mounted here, nobody else sees, and it is gone with the last process.
set -eu
root=$1 work=$2
mkdir "$work/upper" "$work/layer" "$work/root"
mount -t overlay overlay -o "lowerdir=$root,upperdir=$work/upper,workdir=$work/layer,userxattr" "$work/root"
mkdir -p "$work/root/proc" "$work/root/dev" "$work/root/work" "$work/root/tmp"
mount -t proc proc "$work/root/proc"
mount --rbind /dev "$work/root/dev"
mount --bind "$work/given" "$work/root/work"
exec chroot "$work/root" /bin/sh /work/inside.sh
