"""The `probes` section of an experiment: what is sampled, and how often."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fabriclab.keys.mappings import Key
from fabriclab.keys.values import NONE
from fabriclab.lab import probe_keys as keys
from fabriclab.lab.reading.document import MappingValue, ScalarValue
from fabriclab.lab.reading.names import HostReader, Names, read_ports, read_words_of
from fabriclab.lab.reading.or_none import read_part
from fabriclab.lab.reading.section import Section
from fabriclab.registry.applications import APPLICATIONS

_OF_PROGRAMS = ("program", *(application.name for application in APPLICATIONS))


@dataclass(frozen=True)
class WrittenPcap:
    """What is captured: whose packets, how much of each, how much in all for each port."""

    ports: tuple[str, ...]
    snaplen_bytes: int = keys.SNAPLEN.or_default(None)
    file_limit_bytes: int = keys.FILE_LIMIT.or_default(None)


@dataclass(frozen=True)
class WrittenConnections:
    """Whose connections are written down; None: those of the hosts that run programs."""

    hosts: tuple[str, ...] | None = None


_NO_CONNECTIONS = WrittenConnections(())
_NOT_SAMPLES = {"connections", "pcap"}
"""Probes that leave the samples that are taken by default."""


@dataclass(frozen=True)
class WrittenProbes:
    """What is sampled: an interval in nanoseconds, or None for not at all."""

    queue_interval_ns: int | None = None
    queue_ports: tuple[str, ...] = ()
    tcp_interval_ns: int | None = None
    tcp_traffic: tuple[str, ...] = ()
    interface_interval_ns: int | None = None
    switch_interval_ns: int | None = None
    switch_ports: tuple[str, ...] | None = None
    """None: all that belong to a shared buffer (`fabriclab.lab.switch.facing_ports.shared_ports`)."""
    is_default: bool = False
    """Whether the experiment says nothing of samples: then the queues before the receivers are sampled,
    too (`fabriclab.resolve.probes`)."""
    pcap: WrittenPcap | None = None
    connections: WrittenConnections = _NO_CONNECTIONS


def read_probes(root: Section, names: Names, has_shared: bool) -> WrittenProbes:
    """Return what is sampled; `has_shared` says whether any switch has a shared buffer, which is sampled by default."""
    probes = root.section("probes", keys.PROBES)
    switches_by_default = WrittenProbes(
        switch_interval_ns=keys.SWITCH_INTERVAL.or_default(None) if has_shared else None
    )
    if probes is None:
        return replace(switches_by_default, is_default=True)
    queue_ports: tuple[str, ...] | None = None
    queues, tcp = probes.section("queues", keys.QUEUES), probes.section("tcp", keys.TCP)

    def switch_probe(section: Section) -> WrittenProbes:
        return _read_switch_probe(section, names, has_shared)

    switches = read_part(probes, "switches", keys.SWITCHES, switch_probe, WrittenProbes())
    if queues is not None:
        queues.require("ports", example="ports: a list such as [s1:eth1], or all (every port of every switch)")
        queue_ports = read_ports(queues, "ports", names)
    traffic = tcp_traffic = _traffic_names(root)
    chosen = tcp.get("traffic") if tcp is not None else None
    if tcp is not None and chosen is not None:
        tcp_traffic = read_words_of(chosen, tcp, "traffic", traffic, "piece of traffic") or ()
    return replace(
        switches_by_default if switches is None else switches,
        is_default=bool(probes.names()) and _NOT_SAMPLES.issuperset(probes.names()),
        pcap=_read_pcap(probes, names),
        connections=_read_connections(root, probes, names),
        queue_interval_ns=_read_interval(queues, keys.QUEUE_INTERVAL),
        queue_ports=queue_ports or (),
        tcp_interval_ns=_read_interval(tcp, keys.TCP_INTERVAL),
        tcp_traffic=tcp_traffic if tcp is not None else (),
        interface_interval_ns=_read_interval(probes.section("interfaces", keys.INTERFACES), keys.INTERFACE_INTERVAL),
    )


def _read_switch_probe(section: Section, names: Names, has_shared: bool) -> WrittenProbes:
    """Return the probe of shared buffers; `all` are all that belong to one, hosts' ports among them."""
    value = section.get("ports")
    is_all = value is None or (isinstance(value, ScalarValue) and value.text.strip() == "all")
    ports = None if is_all else read_ports(section, "ports", names)
    interval_ns = keys.SWITCH_INTERVAL.or_default(section.read(keys.SWITCH_INTERVAL))
    return WrittenProbes(switch_interval_ns=interval_ns if has_shared else None, switch_ports=ports)


def _read_pcap(probes: Section, names: Names) -> WrittenPcap | None:
    """Return what is captured: ports alone, or a mapping that has them."""
    value = probes.get("pcap")
    if value is None or (isinstance(value, ScalarValue) and value.text.strip() == NONE):
        return None
    if not isinstance(value, MappingValue):
        return WrittenPcap(read_ports(probes, "pcap", names) or ())
    section = Section(value, probes.path("pcap"), probes.problems, keys.PCAP)
    section.require("ports", example="ports: a list such as [s1:eth1], or all (every port of every switch)")
    return WrittenPcap(
        read_ports(section, "ports", names) or (),
        keys.SNAPLEN.or_default(section.read(keys.SNAPLEN)),
        keys.FILE_LIMIT.or_default(section.read(keys.FILE_LIMIT)),
    )


def _read_connections(root: Section, probes: Section, names: Names) -> WrittenConnections:
    """Return whose connections are written down. Without `hosts` there must be programs to have them."""

    def read(section: Section) -> WrittenConnections:
        hosts = HostReader(section, names).hosts("hosts")
        if "hosts" not in section and not _has_programs(root):
            example = "write hosts: a list such as [h1, h2], or all"
            probes.complain(
                "connections",
                "the default is the hosts of programs and Hadoop, and no traffic is of kind program or hadoop; "
                f"{example}",
            )
        return WrittenConnections(hosts)

    found = read_part(probes, "connections", keys.CONNECTIONS, read, _NO_CONNECTIONS)
    return _NO_CONNECTIONS if found is None else found


def _has_programs(root: Section) -> bool:
    """Return whether the experiment has traffic that opens connections of its own, enabled or not."""
    section = root.get("traffic")
    entries = section.entries.values() if isinstance(section, MappingValue) else ()
    kinds = (entry.entries.get("kind") for entry in entries if isinstance(entry, MappingValue))
    return any(isinstance(kind, ScalarValue) and kind.text.strip() in _OF_PROGRAMS for kind in kinds)


def _read_interval(probe: Section | None, key: Key[int]) -> int | None:
    return None if probe is None else key.or_default(probe.read(key))


def _traffic_names(root: Section) -> tuple[str, ...]:
    section = root.get("traffic")
    return tuple(section.entries) if isinstance(section, MappingValue) else ()
