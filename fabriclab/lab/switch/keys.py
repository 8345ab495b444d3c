"""The keys of switches: ports with a buffer each, or one memory that all ports share; and those of a switch profile's
file."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from fabriclab.formats import ranges
from fabriclab.formats.classes import QUEUES
from fabriclab.keys.mappings import Key, Keys, Named
from fabriclab.keys.quantities import Factor, Number, Quantity
from fabriclab.keys.values import NONE, Either, Several, Text, Value, Word, or_none
from fabriclab.lab.network.keys import LAYER2
from fabriclab.lab.ports.keys import PORT_BUFFER
from fabriclab.lab.reading.dscp import DSCP_NAMES, DSCP_VALUE, LARGEST_DSCP, dscp_names
from fabriclab.lab.switch.frr_version import FRR_VERSION
from fabriclab.lab.switch.load_balancing import LOAD_BALANCING_KEY
from fabriclab.lab.switch.queue_keys import GROUP, LARGEST_BYTES, QUEUE, RATE_OF_A_PORT, SIZE_OF_MEMORY, SLOWEST_BPS
from fabriclab.units import DURATION, RATE, SIZE

PROFILE_FORMAT = "fabriclab-switch-1"
NUMBERS_OF_SLICES = (1, 2, 4)
"""Into how many parts a memory may be divided: a frame's slice is two numbers, bit by bit together."""
POOL_NAME = r"[A-Za-z][A-Za-z0-9_-]{0,62}"
PROFILES = Path(__file__).resolve().parents[2] / "switches"
"""Where the profiles lie that come with fabriclab."""
_LARGEST_BANDWIDTH_BPS = 10**15
EIGHTH = Number(0, QUEUES - 1)
_NUMBERS = rf"[0-{QUEUES - 1}](?:\.\.[0-{QUEUES - 1}])?"
_EXAMPLES = (*map(str, range(QUEUES)), "3..4")
_CODEPOINT = r"(?:[0-9]|[1-5][0-9]|6[0-3])"
_WATCH = Quantity(DURATION, *ranges.WATCH)
"""SONiC polls, and takes 100 ms to 5 s and 100 ms to 60 s (sonic-pfcwd.yang); the machine's watchdog is exact, and may
be faster."""
PRIORITY = Number(0, QUEUES - 1, "a priority")
PRIORITIES = Several(PRIORITY, f"priorities from 0 to {QUEUES - 1}, a list or one", is_set=True)


DSCP_PATTERN = rf"{_CODEPOINT}(?:\.\.{_CODEPOINT})?|{dscp_names()}"
"""A DSCP as a key: a number, a range, a name."""

WATCHDOG_DETECTION = Key(
    "detection",
    _WATCH,
    "The watchdog acts when a queue has been paused for this time without a break.",
    examples=("200 ms",),
)
WATCHDOG_RESTORATION = Key(
    "restoration",
    _WATCH,
    "The queue is restored when no pause frame has come for this time.",
    unset="twice `detection`",
)
WATCHDOG_ACTION = Key(
    "action",
    Word[str](("drop", "forward")),
    "What happens to the queue's packets in the meantime.",
    default="drop",
)
WATCHDOG = Keys(
    "pfc-watchdog",
    "The watchdog against pause storms",
    (
        WATCHDOG_DETECTION,
        WATCHDOG_RESTORATION,
        WATCHDOG_ACTION,
    ),
)

PFC_PRIORITIES = Key("priorities", PRIORITIES, "The priorities that pause and are paused.", examples=(("3", "4"),))
PFC_QUANTA = Key(
    "quanta",
    Number(*ranges.QUANTA, why="512 bit times each; 16 bits of a pause frame"),
    "How long a pause lasts, in units of 512 bit times.",
    default=65_535,
    source="The largest value of a pause frame; it is repeated, and ended by a frame with no quanta",
)
PFC_REACTION = Key(
    "reaction",
    Quantity(DURATION, *ranges.REACTION),
    "The time from the arrival of a pause frame until the sender stops.",
    default=0,
)
PFC_WATCHDOG: Key[Any] = Key("watchdog", or_none(WATCHDOG), "The watchdog against pause storms.", default=None)
PFC = Keys(
    "pfc",
    "Priority flow control (IEEE 802.1Qbb)",
    (PFC_PRIORITIES, PFC_QUANTA, PFC_REACTION, PFC_WATCHDOG),
)


_PLURAL = {"DSCP": "DSCPs", "traffic class": "traffic classes", "priority": "priorities"}


def _map(what: str, to: str, default: str, *, dscp: bool = False) -> tuple[Value[Any], str, str]:
    pattern = DSCP_PATTERN if dscp else _NUMBERS
    last = LARGEST_DSCP if dscp else QUEUES - 1
    others = "a range such as 3..4 or a name such as ef" if dscp else "a range such as 3..4"
    wrong = f"Write a number from 0 to {last} or {others}."
    told = f"a mapping of {_PLURAL[what]} from 0 to {last} to numbers from 0 to {QUEUES - 1}"
    examples = ("0", "0..7", *DSCP_NAMES) if dscp else _EXAMPLES
    return Named(EIGHTH, told, pattern, wrong, examples=examples), f"The {to} of a {what}.", default


_SAME = "the same number"
_MAPS = {
    "dscp_to_tc": _map("DSCP", "traffic class", "DSCP / 8, so cs3 is class 3", dscp=True),
    "tc_to_queue": _map("traffic class", "queue", _SAME),
    "tc_to_group": _map("traffic class", "priority group", _SAME),
    "priority_to_queue": (*_map("priority", "queue", _SAME)[:1], "The queue that a received pause frame stops.", _SAME),
    "priority_to_group": (
        *_map("priority", "group", _SAME)[:1],
        "The group whose state a sent pause frame reports.",
        _SAME,
    ),
}
MAPS = Keys(
    "maps",
    "Classes, queues and groups of frames",
    tuple(Key(name, value, about, unset=default) for name, (value, about, default) in _MAPS.items()),
)

POOL_SIZE = Key("size", Quantity(SIZE, 1, LARGEST_BYTES), "The pool's size, reserved and shared memory together.")
POOL_HEADROOM = Key(
    "headroom",
    SIZE_OF_MEMORY,
    "Additional memory that lossless groups share as headroom. With 0 B each group has its own.",
    default=0,
)
POOL = Keys(
    "pool",
    "A pool of the switch's memory",
    (
        POOL_SIZE,
        POOL_HEADROOM,
    ),
)


_SLICE_NUMBER = Number(0, NUMBERS_OF_SLICES[-1] - 1)
SLICE_IN = Key("in", _SLICE_NUMBER, "The slice for frames that come in by the port.", default=0)
SLICE_OUT = Key("out", _SLICE_NUMBER, "The slice for frames that leave by the port.", default=0)
SLICE = Keys(
    "slice",
    "The slice of the memory for the frames of a port",
    (
        SLICE_IN,
        SLICE_OUT,
    ),
)


TRIMMING_SIZE = Key(
    "size",
    Quantity(SIZE, *ranges.TRIMMED_BYTES, why="of a frame with its Ethernet header"),
    "What remains of a trimmed frame. A frame that is not longer only gets the DSCP and the queue.",
    default=128,
    source="SAI_SWITCH_ATTR_PACKET_TRIM_SIZE",
    examples=("256 B",),
)
TRIMMING_DSCP = Key("dscp", DSCP_VALUE, "The DSCP of trimmed packets.", examples=("cs6",))
TRIMMING_QUEUE: Key[int | None] = Key(
    "queue",
    Either(
        (EIGHTH, Word[None](("dynamic",), meanings={"dynamic": None})),
        f"is neither a queue from 0 to {QUEUES - 1} nor 'dynamic'",
    ),
    "The queue of trimmed packets. `dynamic`: that of their DSCP's class.",
    default=None,
)
TRIMMING = Keys(
    "trimming",
    "Packets without their payload (packet trimming)",
    (TRIMMING_SIZE, TRIMMING_DSCP, TRIMMING_QUEUE),
)


def _numbered(of: Keys, what: str) -> Named:
    return Named(
        of,
        f"a mapping of `default`, ranges such as `3..4` and numbers of {what}s",
        _NUMBERS,
        f"Write `default`, a number from 0 to {QUEUES - 1} or a range such as 3..4.",
        fixed={"default": of},
        about={"default": f"Settings for every {what}."},
        examples=("default", *_EXAMPLES),
    )


_PORT_LAYER: tuple[Key[Any], ...] = (
    Key("maps", MAPS, "The class, queue and group of a frame."),
    Key("queues", _numbered(QUEUE, "queue"), "The queues for frames that leave by a port."),
    Key("priority_groups", _numbered(GROUP, "group"), "The priority groups for frames that came in at a port."),
    Key("pfc", or_none(PFC), "Priority flow control.", default=None),
    Key("slice", SLICE, "The slice of the memory for the frames of this port."),
    Key(
        "trimming",
        or_none(TRIMMING),
        "What becomes of packets that a queue with `discard: trim` has no room for.",
        default=None,
    ),
)
PORT = Keys("switch-port", "Ports of a switch with a shared buffer", _PORT_LAYER)
_PORTS = Key(
    "ports",
    Named(
        PORT,
        "a mapping of ports, lists and ranges of ports",
        examples=("a port's name",),
    ),
    "Settings for these ports; they override those for all ports.",
)
CELL = Key("cell", Quantity(SIZE, *ranges.CELL_BYTES), "Memory is taken in whole cells of this size.", default=1)
SLICES = Key(
    "slices",
    Number(NUMBERS_OF_SLICES[0], NUMBERS_OF_SLICES[-1]),
    "The number of equal parts of the memory, for chips with several: 1, 2 or 4. A limit applies to one slice.",
    default=1,
)
_POOLS = Key(
    "pools",
    Named(
        POOL,
        "a mapping of at most four pools by name",
        rf"(?!{NONE}$){POOL_NAME}",
        "A pool's name has letters, digits, '-' and '_', and is not 'none'.",
        examples=("a pool's name",),
    ),
    "The pools that the switch's memory is divided into.",
)
BUFFER: tuple[Key[Any], ...] = (CELL, SLICES, _POOLS, *_PORT_LAYER, _PORTS)
"""The keys of a shared buffer, as profiles have them too."""

_PROFILE = Key(
    "profile",
    Text("a profile's name, or that of a file beside experiment.yml"),
    "The switch model: its memory, and how the memory is divided.",
    examples=tuple(sorted(path.stem for path in PROFILES.glob("*.yml"))),
)
SCALE: Key[Any] = Key(
    "scale",
    Either(
        (Word[str](("bandwidth", NONE)), Factor("a factor from 1/1000000 to 1000", Fraction(1, 10**6), Fraction(1000))),
        "is not a scale; write bandwidth, none, or a factor from 1/1000000 to 1000 such as 1/100",
    ),
    "How the profile's figures are scaled to slower links: by the sum of the lab's port rates, not at all, or by a "
    "factor.",
    unset="`bandwidth` if the profile says which rates its figures are for, else `none`",
    examples=("bandwidth", "1/100"),
)

SHARED = Keys("switch-shared", "A switch with a shared buffer", (_PROFILE, SCALE, *BUFFER))
DEFAULT_SWITCH = Keys(
    "switch-default", "Settings for every switch", (*PORT_BUFFER.keys, *SHARED.keys, LOAD_BALANCING_KEY, FRR_VERSION)
)
SWITCH = Keys("switch", "A switch", (*DEFAULT_SWITCH.keys, *LAYER2))
SWITCHES = Named(
    SWITCH,
    "a mapping of `default` and switches",
    fixed={"default": DEFAULT_SWITCH},
    source="switches",
    about={"default": "Settings for every switch. A switch's name overrides them."},
)

PROFILE_FORMAT_KEY = Key("format", Word[str]((PROFILE_FORMAT,)), "The version of the file.", required=True)
PROFILE_BANDWIDTH = Key(
    "bandwidth",
    Quantity(RATE, SLOWEST_BPS, _LARGEST_BANDWIDTH_BPS),
    "The sum of all ports' rates that the figures are made for.",
)
PROFILE_PORT_RATE = Key("port_rate", RATE_OF_A_PORT, "The rate of one port that the figures are made for.")
PROFILE = Keys(
    "switch-profile",
    "A switch profile of fabriclab",
    (
        PROFILE_FORMAT_KEY,
        Key("title", Text("a text"), "The switch in one line.", required=True),
        Key(
            "source",
            Several(Text("a text"), "a text or a list of texts", least=0, text=Text("a text")),
            "Where the figures come from.",
            required=True,
        ),
        Key(
            "hardware",
            Text("a text"),
            "The hardware that the thresholds were compared with. Plans and reports name it.",
        ),
        PROFILE_BANDWIDTH,
        PROFILE_PORT_RATE,
        *BUFFER,
    ),
)
"""A profile's file by itself."""
