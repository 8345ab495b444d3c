"""What a run in containers is made from, the lab's topology file, the tools, and the images that it names; and how long
it stays up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.docker import Container, image_identity
from fabriclab.engine.containers.topology import read_containers


@dataclass(frozen=True)
class ContainerLab:
    """What a run in containers is made from.

    `topology` is the lab's own Containerlab file, `tools` the directory of static tools.
    """

    topology: Path
    tools: Path
    images: Mapping[str, str] = field(default_factory=dict)
    """Each image's id by its name, of those that are there."""
    text: str | None = None
    """What the topology's file comes to, where it is a Go template."""
    layers: Mapping[tuple[str, ...], Path] = field(default_factory=dict)
    """Layers over the images (`fabriclab.engine.layers`), by their kind and what was asked for."""

    @classmethod
    def find(cls, topology: Path, tools: Path, text: str | None = None) -> ContainerLab:
        """Look up the images of a topology; `text`: what it comes to, where it is a Go template.

        What is missing is found, with all else, before the first run. Raises EngineError.
        """
        names = sorted({container.image for container in read_containers(topology, text)})
        try:
            found = {name: image_identity(name) for name in names}
        except EngineError:
            # No Docker: `check_host` says so, and what else there is.
            found = {}
        return cls(topology, tools, {name: identity for name, identity in found.items() if identity}, text)

    def hashes(self) -> dict[str, str]:
        """Return the hash of the tools and of each image."""
        return {"tools": self.tools.name, **self.images}

    def packages(self) -> list[str]:
        """Return no packages: they are the images' own, named by the images' ids."""
        return []


@dataclass(frozen=True)
class Stay:
    """A lab that stays up, until somebody says that it is over."""

    on_up: Callable[[Mapping[str, Container]], None]
    """Called once with the nodes' containers, when their routes are what they should be."""
    over: threading.Event
    on_gone: Callable[[], None]
    """Called when no container is left."""
