"""The buffer behind every port of a lab: a queue of its own, or a place in a switch's shared one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

from fabriclab.formats.plan.node import Nic, Queue
from fabriclab.formats.plan.switch import Switch, SwitchPort
from fabriclab.lab.experiment import Experiment, LinkOverrides
from fabriclab.lab.hosts.keys import QUEUE
from fabriclab.lab.hosts.nic import WrittenNic
from fabriclab.lab.hosts.transport import WrittenTransport
from fabriclab.lab.network.keys import DEFAULT_DELAY_NS, DEFAULT_MTU_BYTES
from fabriclab.lab.network.topology import Endpoint, Link, Topology
from fabriclab.lab.ports.aqm import WrittenAqm
from fabriclab.lab.ports.buffer import WrittenPortBuffer
from fabriclab.lab.ports.keys import NON_ECT
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written, value_or
from fabriclab.lab.switch.written import WrittenGroup, WrittenQueue, WrittenSwitch
from fabriclab.qdiscs import KINDS, Own, Qdisc
from fabriclab.resolve.nic import port_of_nic, resolve_nic
from fabriclab.resolve.switch.checks import check_switch
from fabriclab.resolve.switch.findings import CheckedPort, SwitchFinding, in_words_of
from fabriclab.resolve.switch.headroom import Line
from fabriclab.resolve.switch.resolve import resolve_pfc, resolve_switch
from fabriclab.resolve.written_alike import resolve_once


@dataclass(frozen=True)
class Wire:
    """What leaves a port: rate, one-way delay and loss, and the MTU of the link."""

    rate_bps: int
    delay_ns: int
    mtu: int
    loss_ppm: int


@dataclass(frozen=True)
class SharedBuffer:
    """A switch with a shared buffer, and what its checks warn of."""

    switch: Switch
    ports: tuple[CheckedPort, ...]
    warnings: tuple[SwitchFinding, ...]
    remedies: Mapping[str, str] = field(default_factory=dict)
    """What to write instead, by rule, where its own configuration has other words than a lab."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Its own configuration's names of fields, by the lab's."""

    def port(self, interface: str) -> SwitchPort:
        """Return the port of that name."""
        return next(port.port for port in self.ports if port.name == interface)


@dataclass(frozen=True)
class Buffers:
    """The buffers of all ports (`node:interface`), and the switches whose ports share one."""

    ports: Mapping[str, Queue | SwitchPort]
    shared: Mapping[str, SharedBuffer]
    nics: Mapping[str, Nic]
    """Of the hosts' ports."""


def resolve_wire(link: Link, end: Endpoint, over: LinkOverrides) -> Wire:
    """Return what leaves `end`: the experiment's word for all links, else the topology's."""
    rate = over.rate or end.rate
    if rate is None:
        raise AssertionError(f"{end.port} has no rate, which reading the lab refuses")
    return Wire(
        rate_bps=rate.value,
        delay_ns=value_or(over.delay or end.delay, DEFAULT_DELAY_NS),
        mtu=value_or(over.mtu or link.mtu, DEFAULT_MTU_BYTES),
        loss_ppm=value_or(end.loss, 0),
    )


def resolve_buffers(topology: Topology, experiment: Experiment) -> Buffers:
    """Return every port's buffer. Raises LabError with what is wrong in the switches' shared ones."""
    problems = Problems()
    of_switches: dict[str, list[_End]] = {name: [] for name in topology.switches}
    for each in _ends(topology):
        if each.here.node in of_switches:
            of_switches[each.here.node].append(each)
    own = {node.name: (node.own.remedies, node.own.fields) for node in topology.nodes if node.own is not None}
    shared = {
        name: _shared_buffer(
            name,
            written,
            _lines(of_switches[name], of_switches.keys(), experiment),
            *own.get(name, ({}, {})),
            problems,
        )
        for name, written in experiment.shared_switches.items()
    }
    of_hosts = resolve_once(experiment.hosts, _nic)
    queues = resolve_once(experiment.switches, _switch_queue)
    nics = {end.port: of_hosts[end.node] for _, end, _ in _ends(topology) if end.node in of_hosts}
    ports = {
        end.port: queues.get(end.node) or _buffer(end, peer, experiment, shared, nics, problems)
        for _, end, peer in _ends(topology)
    }
    _check_pacers(topology, experiment, nics, problems)
    problems.raise_if_any()
    return Buffers(ports, shared, nics)


def _check_pacers(topology: Topology, experiment: Experiment, nics: Mapping[str, Nic], problems: Problems) -> None:
    """Record the pacers of cards in port channels: the channel takes the frames by which a pacer hears of marks."""
    members = {
        f"{switch}:{member.value}"
        for switch, groups in experiment.layer2.items()
        for channel in groups.port_channels
        for member in channel.members
    }
    for _, end, peer in _ends(topology):
        nic = nics.get(end.port)
        if nic is None or nic.pacer is None or peer.port not in members:
            continue
        written = experiment.hosts[end.node].nic
        if written is not None and written.place is not None:
            message = f"does not work at {end.port}, which is in a port channel; write pacer: none for {end.node}"
            problems.add(written.place, f"hosts.{end.node}.nic.pacer", message)


def _nic(host: WrittenTransport) -> Nic:
    queue = Queue(limit_bytes=QUEUE.or_default(host.queue), aqm=_aqm(host.aqm))
    return resolve_nic(host.nic or WrittenNic(), queue)


def _shared_buffer(
    name: str,
    written: WrittenSwitch,
    lines: Mapping[str, Line],
    remedies: Mapping[str, str],
    fields: Mapping[str, str],
    problems: Problems,
) -> SharedBuffer:
    resolved = resolve_switch(written, lines, problems)
    ports = tuple(CheckedPort(interface, line, resolved.ports[interface]) for interface, line in lines.items())
    findings = [in_words_of(finding, remedies, fields) for finding in check_switch(resolved.switch, ports)]
    for finding in findings:
        if finding.severity == "error":
            _record(finding, name, written.of(finding.ports[0]) if finding.ports else written, problems)
    warnings = tuple(finding for finding in findings if finding.severity == "warning")
    return SharedBuffer(resolved.switch, ports, warnings, remedies, fields)


def _record(finding: SwitchFinding, name: str, written: WrittenSwitch, problems: Problems) -> None:
    """Record an error at the place where its value was written, or at the switch where a default holds."""
    at = written_at(written, finding.path)
    message = f"{finding.explanation} (switch {name})"
    if at is None:
        problems.add(written.place, f"{written.key}.{finding.field}", message)
    else:
        at.complain(problems, message)


def _lines(ends: Iterable[_End], switches: Collection[str], experiment: Experiment) -> dict[str, Line]:
    """Return the line of each of a switch's ports, whose ends these are, by interface."""
    lines = {}
    for link, end, peer in ends:
        out, back = resolve_wire(link, end, experiment.links), resolve_wire(link, peer, experiment.links)
        # A host's NIC has the PFC of the switch's port that it faces.
        decides = peer if peer.node in switches else end
        neighbour = experiment.shared_switches.get(decides.node)
        pfc = resolve_pfc(neighbour.of(decides.interface).buffer.pfc) if neighbour is not None else None
        lines[end.interface] = Line.between(out, back, pfc)
    return lines


def _buffer(
    end: Endpoint,
    peer: Endpoint,
    experiment: Experiment,
    shared: Mapping[str, SharedBuffer],
    nics: Mapping[str, Nic],
    problems: Problems,
) -> SwitchPort:
    """Return the place in a shared buffer, of a switch's port or of a host's NIC."""
    if end.node in shared:
        return shared[end.node].port(end.interface)
    faced = shared[peer.node].port(peer.interface) if peer.node in shared else None
    return port_of_nic(nics[end.port], faced, experiment.hosts[end.node].nic or WrittenNic(), problems)


def _switch_queue(written: WrittenPortBuffer) -> Queue:
    if written.buffer is None or written.buffer.value is None:
        raise AssertionError("a switch has no buffer, which reading the lab refuses")
    return Queue(
        limit_bytes=written.buffer.value,
        ecn_threshold_bytes=value_or(written.ecn_threshold, None),
        non_ect=cast(Literal["drop", "queue"], NON_ECT.or_default(written.non_ect)),
        aqm=_aqm(written.aqm),
    )


def _aqm(written: WrittenAqm | None) -> Qdisc | None:
    if written is None or written.is_none:
        return None
    if written.own is not None:
        return Own(id=written.own.value, options=value_or(written.options, ""))
    if written.kind is None:
        return None
    qdisc = KINDS[written.kind.value]
    values: dict[str, Any] = {
        field: written.values[key.name].value for field, key in qdisc.keys().items() if key.name in written.values
    }
    return qdisc(**values)


class _End(NamedTuple):
    """An end of a link, and the other one."""

    link: Link
    here: Endpoint
    there: Endpoint


def _ends(topology: Topology) -> Iterator[_End]:
    """Yield every end of every link."""
    for link in topology.links:
        yield _End(link, link.a, link.b)
        yield _End(link, link.b, link.a)


_ACCOUNT = {"pool": "pool", "reserved": "reserved memory", "alpha": "alpha_log", "limit": "limit"}


def written_at(switch: WrittenSwitch, path: tuple[str, ...]) -> Written[Any] | None:
    """Return what stands at `path` (`("queues", "3", "wred", "min")`); None: nothing does, a default holds."""
    part, *more = path
    buffer = switch.buffer
    if part == "pools":
        return _descend(buffer.pools.get(more[0]), more[1:])
    if part in ("queues", "priority_groups") and more[0].isdigit():
        entries: dict[int, WrittenQueue | WrittenGroup] = {**(buffer.queues if part == "queues" else buffer.groups)}
        entry = entries.get(int(more[0]))
        return (
            _descend(entry.account, [_ACCOUNT[more[1]]])
            if entry is not None and more[1] in _ACCOUNT
            else _descend(entry, more[1:])
        )
    return _descend(buffer.pfc, more) if part == "pfc" else None


def _descend(record: object, words: list[str]) -> Written[Any] | None:
    for word in words:
        record = getattr(record, word, None)
    return record if isinstance(record, Written) else None
