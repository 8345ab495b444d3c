"""The job, `machine/job.json`: what an engine carries out (`images/machine/README.md`).

`compile` writes it, the virtual machine's PID 1 (`images/machine/init/src/job.rs`) and the container engine read it.
These are the JSON's objects as they stand; what may be missing is in a class of its own (`total=False`).
"""

from __future__ import annotations

from typing import Literal, TypedDict

JOB_FORMAT = "fabriclab-job-1"
FRR_LAYER = "frr-"
"""Begins the name of a layer with a version of FRR."""


class JobNic(TypedDict):
    """What a NIC does for its host: the largest burst in bytes (None: full frames one by one), merging of received
    segments, and the time from a frame to its interrupt in microseconds."""

    interface: str
    tso_bytes: int | None
    gro: bool
    receive_queues: int
    interrupt_delay_us: int | Literal["adaptive"]


class JobNodeWithNics(TypedDict, total=False):
    """What a node may have."""

    nics: list[JobNic]
    environment: dict[str, str]
    """Of all its programs."""
    layers: list[str]
    """Layers over its root file system, by the names that the engine gives them, the first on top."""
    stream: int
    """Where links are cables: what all that it draws is made of."""


class JobNode(JobNodeWithNics):
    """A node, and the directory of its files, relative to the run directory."""

    name: str
    files: str


class Endpoint(TypedDict):
    """One end of a link."""

    node: str
    interface: str
    mac: str


class Link(TypedDict):
    """A link between two nodes; `mtu` is in bytes."""

    a: Endpoint
    b: Endpoint
    mtu: int


class WirePart(TypedDict, total=False):
    """Where a cable's other end is."""

    part: int
    """The machine; missing: the same one."""


class WireEnd(WirePart):
    """One end of a cable. `number` differs from that of the other end in the last bit;
    `delay_ns` is of what this end sends, `delay_in_ns` of what comes to it."""

    node: str
    interface: str
    mac: str
    mtu: int
    number: int
    delay_ns: int
    delay_in_ns: int


class Wires(TypedDict):
    """The ends of cables that are in a machine, and when they begin to carry, counted from the machine's start. The lab
    begins then, too, unless something has to be ready before."""

    begin_ns: int
    ends: list[WireEnd]


class Program(TypedDict):
    """A process. A `node` of None is the machine itself."""

    name: str
    node: str | None
    argv: list[str]


class SetupLimits(TypedDict, total=False):
    """What a step may have. Times are durations."""

    again: bool
    """A node that boots does it again."""
    limit_ns: int
    interval_ns: int
    tries: int


class SetupStep(SetupLimits):
    """What a node's own files ask for, once the daemons have started: a daemon that waits for other nodes, the node's
    main program, a command that is waited for, or a health check."""

    kind: Literal["daemon", "main", "command", "health"]
    program: Program


class NodeAddresses(TypedDict):
    """Rows `node,address,ipv6` are added to a file of the run directory: for nodes that must have an address, and for
    others that may have one, the loopback interface's first."""

    file: str
    nodes: list[str]
    others: list[str]


class StillAddresses(TypedDict, total=False):
    """What may be wanted when routes are at rest."""

    addresses: NodeAddresses


class Still(StillAddresses):
    """Before the traffic starts no route has changed for so long; the run fails after `limit_ns`."""

    still_ns: int
    interval_ns: int
    limit_ns: int


class Drain(TypedDict):
    """After the traffic: if these nodes have sent datagrams, the run goes on until no packet has been in any queue for
    so long. Nobody acknowledges datagrams, so who sends them ends before the last of them has arrived."""

    nodes: list[str]
    still_ns: int


class ExpectedRoute(TypedDict):
    """A route that must be: `paths` next hops, all through these interfaces; 0: no such route."""

    prefix: str
    interfaces: list[str]
    paths: int


class ExpectedNode(TypedDict):
    """The routes that a node must have."""

    node: str
    routes: list[ExpectedRoute]


class Expectation(TypedDict):
    """What routing must come to, and how long it is from one look to the next."""

    interval_ns: int
    nodes: list[ExpectedNode]


class Ready(Expectation):
    """What must be before the traffic starts; the run fails after `limit_ns`."""

    limit_ns: int


Tool = Literal["ip", "tc", "sysctl", "vtysh", "wire"]


class Step(TypedDict):
    """Lines for `ip -batch`, `tc -batch`, sysctl.conf(5), or FRR's shell in its configuration, in a node; or delays of
    its ends of cables, `INTERFACE OUT IN` in nanoseconds."""

    node: str
    tool: Tool
    lines: list[str]


class Settling(TypedDict):
    """After a change whose outcome nobody knows beforehand: when routes are at rest again."""

    interval_ns: int
    """From one look to the next, at least."""
    still_ns: int
    """For so long no route of any node has changed: then nobody looks any more."""


class Consequences(TypedDict, total=False):
    """What else becomes of a change of links, where it is so."""

    down: list[str]
    """Nodes that lose all their processes, after the steps."""
    up: list[str]
    """Nodes whose daemons start again, after the steps."""
    reconvergence: Expectation
    settling: Settling


class Change(Consequences):
    """A change of links at a time after the epoch."""

    name: str
    at_ns: int
    steps: list[Step]


class Live(TypedDict):
    """The lab stays up: its host paces time, and says what is done inside (`fabriclab.formats.live`)."""

    idle: bool
    """Whether its own traffic is left out."""


class OptionalParts(TypedDict, total=False):
    """What is written only where there is something to say."""

    ready: Ready
    setup: list[SetupStep]
    still: Still
    events: list[Change]
    disturbances: list[Program]
    """What runs beside the traffic; nobody waits for it."""
    drain: Drain
    live: Live
    wires: Wires
    modules: list[str]
    """Kernel modules, files relative to the run directory: the user's own algorithms."""


class Job(OptionalParts):
    """The whole job. Times are nanoseconds after the epoch, or durations."""

    format: str
    limit_ns: int
    sysctl: str
    """The file of the machine's own sysctls, relative to the run directory."""
    nodes: list[JobNode]
    links: list[Link]
    daemons: list[Program]
    probes: list[Program]
    traffic: list[Program]
    collect: list[Program]
    """What is asked at the end; its output goes to `collect/NAME`."""
