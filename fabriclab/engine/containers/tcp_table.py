"""The kernel's table of TCP connections, which a sampler walks for every sample (`inet_diag_dump_icsk` in the kernel's
net/ipv4/inet_diag.c): all containers share the host's, whose places are as many as its memory is large, unless network
namespaces get their own (`tcp_child_ehash_entries`, Linux Documentation/networking/ip-sysctl.rst)."""

from __future__ import annotations

from pathlib import Path

_SYSCTLS = Path("/proc/sys/net/ipv4")
_LARGE = 16_384
"""From here on a sample takes a good part of a millisecond: 65,536 places took 2 ms at 1 ns an instruction."""


def large_table(sysctls: Path = _SYSCTLS) -> str | None:
    """Return what is slow about samples of TCP on this host, with its cure; None where they are quick, or where the
    kernel does not say."""
    places = _number(sysctls / "tcp_ehash_entries")
    own = _number(sysctls / "tcp_child_ehash_entries")
    if places is None or own is None or own or places < _LARGE:
        return None
    return (
        f"each sample of TCP connections walks the host's whole table of {places:,} places: "
        "sudo sysctl -w net.ipv4.tcp_child_ehash_entries=1024 gives each node a small table"
    )


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
