"""The keys that several kinds of traffic have; those of one kind alone lie in its file (`fabriclab.traffic_kinds`)."""

from __future__ import annotations

import re
from typing import Any, get_args

from fabriclab import distributions
from fabriclab.formats import ranges
from fabriclab.formats.family import FAMILIES
from fabriclab.formats.plan.traffic import KINDS, Carried, Connection, Mode, Pattern, Process
from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.keys.mappings import Key, Keys, Kinds, MadeWhenAsked, Named
from fabriclab.keys.quantities import Flag, NamesOrCount, Number, Percent, Quantity, quantity_pattern
from fabriclab.keys.values import Either, Scalar, Several, Text, Word
from fabriclab.lab.hosts.keys import CONGESTION_CONTROL_NAME
from fabriclab.lab.reading.dscp import DSCP_VALUE
from fabriclab.registry.traffic_kinds import load
from fabriclab.units import DURATION
from fabriclab.units import SIZE as SIZE_DIMENSION

WHY_FOUR_BYTES = "the first four bytes carry the flow's number"
REPEATS = Number(*ranges.REPEATS)
BYTES = Quantity(SIZE_DIMENSION, SMALLEST_BYTES, ranges.FLOW_BYTES.most, why=WHY_FOUR_BYTES)
TIME = Quantity(DURATION, *ranges.DURATION)
LATER = Quantity(DURATION, *ranges.LASTING)
HOST = Text("a host's name")
HOSTS = Several(NamesOrCount("a host"), "a count, a range such as `h1..h4`, a group, a list of these, or `all`")


class SizeRange(Text):
    """A range of sizes, all of them equally likely."""

    def canonical(self, text: str) -> Scalar | None:
        """Return the range with both ends as sizes are compared."""
        if re.fullmatch(self.pattern, text) is None:
            return None
        return " .. ".join(str(BYTES.canonical(end)) for end in text.split("..", 1))


_DISTRIBUTION = Text("a distribution's name, or a file of the lab's directory")
_RANGE = SizeRange(
    "a range such as `2 KB .. 16 KB`", rf"{quantity_pattern(SIZE_DIMENSION)}\.\.{quantity_pattern(SIZE_DIMENSION)}"
)
_NAME = Text("a distribution", r"\s*[A-Za-z].*")
SIZE_DISTRIBUTION = Key(
    "distribution",
    _DISTRIBUTION,
    "A distribution of `traffic/workloads`, or a file in the lab's directory.",
    examples=tuple(distributions.names()),
    required=True,
)
SIZE_CAP = Key("cap", BYTES, "Larger flows are cut to this size, and every report says so.", examples=("10 MB",))
DISTRIBUTED = Keys("distributed-size", "Sizes drawn from a distribution", (SIZE_DISTRIBUTION, SIZE_CAP))
SIZES: Either[Any] = Either((BYTES, _RANGE, _NAME, DISTRIBUTED))

ENABLED = Key(
    "enabled",
    Flag(),
    "With `false` the traffic is checked but not sent. So a variant or a matrix can choose what is sent.",
    default=True,
)
TRANSPORT = Key(
    "transport",
    Word[Carried](get_args(Carried)),
    "The transport protocol of the flows. A flow over MPTCP has a connection of its own. With `roce` a flow is a "
    "message of a [RoCE](hosts.md#roce) NIC, over a queue pair of its own. With `homa` it is a message of "
    "[Homa](../homa.md), whose `module` the lab brings.",
    default="tcp",
)
MODULE = Key(
    "module",
    Text("a directory of the lab's directory, such as `./homa`", r".+"),
    "With `transport: homa`, the directory with the C files of Homa's module for Linux. Other transports leave it "
    "unused.",
    unset="required with `transport: homa`",
    examples=("./homa",),
)
CONGESTION_CONTROL = Key(
    "congestion_control",
    CONGESTION_CONTROL_NAME,
    "The congestion control of these flows, at both ends.",
    unset="the host's",
)
DSCP = Key(
    "dscp",
    DSCP_VALUE,
    "The DSCP of the packets, which selects their class at switches with a shared buffer.",
    default=0,
    examples=("ef", "cs3"),
)
IP = Key(
    "ip",
    Word[str](tuple(map(str, FAMILIES))),
    "The version of IP of the flows, one for which the fabric has addresses (`addresses`).",
    unset="4 if the fabric has IPv4, else 6",
    examples=(6,),
)
CARRIER: tuple[Key[Any], ...] = (TRANSPORT, MODULE, CONGESTION_CONTROL, DSCP, IP)
"""What carries the flows."""

SENDERS = Key("senders", HOSTS, "The hosts that send.", examples=("all", "h1..h4", 8), required=True)
RECEIVER = Key(
    "receiver",
    HOST,
    "The one host that all senders send to. Counts, groups and `all` leave it out.",
    examples=("h8",),
    required=True,
)
RECEIVERS = Key("receivers", HOSTS, "The hosts that they send to, by the pattern of `pairs`.", unset="all hosts")
PAIRS = Key(
    "pairs",
    Word[Pattern](("permutation", "random", "all-to-all", "in-rack", "out-of-rack", "hot-spot")),
    "How receivers are assigned to senders; no host sends to itself.",
)
HOT_SPOTS = Key(
    "hot_spots",
    HOSTS,
    "With `pairs: hot-spot`, the receivers that get most of the flows.",
    unset="required with `pairs: hot-spot`",
)
HOT_SHARE = Key(
    "hot_share",
    Percent(1, ranges.PPM.most),
    "With `pairs: hot-spot`, the share of the flows that goes to them.",
    unset="required with `pairs: hot-spot`",
    examples=("50 %",),
)
RANDOM_PAIRS = PAIRS.but(default="random")
START = Key("start", TIME, "When the traffic begins, in virtual time.", default=0, examples=("200 ms",))
STOP = Key("stop", LATER, "When the traffic ends, in virtual time.", required=True, examples=("2 s",))
JITTER = Key(
    "jitter",
    TIME,
    "Each start is late by a random time between 0 and this value, drawn by the seed. `0 s`: all starts are exact.",
    default=50_000,
    source="Linux wakes a process that waits for a time up to 50 us late: the default timer slack, "
    "PR_SET_TIMERSLACK in prctl(2)",
    examples=("100 us", "0 s"),
)
MODE = Key(
    "mode",
    Word[Mode](("push", "pull", "read")),
    "Which side begins: with `push` the sender sends, with `pull` the receiver asks for the data. With `read` the NIC "
    "of the receiver reads them (RDMA READ; `transport: roce` only).",
    default="push",
)
CONNECTION = Key(
    "connection",
    Word[Connection](("kept", "new")),
    "`kept`: each pair has one connection for all its flows; `new`: each flow has its own.",
    default="kept",
)
INTERVAL = Key(
    "interval",
    LATER,
    "The mean time between two starts of a sender or of an aggregator.",
    examples=("10 ms",),
)
LOAD = Key(
    "load",
    Percent(*ranges.LOAD_PPM),
    "The share of the sender's link rate that the flows take; the interval follows from it. It replaces `interval`.",
    examples=("40 %",),
)
ARRIVAL = Key(
    "arrival",
    Word[Process](("poisson", "fixed", "jittered", "bursty")),
    "How the starts follow each other.",
    default="poisson",
)
BURST = Key(
    "burst",
    REPEATS,
    "With `arrival: bursty`, the number of flows that start at one instant.",
    unset="required with `arrival: bursty`",
    examples=(10,),
)
DEADLINE = Key(
    "deadline",
    LATER,
    "The flow, or the whole query, should be complete within this time after its start. It does not change the "
    "traffic; reports count the flows that miss it.",
    unset="none",
    examples=("20 ms",),
)
SIZE = Key("size", BYTES, "Bytes of a flow.", examples=("64 KB",), required=True)
JARS = Key(
    "jars",
    Text("a file's name"),
    "A file in the lab's directory that lists Java archives, one per line: `GROUP:ARTIFACT:VERSION[:CLASSIFIER]` and "
    "the SHA-256. Maven fetches them; they are in `/opt/jars` of all nodes with programs.",
    unset="none",
    examples=("hadoop.txt",),
)


def keys_of_kind(kind: str, about: str, *keys: Key[Any], one_of: tuple[tuple[str, ...], ...] = ()) -> Keys:
    """Return the keys of a kind of traffic; all kinds can be switched off."""
    word = Key("kind", Word[str]((kind,)), about, required=True, settable=False)
    return Keys(f"traffic-{kind}", kind, (word, *keys, ENABLED), one_of=one_of)


def _load(kind: str) -> Keys:
    keys: Keys = load(kind).keys
    return keys


TRAFFIC_KIND = Kinds("traffic", "One piece of traffic", MadeWhenAsked(KINDS, _load), "What kind of traffic it is.")
TRAFFIC = Named(
    TRAFFIC_KIND,
    "a mapping of names of traffic",
    "[A-Za-z0-9_-]*[A-Za-z0-9][A-Za-z0-9_-]*",
    "The name of traffic has letters, digits, '-' and '_'.",
    least=1,
    source="document",
)
