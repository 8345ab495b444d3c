"""Traffic: a kind has the keys that its reader lists; what a key means is the same for all kinds, or said of one."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab import distributions
from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.lab.reading.dscp import LARGEST_DSCP
from fabriclab.lab.reading.percent import WHOLE_PPM
from fabriclab.lab.traffic.bounds import LARGEST_FLOW_BYTES, LONGEST_NS, MOST_REPEATS
from fabriclab.lab.traffic.carrier import CONNECTIONS, IP_WORDS, TRANSPORTS
from fabriclab.lab.traffic.command import (
    AFTER,
    LARGEST_STATUS,
    MOST_MEMORY_BYTES,
    OUTPUT,
    PACKAGE,
    SMALLEST_MEMORY_BYTES,
    VARIABLE,
)
from fabriclab.lab.traffic.pairs import PATTERNS
from fabriclab.lab.traffic.process import LARGEST_LOAD_PPM, PROCESSES, SMALLEST_LOAD_PPM
from fabriclab.lab.traffic.read import keys_of_kinds
from fabriclab.lab.traffic.scope import MODES
from fabriclab.language.hadoop import HADOOP
from fabriclab.language.hosts import CONGESTION_CONTROL
from fabriclab.language.keys import Key, Keys, Kinds, Named
from fabriclab.language.sources import constant, plain, words
from fabriclab.language.switches import dscp_names
from fabriclab.language.values import (
    Either,
    Flag,
    Items,
    Number,
    Percent,
    Quantity,
    Several,
    Text,
    Word,
    quantity_pattern,
)
from fabriclab.units import DURATION, SIZE

_REPEATS = Number(1, MOST_REPEATS)
_BYTES = Quantity(SIZE, SMALLEST_BYTES, LARGEST_FLOW_BYTES)
_TIME = Quantity(DURATION, 0, LONGEST_NS)
_LATER = Quantity(DURATION, 1, LONGEST_NS)
_HOST = Text("a host's name")
_HOSTS = Several(Text("a host"), "a count, a range such as `h1..h4`, a group, a list of these, or `all`")
_DISTRIBUTION = Text("a distribution's name, or a file of the lab's directory")

SIZES = Keys(
    "distributed-size",
    "Sizes drawn from a distribution",
    (
        Key(
            "distribution",
            _DISTRIBUTION,
            "A distribution of `traffic/workloads`, or a file in the lab's directory.",
            examples=tuple(distributions.names()),
            required=True,
        ),
        Key("cap", _BYTES, "Larger flows are cut to this size, and every report says so.", examples=("10 MB",)),
    ),
)
_RANGE = Text("a range such as `2 KB .. 16 KB`", rf"{quantity_pattern(SIZE)}\.\.{quantity_pattern(SIZE)}")
_NAME = Text("a distribution", r"\s*[A-Za-z].*")
_SIZE = Either((_BYTES, _RANGE, _NAME, SIZES))

_EVERY: tuple[Key, ...] = (
    Key(
        "enabled",
        Flag(),
        "With `false` the traffic is checked but not sent, so that a variant or a matrix chooses among several.",
        plain(True),
    ),
    Key(
        "transport",
        Word(TRANSPORTS),
        "What carries the flows. A flow over MPTCP has a connection of its own.",
        constant("TRANSPORT"),
    ),
    Key(
        "congestion_control",
        CONGESTION_CONTROL,
        "The congestion control of these flows, at both ends.",
        words("the host's"),
    ),
    Key(
        "dscp",
        Either((Number(0, LARGEST_DSCP), Text("a name such as `ef`, `cs3`, `af21`", rf"\s*(?:{dscp_names()})\s*"))),
        "The DSCP that the packets carry, which puts them into a class at switches with a shared buffer.",
        constant("DSCP"),
        ("ef", "cs3"),
    ),
    Key(
        "ip",
        Word(IP_WORDS),
        "The version of IP that the flows are sent over, of those that the fabric has addresses of (`addresses`).",
        words("4 where the fabric has IPv4, else 6"),
        (6,),
    ),
    Key("senders", _HOSTS, "Who sends.", examples=("all", "h1..h4", 8), required=True),
    Key(
        "receiver",
        _HOST,
        "The one host to which all send. Counts, groups and `all` leave it out.",
        examples=("h8",),
        required=True,
    ),
    Key("receivers", _HOSTS, "To whom they send, by the pattern of `pairs`.", words("all hosts")),
    Key("pairs", Word(PATTERNS), "Who sends to whom; nobody sends to itself."),
    Key(
        "hot_spots",
        _HOSTS,
        "With `pairs: hot-spot`, the receivers that get most of the flows.",
        words("must be written with `pairs: hot-spot`"),
    ),
    Key(
        "hot_share",
        Percent(1, WHOLE_PPM),
        "With `pairs: hot-spot`, the share of the flows that goes to them.",
        words("must be written with `pairs: hot-spot`"),
        ("50 %",),
    ),
    Key("start", _TIME, "When it begins, in virtual time.", constant("START_NS"), ("200 ms",)),
    Key("stop", _LATER, "When it ends, in virtual time.", required=True, examples=("2 s",)),
    Key("jitter", _TIME, "Each start is moved by a draw from 0 to so much.", constant("JITTER_NS"), ("100 us",)),
    Key(
        "mode",
        Word(MODES),
        "Who begins: with `push` the sender sends, with `pull` the receiver asks for it.",
        constant("FLOWS_MODE"),
    ),
    Key(
        "connection",
        Word(CONNECTIONS),
        "`kept`: each pair has one connection for all its flows; `new`: each flow has its own.",
        constant("CONNECTION"),
    ),
    Key(
        "interval",
        _LATER,
        "The mean time from one start of a sender, or of an aggregator, to its next.",
        examples=("10 ms",),
    ),
    Key(
        "load",
        Percent(SMALLEST_LOAD_PPM, LARGEST_LOAD_PPM),
        "The share of the sender's own line that the flows are to "
        "take; the interval follows from it. It stands in place of `interval`.",
        examples=("40 %",),
    ),
    Key("arrival", Word(PROCESSES), "How the starts follow each other.", constant("ARRIVAL")),
    Key(
        "burst",
        _REPEATS,
        "With `arrival: bursty`, how many start at one instant.",
        words("must be written with `arrival: bursty`"),
        (10,),
    ),
    Key(
        "deadline",
        _LATER,
        "The time from a start within which the flow, or the whole query, is to be complete. It "
        "changes nothing of the traffic; reports count who missed it.",
        words("none"),
        ("20 ms",),
    ),
    Key("size", _BYTES, "Bytes of a flow.", examples=("64 KB",), required=True),
    Key("request", _BYTES, "Bytes of a request.", constant("REQUEST_BYTES")),
    Key("response", _SIZE, "Bytes of each worker's answer.", examples=("2 KB", "2 KB .. 16 KB"), required=True),
    Key("aggregators", _HOSTS, "The hosts that ask.", examples=(("h1",),), required=True),
    Key("workers", _HOSTS, "The hosts that answer.", words("all hosts")),
    Key(
        "fan_out",
        Number(1, 10**18 - 1),
        "How many workers a query asks, drawn anew for each.",
        words("all workers but the aggregator itself"),
    ),
    Key("rounds", _REPEATS, "How many rounds there are.", examples=(10,), required=True),
    Key("count", _REPEATS, "How many flows each sender sends.", constant("FLOW_COUNT")),
    Key("stagger", _TIME, "The time from one flow's start to the next one's.", constant("STAGGER_NS")),
    Key("mappers", _HOSTS, "The hosts that map.", examples=("h1..h4",), required=True),
    Key("reducers", _HOSTS, "The hosts that reduce.", examples=("h5..h8",), required=True),
    Key("sources", _HOSTS, "The hosts that the input is read from.", words("the mappers' own disks")),
    Key("parallel_copies", _REPEATS, "How many partitions a reducer fetches at a time.", constant("PARALLEL_COPIES")),
    Key(
        "replicas",
        Number(1, 10**18 - 1),
        "How many copies of the output are written; each lies on a host of its own.",
        constant("REPLICAS"),
    ),
    Key(
        "file",
        Text("a file's name"),
        "A flow trace in the lab's directory (traffic/README.md says its columns).",
        examples=("mine.csv",),
        required=True,
    ),
    Key("node", Text("a node's name"), "The host or switch that it runs on.", examples=("h1",), required=True),
    Key(
        "argv",
        Either((Items(Text("a word"), "a list of words"), Text("a text that is divided as a shell would"))),
        "The program and its arguments. Nodes know each other by their names.",
        examples=(("redis-benchmark", "-h", "h1"),),
        required=True,
    ),
    Key(
        "packages",
        Several(Text("a package", PACKAGE), "the names of Debian packages"),
        "What the programs need that the root file system has not, with all that these packages depend on.",
        words("none"),
        (("redis-server", "redis-tools"),),
    ),
    Key(
        "jars",
        Text("a file's name"),
        "A file in the lab's directory that lists Java archives, a line each: `GROUP:ARTIFACT:VERSION[:CLASSIFIER]` "
        "and the SHA-256. Maven fetches them; they lie in `/opt/jars` of all nodes with programs.",
        words("none"),
        ("hadoop.txt",),
    ),
    Key(
        "after",
        Several(Text("a program", AFTER), "a list of `NAME` and `NAME:PORT`"),
        "What it waits for: that another program has ended as it should, or that its node listens on a TCP port.",
        words("nothing"),
        (("server:6379",),),
    ),
    Key(
        "serves",
        Flag(),
        "With `true` nobody waits for its end: it gets SIGTERM when all other traffic is complete.",
        plain(False),
    ),
    Key("status", Number(0, LARGEST_STATUS), "The exit status that means success.", plain(0)),
    Key(
        "environment",
        Named(Text("any text"), "a mapping of variables", VARIABLE),
        "Variables beside `PATH`, `HOME`, `FABRICLAB_NODE` and `FABRICLAB_EPOCH_NS`.",
        words("no more"),
    ),
    Key(
        "output",
        Text("a file's name", OUTPUT),
        "A file of the run's directory `output` for what it writes to its standard output.",
        words("its log, `logs/NAME@NODE.log`, which has its errors too"),
        ("result.csv",),
    ),
    Key(
        "memory",
        Quantity(SIZE, SMALLEST_MEMORY_BYTES, MOST_MEMORY_BYTES),
        "How much memory the machine has for it.",
        constant("PROGRAM_MEMORY_BYTES"),
        ("500 MB",),
    ),
)
_BY_NAME: Mapping[str, Key] = {key.name: key for key in (*_EVERY, *HADOOP)}


def _changed(name: str, **changes: object) -> Key:
    key = _BY_NAME[name]
    values = {
        "value": key.value,
        "about": key.about,
        "default": key.default,
        "examples": key.examples,
        "required": key.required,
        **changes,
    }
    return Key(name, **values)  # type: ignore[arg-type]


_OF_KIND: Mapping[str, tuple[Key, ...]] = {
    "rounds": (
        _changed("size", about="Bytes that each sender sends in a round."),
        _changed(
            "mode",
            default=constant("ROUNDS_MODE"),
            about="With `pull` the receiver asks for each round when the "
            "last one is complete; `push` is for a single round.",
        ),
    ),
    "long": (
        _changed("receiver", required=False, default=words("this, or `receivers` and `pairs`")),
        _changed(
            "pairs",
            default=constant("LONG_PAIRS"),
            about="Who sends to whom: one flow from each sender; with `all-to-all` one to each receiver.",
        ),
    ),
    "flows": (
        _changed(
            "interval",
            value=_TIME,
            default=words("must be written with `count` above 1"),
            about="The time from one flow of a sender to its next.",
        ),
    ),
    "arrivals": (
        _changed("pairs", default=constant("ARRIVAL_PAIRS")),
        _changed(
            "size",
            value=_SIZE,
            examples=("70 KB", "2 KB .. 16 KB", "web-search"),
            about="Bytes of a flow: one size, a range of equally likely ones, or a distribution.",
        ),
        _changed("interval", default=words("this or `load`")),
        _changed("load", default=words("this or `interval`")),
        _changed(
            "jitter",
            value=_LATER,
            default=words("the interval"),
            about="With `arrival: jittered`, the window within which each start is drawn.",
        ),
    ),
    "query": (
        _changed("interval", required=True, about="The mean time from one query of an aggregator to its next."),
        _changed("jitter", about="Each request of a query leaves so much later at most."),
    ),
    "shuffle": (
        _changed("size", about="Bytes of the job's input; as much is shuffled and written.", examples=("1 GB",)),
    ),
    "trace": (),
    "iperf3": (),
    "hadoop": (
        _changed(
            "jars",
            about="A file in the lab's directory that lists Java archives beside Hadoop's own, as for `kind: program`.",
        ),
    ),
    "program": (
        _changed("start", about="When it starts at the earliest, in virtual time.", examples=("10 ms",)),
        _changed(
            "stop",
            required=False,
            default=words("when it ends by itself, or with the run"),
            about="When it gets SIGTERM, and a second later SIGKILL; that it ends so is no failure.",
        ),
    ),
}
_ONE_OF = {"arrivals": (("interval",), ("load",))}
ABOUT: Mapping[str, str] = {
    "rounds": "In-cast: all senders send at once, and the next round follows when the last one is complete.",
    "long": "Long flows, which have no size of their own and end when the traffic stops.",
    "flows": "One flow of a sender every so often.",
    "arrivals": "An open loop: flows start whatever becomes of those before.",
    "query": "Partition and aggregate: an aggregator asks many workers and waits for them all.",
    "shuffle": "The network phases of a MapReduce job: its input, its shuffle, its output.",
    "iperf3": "Flows that iperf3 sends, one from each sender.",
    "program": "A program of your own on a node, a server or a client.",
    "hadoop": "A Hadoop cluster: HDFS and YARN on hosts of the fabric, and the jobs that they run.",
    "trace": "Flows of a file of your own.",
}


def _keys_of(kind: str) -> Keys:
    """Return a kind's keys in the order of its reader."""
    own = {**_BY_NAME, **{key.name: key for key in _OF_KIND[kind]}}
    known = Key("kind", Word((kind,)), ABOUT[kind], required=True)
    keys = tuple(known if name == "kind" else own[name] for name in keys_of_kinds()[kind])
    return Keys(f"traffic-{kind}", kind, keys, one_of=_ONE_OF.get(kind, ()))


KIND = Kinds(
    "traffic",
    "One piece of traffic",
    {kind: _keys_of(kind) for kind in keys_of_kinds()},
    "What kind of traffic it is.",
)
TRAFFIC = Named(
    KIND,
    "a mapping of names of traffic",
    "[A-Za-z0-9_-]*[A-Za-z0-9][A-Za-z0-9_-]*",
    "The name of traffic has letters, digits, '-' and '_'.",
    least=1,
)
