"""The keys of probes: what is sampled, and how often."""

from __future__ import annotations

from fabriclab.formats import ranges
from fabriclab.keys.mappings import Key, Keys
from fabriclab.keys.quantities import NamesOrCount, Quantity
from fabriclab.keys.values import NONE_WORD, Either, Several, Text, Word, or_none
from fabriclab.units import DURATION, SIZE

_INTERVAL = Quantity(DURATION, *ranges.PROBE_INTERVAL)
"""Bounds of the sampler (probes/README.md)."""
_PORTS = Several(Text("a port"), "ports as `node:interface`, a list or one, or `all`")


def _interval(default_ns: int) -> Key[int]:
    return Key("interval", _INTERVAL, "The time between two samples.", default=default_ns)


EACH: Word[int] = Word(("each",), meanings={"each": ranges.EACH_CHANGE_NS})
QUEUE_INTERVAL = Key(
    "interval",
    Either((_INTERVAL, EACH)),
    "The time between two samples. `each` records every change of the queues, at its very time.",
    default=100_000,
)
TCP_INTERVAL = _interval(1_000_000)
INTERFACE_INTERVAL = _interval(10_000_000)
SWITCH_INTERVAL = _interval(10_000_000)


SNAPLEN = Key(
    "snaplen",
    Quantity(SIZE, *ranges.SNAPLEN),
    "The number of bytes kept of each packet, from its Ethernet header on.",
    default=128,
    source="Room for the headers of Ethernet, VLAN, IPv6 and TCP with all of its options, including MPTCP's",
)
FILE_LIMIT = Key(
    "file_limit",
    Quantity(SIZE, *ranges.FILE_LIMIT),
    "The largest size of a port's file; later packets are not captured.",
    default=250 * 10**6,
    source="About 1.5 million packets of a port",
)
PCAP = Keys(
    "probe-pcap",
    "Packets of ports",
    (
        Key(
            "ports",
            _PORTS,
            "The ports of switches and hosts; `all` means the ports of all switches.",
            examples=(("s1:eth1",),),
            required=True,
        ),
        SNAPLEN,
        FILE_LIMIT,
    ),
)
QUEUES = Keys(
    "probe-queues",
    "Samples of ports' queues",
    (
        QUEUE_INTERVAL,
        Key(
            "ports",
            _PORTS,
            "The ports; `all` means the ports of all switches.",
            examples=(("s1:eth1",), "all"),
            required=True,
        ),
    ),
)
TCP = Keys(
    "probe-tcp",
    "Samples of TCP",
    (
        TCP_INTERVAL,
        Key(
            "traffic",
            Several(Text("a name of traffic"), "names of traffic, a list or one"),
            "The traffic whose connections are sampled.",
            unset="all traffic",
        ),
    ),
)
INTERFACES = Keys("probe-interfaces", "Samples of interfaces", (INTERFACE_INTERVAL,))
SWITCHES = Keys(
    "probe-switches",
    "Samples of shared buffers",
    (
        SWITCH_INTERVAL,
        Key(
            "ports",
            _PORTS,
            "The ports; `all` means the ports of switches with a shared buffer, and those of their hosts.",
            default="all",
        ),
    ),
)
CONNECTIONS = Keys(
    "probe-connections",
    "TCP connections as they were when they ended",
    (
        Key(
            "hosts",
            Several(NamesOrCount("a host"), "a count, a range such as `h1..h4`, a group, a list of these, or `all`"),
            "The hosts whose connections are recorded.",
            unset="all hosts that run programs (`kind: program`, `kind: hadoop`)",
            examples=(("h1", "h2"), "all"),
        ),
    ),
)
PROBES = Keys(
    "probes",
    "What is sampled, and how often",
    (
        Key(
            "queues",
            QUEUES,
            "Lengths, drops and marks of ports' queues.",
        ),
        Key(
            "tcp",
            TCP,
            "Congestion windows, round-trip times and rates of connections.",
        ),
        Key(
            "interfaces",
            INTERFACES,
            "Counters of all interfaces.",
        ),
        Key(
            "switches",
            or_none(SWITCHES),
            "Queues, groups, pools and pauses of switches with a shared buffer.",
            unset="all of their ports, every 10 ms",
        ),
        Key(
            "connections",
            or_none(CONNECTIONS),
            "TCP's counters for each connection of the hosts' programs: bytes, retransmissions, timeouts.",
        ),
        Key(
            "pcap",
            Either((PCAP, _PORTS, NONE_WORD)),
            "Packets of ports, as files that Wireshark opens. A plain list of ports takes the defaults of the other "
            "keys.",
            examples=(("s1:eth1", "h1:eth1"),),
        ),
    ),
)
