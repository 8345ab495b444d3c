"""Who of a lab whose nodes' own files give it addresses reaches whom, asked by ping.

Every host asks every other, unless the experiment's `validation` says who asks whom. Routers of a lab without hosts are
asked, too, and not judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from shlex import quote

from fabriclab.formats.run_directory import HOSTS_FILE
from fabriclab.keys.wording import listed
from fabriclab.lab.validation_keys import Severity
from fabriclab.lab.wanted_pings import WrittenPing
from fabriclab.results import Results
from fabriclab.units import format_count
from fabriclab.validation.bench import Bench, Collector
from fabriclab.validation.finding import ValidationFinding, inapplicable, judged, shortened, unmeasured

_FEW = 2
"""With fewer hosts than these routers are asked as well: there is no pair."""
_TOGETHER = 64
"""So many pings of a node are under way at once: one that nobody answers waits for seconds."""
_TO, _EXIT = "to ", "exit "
_ASK = f"""\
ask() {{
  name=$1; shift
  said=$(ping -c 1 -W 1 "$@" 2>&1 || ping -c 3 -W 1 "$@" 2>&1); code=$?
  printf '{_TO}%s\\n%s\\n{_EXIT}%s\\n' "$name" "$said" "$code"
}}
"""
"""The first answer is enough; without one there are three more tries, a second apart."""
_COLLECTED = "pings"

_NO_NAME, _NO_ROUTE = "Name or service not known", "Network is unreachable"
"""What ping says of a node without an address (its name is then all that is known of it), and without a route."""


@dataclass(frozen=True)
class _Ping:
    """One node asks another, or an address."""

    sender: str
    target: str
    family: int | None
    answers: bool
    source: str | None = None
    by_loopback: bool = False
    """Whether it asks from its own loopback address: a router's links need not be known to others."""
    severity: Severity = field(default="error", compare=False)

    @property
    def name(self) -> str:
        """What tells it from the sender's others."""
        family = "" if self.family is None else f", IPv{self.family}"
        return f"{self.target}{family}{'' if self.source is None else f', from {self.source}'}"

    def asked(self) -> str:
        """Return the shell's words: by the address that the target was found to have, else by its name."""
        known = " ".join(f"{name}=$({_lookup(node)});" for name, node in (("a", self.target), ("b", self.sender)))
        words = ["ask", quote(self.name), *(() if self.source is None else ("-I", self.source))]
        if self.family is not None:
            words += [f"-{self.family}", self.target]
        else:
            words += ["${b:+-I $b}"] if self.by_loopback else []
            words.append(f"${{a:-{self.target}}}")
        return f"{{ {known} {' '.join(words)}; }} &"

    def is_of(self, bridges: Collection[str]) -> bool:
        """Return whether one end is a bridge, which answers nobody."""
        return self.sender in bridges or self.target in bridges

    def of_a_bridge(self, bridges: Collection[str]) -> ValidationFinding:
        """Return that nothing can be asked of a bridge."""
        name = self.target if self.target in bridges else self.sender
        why = f"{name} is a bridge without an address"
        return inapplicable("reach", f"{self.sender} to {self.target}", self._expected(), why)

    def _expected(self) -> str:
        return "answers" if self.answers else "no answer"

    def judged(self, said: Mapping[str, str]) -> ValidationFinding:
        """Return whether there was an answer where there should be, and only there.

        said: what the sender's pings printed, by their names.
        """
        source, expected = f" from {self.source}" if self.source else "", self._expected()
        where = f"{self.sender} to {self.target}{source}"
        output = said.get(self.name, "")
        last = output.strip().rpartition("\n")[2]
        if not last.startswith(_EXIT):
            return unmeasured("reach", where, expected, "ping gave no answer")
        measured = "answers" if last == f"{_EXIT}0" else "no answer"
        if measured != expected:
            measured += self._why(output)
        return judged("reach", where, expected, measured, measured == expected, self.severity)

    def _why(self, output: str) -> str:
        """Return why there is no answer, as far as ping itself knows."""
        if _NO_NAME in output:
            return f"; {self.target} has no address"
        return f"; {self.sender} has no route to {self.target}" if _NO_ROUTE in output else ""


def ping_collectors(bench: Bench) -> Iterator[Collector]:
    """Yield a command for each node that asks. It asks many at once: silence costs a node seconds, not each pair."""
    bridges = _bare_bridges(bench)
    by_sender: dict[str, list[str]] = {}
    for ping in _pings(bench):
        if not ping.is_of(bridges):
            by_sender.setdefault(ping.sender, []).append(ping.asked())
    for sender, asked in by_sender.items():
        batches = [[*asked[first : first + _TOGETHER], "wait"] for first in range(0, len(asked), _TOGETHER)]
        yield bench.collector(_COLLECTED, sender, ("sh", "-c", "\n".join((_ASK, *chain(*batches)))))


def _said(bench: Bench, results: Results, sender: str) -> dict[str, str]:
    """Return what a node's pings printed, by their names."""
    said: dict[str, str] = {}
    name = ""
    for line in (bench.collected(results, _COLLECTED, sender) or "").splitlines():
        if line.startswith(_TO):
            name = line.removeprefix(_TO)
        else:
            said[name] = f"{said.get(name, '')}{line}\n"
    return said


def _pings(bench: Bench) -> list[_Ping]:
    written: Sequence[WrittenPing] = bench.wanted.pings
    if written:
        # One that two names ask for is asked once, and fails where one of them says so.
        every = (
            _Ping(sender, one.target, one.family, one.answers, one.source, severity=one.severity)
            for one in sorted(written, key=lambda one: one.severity == "warning")
            for sender in one.senders
        )
        return list(dict.fromkeys(every))
    if bench.step or "pings" in bench.wanted.keys:
        return []
    bridges = _bare_bridges(bench)
    hosts = [host.name for host in bench.hosts]
    routers = len(hosts) < _FEW
    if routers:
        hosts += [switch.name for switch in bench.switches if switch.name not in bridges]
    pairs = [(one, other) for one in hosts for other in hosts if one != other]
    return [_Ping(one, other, None, answers=True, by_loopback=routers) for one, other in pairs]


def _bare_bridges(bench: Bench) -> frozenset[str]:
    """Return the bridges without an address: they pass packets on, and answer nobody."""
    nodes = (node for node in bench.plan.nodes if node.setup is not None and node.setup.is_bridge)
    return frozenset(node.name for node in nodes if not any(port.address or port.ipv6 for port in node.ports))


def _lookup(node: str) -> str:
    """Return the shell's words for the address that a node was found to have."""
    return f"awk -F, -v n={node} '$1 == n {{print $2}}' /job/{HOSTS_FILE}"


def judge_pings(bench: Bench, results: Results) -> list[ValidationFinding]:
    """Return who reaches whom: one line where all is as it should be, else what is not."""
    every, bridges = _pings(bench), _bare_bridges(bench)
    pings = [ping for ping in every if not ping.is_of(bridges)]
    idle = [ping.of_a_bridge(bridges) for ping in every if ping.is_of(bridges)]
    return [*idle, *_judge_others(bench, pings, results)]


def _judge_others(bench: Bench, pings: Sequence[_Ping], results: Results) -> list[ValidationFinding]:
    said = {sender: _said(bench, results, sender) for sender in {ping.sender for ping in pings}}
    found = [ping.judged(said[ping.sender]) for ping in pings]
    silent = [
        f"{ping.sender} to {ping.target}" for ping, one in zip(pings, found, strict=True) if one.verdict == "fail"
    ]
    if silent and all(ping.by_loopback for ping in pings):
        # Whether routers are to know each other's loopbacks, nobody says.
        measured = f"{len(pings) - len(silent)} of {len(pings)} answer; not {listed(silent)}"
        return [unmeasured("reach", format_count(len(pings), "ordered pair"), "validation.pings says", measured)]
    wrong = [finding for finding in found if finding.verdict not in ("pass", "warning")]
    warned = [finding for finding in found if finding.verdict == "warning"]
    passed = [ping for ping, one in zip(pings, found, strict=True) if one.verdict == "pass"]
    if wrong or not passed:
        return [*shortened(wrong), *shortened(warned)]
    answered = sum(ping.answers for ping in passed)
    apart = f", {len(passed) - answered} do not" if answered < len(passed) else ""
    text = f"{answered} of {len(passed)} answer{apart}"
    return [judged("reach", format_count(len(passed), "ordered pair"), text, text, holds=True), *shortened(warned)]
