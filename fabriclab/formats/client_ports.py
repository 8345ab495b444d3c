"""The ports from which hosts connect: those of servers, which have a number of their own, lie below them mostly."""

from __future__ import annotations

FIRST, LAST = 10_001, 65_000
"""`net.ipv4.ip_local_port_range` of every host."""
