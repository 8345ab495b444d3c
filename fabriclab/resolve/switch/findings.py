"""What is looked at when a switch is checked, and what is found: a rule, a field, its value, the bound and the
consequence.

The rules are pure functions of a switch and its ports (`checks.py`, `pfc_checks.py`): a plan's switch is checked with
them, and so is a SONiC configuration without a lab around.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from fabriclab.formats.finding import Finding
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.plan.switch import PriorityGroup, SwitchPort, SwitchQueue
from fabriclab.resolve.switch.headroom import Line

SwitchRule = Literal[
    "reserved-above-pool",
    "account-below-frame",
    "pool-below-frames",
    "counted-twice",
    "wred-unreachable",
    "wred-unreachable-when-busy",
    "wred-max-unreachable",
    "sharing-not-judged",
    "wred-above-xoff",
    "wred-above-ingress-limit",
    "pfc-lossy-group",
    "lossless-without-pfc",
    "pause-ignored",
    "headroom-below-frame",
    "headroom-below-need",
    "headroom-for-full-frames",
    "shared-headroom-too-small",
    "headroom-oversubscribed",
    "xon-above-limit",
    "pause-stops-other-queue",
    "lossless-queue-drops",
    "starvation",
    "cir-above-line",
    "dctcp-without-marks",
]
"""Every rule there is: whoever tells findings in other words (`fabriclab sonic check`) has words for each of them."""


@dataclass(frozen=True)
class CheckedPort:
    """A port of the switch."""

    name: str
    line: Line
    port: SwitchPort

    def queue(self, index: int) -> SwitchQueue | None:
        """Return the queue of that number; None: not configured."""
        return next((queue for queue in self.port.queues if queue.index == index), None)

    def group(self, index: int) -> PriorityGroup | None:
        """Return the priority group of that number; None: not configured, so without any limit."""
        return next((group for group in self.port.groups if group.index == index), None)


@dataclass(frozen=True)
class SwitchFinding(Finding):
    """What is found in a switch: an error or a warning, never a note. Its path is in the words of the lab language:
    `("queues", "3", "wred", "min")`."""

    rule: SwitchRule
    always: bool = False
    """Whether it is so with a single busy port, too; of thresholds that depend on how many are busy."""

    called: str = ""
    """What the switch's own configuration calls the field; empty: it has none, or has the lab's words."""

    @property
    def field(self) -> str:
        """Return the path of the field, its words with dots between them."""
        return ".".join(self.path)

    @property
    def sentence(self) -> str:
        """Field, what is wrong with it, in one line, without the ports."""
        name = f"{self.called} ({'.'.join(self.path[:2])})" if self.called else self.field
        return f"{name}: {self.explanation}"

    @property
    def explanation(self) -> str:
        """Value, bound, consequence and remedy."""
        return "; ".join(filter(None, [f"{self.value} is {self.bound}", self.consequence, self.remedy]))


def in_words_of(finding: SwitchFinding, remedies: Mapping[str, str], fields: Mapping[str, str]) -> SwitchFinding:
    """Return a finding as a switch's own configuration would have it: its remedy by rule, its field by the lab's words
    for it without numbers and names (`queues.wred.min`)."""
    words = ".".join((finding.path[0], *finding.path[2:])) if len(finding.path) > 2 else finding.field
    return replace(finding, remedy=remedies.get(finding.rule, finding.remedy), called=fields.get(words, ""))


def merged(findings: Iterable[SwitchFinding]) -> tuple[SwitchFinding, ...]:
    """Return the findings, those that differ in their ports alone as one, in the order of the first of each."""
    found: dict[SwitchFinding, dict[str, None]] = {}
    for finding in findings:
        found.setdefault(replace(finding, ports=()), {}).update(dict.fromkeys(finding.ports))
    return tuple(replace(finding, ports=tuple(ports)) for finding, ports in found.items())


def checked_ports(node: Node, plan: Plan) -> tuple[CheckedPort, ...]:
    """Return the ports of a switch with a shared buffer, in the plan's order."""
    return tuple(
        CheckedPort(port.interface, _line(port, plan.peer_of(port)), port.switch_port)
        for port in node.ports
        if port.switch_port is not None
    )


def _line(port: Port, peer: Port) -> Line:
    return Line.between(port, peer, None if peer.switch_port is None else peer.switch_port.pfc)
