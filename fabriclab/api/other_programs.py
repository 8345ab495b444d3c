"""Labs of other programs that are no Containerlab files: recognised by name, each with what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fabriclab.engine.netlab import MADE, create_line
from fabriclab.lab.reading.files import UnreadableError, read_lab_file

_LARGEST_BYTES = 1 << 20
_YAML = (".yml", ".yaml")
_WRITE_IT = "write its nodes and links as a Containerlab file (docs/containerlab.md)"
_VENDORS = (
    "whose nodes are images that do not run here; take the routers' configurations with `fabriclab import frr`, "
    f"`arista import` or `sonic import`, or {_WRITE_IT} and run that with --as frr"
)
_MININET = re.compile(rb"^\s*(?:from|import)\s+(?:mininet|mn_wifi|containernet)\b", re.MULTILINE)
_MINIEDIT = re.compile(rb'"(?:hosts|switches|controllers)"\s*:')
_TOP_LEVEL = re.compile(rb"^(?:['\"]?)([A-Za-z_][A-Za-z0-9_.]*)(?:['\"]?)\s*:", re.MULTILINE)
_NETLAB_KEYS = frozenset(
    (
        *("addressing", "bgp", "defaults", "groups", "isis", "links", "module", "nodes", "ospf", "plugin"),
        *("provider", "validate", "vlans", "vrfs"),
    )
)


class Program(NamedTuple):
    """A program whose labs are recognised."""

    is_meant: Callable[[Path], bool]
    """Whether a file is its lab."""
    advice: Callable[[Path], str]
    """What the file is, and what to do."""


def other_program(path: Path) -> str | None:
    """Return what a file of another program is, or a directory holds, and what to do; None of what is not
    recognised."""
    try:
        if path.is_file():
            return _advice(path)
        found = ((file.name, _advice(file)) for file in sorted(path.iterdir()) if file.is_file())
        return next((f"holds {name}, which {advice}" for name, advice in found if advice is not None), None)
    except OSError:
        return None


def _advice(file: Path) -> str | None:
    return next((program.advice(file) for program in _PROGRAMS if program.is_meant(file)), None)


def _text(file: Path) -> bytes:
    """Return what a file holds; nothing of one that cannot be read or is too large."""
    try:
        return read_lab_file(file.parent, file.name, _LARGEST_BYTES)
    except UnreadableError:
        return b""


def _is_mininet(file: Path) -> bool:
    if file.suffix == ".mn":
        return _MINIEDIT.search(_text(file)) is not None
    return file.suffix == ".py" and _MININET.search(_text(file)) is not None


def is_netlab(file: Path) -> bool:
    """Return whether a file has netlab's keys at its top, and not Containerlab's `topology`."""
    if file.suffix not in _YAML:
        return False
    keys = {key.decode() for key in _TOP_LEVEL.findall(_text(file))}
    known = {key for key in keys if key.partition(".")[0] in _NETLAB_KEYS}
    return "topology" not in keys and "nodes" in {key.partition(".")[0] for key in keys} and len(known) > 1


def _of_netlab(file: Path) -> str:
    made = file.with_name(MADE)
    if made.is_file():
        return f"is a netlab topology; name the Containerlab file that netlab made of it, {made}"
    return (
        f"is a netlab topology; `{create_line(file.name)}` in its directory writes {MADE}, which is the lab to name, "
        "and fabriclab calls that itself where netlab is installed. (If it is meant "
        "for Containerlab, nodes and links stand below `topology`)"
    )


def _mininet(file: Path) -> str:
    if file.suffix == ".py":
        return f"is a script of Mininet's; `fabriclab import mininet {file.name}` makes a Containerlab file of it"
    return (
        f"is a Mininet topology, a drawing of MiniEdit; {_WRITE_IT}, bw and delay of a link as "
        "`vars: {rate: 10 Mbps, delay: 5 ms}`; or begin with `fabriclab generate` (star, leaf-spine, fat-tree)"
    )


_PROGRAMS = (
    Program(_is_mininet, _mininet),
    Program(
        lambda file: file.suffix in (".gns3", ".gns3project", ".gns3p"), lambda _: f"is a GNS3 project, {_VENDORS}"
    ),
    Program(lambda file: file.suffix == ".unl", lambda _: f"is an EVE-NG lab, {_VENDORS}"),
    Program(is_netlab, _of_netlab),
)
