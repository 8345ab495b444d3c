"""Limits that several computers have one by one, and the machine's kernel has once for all nodes: none of them may be
felt, because no node of a lab is to feel another one's traffic.

Each is a sysctl of the machine's first namespace. `images/machine/README.md` lists these and the limits that a node has
for itself or whose effect is counted, with the kernel's file.
"""

from __future__ import annotations

_NEVER_REACHED = (1 << 31) - 1
"""The largest value of an `int`."""
_MEMORY_PAGES = 1 << 28
"""1 TiB: never reached. A machine whose memory is too small ends the run instead."""
_MANY = 1 << 20
_MOST_PIDS = 1 << 22
"""PID_MAX_LIMIT, include/linux/threads.h."""

_MEMORY = " ".join([str(_MEMORY_PAGES)] * 3)

SHARED_LIMITS = {
    # One queue holds what all nodes' devices receive at one instant, and drops what is beyond 1,000.
    "net.core.netdev_max_backlog": str(_NEVER_REACHED),
    # The kernel's bounds follow the machine's memory: beyond them it drops what arrives, and shrinks windows.
    "net.ipv4.tcp_mem": _MEMORY,
    "net.ipv4.udp_mem": _MEMORY,
    # Connections that close at one moment, of all nodes, are not to be reset because they are many.
    "net.ipv4.tcp_max_orphans": str(_MANY),
    # From gc_thresh1 entries of all nodes on, the kernel forgets neighbours; beyond gc_thresh3 it finds no new ones and
    # drops what is sent to them.
    **{
        f"net.{family}.neigh.default.gc_thresh{step}": str(_NEVER_REACHED)
        for family in ("ipv4", "ipv6")
        for step in (3, 2, 1)
    },
    "fs.file-max": str(_MANY),
    "kernel.pid_max": str(_MOST_PIDS),
    # Of all processes of one user, who is root in every node.
    "fs.inotify.max_user_instances": str(_MANY),
    "fs.inotify.max_user_watches": str(_MANY),
    # 0 is not a limit; beyond it a new pipe holds two pages instead of 16.
    "fs.pipe-user-pages-soft": "0",
}
