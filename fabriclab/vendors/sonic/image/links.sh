#!/bin/sh
# Makes a SONiC node's links wires. usage: links.sh LINK...
# syncd copies their frames to and from the ports (vslib/HostInterfaceInfo.cpp), but the kernel has them, too: without
# this it answers ARP and neighbour discovery with a link's address where a port's is asked for.
set -eu
for link; do
  ip link set dev "$link" arp off
  ipv6=/proc/sys/net/ipv6/conf/$link/disable_ipv6
  if [ -w "$ipv6" ]; then echo 1 >"$ipv6"; fi
done
