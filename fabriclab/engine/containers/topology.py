"""The lab's own topology file: what of it concerns the containers, and the copy that is deployed.

Source: containerlab.dev/manual/nodes, "image", "privileged", "cap-add"; defaults, kind, group, node: the nearest wins.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from fabriclab.engine.artefacts import EngineError
from fabriclab.registry.vendors import VENDORS, kind_of

_CONFIG_PATHS = tuple(path for vendor in VENDORS if vendor.kind is not None for path in vendor.kind.config_paths)
_HOST_PATHS = ("binds", "startup-config", "license", "env-files")
"""Keys whose values name files of the host, relative to the topology file."""


@dataclass(frozen=True)
class NodeContainer:
    """How Containerlab will create a node's container."""

    node: str
    image: str
    privileged: bool
    capabilities: frozenset[str]
    """Those that are added when it is not privileged, without the prefix `CAP_`."""
    kind: str = "linux"
    config: Path | None = None
    """The file that is bound to where a vendor's switch has its configuration."""


def read_containers(topology: Path, text: str | None = None) -> list[NodeContainer]:
    """Return the nodes of a topology file; `text`: what it comes to, where it is a Go template.

    Raises EngineError for a file that can't be read, or a node without an image.
    """
    described = _mapping(_load(topology, text).get("topology"))
    directory, nodes = topology.resolve().parent, _mapping(described.get("nodes"))
    containers = [_container(name, _mapping(node), described, directory) for name, node in nodes.items()]
    missing = [container.node for container in containers if not container.image]
    if missing:
        raise EngineError(
            f"{topology}: {', '.join(missing)} has no image; write kinds: {{linux: {{image: 'fabriclab/host:latest'}}}}"
        )
    return containers


def _container(name: str, node: Mapping[str, Any], topology: Mapping[str, Any], directory: Path) -> NodeContainer:
    defaults = _mapping(topology.get("defaults"))
    group_name = node.get("group", defaults.get("group"))
    group = _mapping(_mapping(topology.get("groups")).get(group_name))
    kind_name = node.get("kind", group.get("kind", defaults.get("kind")))
    kind = _mapping(_mapping(topology.get("kinds")).get(kind_name))
    layers = (node, group, kind, defaults)
    capabilities: list[object] = next((layer["cap-add"] for layer in layers if layer.get("cap-add")), [])
    return NodeContainer(
        node=str(name),
        image=str(next((layer["image"] for layer in layers if layer.get("image")), "")),
        privileged=bool(next((layer["privileged"] for layer in layers if layer.get("privileged") is not None), True)),
        capabilities=frozenset(str(word).upper().removeprefix("CAP_") for word in capabilities),
        kind=str(kind_name or ""),
        config=_bound_config(layers, directory) if kind_of(kind_name) is not None else None,
    )


def _bound_config(layers: Sequence[Mapping[str, Any]], directory: Path) -> Path | None:
    """Return the file that the nearest layer binds to where a switch has its configuration."""
    for layer in layers:
        for bind in layer.get("binds") or ():
            if _is_config(str(bind)):
                return directory / str(bind).partition(":")[0]
    return None


def deployable(
    topology: Path,
    name: str,
    binds: Sequence[str] = (),
    nodes: Collection[str] | None = None,
    text: str | None = None,
    own_binds: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the text of the topology under another name, with what it says of the host's files made absolute; `text`
    is what it comes to, where it is a Go template. Raises EngineError.

    `nodes` alone are deployed, and what they wait for; None: all. A link to any other ends in the node itself: the
    interface is there and has a carrier, so that addresses, routes and queues are those of the whole lab.

    `binds` (`host's path:node's path`) are for all nodes, beside the lab's own: Containerlab joins those of defaults,
    kinds, groups, nodes. `own_binds` are for single nodes. The same lab may run twice on a host, so name and prefix
    can't stay; `containerlab destroy` takes the name from the file only. A switch's configuration is not bound: its
    vendor's `prepare` brings it in, as the image takes it.
    """
    document = _load(topology, text)
    document["name"] = name
    document.pop("prefix", None)
    for layer in _layers(document):
        for key in _HOST_PATHS:
            if key in layer:
                layer[key] = _absolute(layer[key], topology.resolve().parent)
        if layer.get("binds"):
            layer["binds"] = [bind for bind in layer["binds"] if not _is_config(str(bind))]
    if nodes is not None:
        _leave_out(document["topology"], nodes)
    if binds:
        described = document["topology"]
        defaults = described["defaults"] = described.get("defaults") or {}
        defaults["binds"] = [*(defaults.get("binds") or ()), *binds]
    for node, added in (own_binds or {}).items():
        described = document["topology"]["nodes"].get(node)
        if described is not None:
            described["binds"] = [*(described.get("binds") or ()), *added]
    deployed = io.StringIO()
    YAML().dump(document, deployed)
    return deployed.getvalue()


def _leave_out(described: MutableMapping[str, Any], wanted: Collection[str]) -> None:
    kept = _with_needed(_mapping(described.get("nodes")), wanted)
    described["nodes"] = {name: node for name, node in _mapping(described.get("nodes")).items() if name in kept}
    links = []
    for number, link in enumerate(described.get("links") or ()):
        ends = link.get("endpoints") or [link["endpoint"]]
        there = [end for end in ends if _node_of(end) in kept]
        if len(there) == 1 and len(ends) == 2:
            link["endpoints"] = [end if end is there[0] else _idle_end(there[0], number) for end in ends]
        if there:
            links.append(link)
    described["links"] = links


def _with_needed(nodes: Mapping[str, Any], wanted: Collection[str]) -> set[str]:
    """Return the wanted nodes and those whose network or start they wait for."""
    kept: set[str] = set()
    left = [name for name in nodes if name in wanted]
    while left:
        name = left.pop()
        if name in nodes and name not in kept:
            kept.add(name)
            left += _needed_by(_mapping(nodes[name]))
    return kept


def _needed_by(node: Mapping[str, Any]) -> Iterator[str]:
    kind, colon, other = str(node.get("network-mode") or "").partition(":")
    if kind == "container" and colon:
        yield other
    for stage in _mapping(node.get("stages")).values():
        for awaited in _mapping(stage).get("wait-for") or ():
            yield str(_mapping(awaited).get("node"))


def _node_of(end: object) -> str:
    return str(end["node"]) if isinstance(end, Mapping) else str(end).partition(":")[0]


def _idle_end(kept: object, number: int) -> object:
    """Return the other end of a link that leads nowhere: an interface of the node that is there."""
    node, interface = _node_of(kept), f"idle{number}"
    return {"node": node, "interface": interface} if isinstance(kept, Mapping) else f"{node}:{interface}"


def _is_config(bind: str) -> bool:
    """Return whether a bind is a switch's configuration."""
    return bind.partition(":")[2].partition(":")[0] in _CONFIG_PATHS


def _layers(document: Mapping[str, Any]) -> Iterator[MutableMapping[str, Any]]:
    """Yield every mapping that describes nodes."""
    described = _mapping(document.get("topology"))
    layers = [described.get("defaults")]
    for part in ("kinds", "groups", "nodes"):
        layers += _mapping(described.get(part)).values()
    yield from (layer for layer in layers if isinstance(layer, MutableMapping))


def _absolute(value: object, directory: Path) -> object:
    """Return a value of the file with the host's path at its start (`path` or `path:where:how`) made absolute,
    where that is a file."""
    if isinstance(value, list):
        return [_absolute(item, directory) for item in value]
    path, colon, rest = str(value).partition(":")
    if not path or "\n" in path or path.startswith(("/", "~")) or not (directory / path).exists():
        return value
    return f"{directory / path}{colon}{rest}"


def _load(topology: Path, text: str | None) -> dict[str, Any]:
    try:
        document = YAML().load(topology if text is None else text)
    except (OSError, YAMLError) as error:
        raise EngineError(f"{topology}: {error}") from error
    if not isinstance(document, dict):
        raise EngineError(f"{topology}: is not a mapping; a Containerlab file has `name` and `topology`")
    return document


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
