"""What a node's own files do in it: Containerlab's binds, commands, environment and sysctls, and the FRR daemons that
its own configuration asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fabriclab.formats.plan.traffic.record import Record


@dataclass(frozen=True, kw_only=True)
class NodeFile(Record):
    """A file of a node."""

    path: str
    """Absolute, in the node."""
    text: str
    source: str = ""
    """Where it is from, relative to the topology; empty: written there."""
    executable: bool = False
    bound: bool = True
    """Whether Containerlab binds it; else it is copied in."""


@dataclass(frozen=True, kw_only=True)
class SetupCommand(Record):
    """A command that is run in a node when its daemons have started, and waited for."""

    name: str
    """Of its log: `exec-1`."""
    argv: tuple[str, ...]
    by: Literal["containerlab", "netlab"]
    """Who runs it in containers."""
    key: str
    """Where the lab says it: `topology.nodes.h1.exec[0] (line 12)`."""


@dataclass(frozen=True, kw_only=True)
class HealthCheck(Record):
    """How it is known that a node is ready, for which others may wait (Docker's HEALTHCHECK)."""

    argv: tuple[str, ...]
    start_ns: int
    """Before the first try."""
    interval_ns: int
    limit_ns: int
    """A try that takes longer has failed."""
    tries: int


@dataclass(frozen=True, kw_only=True)
class SetupDaemon(Record):
    """A daemon that the node's own configuration starts."""

    name: str
    argv: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Setup(Record):
    """What a node's own files do in it."""

    files: tuple[NodeFile, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    sysctls: dict[str, str] = field(default_factory=dict)
    daemons: tuple[SetupDaemon, ...] = ()
    """FRR's, in the order in which they start."""
    main: tuple[str, ...] = ()
    """The node's main program."""
    commands: tuple[SetupCommand, ...] = ()
    health: HealthCheck | None = None
    is_bridge: bool = False
    """All its ports are in one broadcast domain (Containerlab's kind bridge)."""
    after: tuple[str, ...] = ()
    """Nodes that must be ready before this one starts; they precede it in `order`."""
    order: int = 0
    """Which of the nodes is set up first."""


@dataclass(frozen=True, kw_only=True)
class Configured(Record):
    """Routing is what the nodes' own files make of it."""

    still_ns: int
    """For so long no route may have changed before the traffic starts, virtual time."""
    limit_ns: int
    """How long that may take to come."""
