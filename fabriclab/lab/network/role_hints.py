"""What a node says that hints at its role, where no label does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue
from fabriclab.lab.reading.section import Section

_FORWARDING = ("net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding", "net.ipv6.conf.all.forwarding")
_FORWARDS = re.compile(
    r"net[./]ipv4[./]ip_forward\s*=\s*1|net[./]ipv[46][./]conf[./]all[./]forwarding\s*=\s*1"
    r"|echo\s+[\"']?1[\"']?\s*>\s*/proc/sys/net/ipv4/ip_forward"
)
"""A command of Linux that lets a node forward packets, as people write it."""
_FORWARDING_ON = "a sysctl that lets it forward packets"
_A_BRIDGE = "a bridge that its commands make"
_BRIDGES = re.compile(r"\btype\s+bridge\b|\bbrctl\s+addbr\b|\bovs-vsctl\s.*\badd-br\b")


class RoleHints(NamedTuple):
    """Image, binds and commands of a node."""

    image: str = ""
    binds: tuple[str, ...] = ()
    """Its own."""
    commands: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    """Binds of its group, its kind and the defaults."""
    switching: str = ""
    """Which of its sysctls or commands let it pass packets on; empty: none."""


NO_HINTS = RoleHints()


def read_hints(layers: Sequence[Section]) -> RoleHints:
    """Return image and commands of the nearest layer that has them, and the binds of all; the node itself is the first
    layer."""
    (image, *_), commands = (_texts(layers, key) for key in ("image", "exec"))
    inherited = (bind for layer in layers[1:] for bind in _texts([layer], "binds"))
    forwards = any(map(_FORWARDS.search, commands)) or any(map(_lets_forward, layers))
    bridges = _A_BRIDGE if any(map(_BRIDGES.search, commands)) else ""
    return RoleHints(
        image, _texts(layers[:1], "binds"), commands, tuple(inherited), _FORWARDING_ON if forwards else bridges
    )


def _lets_forward(layer: Section) -> bool:
    sysctls = layer.get("sysctls")
    entries = sysctls.entries if isinstance(sysctls, MappingValue) else {}
    return any(
        isinstance(value := entries.get(name), ScalarValue) and value.text.strip() == "1" for name in _FORWARDING
    )


def binds_one_of(layers: Sequence[Section], paths: Sequence[str]) -> bool:
    """Return whether the nearest layer with binds binds one of these paths."""
    return any(bind.partition(":")[2].partition(":")[0] in paths for bind in _texts(layers, "binds"))


def _texts(layers: Sequence[Section], key: str) -> tuple[str, ...]:
    """Return the texts of the nearest layer that has a key; an empty one without any."""
    for layer in layers:
        value = layer.get(key)
        if isinstance(value, ScalarValue) and not value.is_null:
            return (value.text,)
        if isinstance(value, SequenceValue) and value.items:
            return tuple(item.text for item in value.items if isinstance(item, ScalarValue)) or ("",)
    return ("",)
