#!/bin/sh
# Applies a node's files inside its container. usage: configure.sh DIRECTORY INTERFACE...
# The same files as in the virtual machine, in the same order (images/machine/README.md, "The job").
set -eu
directory=$1
shift
step="the settings of interfaces"
trap 'if [ $? -ne 0 ]; then echo "$step failed" >&2; fi' EXIT

# Docker mounts it read-only unless the container is privileged.
if ! [ -w /proc/sys/net/ipv4/ip_forward ]; then
  step="remounting /proc/sys (the node needs privileged: true, or cap-add: [SYS_ADMIN])"
  mount -o remount,rw /proc/sys
fi
# What Docker has mounted can be written, but not replaced.
step="writing what Docker has mounted"
for file in hosts hostname resolv.conf; do
  if [ -e "$directory/mounted/etc/$file" ]; then cat "$directory/mounted/etc/$file" >"/etc/$file"; fi
done
# The management network is no part of the lab: no route, no packet of its.
step="taking the management interface down"
if [ -e /sys/class/net/eth0 ]; then ip link set dev eth0 down; fi
step="links.batch"
ip -batch "$directory/links.batch"
for interface; do
  step="switching the offloads of $interface off (ethtool)"
  ethtool -K "$interface" tso off gso off gro off
done
if [ -e "$directory/sysctl.conf" ]; then
  step=sysctl.conf
  sysctl -q -p "$directory/sysctl.conf"
fi
run_batch() {
  step=$1
  shift
  if [ -e "$directory/$step" ]; then "$@" -batch "$directory/$step"; fi
}
run_batch ip.batch ip
run_batch ip6.batch ip -6
run_batch bridge.batch bridge
run_batch tc.batch tc
