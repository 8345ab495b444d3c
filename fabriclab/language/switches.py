"""Switches: ports with a buffer each, or one memory that all ports share; VLANs and port channels."""

from __future__ import annotations

from fabriclab.formats.classes import QUEUES
from fabriclab.lab.network.layer2 import LARGEST_CHANNEL, LARGEST_VLAN
from fabriclab.lab.reading.dscp import DSCP_NAMES, LARGEST_DSCP
from fabriclab.lab.reading.or_none import NONE as NONE_WORD
from fabriclab.lab.switch.account import LARGEST_BYTES
from fabriclab.lab.switch.layer import LARGEST_CELL_BYTES, POOL_NAME, SLICES
from fabriclab.lab.switch.pfc import (
    LARGEST_QUANTA,
    LONGEST_REACTION_NS,
    LONGEST_WATCH_NS,
    SHORTEST_WATCH_NS,
    SMALLEST_QUANTA,
    WATCHDOG_ACTIONS,
)
from fabriclab.lab.switch.profile import LARGEST_BANDWIDTH_BPS, PROFILE_FORMAT, profile_names
from fabriclab.lab.switch.queues import (
    SLOWEST_BPS,
)
from fabriclab.language.keys import Key, Keys, Named
from fabriclab.language.ports import PORT_BUFFER
from fabriclab.language.queues import GROUP, QUEUE, RATE_OF_A_PORT, SIZE_OF_MEMORY
from fabriclab.language.sources import constant, plain, words
from fabriclab.language.values import (
    Either,
    Factor,
    Number,
    Quantity,
    Several,
    Text,
    Value,
    Word,
    or_none,
)
from fabriclab.units import DURATION, RATE, SIZE

_EIGHTH = Number(0, QUEUES - 1)
_NUMBERS = r"[0-9]{1,3}(?:\.\.[0-9]{1,3})?"
PRIORITY = Number(0, QUEUES - 1, "a priority")
PRIORITIES = Several(PRIORITY, f"priorities from 0 to {QUEUES - 1}, a list or one")


def dscp_names() -> str:
    """Return a regular expression of the names of DSCPs, in any case."""
    return "|".join("".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in name) for name in DSCP_NAMES)


DSCP_PATTERN = f"{_NUMBERS}|{dscp_names()}"
"""A DSCP as a key: a number, a range, a name."""

WATCHDOG = Keys(
    "pfc-watchdog",
    "The watchdog against pause storms",
    (
        Key(
            "detection",
            Quantity(DURATION, SHORTEST_WATCH_NS, LONGEST_WATCH_NS),
            "How long a queue must be paused without a break until the watchdog acts.",
            examples=("200 ms",),
        ),
        Key(
            "restoration",
            Quantity(DURATION, SHORTEST_WATCH_NS, LONGEST_WATCH_NS),
            "How long no pause must have come until the queue is restored.",
            words("twice `detection`"),
        ),
        Key(
            "action",
            Word(WATCHDOG_ACTIONS),
            "What becomes of the queue's packets meanwhile.",
            constant("WATCHDOG_ACTION"),
        ),
    ),
)

PFC = Keys(
    "pfc",
    "Priority flow control (IEEE 802.1Qbb)",
    (
        Key("priorities", PRIORITIES, "The priorities that pause and are paused.", examples=(("3", "4"),)),
        Key(
            "quanta",
            Number(SMALLEST_QUANTA, LARGEST_QUANTA),
            "How long a pause lasts, in 512 bit times.",
            constant("PFC_QUANTA"),
        ),
        Key(
            "reaction",
            Quantity(DURATION, 0, LONGEST_REACTION_NS),
            "How long it takes from a pause's arrival until the sender is still.",
            constant("PFC_REACTION_NS"),
        ),
        Key("watchdog", or_none(WATCHDOG), "The watchdog against pause storms.", plain("none")),
    ),
)


def _map(what: str, to: str, default: str, *, dscp: bool = False) -> tuple[Value, str, str]:
    pattern = DSCP_PATTERN if dscp else _NUMBERS
    last = LARGEST_DSCP if dscp else QUEUES - 1
    others = "a range such as 3..4 or a name such as ef" if dscp else "a range such as 3..4"
    wrong = f"A number from 0 to {last} or {others} is wanted here."
    told = f"a mapping of {what}s from 0 to {last} to numbers from 0 to {QUEUES - 1}"
    return Named(_EIGHTH, told, pattern, wrong), f"Which {to} a {what} belongs to.", default


_SAME = "the same number"
_MAPS = {
    "dscp_to_tc": _map("DSCP", "traffic class", "DSCP / 8, so cs3 is class 3", dscp=True),
    "tc_to_queue": _map("traffic class", "queue", _SAME),
    "tc_to_group": _map("traffic class", "priority group", _SAME),
    "priority_to_queue": (*_map("priority", "queue", _SAME)[:1], "Which queue a received pause stops.", _SAME),
    "priority_to_group": (*_map("priority", "group", _SAME)[:1], "Which group's state a sent pause tells.", _SAME),
}
MAPS = Keys(
    "maps",
    "Classes, queues and groups of frames",
    tuple(Key(name, value, about, words(default)) for name, (value, about, default) in _MAPS.items()),
)

POOL = Keys(
    "pool",
    "A pool of the switch's memory",
    (
        Key("size", Quantity(SIZE, 1, LARGEST_BYTES), "The pool's size, reserved and shared memory together."),
        Key(
            "headroom",
            SIZE_OF_MEMORY,
            "Memory beside it that lossless groups share; with 0 B each has its own.",
            plain("0 B"),
        ),
    ),
)


_SLICE_NUMBER = Number(0, SLICES[-1] - 1)
SLICE = Keys(
    "slice",
    "Which slice of the memory the frames of a port are in",
    (
        Key("in", _SLICE_NUMBER, "For frames that come in by the port.", plain("0")),
        Key("out", _SLICE_NUMBER, "For frames that leave by it.", plain("0")),
    ),
)


def _numbered(of: Keys, what: str) -> Named:
    return Named(
        of,
        f"a mapping of `default`, ranges such as `3..4` and numbers of {what}s",
        _NUMBERS,
        f"`default`, a number from 0 to {QUEUES - 1} or a range such as 3..4 is wanted here.",
        fixed={"default": of},
        about={"default": f"What holds for every {what}."},
    )


_PORT_LAYER = (
    Key("maps", MAPS, "Which class, queue and group a frame belongs to."),
    Key("queues", _numbered(QUEUE, "queue"), "What leaves by a port."),
    Key("priority_groups", _numbered(GROUP, "group"), "What came in at a port."),
    Key("pfc", or_none(PFC), "Priority flow control.", plain("none")),
    Key("slice", SLICE, "Which slice of the memory its frames are in."),
)
_PORTS = Key(
    "ports",
    Named(
        Keys("switch-port", "Ports of a switch with a shared buffer", _PORT_LAYER),
        "a mapping of ports, lists and ranges of ports",
    ),
    "What holds for these ports, over what is said of all ports.",
)
_CELL = Key("cell", Quantity(SIZE, 1, LARGEST_CELL_BYTES), "Memory is taken in whole cells of this size.", plain("1 B"))
_SLICES = Key(
    "slices",
    Number(SLICES[0], SLICES[-1]),
    "Equal parts of the memory, of chips with several; a limit is one slice's: 1, 2 or 4.",
    plain("1"),
)
_POOLS = Key(
    "pools",
    Named(
        POOL,
        "a mapping of at most four pools by name",
        rf"(?!{NONE_WORD}$){POOL_NAME.pattern}",
        "A pool's name has letters, digits, '-' and '_', and is not 'none'.",
    ),
    "The pools that the switch's memory is divided into.",
)
BUFFER = (_CELL, _SLICES, _POOLS, *_PORT_LAYER, _PORTS)
"""The keys of a shared buffer, as profiles have them too."""

_PROFILE = Key(
    "profile",
    Text("a profile's name, or that of a file beside experiment.yml"),
    "The switch that this one is: its memory and how it divides it.",
    examples=profile_names(),
)
_SCALE = Key(
    "scale",
    Either((Word(("bandwidth", NONE_WORD)), Factor("a factor from 1/1000000 to 1000"))),
    "How the profile's figures are made to fit slower links: by the sum of the lab's port rates, not at all, or by a "
    "factor.",
    words("`bandwidth` where the profile says what its figures are made for, else `none`"),
    ("bandwidth", "1/100"),
)

_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
_INTERFACE = Text(
    "an IPv4 address with prefix length",
    rf"\s*{_ADDRESS}/[0-9.]+\s*",
    "An IPv4 address with prefix length is wanted here, such as 192.168.0.1/24.",
)
_MEMBERS = Several(Text("a port"), "ports and ranges of ports, a list or one")
CHANNEL = Keys(
    "port-channel",
    "Parallel links that are used as one",
    (
        Key(
            "members",
            _MEMBERS,
            "Ports of the switch whose links lead to one neighbour.",
            required=True,
            examples=(("eth5", "eth6"), "eth3..eth4"),
        ),
        Key(
            "ipv4",
            _INTERFACE,
            "The switch's address, in place of those of the members' links.",
            words("a /31, as a link; none where it is a VLAN's member"),
            ("10.1.0.0/31",),
        ),
    ),
)
VLAN = Keys(
    "vlan",
    "Hosts in one network behind ports of one switch",
    (
        Key(
            "members",
            _MEMBERS,
            "Ports and port channels of the switch, with a host behind each.",
            required=True,
            examples=(("eth1", "eth2", "PortChannel2"),),
        ),
        Key(
            "ipv4",
            _INTERFACE,
            "The switch's address in the VLAN.",
            words("the first /24 of 192.168.0.0/16 that is free"),
            ("192.168.0.1/24",),
        ),
        Key(
            "hosts",
            Named(
                Text("an IPv4 address", rf"\s*{_ADDRESS}\s*", "An IPv4 address is wanted here."),
                "a mapping of hosts to IPv4 addresses",
            ),
            "Addresses of hosts.",
            words("the first ones that are free, in the order of the links"),
        ),
    ),
)
_LAYER2 = (
    Key(
        "vlans",
        Named(
            VLAN,
            f"a mapping of names from `Vlan1` to `Vlan{LARGEST_VLAN}`",
            "Vlan[1-9][0-9]{0,3}",
            f"A VLAN is called Vlan1 to Vlan{LARGEST_VLAN}.",
        ),
        "Networks of hosts behind ports of this switch. They cannot be set or varied.",
    ),
    Key(
        "port_channels",
        Named(
            CHANNEL,
            f"a mapping of names from `PortChannel0` to `PortChannel{LARGEST_CHANNEL}`",
            "PortChannel[0-9]{1,4}",
            f"A port channel is called PortChannel0 to PortChannel{LARGEST_CHANNEL}.",
        ),
        "Parallel links to one neighbour that are used as one. They cannot be set or varied.",
    ),
)

DEFAULT_SWITCH = Keys("switch-default", "What holds for every switch", (*PORT_BUFFER, _PROFILE, _SCALE, *BUFFER))
SWITCH = Keys("switch", "A switch", (*DEFAULT_SWITCH.keys, *_LAYER2))
SWITCHES = Named(
    SWITCH,
    "a mapping of `default` and switches",
    fixed={"default": DEFAULT_SWITCH},
    about={"default": "What holds for every switch, unless its name says otherwise."},
)

PROFILE = Keys(
    "switch-profile",
    "A switch profile of fabriclab",
    (
        Key("format", Word((PROFILE_FORMAT,)), "The version of the file.", required=True),
        Key("title", Text("a text"), "The switch in one line.", required=True),
        Key(
            "source",
            Several(Text("a text"), "a text or a list of texts", least=0, text=Text("a text")),
            "Where the figures come from.",
            required=True,
        ),
        Key("hardware", Text("a text"), "What its thresholds were compared with; plans and reports say it."),
        Key(
            "bandwidth",
            Quantity(RATE, SLOWEST_BPS, LARGEST_BANDWIDTH_BPS),
            "The sum of all ports' rates that the figures are made for.",
        ),
        Key("port_rate", RATE_OF_A_PORT, "The rate of one port that the figures are made for."),
        *BUFFER,
    ),
)
"""A profile's file by itself."""
