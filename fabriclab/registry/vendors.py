"""Vendors of switches whose configurations are read, judged or written: a folder in `vendors/`, and a line in VENDORS.

Core knows this list and no vendor's folder. It loads these modules of a folder when a lab or a command asks for them:

- `commands`: `app`, the commands of `fabriclab VENDOR`, if it has any (`has_group`), and `import_`, the command
  `fabriclab import VENDOR`;
- `kind`: `bind(...)`, what the configurations of switches of the vendor's kind say of a lab
  (`fabriclab.lab.network.read.Kind`);
- `container`: `prepare(...)`, how such a switch is made ready in a container
  (`fabriclab.engine.containers.node.Preparation`);
- `stand_in`: `read(data, file, interfaces)`, what a configuration says where FRR stands in for the switch (`StandIn`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from ipaddress import IPv4Address, IPv4Interface
from typing import Any, Literal, cast

Part = Literal["commands", "kind", "container", "stand_in"]


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
    virtual_machine: str
    """The kind whose startup-config is the same file; it runs nowhere here, FRR stands in for it."""

    @property
    def config_name(self) -> str:
        """What such a file is called."""
        return self.config_paths[0].rpartition("/")[2]


@dataclass(frozen=True)
class StandIn:
    """What a configuration gives to the FRR switch in its place."""

    addresses: Mapping[str, IPv4Interface] = field(default_factory=dict)
    """By interface, as Linux calls it."""
    mtus: Mapping[str, int] = field(default_factory=dict)
    """In bytes of an IP packet, likewise."""
    loopback: IPv4Address | None = None
    asn: int | None = None
    profile: str = ""
    """Its buffers and QoS, the text of a switch profile without its head; empty: nothing said."""
    read: tuple[str, ...] = ()
    """What was taken, a few words each."""
    unread: tuple[str, ...] = ()
    """What was not."""
    notes: tuple[str, ...] = ()
    """What is worth a sentence of what was taken."""

    def over(self, other: StandIn) -> StandIn:
        """Return what two files of a switch say together; this one says it first."""
        return StandIn(
            {**other.addresses, **self.addresses},
            {**other.mtus, **self.mtus},
            self.loopback or other.loopback,
            self.asn or other.asn,
            self.profile or other.profile,
        )


ReadStandIn = Callable[[bytes, str, Collection[str]], StandIn]
"""What a file says: its bytes, its name, and the interfaces that have a link. Raises LabError for what is none."""


@dataclass(frozen=True)
class Vendor:
    """A vendor: its folder in `vendors/`, and the kind of node that runs its software, if there is one."""

    folder: str
    kind: NodeKind | None = None
    has_group: bool = True
    """Whether there are commands `fabriclab VENDOR ...`."""
    has_import: bool = True
    """Whether there is a command `fabriclab import VENDOR`."""
    stands_in: tuple[str, ...] = ()
    """Kinds of nodes whose configurations `stand_in` reads."""
    bound_at: tuple[str, ...] = ()
    """Where such nodes look for a configuration, beside startup-config."""

    def load(self, part: Part) -> Any:
        """Return a module of the vendor's folder. Raises ModuleNotFoundError for one that it does not have."""
        return import_module(f"fabriclab.vendors.{self.folder}.{part}")


SONIC_VS = NodeKind(
    name="sonic-vs",
    # platform/vs/docker-sonic-vs/start.sh of sonic-buildimage: master reads the first one; what is bound to the second
    # keeps every release from starting, where Containerlab alone deploys it.
    config_paths=("/var/sonic/config_db.json", "/etc/sonic/config_db.json"),
    image="docker-sonic-vs",
    guide="images/sonic/README.md",
    virtual_machine="sonic-vm",
)
FRR = "frr"
"""No kind of Containerlab's: a node that binds a frr.conf."""
VENDORS = (
    Vendor("sonic", SONIC_VS, stands_in=(SONIC_VS.name, SONIC_VS.virtual_machine)),
    Vendor("arista", stands_in=("arista_ceos", "ceos", "arista_veos", "vr-arista_veos", "vr-veos")),
    Vendor("frr", has_group=False, stands_in=(FRR,)),
    Vendor("mininet", has_group=False),
    Vendor("nokia", has_group=False, has_import=False, stands_in=("nokia_srlinux", "srl")),
    Vendor(
        "cumulus",
        has_group=False,
        has_import=False,
        stands_in=("nvidia_cumulusvx", "cumulus_cvx", "cvx"),
        bound_at=("/etc/nvue.d/startup.yaml", "/etc/network/interfaces"),
    ),
)
"""In the order in which `fabriclab --help` shows them."""


def vendor_of(kind: str | None) -> Vendor | None:
    """Return whose switch a kind of node is; None for one that has no configuration of its own."""
    return next((vendor for vendor in VENDORS if vendor.kind is not None and vendor.kind.name == kind), None)


def kind_of(name: str | None) -> NodeKind | None:
    """Return a vendor's kind of node by its name; None for any other."""
    vendor = vendor_of(name)
    return None if vendor is None else vendor.kind


def kind_of_machine(name: str | None) -> NodeKind | None:
    """Return the kind of node whose configuration that of a kind of virtual machine is; None for any other."""
    kinds = (vendor.kind for vendor in VENDORS if vendor.kind is not None)
    return next((kind for kind in kinds if kind.virtual_machine == name), None)


def stand_in_of(kind: str | None) -> ReadStandIn | None:
    """Return what reads the configurations of a kind of node that FRR stands in for, or FRR's own; None where nothing
    does."""
    vendor = next((vendor for vendor in VENDORS if kind in vendor.stands_in), None)
    return None if vendor is None else cast(ReadStandIn, vendor.load("stand_in").read)


def bound_at(kind: str | None) -> tuple[str, ...]:
    """Return where a kind of node looks for a configuration, beside startup-config."""
    return next((vendor.bound_at for vendor in VENDORS if kind in vendor.stands_in), ())
