"""What a node's own files do in it: Containerlab's binds, commands, environment and sysctls, and the FRR daemons that
its own configuration asks for."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass, field
from typing import Annotated, Literal

from fabriclab.constraints import Record
from fabriclab.formats import names, ranges
from fabriclab.formats.names import InterfaceName, NodeName, Word


@dataclass(frozen=True, kw_only=True)
class NodeFile(Record):
    """A file of a node."""

    path: Annotated[str, names.NODE_PATH]
    """Absolute, in the node."""
    text: Annotated[str, names.CONTENT]
    """What is in it; empty if that is not UTF-8 (`base64`)."""
    source: Annotated[str, names.LINE] = ""
    """Where it is from, relative to the topology; empty: written there."""
    executable: bool = False
    bound: bool = True
    """Whether it is in a container by itself, as Containerlab binds it or the image has it; else it is copied in."""
    base64: Annotated[str, names.CONTENT] = ""
    """What is in it if that is not UTF-8, such as a picture."""

    @property
    def content(self) -> bytes:
        """The file's bytes."""
        return b64decode(self.base64) if self.base64 else self.text.encode()


@dataclass(frozen=True, kw_only=True)
class SetupCommand(Record):
    """A command that is run in a node when its daemons have started, and waited for."""

    name: Annotated[str, names.LOG_NAME]
    """Of its log: `exec-1`."""
    argv: tuple[Word, ...]
    by: Literal["containerlab", "netlab"]
    """Who runs it in containers."""
    key: Annotated[str, names.LINE]
    """Where the lab says it: `topology.nodes.h1.exec[0] (line 12)`."""


@dataclass(frozen=True, kw_only=True)
class HealthCheck(Record):
    """How it is known that a node is ready, for which others may wait (Docker's HEALTHCHECK)."""

    argv: tuple[Word, ...]
    start_ns: Annotated[int, ranges.DURATION]
    """Before the first try."""
    interval_ns: Annotated[int, ranges.DURATION]
    limit_ns: Annotated[int, ranges.DURATION]
    """A try that takes longer has failed."""
    tries: Annotated[int, ranges.TRIES]


@dataclass(frozen=True, kw_only=True)
class SetupDaemon(Record):
    """A daemon that the node's own configuration starts."""

    name: Annotated[str, names.LOG_NAME]
    argv: tuple[Word, ...]


@dataclass(frozen=True, kw_only=True)
class Dummy(Record):
    """A device of a node that is up and leads nowhere (Containerlab's links of type dummy)."""

    interface: InterfaceName
    mtu: Annotated[int, ranges.MTU]
    mac: Annotated[str, names.MAC] | None = None
    """None: the kernel's choice."""
    address: Annotated[str, names.IPV4_INTERFACE] | None = None
    ipv6: Annotated[str, names.IPV6_INTERFACE] | None = None


@dataclass(frozen=True, kw_only=True)
class Setup(Record):
    """What a node's own files do in it."""

    files: tuple[NodeFile, ...] = ()
    environment: dict[Annotated[str, names.VARIABLE_NAME], Word] = field(default_factory=dict)
    sysctls: dict[Annotated[str, names.VARIABLE_NAME], Word] = field(default_factory=dict)
    daemons: tuple[SetupDaemon, ...] = ()
    """FRR's, in the order in which they start."""
    main: tuple[Word, ...] = ()
    """The node's main program."""
    commands: tuple[SetupCommand, ...] = ()
    health: HealthCheck | None = None
    is_bridge: bool = False
    """All its ports are in one broadcast domain (Containerlab's kind bridge)."""
    after: tuple[NodeName, ...] = ()
    """Nodes that must be ready before this one starts; they precede it in `order`."""
    order: Annotated[int, ranges.ORDER] = 0
    """Which of the nodes is set up first."""


@dataclass(frozen=True, kw_only=True)
class Configured(Record):
    """Routing is what the nodes' own files make of it."""

    still_ns: Annotated[int, ranges.STILL]
    """For so long no route may have changed before the traffic starts, virtual time."""
    limit_ns: Annotated[int, ranges.CONVERGENCE]
    """How long that may take to come."""
