"""Containerlab's keys that a lab may have and that nothing here acts on: found with node and line, so that nobody is
left in doubt.

`containerlab.py` has the words. Each key of Containerlab's schema is sorted here: applied, about containers alone, or
not applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value
from fabriclab.lab.reading.problems import Place
from fabriclab.lab.reading.section import Section
from fabriclab.lab.setup.read import KEYS, WrittenSetup

APPLIED = ("kind", "group", "labels")
"""Keys of a node that both engines act on; of a switch of kind sonic-vs also the bind of its configuration, of kind
linux also those of `fabriclab.lab.setup.read`."""
OF_CONTAINERS = (
    *("image-pull-policy", "restart-policy", "auto-remove", "runtime", "link-apply-mode"),
    *("privileged", "cap-add", "cgroupns-mode", "cgroup-parent"),
)
"""How a container is fetched, kept and confined: what runs in a node is the same without."""
DIFFERS = (
    *(
        "image",
        "startup-delay",
        "exec",
        "binds",
        "volumes",
        "ports",
        "env",
        "env-files",
        "user",
        "hostname",
        "entrypoint",
        "cmd",
    ),
    *(
        "mgmt-ipv4",
        "mgmt-ipv6",
        "network-mode",
        "cpu",
        "memory",
        "cpu-set",
        "stages",
        "dns",
        "certificate",
        "healthcheck",
        "aliases",
    ),
    *("shm-size", "pid-mode", "tmpfs", "security-opts", "sysctls", "devices"),
)
"""Containerlab applies them to nodes of every kind that runs here; some act here, too, of nodes of kind linux."""
MAY_DIFFER = (
    *(
        "license",
        "type",
        "startup-config",
        "enforce-startup-config",
        "suppress-startup-config",
        "credentials",
        "extras",
        "config",
    ),
    "components",
)
"""Whether Containerlab applies them hangs on the kind of node."""
FILE_APPLIED = ("name", "topology", "debug")
"""Keys of the file; `debug` is about Containerlab's own log."""
FILE_DIFFERS = ("mgmt", "settings")
FILE_UNUSED = ("prefix",)
"""Containers of a run have a name of their own, so that a lab runs twice on a host."""

_OWN_IMAGES = re.compile(r"(?:.*/)?(?:fabriclab/(?:host|switch)|docker-sonic-vs)(?:[:@].*)?")
"""Images of which the machine's root file system is the counterpart."""
_MOST_NAMED = 4


@dataclass(frozen=True)
class Unapplied:
    """One key, where it stands, and the nodes that have it; no node of a key of the whole file."""

    key: str
    place: Place
    layer: str
    """The mapping that it stands in, such as `topology.kinds.linux`."""
    nodes: tuple[str, ...] = ()


def unapplied_of_file(root: Section) -> Iterator[Unapplied]:
    """Yield the keys of the file itself that are not applied."""
    for key in (*FILE_DIFFERS, *FILE_UNUSED):
        if not _is_empty(root.get(key)):
            yield Unapplied(key, root.mapping.key_place(key), "")


def unapplied_of_node(
    node: str, layers: Iterable[Section], applied_binds: Sequence[str], setup: WrittenSetup | None
) -> Iterator[Unapplied]:
    """Yield the keys that are not applied of a node and what it inherits from.

    A bind of one of `applied_binds`, a path in the node, is; `setup`: what else acts of a node of kind linux.
    """
    for layer in layers:
        for key, value in layer.mapping.entries.items():
            if key not in (*DIFFERS, *MAY_DIFFER) or _is_empty(value) or _is_applied(key, value, applied_binds):
                continue
            if setup is None or not _acts(key, value, setup):
                yield Unapplied(key, layer.mapping.key_place(key), layer.key, (node,))


def _acts(key: str, value: Value, setup: WrittenSetup) -> bool:
    """Return whether a key of a node of kind linux does in the virtual machine what it does in a container."""
    if key == "binds":
        outside = setup.unapplied_binds
        words = (
            [item.text for item in value.items if isinstance(item, ScalarValue)]
            if isinstance(value, SequenceValue)
            else []
        )
        return not any(_target(word) in outside for word in words)
    if key == "startup-config":
        return bool(setup.setup.daemons)
    if key == "network-mode":
        return isinstance(value, ScalarValue) and value.text == "none"
    return key in KEYS


def _is_empty(value: Value | None) -> bool:
    if isinstance(value, ScalarValue):
        return value.is_null or not value.text
    return not (
        value.items if isinstance(value, SequenceValue) else value.entries if isinstance(value, MappingValue) else ()
    )


def _is_applied(key: str, value: Value, applied_binds: Sequence[str]) -> bool:
    """Return whether a value asks for no more than what a node has here anyway."""
    if key == "binds" and isinstance(value, SequenceValue):
        return all(isinstance(bind, ScalarValue) and _target(bind.text) in applied_binds for bind in value.items)
    if not isinstance(value, ScalarValue):
        return False
    if key == "binds":
        return all(_target(bind.strip()) in applied_binds for bind in value.text.split(","))
    return (key == "image" and is_own_image(value.text)) or (key == "network-mode" and value.text == "bridge")


def is_own_image(image: str) -> bool:
    """Return whether the machine's root file system is the counterpart of an image."""
    return _OWN_IMAGES.fullmatch(image) is not None


def _target(bind: str) -> str:
    return bind.partition(":")[2].partition(":")[0]


def merged(found: Iterable[Unapplied]) -> tuple[Unapplied, ...]:
    """Return each key of each line once, with all the nodes that have it, in the order in which they were found."""
    nodes: dict[tuple[str, Place, str], list[str]] = {}
    for one in found:
        nodes.setdefault((one.key, one.place, one.layer), []).extend(one.nodes)
    return tuple(Unapplied(key, place, layer, tuple(names)) for (key, place, layer), names in nodes.items())


def unapplied_sentences(found: Sequence[Unapplied]) -> tuple[str, ...]:
    """Return a sentence for each key, with its nodes and lines, and what the engines make of it."""
    by_key: dict[str, list[Unapplied]] = {}
    for one in found:
        by_key.setdefault(one.key, []).append(one)
    return tuple(
        f"{PurePath(every[0].place.file).name}: {key}{_where(every)} is {_judgement(key)}"
        for key, every in by_key.items()
    )


def _where(every: Sequence[Unapplied]) -> str:
    """Say which nodes have a key, and where it stands."""
    own = [one for one in every if one.layer.startswith("topology.nodes.")]
    if len(own) > _MOST_NAMED:
        lines = [one.place.line or 0 for one in own]
        several = f"{len(own)} nodes, {own[0].nodes[0]} to {own[-1].nodes[0]} (lines {min(lines)} to {max(lines)})"
        parts = [several, *(_one_place(one) for one in every if one not in own)]
    else:
        parts = [_one_place(one) for one in every]
    return f" of {', '.join(parts)}" if every[0].nodes else f" (line {every[0].place.line})"


def _one_place(one: Unapplied) -> str:
    layer = one.layer.removeprefix("topology.")
    inherited = "" if layer.startswith("nodes.") else f", {layer}"
    nodes = (
        one.nodes
        if len(one.nodes) <= _MOST_NAMED
        else (f"{len(one.nodes)} nodes", f"{one.nodes[0]} to {one.nodes[-1]}")
    )
    return f"{', '.join(nodes)} (line {one.place.line}{inherited})"


def _judgement(key: str) -> str:
    if key in FILE_UNUSED:
        return (
            "not applied: in the virtual machine nothing has such a name, and containers of a run have names of their "
            "own"
        )
    may = "may " if key in MAY_DIFFER else ""
    return (
        f"not applied in the virtual machine; Containerlab {'may apply' if may else 'applies'} it, "
        f"so the engines {may}differ"
    )


def short_line(found: Sequence[Unapplied]) -> str:
    """Return one sentence that names the keys only; empty when there are none."""
    keys = list(dict.fromkeys(one.key for one in found))
    if not keys:
        return ""
    file = PurePath(found[0].place.file).name
    return f"{file}: not applied in the virtual machine: {', '.join(keys)}; fabriclab check names nodes and lines"
