"""Vendors of switches whose configurations are read, judged or written: a folder each, and a line in VENDORS.

Core knows this list and nothing below it. Of a vendor's folder it loads, when a lab or a command asks for it:

- `commands`: `app`, the commands of `fabriclab VENDOR`, if it has any (`has_group`), and `import_`, the command
  `fabriclab import VENDOR`;
- `kind`: `bind(...)`, what the configurations of switches of the vendor's kind say of a lab
  (`fabriclab.lab.network.read.Kind`);
- `container`: `prepare(...)`, how such a switch is made ready in a container
  (`fabriclab.engine.containers.node.Preparation`).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

Part = Literal["commands", "kind", "container"]


@dataclass(frozen=True)
class NodeKind:
    """A kind of node of Containerlab's that is a vendor's switch, and what it says of itself in a file."""

    name: str
    config_paths: tuple[str, ...]
    """Where such a node looks for its configuration; a lab binds a file there."""
    image: str
    """The image of its containers."""
    guide: str
    """The file that says where the image comes from."""

    @property
    def config_name(self) -> str:
        """What such a file is called."""
        return self.config_paths[0].rpartition("/")[2]


@dataclass(frozen=True)
class Vendor:
    """A vendor: its folder below this one, and the kind of node that runs its software, if there is one."""

    folder: str
    kind: NodeKind | None = None
    has_group: bool = True
    """Whether there are commands `fabriclab VENDOR ...`."""

    def load(self, part: Part) -> Any:
        """Return a module of the vendor's folder. Raises ModuleNotFoundError for one that it does not have."""
        return import_module(f"{__name__}.{self.folder}.{part}")


SONIC_VS = NodeKind(
    name="sonic-vs",
    # platform/vs/docker-sonic-vs/start.sh of sonic-buildimage: master reads the first one; what is bound to the second
    # keeps every release from starting, where Containerlab alone deploys it.
    config_paths=("/var/sonic/config_db.json", "/etc/sonic/config_db.json"),
    image="docker-sonic-vs",
    guide="images/sonic/README.md",
)
VENDORS = (Vendor("sonic", SONIC_VS), Vendor("arista"), Vendor("frr", has_group=False))
"""In the order in which `fabriclab --help` shows them."""


def vendor_of(kind: str | None) -> Vendor | None:
    """Return whose switch a kind of node is; None for one that has no configuration of its own."""
    return next((vendor for vendor in VENDORS if vendor.kind is not None and vendor.kind.name == kind), None)


def kind_of(name: str | None) -> NodeKind | None:
    """Return a vendor's kind of node by its name; None for any other."""
    vendor = vendor_of(name)
    return None if vendor is None else vendor.kind
