"""What a run asks of the host's kernel, read from the node files: devices, queueing disciplines,
classifiers and congestion controls."""

from __future__ import annotations

from collections.abc import Iterable

CONGESTION_SETTING = "net.ipv4.tcp_congestion_control"


def u32_trial(handle: str) -> str:
    """Return the line that tries a classifier below a classful discipline's handle on the loopback device."""
    return f"filter replace dev lo parent {handle} protocol ip prio 1 u32 match ip dsfield 0x00 0xfc flowid {handle}1"


def qdiscs_of(texts: Iterable[str]) -> list[str]:
    """Return the kinds of queueing discipline that `tc -batch` texts add, in their order, each once."""
    kinds: dict[str, None] = {}
    for line in (line for text in texts for line in text.splitlines()):
        words = line.split()
        if words[:2] not in (["qdisc", "add"], ["qdisc", "replace"]):
            continue
        kind = _first_bare(words[2:])
        if kind is not None:
            kinds[kind] = None
    return list(kinds)


def devices_of(texts: Iterable[str]) -> list[str]:
    """Return the kinds of device that `ip -batch` texts make (ip-link(8)), in their order, each once."""
    kinds: dict[str, None] = {}
    for line in (line for text in texts for line in text.splitlines()):
        words = line.split()
        if words[:2] == ["link", "add"] and "type" in words[:-1]:
            kinds[words[words.index("type") + 1]] = None
    return list(kinds)


def _first_bare(words: list[str]) -> str | None:
    """Return the first word that is neither a keyword of tc-qdisc(8) nor a keyword's value: the kind."""
    position = 0
    while position < len(words):
        match words[position]:
            case "dev" | "parent" | "handle":
                position += 2
            case "root":
                position += 1
            case kind:
                return kind
    return None


def congestion_controls_of(texts: Iterable[str]) -> list[str]:
    """Return the congestion controls that `sysctl.conf` texts set, sorted."""
    found = set()
    for line in (line for text in texts for line in text.splitlines()):
        key, _, value = line.partition("=")
        if key.strip() == CONGESTION_SETTING:
            found.add(value.strip())
    return sorted(found)
