#!/bin/sh
# Makes a SONiC node's ports ready for traffic control. usage: configure-sonic.sh DIRECTORY DEVICE...
# Addresses, routes and daemons are SONiC's own; sysctls too.
set -eu
directory=$1
shift
step="the settings of interfaces"
trap 'if [ $? -ne 0 ]; then echo "$step failed" >&2; fi' EXIT

# The management network is no part of the lab: no route, no packet of its.
step="taking the management interface down"
if [ -e /sys/class/net/eth0 ]; then ip link set dev eth0 down; fi
step="links.batch"
ip -batch "$directory/links.batch"
for device; do
  step="switching the offloads of $device off (ethtool)"
  ethtool -K "$device" tx off tso off gso off gro off
done
step=route.batch
if [ -e "$directory/$step" ]; then ip -batch "$directory/$step"; fi
step=tc.batch
if [ -e "$directory/$step" ]; then tc -batch "$directory/$step"; fi
