"""A lab whose nodes' own files give it addresses and routes: whether its sessions are up, and who reaches whom.

What such a lab should be nobody but its files says: so every session that a daemon has must be up, and every host must
answer every other by ping, unless the experiment's `validation` says otherwise. Routers of a lab without hosts are
asked, too, and not judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from fabriclab.formats.run_directory import HOSTS_FILE
from fabriclab.keys.wording import listed
from fabriclab.lab.validation_keys import Severity
from fabriclab.lab.wanted_pings import WrittenPing
from fabriclab.results import Results
from fabriclab.units import format_count
from fabriclab.validation.answers import answer_collectors, judge_answers
from fabriclab.validation.bench import Bench, Collector, Setting, Stage, set_up
from fabriclab.validation.finding import ValidationFinding, inapplicable, judged, shortened, unmeasured
from fabriclab.validation.steps import after, changes, judge_changes, told_after
from fabriclab.validation.wanted_state import judge_routes, judge_sessions, route_collectors, session_collectors

_MS = 10**6
_TRIES = 3
_FEW = 2
"""With fewer hosts than these routers are asked as well: there is no pair."""
_EXIT = "exit "


def configured_stage(bench: Bench) -> Stage:
    """Return the stage: a run without traffic, at whose end daemons and pings are asked."""
    setting = Setting(traffic=(), last_start_ns=_MS)
    benches = [bench, *(after(bench, number) for number in range(len(bench.wanted.steps)))]
    return Stage(
        "reach",
        set_up(bench, "reach", setting),
        lambda results: [finding for one in benches for finding in _judge(one, results)],
        tuple(collector for one in benches for collector in _collectors(one)),
    )


def _collectors(bench: Bench) -> Iterator[Collector]:
    """Yield what a step changes, and what is asked after it."""
    yield from changes(bench)
    yield from session_collectors(bench)
    yield from route_collectors(bench)
    yield from answer_collectors(bench)
    for ping in _pings(bench):
        yield bench.collector(*ping.collector())


def _judge(bench: Bench, results: Results) -> Iterator[ValidationFinding]:
    findings = [
        *judge_changes(bench, results),
        *judge_sessions(bench, results),
        *judge_routes(bench, results),
        *judge_answers(bench, results),
        *_judge_pings(bench, results),
    ]
    yield from (told_after(bench, one) for one in findings)


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

    def collector(self) -> Collector:
        """Return the command: by the address that the target was found to have, else by its name."""
        words = ["ping", "-c", str(_TRIES), "-W", "1", *(() if self.source is None else ("-I", self.source))]
        if self.family is not None:
            words += [f"-{self.family}", self.target]
        else:
            words += ["${b:+-I $b}"] if self.by_loopback else []
            words.append(f"${{a:-{self.target}}}")
        known = " ".join(f"{name}=$({_lookup(node)});" for name, node in (("a", self.target), ("b", self.sender)))
        return Collector(self._name(), self.sender, ("sh", "-c", f"{known} {' '.join(words)} 2>&1; echo {_EXIT}$?"))

    def _name(self) -> str:
        family = "" if self.family is None else f"-ip{self.family}"
        return f"ping-{self.target}{family}{'' if self.source is None else f'-from-{self.source}'}".replace(":", ".")

    def of_a_bridge(self, bridges: Collection[str]) -> ValidationFinding:
        """Return that nothing can be asked of a bridge."""
        name = self.target if self.target in bridges else self.sender
        why = f"{name} is a bridge without an address"
        return inapplicable("reach", f"{self.sender} to {self.target}", self._expected(), why)

    def _expected(self) -> str:
        return "answers" if self.answers else "no answer"

    def judged(self, bench: Bench, results: Results) -> ValidationFinding:
        """Return whether there was an answer where there should be, and only there."""
        source, expected = f" from {self.source}" if self.source else "", self._expected()
        where = f"{self.sender} to {self.target}{source}"
        output = bench.collected(results, self._name(), self.sender)
        last = (output or "").strip().rpartition("\n")[2]
        if not last.startswith(_EXIT):
            return unmeasured("reach", where, expected, "ping gave no answer")
        measured = "answers" if last == f"{_EXIT}0" else "no answer"
        if measured != expected:
            measured += self._why(output or "")
        return judged("reach", where, expected, measured, measured == expected, self.severity)

    def _why(self, output: str) -> str:
        """Return why there is no answer, as far as ping itself knows."""
        if _NO_NAME in output:
            return f"; {self.target} has no address"
        return f"; {self.sender} has no route to {self.target}" if _NO_ROUTE in output else ""


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


def _judge_pings(bench: Bench, results: Results) -> list[ValidationFinding]:
    every, bridges = _pings(bench), _bare_bridges(bench)
    pings = [ping for ping in every if not {ping.sender, ping.target} & set(bridges)]
    idle = [ping.of_a_bridge(bridges) for ping in every if ping not in pings]
    return [*idle, *_judge_others(bench, pings, results)]


def _judge_others(bench: Bench, pings: Sequence[_Ping], results: Results) -> list[ValidationFinding]:
    found = [ping.judged(bench, results) for ping in pings]
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
