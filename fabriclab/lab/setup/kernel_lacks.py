"""What nodes' own files ask of the kernel that the virtual machine's does not have: MPLS, SRv6, multicast routing,
tunnels, packet filters. FRR takes such lines, and nothing comes of them.

`images/machine/kernel/config` says what it has; `tests/unit/lab/setup/test_kernel_lacks.py` compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from fabriclab.formats.plan.setup import NodeFile, Setup
from fabriclab.lab.setup.frr import DIRECTORY


class Feature(NamedTuple):
    """Something that the kernel lacks."""

    name: str
    options: tuple[str, ...]
    """The kernel's options, any of which would bring it."""
    lines: re.Pattern[str]
    """What asks for it in FRR's configurations."""
    commands: re.Pattern[str]
    """What asks for it in commands, scripts and names of sysctls."""


FEATURES = (
    Feature(
        "SRv6",
        ("IPV6_SEG6_LWTUNNEL",),
        re.compile(r"segment-routing srv6\b|srv6\b|sid (?:vpn|export)\b"),
        re.compile(r"\bencap seg6(?:local)?\b|\bseg6_enabled\b|\bip sr\b"),
    ),
    Feature(
        "MPLS",
        ("MPLS_ROUTING",),
        re.compile(
            r"mpls (?:ldp|enable|lsp|label)\b|segment-routing (?:on|global-block|local-block|node-msd|prefix)\b"
            r"|address-family ipv[46] (?:labeled-unicast|vpn)\b|l2vpn \S+ type vpls\b"
            r"|(?:ip|ipv6) route .*\blabel \d"
        ),
        re.compile(
            r"\bip (?:\S+ )*-f(?:amily)? mpls\b|\bip -M\b|\bencap mpls\b|\bmpls_(?:router|iptunnel)\b|\bnet[./]mpls\b"
        ),
    ),
    Feature(
        "multicast routing",
        ("IP_MROUTE", "IPV6_MROUTE"),
        re.compile(r"(?:ip|ipv6) (?:pim|igmp|mld|mroute)\b|router pim6?\b|(?:ip|ipv6) multicast-routing\b"),
        re.compile(r"\bsmcroute(?:d|ctl)?\b"),
    ),
    Feature(
        "GRE and IP tunnels",
        ("NET_IPGRE", "NET_IPIP", "IPV6_TUNNEL"),
        re.compile(r"(?:ip|ipv6) nhrp\b|tunnel (?:source|protection)\b"),
        re.compile(r"\btype (?:ip6?gre(?:tap)?|gre(?:tap)?|ipip|ip6tnl|sit|erspan)\b|\btunnel add\b"),
    ),
    Feature(
        "packet filters",
        ("NETFILTER",),
        re.compile(r"(?!)"),
        re.compile(r"(?:^|[/\s])(?:ip6?tables(?:-(?:legacy|nft|restore|save))?|nft|ebtables|ipset)(?=\s)"),
    ),
)


def lacking(name: str, setup: Setup) -> Iterator[str]:
    """Yield a sentence on each feature that a node's files ask for and the kernel lacks, with the lines."""
    scripts = {word for command in setup.commands for word in command.argv}
    for feature in FEATURES:
        found = [*_of_files(feature, setup, scripts), *_of_commands(feature, setup)]
        if found:
            yield f"{name}: {', '.join(found)}: the virtual machine's kernel has no {feature.name}; nothing comes of it"


def _of_files(feature: Feature, setup: Setup, scripts: set[str]) -> Iterator[str]:
    """Yield each file with such lines, with their numbers and the first of them."""
    for file in setup.files:
        lines = file.text.splitlines()
        is_frr = file.path.startswith(f"{DIRECTORY}/") and file.path.endswith(".conf")
        patterns = [feature.lines] if is_frr else [feature.lines, feature.commands] if file.path in scripts else []
        asking = [
            number
            for number, line in enumerate(lines, 1)
            if any(_asks(pattern, line, in_frr=pattern is feature.lines) for pattern in patterns)
        ]
        if asking:
            yield f"{_called(file)}:{_numbers(asking)} ({lines[asking[0] - 1].strip()[:60]})"


def _asks(pattern: re.Pattern[str], line: str, *, in_frr: bool) -> bool:
    bare = " ".join(line.split())
    if bare.startswith(("!", "#", "no ")):
        return False
    return (pattern.match(bare) if in_frr else pattern.search(bare)) is not None


def _of_commands(feature: Feature, setup: Setup) -> Iterator[str]:
    for command in setup.commands:
        if feature.commands.search(" ".join(command.argv)) is not None:
            yield f"{command.key} ({' '.join(command.argv)[:60]})"
    yield from (f"sysctls ({one})" for one in setup.sysctls if feature.commands.search(one) is not None)


def _called(file: NodeFile) -> str:
    return file.source or "startup-config"


def _numbers(lines: list[int]) -> str:
    """Return the numbers of a few lines, and how many more there are."""
    shown = ",".join(map(str, lines[:3]))
    return shown if len(lines) <= 3 else f"{shown} and {len(lines) - 3} more"
