"""What nodes' own files ask of the kernel that the virtual machine's does not have: packet filters, pseudowires. FRR
takes such lines, and nothing comes of them.

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
    """The kernel's options, any of which would bring it; none: no Linux has it."""
    lines: re.Pattern[str]
    """What asks for it in FRR's configurations."""
    commands: re.Pattern[str]
    """What asks for it in commands, scripts and names of sysctls."""


FEATURES = (
    Feature(
        "VPLS",
        (),
        re.compile(r"l2vpn \S+ type vpls\b"),
        re.compile(r"(?!)"),
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


def of_lacking_feature(program: str) -> bool:
    """Return whether a program is one of a feature that the kernel lacks, which is told by itself."""
    return any(feature.commands.search(f"{program} ") is not None for feature in FEATURES)


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
