"""The lab as a test bench: its nodes and routing, without its own traffic, events and checks; and the stages of a
validation.

A stage is an ordinary plan with traffic and probes of its own, and a function that judges what its run measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fabriclab.formats.plan.model import Event, Plan, Probes
from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.plan.traffic import FlowsTraffic, Traffic
from fabriclab.lab.network.own_configuration import Contradiction, NotEmulated
from fabriclab.lab.validation import WrittenValidation
from fabriclab.results import Results
from fabriclab.validation.finding import ValidationFinding

MS = 10**6
S = 10**9
NO_PROBES = Probes(
    queue_interval_ns=None, queue_ports=(), tcp_interval_ns=None, tcp_classes=(), interface_interval_ns=None
)


class Collector(NamedTuple):
    """A command whose output in a node is kept, `collect/NAME@NODE` of the run directory."""

    name: str
    node: str
    argv: tuple[str, ...]


@dataclass(frozen=True)
class Bench:
    """What is validated: the plan that runs, and the one that is intended."""

    plan: Plan
    """What runs. Its routes may be those that routing really finds (`observed`)."""
    intended: Plan
    """What should be."""
    wanted: WrittenValidation
    not_emulated: Mapping[str, tuple[NotEmulated, ...]] = field(default_factory=dict)
    """By switch: what acts there by its own configuration, and not in a run."""
    contradictions: Mapping[str, tuple[Contradiction, ...]] = field(default_factory=dict)
    """By switch: what its configuration and another's say differently."""
    step: str = ""
    """The step of `validation` after which it is asked; empty: before all of them."""

    def collector(self, name: str, node: str, argv: tuple[str, ...]) -> Collector:
        """Return a command whose output is kept under a name of this step's own."""
        return Collector(f"{self.step}{name}", node, argv)

    def collected(self, results: Results, name: str, node: str) -> str | None:
        """Return what such a command printed, None where there is nothing of it."""
        return collected(results, f"{self.step}{name}", node)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be told of every run of a stage, too: a sentence each."""
        differ = [f"{name}: {one.sentence}" for name, every in self.contradictions.items() for one in every]
        acting = [f"{name}: {one.sentence}" for name, every in self.not_emulated.items() for one in every]
        return (*differ, *acting)

    @property
    def hosts(self) -> list[Node]:
        """Hosts, in the order of the plan."""
        return [node for node in self.plan.nodes if node.role == "host"]

    @property
    def switches(self) -> list[Node]:
        """Switches, in the order of the plan."""
        return [node for node in self.plan.nodes if node.role == "switch"]

    def racks(self) -> dict[str, list[str]]:
        """Return the hosts behind each switch, by their first port."""
        names = {node.name for node in self.switches}
        racks: dict[str, list[str]] = {}
        for host in self.hosts:
            if host.ports and host.ports[0].peer_node in names:
                racks.setdefault(host.ports[0].peer_node, []).append(host.name)
        return racks

    def fabric_ports(self, switch: Node) -> list[Port]:
        """Return a switch's ports to other switches."""
        return [port for port in switch.ports if self.plan.node(port.peer_node).role == "switch"]

    def shared_ports(self) -> list[tuple[Node, Port]]:
        """Return the ports of switches with a shared buffer."""
        return [(node, port) for node in self.switches for port in node.ports if port.switch_port is not None]


@dataclass(frozen=True)
class Stage:
    """A run of a validation and what is made of it."""

    name: str
    plan: Plan
    judge: Callable[[Results], list[ValidationFinding]]
    collectors: tuple[Collector, ...] = ()
    check: str = ""
    """What it looks for, where only the machine's own qdisc can tell; empty: any engine can."""
    part_of: str = ""
    """The stage that `--only` names, where that has several runs; empty: its own name."""

    @property
    def asked_as(self) -> str:
        """What `--only` calls it."""
        return self.part_of or self.name


@dataclass(frozen=True)
class Setting:
    """What a stage puts on the bench."""

    traffic: Sequence[Traffic]
    last_start_ns: int
    probes: Probes = NO_PROBES
    events: Sequence[Event] = ()
    patience_ns: int = 5 * S
    """After the last start: what is not done then will not be."""
    transport: dict[str, Any] = field(default_factory=dict)
    """Settings of every host's TCP in place of the lab's."""


def set_up(bench: Bench, stage: str, setting: Setting) -> Plan:
    """Return the plan of a stage."""
    nodes = tuple(_with_transport(node, setting.transport) for node in bench.plan.nodes)
    update: dict[str, Any] = {
        "title": f"{bench.plan.title}: {stage}",
        "nodes": nodes,
        "traffic": tuple(setting.traffic),
        "probes": setting.probes,
        "events": tuple(setting.events),
        "limit_ns": setting.last_start_ns + setting.patience_ns,
        "pause_storms": (),
        "checks": (),
        "warnings": bench.warnings,
        "groups": {},
        "study": None,
    }
    return bench.plan.model_copy(update=update)


def _with_transport(node: Node, settings: dict[str, Any]) -> Node:
    if node.transport is None:
        return node
    # MPTCP would answer for a path that is broken with another one.
    return node.model_copy(update={"transport": node.transport.model_copy(update={"mptcp": None, **settings})})


def single_flows(
    name: str, senders: Sequence[str], receiver: str, size_bytes: int, start_ns: int, **more: Any
) -> FlowsTraffic:
    """Return pushes of one size; by default one from each sender."""
    defaults = {"count": 1, "interval_ns": MS, "mode": "push"}
    return FlowsTraffic(
        name=name,
        senders=tuple(senders),
        receiver=receiver,
        size_bytes=size_bytes,
        start_ns=start_ns,
        **{**defaults, **more},
    )


def by_shell(command: str, then: str) -> tuple[str, ...]:
    """Return what runs a line of the shell, `then` another one, and keeps also what it complains of."""
    return ("sh", "-c", f"{{ {command}\n}} 2>&1; {then}")


def collected(results: Results, collector: str, node: str) -> str | None:
    """Return what a collector printed, None where there is nothing of it."""
    path = Path(results.directory) / "collect" / f"{collector}@{node}"
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else None
