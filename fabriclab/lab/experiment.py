"""The part of `experiment.yml` that a run is made of: links, switches, groups, hosts, traffic, probes, limit, seed.

It is read anew for every point of a matrix, with that point's settings in place: so each point passes every check of
the lab as written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabriclab.formats import ranges
from fabriclab.formats.family import FAMILIES
from fabriclab.formats.framing import HEADER_BYTES
from fabriclab.formats.plan.algorithm import AlgorithmKind, OwnAlgorithm
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.keys.quantities import WHOLE_NUMBER
from fabriclab.keys.wording import shown
from fabriclab.lab.failures import WrittenEvent, WrittenPauseStorm, read_events
from fabriclab.lab.groups import read_groups
from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS
from fabriclab.lab.hosts.mptcp_checks import check_endpoints, check_mptcp
from fabriclab.lab.hosts.rdma_checks import check_rdma
from fabriclab.lab.hosts.roce_checks import (
    check_roce_control,
    check_roce_ends,
    check_roce_mtu,
    check_roce_reads,
    check_roce_reorder,
    check_roce_window,
)
from fabriclab.lab.hosts.roce_control_keys import ROCE_CONTROLS
from fabriclab.lab.hosts.transport import WrittenTransport, read_hosts
from fabriclab.lab.keys import ADDRESSES, EXPERIMENT, LIMIT, SEED
from fabriclab.lab.network.families import check_families, families_of_lab
from fabriclab.lab.network.keys import DEFAULT_MTU_BYTES, LINKS
from fabriclab.lab.network.layer2 import WrittenLayer2, read_layer2
from fabriclab.lab.network.layer2_checks import check_layer2
from fabriclab.lab.network.load_balancing import WrittenLoadBalancing
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.pause_storm_checks import check_pause_storm
from fabriclab.lab.ports.buffer import WrittenPortBuffer
from fabriclab.lab.probes import WrittenProbes, read_probes
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.own_algorithms import read_own_algorithms
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section, Written, first_line, mistyped
from fabriclab.lab.routing import WrittenRouting, read_routing
from fabriclab.lab.switch.facing_ports import shared_ports
from fabriclab.lab.switch.frr_version import read_frr_versions
from fabriclab.lab.switch.keys import SHARED, SWITCH
from fabriclab.lab.switch.load_balancing import read_load_balancing
from fabriclab.lab.switch.queue_keys import SHARING_WORD
from fabriclab.lab.switch.read import read_switches
from fabriclab.lab.switch.written import WrittenSwitch
from fabriclab.lab.traffic.read import read_traffic
from fabriclab.lab.traffic.scope import Scope
from fabriclab.lab.validation import WrittenValidation, read_validation
from fabriclab.qdiscs import STOCK
from fabriclab.units import format_duration

FILE_NAME = "experiment.yml"
_NS_PER_MS = 10**6
_LIMIT_NS = 60 * 10**9
"""Virtual time that a run gets at least, counted from the last start or stop that the experiment names."""
_KERNEL_HAS: Mapping[AlgorithmKind, Sequence[str]] = {
    "congestion_control": CONGESTION_CONTROLS,
    "qdisc": tuple(STOCK),
    "roce_control": ROCE_CONTROLS,
    "sharing": SHARING_WORD.words,
    "transport": ("TCP", "UDP"),
}


@dataclass(frozen=True)
class LinkOverrides:
    """What holds for all links, over what the topology says; None: as the topology says."""

    rate: Written[int] | None = None
    delay: Written[int] | None = None
    mtu: Written[int] | None = None


@dataclass(frozen=True)
class Experiment:
    """What a run is made of, as written; names are resolved, defaults are not yet filled in."""

    title: str
    study: str | None
    addresses: Written[str] | None
    """Which families the fabric's addresses are of, a word of ADDRESSES; None: of those that the topology writes."""
    links: LinkOverrides
    switches: Mapping[str, WrittenPortBuffer]
    """Those whose ports have a buffer each."""
    shared_switches: Mapping[str, WrittenSwitch]
    """Those whose ports share a buffer: all the others."""
    load_balancing: Mapping[str, WrittenLoadBalancing]
    """Of the switches of which anything is written."""
    frr: Mapping[str, str | None]
    """The version of FRR of each switch of which one is written, as it is here; None: the virtual machine's."""
    layer2: Mapping[str, WrittenLayer2]
    """VLANs and port channels of switches that have any, bound files' among them."""
    groups: Mapping[str, tuple[str, ...]]
    """The hosts of each group, those drawn by the seed among them."""
    hosts: Mapping[str, WrittenTransport]
    algorithms: tuple[OwnAlgorithm, ...]
    """The user's own that are named anywhere."""
    routing: WrittenRouting
    traffic: tuple[Traffic, ...]
    events: tuple[WrittenEvent, ...]
    later: Mapping[str, Experiment]
    """The experiment as it is from an event on that sets something, by the event's name."""
    pause_storms: tuple[WrittenPauseStorm, ...]
    probes: WrittenProbes
    validation: WrittenValidation
    limit_ns: int
    seed: int


def parse_experiment(
    document: MappingValue, topology: Topology | None, names: Names, directory: Path, problems: Problems
) -> Experiment:
    """Return the experiment; what is wrong is recorded. `topology` is None when it has problems of its own."""
    before = len(problems)
    root = Section(document, "", problems, EXPERIMENT)
    title = root.scalar("title", "a title")
    study = root.scalar("study", "the short name of a published result, such as S4")
    links, seed = _read_links(root), _read_seed(root)
    addresses = root.read(ADDRESSES)
    own = read_own_algorithms(document, directory, _KERNEL_HAS, problems)
    is_wrong = addresses is None and "addresses" in root
    is_own = topology is not None and topology.configures_network
    # Of nodes with files of their own it is known in the run only.
    families = FAMILIES if topology is None or is_wrong or is_own else families_of_lab(addresses, topology)
    names = read_groups(root, replace(names, own=own, families=families), seed)
    traffic = read_traffic(root, Scope(names, _line_rates(links, topology), directory), is_optional=is_own)
    limit_ns = _read_limit(root, traffic)
    switches = read_switches(_section_or_empty(root, "switches"), names, directory)
    layer2 = _read_layer2(root, names, links, topology)
    events = read_events(root, names, limit_ns)
    experiment = Experiment(
        title=first_line(title.value) if title else "",
        study=first_line(study.value) if study else None,
        addresses=addresses,
        links=links,
        switches=switches.with_port_buffers,
        shared_switches=switches.with_shared_buffer,
        load_balancing=read_load_balancing(root, names, _configured_load_balancing(topology)),
        frr=read_frr_versions(root, names),
        layer2=layer2,
        groups=names.groups,
        hosts=read_hosts(_section_or_empty(root, "hosts"), names),
        algorithms=tuple(own.values()),
        routing=read_routing(root),
        traffic=traffic,
        events=events.changes,
        later={},
        pause_storms=events.pause_storms,
        probes=read_probes(root, names, bool(switches.with_shared_buffer)),
        validation=read_validation(root, (*names.hosts, *names.switches)),
        limit_ns=limit_ns,
        seed=seed,
    )
    root.require("title", example="title: one line that says what the lab shows")
    if topology is not None:
        check_families(addresses, topology, links.mtu, problems)
        _check_links(experiment, topology, root)
        _check_buffers(experiment, topology, root)
        _check_shared(experiment, topology, root)
        if layer2 and len(root.problems) == before:
            check_mptcp(topology, layer2, experiment.hosts, problems)
        check_roce_mtu(topology, links.mtu, experiment.hosts, root)
    check_endpoints(families, experiment.hosts, traffic, problems)
    check_roce_ends(root, experiment.hosts, traffic)
    check_roce_reads(root, experiment.hosts, traffic)
    check_roce_control(experiment.hosts, root.problems)
    check_roce_window(experiment.hosts, root.problems)
    check_roce_reorder(experiment.hosts, root.problems)
    check_rdma(experiment.hosts, root.problems)
    _check_ecn(experiment, problems)
    return experiment


def _section_or_empty(root: Section, name: str) -> Section:
    return root.section(name, None) or Section(
        MappingValue({}, {}, Place(root.place.file, 1)), name, root.problems, None
    )


def _read_links(root: Section) -> LinkOverrides:
    links = root.section("links", LINKS)
    if links is None:
        return LinkOverrides()
    return links.fill(LinkOverrides, LINKS)


def _read_layer2(
    root: Section, names: Names, links: LinkOverrides, topology: Topology | None
) -> Mapping[str, WrittenLayer2]:
    """Return VLANs and port channels; checked against the topology where nothing is wrong with them by themselves."""
    before = len(root.problems)
    section = _section_or_empty(root, "switches")
    written = read_layer2(section, names)
    for node in topology.nodes if topology is not None else ():
        if node.own is None or not node.own.layer2:
            continue
        if node.name in written:
            message = f"VLANs and port channels are what {node.own.file} says; remove them here, or there"
            root.problems.add(section.place, section.path(node.name), message)
        written[node.name] = node.own.layer2
    if topology is not None and len(root.problems) == before:
        check_layer2(topology, written, rates_differ=links.rate is None, problems=root.problems)
    return written


def _configured_load_balancing(topology: Topology | None) -> dict[str, WrittenLoadBalancing]:
    """Return what the switches' own configurations say of the choice among next hops."""
    own = {node.name: node.own for node in topology.nodes if node.own is not None} if topology is not None else {}
    return {name: one.load_balancing for name, one in own.items() if one.load_balancing is not None}


def _line_rates(links: LinkOverrides, topology: Topology | None) -> dict[str, int]:
    """Return the rate of each node's first link in bits per second, where one is written."""
    rates: dict[str, int] = {}
    for end in (end for link in topology.links for end in link.ends) if topology else ():
        rate = links.rate or end.rate
        if rate is not None:
            rates.setdefault(end.node, rate.value)
    return rates


def _read_limit(root: Section, traffic: tuple[Traffic, ...]) -> int:
    last = max(traffic, key=lambda one: one.last_time_ns, default=None)
    last_ns = last.last_time_ns if last else 0
    limit = root.read(LIMIT)
    if limit is None:
        # Whole milliseconds: with the default jitter it would be an odd number.
        return last_ns - last_ns % _NS_PER_MS + _LIMIT_NS
    if last is not None and limit.value <= last_ns:
        when = format_duration(last_ns)
        limit.complain(
            root.problems,
            f"{shown(limit.text)} is not after the last start or stop of traffic.{last.name}, {when}; write more",
        )
    return limit.value


def _read_seed(root: Section) -> int:
    return SEED.or_default(root.read(SEED))


def is_seed(text: str) -> bool:
    """Return whether a text is a seed."""
    return WHOLE_NUMBER.fullmatch(text) is not None and int(text) <= ranges.SEED.most


def _check_links(experiment: Experiment, topology: Topology, root: Section) -> None:
    """Every end of every link has a rate."""
    links = root.get("links")
    if isinstance(links, MappingValue) and "rate" in links.entries:
        return  # a rate for all of them, or a wrong one that is complained about already
    for link in topology.links:
        for end in link.ends:
            if end.rate is None:
                message = (
                    "the link has no rate; write vars: {rate: 1 Gbps} here, or links: {rate: 1 Gbps} in experiment.yml"
                )
                root.problems.add(link.place, link.key, message)


def _check_buffers(experiment: Experiment, topology: Topology, root: Section) -> None:
    """Every queue holds one frame, and a threshold lies within its buffer."""
    frames = _largest_frames(experiment, topology)
    for switch, written in experiment.switches.items():
        if written.buffer is None:
            if not _is_written(root, "switches", switch, "buffer"):
                message = (
                    f"missing for switch {shown(switch)}; write the buffer of a port, such as 64 KB, or a profile, "
                    "such as trident-3"
                )
                root.problems.add(_section_or_empty(root, "switches").place, "switches.default.buffer", message)
            continue
        buffer_bytes = written.buffer.value
        if buffer_bytes is None:
            written.buffer.complain(
                root.problems,
                f"none is for a switch whose ports share a buffer, and {shown(switch)} has neither profile nor pools; "
                "write one of them, or a size",
            )
            continue
        _check_frame(written.buffer, frames.get(switch, 0), root.problems)
        threshold = written.ecn_threshold
        if threshold is not None and threshold.value is not None and threshold.value >= buffer_bytes:
            message = (
                f"{shown(threshold.text)} is not below the buffer, {written.buffer.text}; no packet would be marked"
            )
            threshold.complain(root.problems, message)
    for host, transport in experiment.hosts.items():
        if transport.queue is not None:
            _check_frame(transport.queue, frames.get(host, 0), root.problems)


def _check_shared(experiment: Experiment, topology: Topology, root: Section) -> None:
    """A pause storm meets a switch that takes pauses; what is sampled of shared buffers is there."""
    for storm in experiment.pause_storms:
        check_pause_storm(storm, topology, experiment.shared_switches, root.problems)
    ports = shared_ports(topology, experiment.shared_switches)
    probes = root.section("probes", None)
    section = probes.section("switches", None) if probes and isinstance(probes.get("switches"), MappingValue) else None
    for port in experiment.probes.switch_ports or ():
        if section is not None and port in topology.ports and port not in ports:
            section.complain(
                "ports",
                f"{port} neither belongs to a switch with a shared buffer (a profile, or pools) nor faces one; write "
                "all, or ports that do",
            )


def _is_written(root: Section, part: str, name: str, key: str) -> bool:
    """Return whether a value stands there, be it a wrong one, or one of a shared buffer (then that is
    the problem to show)."""
    section = root.get(part)
    for layer in (name, "default"):
        value = section.entries.get(layer) if isinstance(section, MappingValue) else None
        if value is not None and not isinstance(value, MappingValue):
            return True
        if value is not None and (
            not {key, *SHARED.names}.isdisjoint(value.entries) or mistyped(key, value, SWITCH.names)
        ):
            return True
    return section is not None and not isinstance(section, MappingValue)


def _largest_frames(experiment: Experiment, topology: Topology) -> dict[str, int]:
    """Return each node's largest frame in bytes."""
    frames: dict[str, int] = {}
    for link in topology.links:
        mtu = experiment.links.mtu or link.mtu
        frame = (DEFAULT_MTU_BYTES if mtu is None else mtu.value) + HEADER_BYTES
        for end in link.ends:
            frames[end.node] = max(frame, frames.get(end.node, 0))
    return frames


def _check_frame(limit: Written[int] | Written[int | None], frame_bytes: int, problems: Problems) -> None:
    if limit.value is not None and limit.value < frame_bytes:
        mtu = frame_bytes - HEADER_BYTES
        limit.complain(
            problems,
            f"{shown(limit.text)} is smaller than a frame of {frame_bytes} B (MTU {mtu}); no packet would pass",
        )


def _check_ecn(experiment: Experiment, problems: Problems) -> None:
    """DCTCP negotiates ECN itself; a lab that says otherwise says two things."""
    for transport in experiment.hosts.values():
        control, ecn = transport.congestion_control, transport.ecn
        if control is not None and control.value == "dctcp" and ecn is not None and ecn.value not in ("on", "accurate"):
            ecn.complain(
                problems,
                f"{shown(ecn.text)} contradicts congestion_control: dctcp, which needs ECN; write on, "
                "or remove the key",
            )
