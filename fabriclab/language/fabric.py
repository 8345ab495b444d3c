"""What a run has beside switches, hosts and traffic: links, groups, routing, events, probes, validation."""

from __future__ import annotations

from fabriclab.lab.failures import LINK_ACTIONS, NODE_ACTIONS
from fabriclab.lab.groups import REST
from fabriclab.lab.network.families import ADDRESSES
from fabriclab.lab.network.links import (
    LARGEST_DELAY_NS,
    LARGEST_MTU,
    LARGEST_RATE_BPS,
    SMALLEST_MTU,
    SMALLEST_RATE_BPS,
)
from fabriclab.lab.probes import (
    LARGEST_FILE_LIMIT,
    LARGEST_SNAPLEN,
    LONGEST_INTERVAL_NS,
    SHORTEST_INTERVAL_NS,
    SMALLEST_FILE_LIMIT,
    SMALLEST_SNAPLEN,
)
from fabriclab.lab.reading.percent import WHOLE_PPM
from fabriclab.lab.reading.section import FALSE_WORDS, TRUE_WORDS
from fabriclab.lab.routing import (
    BFD_BOUNDS_NS,
    FEWEST_MISSED,
    LONGEST_CONVERGENCE_NS,
    LONGEST_TIMER_S,
    MOST_MISSED,
    MOST_PATHS,
    PROTOCOLS,
    SHORTEST_CONVERGENCE_NS,
    SHORTEST_HOLD_NS,
    STILL_BOUNDS_NS,
)
from fabriclab.language.keys import Forms, Key, Keys, Named
from fabriclab.language.sources import constant, plain, words
from fabriclab.language.switches import PRIORITIES
from fabriclab.language.values import (
    NONE,
    Either,
    Flag,
    Items,
    Number,
    Percent,
    Quantity,
    Several,
    Text,
    Value,
    Word,
    or_none,
)
from fabriclab.units import DURATION, RATE, SIZE

_S = 10**9
RATE_OF_A_LINE = Quantity(RATE, SMALLEST_RATE_BPS, LARGEST_RATE_BPS)
DELAY = Quantity(DURATION, 0, LARGEST_DELAY_NS)
ADDRESSES_WORD = Word(tuple(ADDRESSES))
MTU = Number(SMALLEST_MTU, LARGEST_MTU, "a whole number of bytes")

LINKS = Keys(
    "links",
    "What holds for all links, over what the topology says",
    (
        Key("rate", RATE_OF_A_LINE, "The line rate of every link.", words("as the topology says"), ("1 Gbps",)),
        Key("delay", DELAY, "The one-way propagation delay of every link.", words("as the topology says"), ("25 us",)),
        Key("mtu", MTU, "The largest IP packet of every link.", words("as the topology says"), (9000,)),
    ),
)

_MEMBERS = Several(Text("a host"), "hosts, ranges and groups above, a list or one")
DRAWN_GROUP = Keys(
    "group",
    "Hosts that are behind a switch, or drawn by the seed",
    (
        Key(
            "rack",
            Several(Text("a switch"), "a switch or a list of them"),
            "The hosts whose first link leads to this switch, or to one of these.",
            examples=("leaf1",),
        ),
        Key(
            "share",
            Percent(1, WHOLE_PPM),
            "So many of the hosts, drawn by the seed, to the nearest whole number.",
            examples=("33 %",),
        ),
        Key("count", Number(1, 10**18 - 1), "So many hosts, drawn by the seed.", examples=(2,)),
        Key("of", _MEMBERS, "Among whom they are drawn.", words("all hosts")),
    ),
    one_of=(("rack",), ("share",), ("count",)),
)
GROUPS = Named(
    Either((DRAWN_GROUP, Several(Text("a host"), f"a list of hosts, ranges and groups above, or `{REST}`"))),
    "a mapping of names of groups",
    "(?!(?:all|default|rest|[0-9]+)$)[A-Za-z0-9_-]*[A-Za-z0-9][A-Za-z0-9_-]*",
    "A group's name has letters, digits, '-' and '_', a letter among them, and is no word for hosts.",
)


_TIMER_NS = LONGEST_TIMER_S * _S
ROUTING = Keys(
    "routing",
    "How switches come by their routes",
    (
        Key(
            "protocol",
            Word(PROTOCOLS),
            "Static routes, BGP on every switch (FRR, RFC 7938), or what the nodes' own files make of it.",
            constant("PROTOCOL"),
        ),
        Key(
            "max_paths",
            Number(1, MOST_PATHS),
            "How many next hops of equal cost a route has at most.",
            constant("MAX_PATHS"),
        ),
        Key(
            "keepalive",
            Quantity(DURATION, _S, _TIMER_NS),
            "How often a BGP session says that it is alive, in whole seconds.",
            constant("KEEPALIVE_S"),
        ),
        Key(
            "hold",
            Quantity(DURATION, SHORTEST_HOLD_NS, _TIMER_NS),
            "After what silence a BGP session ends, in whole seconds; at least three times `keepalive`.",
            constant("HOLD_S"),
        ),
        Key(
            "bfd",
            Either(
                (
                    Word(("off", "on"), (*TRUE_WORDS, *FALSE_WORDS)),
                    Quantity(DURATION, *BFD_BOUNDS_NS),
                )
            ),
            "Whether BFD watches the neighbours, and its interval in whole milliseconds.",
            plain("off"),
            ("50 ms",),
        ),
        Key(
            "bfd_multiplier",
            Number(FEWEST_MISSED, MOST_MISSED),
            "After how many missed packets a neighbour is gone.",
            constant("BFD_MULTIPLIER"),
        ),
        Key(
            "convergence_limit",
            Quantity(DURATION, SHORTEST_CONVERGENCE_NS, LONGEST_CONVERGENCE_NS),
            "How long the traffic waits at most until every switch has every route.",
            constant("CONVERGENCE_LIMIT_NS"),
        ),
        Key(
            "still",
            Quantity(DURATION, *STILL_BOUNDS_NS),
            "As configured: how long no route may have changed before the traffic starts.",
            words("10 s; 50 s with OSPF, IS-IS or RIP, which wait that long for neighbours"),
            ("10 s",),
        ),
    ),
)

_AT = Key("at", Quantity(DURATION), "When it happens, in virtual time.", examples=("1 s",), required=True)
_ENABLED = Key(
    "enabled",
    Flag(),
    "With `false` the event does not happen, so that a variant or a matrix chooses among several.",
    plain(True),
)
_UNTIL = Key(
    "until", Quantity(DURATION, 1), "When a storm of pauses ends.", words("must be written with a storm"), ("600 ms",)
)
EVENT = Forms(
    "event",
    "An event of a run: of a link, of a node, or settings",
    {
        "link": Keys(
            "event-link",
            "What happens to a link",
            (
                _AT,
                Key(
                    "link",
                    Text("one of the link's ports, `node:interface`"),
                    "The link, by one of its ports.",
                    examples=("leaf1:eth5",),
                    required=True,
                ),
                Key(
                    "action",
                    Word(LINK_ACTIONS),
                    "The link loses its carrier, gets it back, or loses every packet while both carriers stay.",
                    words("one of this, rate, delay, loss"),
                ),
                Key("rate", RATE_OF_A_LINE, "The rate from then on, in both directions."),
                Key("delay", DELAY, "The one-way delay from then on."),
                Key(
                    "loss",
                    Percent(0, WHOLE_PPM),
                    "The share of packets that is lost from then on.",
                    examples=("0.1 %",),
                ),
                _ENABLED,
            ),
            any_of=("action", "rate", "delay", "loss"),
        ),
        "node": Keys(
            "event-node",
            "What happens to a node",
            (
                _AT,
                Key("node", Text("a host or a switch"), "The node.", examples=("spine1",), required=True),
                Key(
                    "action",
                    Word(NODE_ACTIONS),
                    "The node loses its power, boots, or (a host) pauses its switch without a break.",
                    required=True,
                ),
                Key(
                    "priorities",
                    PRIORITIES,
                    "The priorities that a storm pauses.",
                    words("must be written with a storm"),
                    (("3",),),
                ),
                _UNTIL,
                _ENABLED,
            ),
        ),
        "set": Keys("event-set", "What the experiment says otherwise from then on", ()),
    },
)

_INTERVAL = Quantity(DURATION, SHORTEST_INTERVAL_NS, LONGEST_INTERVAL_NS)
_PORTS = Several(Text("a port"), "ports as `node:interface`, a list or one, or `all`")


def _interval(name: str) -> Key:
    return Key("interval", _INTERVAL, "The time from one sample to the next.", constant(name))


_PCAP = Keys(
    "probe-pcap",
    "Packets of ports",
    (
        Key(
            "ports",
            _PORTS,
            "The ports, of switches and of hosts; `all` are those of all switches.",
            examples=(("s1:eth1",),),
            required=True,
        ),
        Key(
            "snaplen",
            Quantity(SIZE, SMALLEST_SNAPLEN, LARGEST_SNAPLEN),
            "How much of each packet is kept, from its Ethernet header on.",
            constant("SNAPLEN_BYTES"),
        ),
        Key(
            "file_limit",
            Quantity(SIZE, SMALLEST_FILE_LIMIT, LARGEST_FILE_LIMIT),
            "How large the file of a port may become; later packets are not captured.",
            constant("FILE_LIMIT_BYTES"),
        ),
    ),
)
PROBES = Keys(
    "probes",
    "What is sampled, and how often",
    (
        Key(
            "queues",
            Keys(
                "probe-queues",
                "Samples of ports' queues",
                (
                    _interval("QUEUE_INTERVAL_NS"),
                    Key(
                        "ports",
                        _PORTS,
                        "The ports; `all` are those of all switches.",
                        examples=(("s1:eth1",), "all"),
                        required=True,
                    ),
                ),
            ),
            "Lengths, drops and marks of ports' queues.",
        ),
        Key(
            "tcp",
            Keys(
                "probe-tcp",
                "Samples of TCP",
                (
                    _interval("TCP_INTERVAL_NS"),
                    Key(
                        "traffic",
                        Several(Text("a name of traffic"), "names of traffic, a list or one"),
                        "Whose connections.",
                        words("all traffic"),
                    ),
                ),
            ),
            "Congestion windows, round-trip times and rates of connections.",
        ),
        Key(
            "interfaces",
            Keys("probe-interfaces", "Samples of interfaces", (_interval("INTERFACE_INTERVAL_NS"),)),
            "Counters of all interfaces.",
        ),
        Key(
            "switches",
            or_none(
                Keys(
                    "probe-switches",
                    "Samples of shared buffers",
                    (
                        _interval("SWITCH_INTERVAL_NS"),
                        Key(
                            "ports",
                            _PORTS,
                            "The ports; `all` are those of switches with a shared buffer, and their hosts'.",
                            plain("all"),
                        ),
                    ),
                )
            ),
            "Queues, groups, pools and pauses of switches with a shared buffer.",
            words("all of their ports, each 10 ms"),
        ),
        Key(
            "connections",
            or_none(
                Keys(
                    "probe-connections",
                    "TCP connections as they were when they ended",
                    (
                        Key(
                            "hosts",
                            Several(
                                Text("a host"), "a count, a range such as `h1..h4`, a group, a list of these, or `all`"
                            ),
                            "Whose connections.",
                            words("all hosts that run programs (`kind: program`, `kind: hadoop`)"),
                            (("h1", "h2"), "all"),
                        ),
                    ),
                )
            ),
            "What TCP did in each connection of the hosts' programs: bytes, segments sent again, timeouts.",
        ),
        Key(
            "pcap",
            Either((_PCAP, _PORTS, NONE)),
            "Packets of ports, as files that Wireshark opens. Ports alone have the other keys' defaults.",
            examples=(("s1:eth1", "h1:eth1"),),
        ),
    ),
)


def events(settings: Value) -> Either:
    """Return the section of events; `settings` are the keys that one may set."""
    below = Key("set", settings, "Keys with the values that hold from then on.", required=True)
    forms = {**EVENT.forms, "set": Keys("event-set", EVENT.forms["set"].title, (_AT, below, _ENABLED))}
    event = Forms(EVENT.name, EVENT.title, forms)
    named = Named(
        event,
        "a mapping of names of events, or a list of events",
        "[A-Za-z0-9][A-Za-z0-9_-]{0,62}",
        "An event's name has letters, digits, '-' and '_'.",
    )
    return Either((named, Items(event, "a list of events")))
