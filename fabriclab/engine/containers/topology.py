"""What of the lab's own topology file concerns the containers: each node's image and privileges, with Containerlab's inheritance.

Source: containerlab.dev/manual/nodes, "image", "privileged", "cap-add"; defaults, kind, group, node: the nearest wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from fabriclab.engine.artefacts import EngineError


@dataclass(frozen=True)
class NodeContainer:
    """How Containerlab will create a node's container."""

    node: str
    image: str
    privileged: bool
    capabilities: frozenset[str]
    """Those that are added when it is not privileged, without the prefix `CAP_`."""


def read_containers(topology: Path) -> list[NodeContainer]:
    """Return the nodes of a topology file. Raises EngineError for a file that can't be read, or a node without an image."""
    try:
        document = YAML(typ="safe", pure=True).load(topology)
    except (OSError, YAMLError) as error:
        raise EngineError(f"{topology}: {error}") from error
    described = _mapping(_mapping(document).get("topology"))
    containers = [_container(name, _mapping(node), described) for name, node in _mapping(described.get("nodes")).items()]
    missing = [container.node for container in containers if not container.image]
    if missing:
        raise EngineError(f"{topology}: no image for {', '.join(missing)}: write kinds: {{linux: {{image: 'fabriclab/host:latest'}}}}")
    return containers


def _container(name: str, node: Mapping[str, Any], topology: Mapping[str, Any]) -> NodeContainer:
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
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
