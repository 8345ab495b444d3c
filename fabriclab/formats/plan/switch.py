"""A switch with a shared packet buffer, every value explicit: what the machine's qdisc `switch_port` is given.

The words are those of SAI (`saibuffer.h`) and of SONiC's CONFIG_DB; the README of the kernel's `switch_port` says what
each does to a frame. Sizes are bytes of frames with their Ethernet header, after scaling; rates bits per second.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer

from fabriclab.constraints import ALGORITHM_NAME, Holding
from fabriclab.formats import names, ranges
from fabriclab.formats.classes import QUEUES
from fabriclab.formats.record import Frozen

CODEPOINTS = 64
"""DSCPs."""
IDENTITY = tuple(range(QUEUES))
_ToQueue = Annotated[tuple[Annotated[int, ranges.QUEUE], ...], Holding(QUEUES, QUEUES)]
"""By traffic class or priority."""


class Pool(Frozen):
    """Memory that queues or priority groups share."""

    name: Annotated[str, names.POOL_NAME]
    size_bytes: Annotated[int, ranges.MEMORY_BYTES]
    """Reserved and shared; without the headroom."""
    headroom_bytes: Annotated[int, ranges.MEMORY_BYTES] = 0
    """Headroom that the pool's lossless groups share; 0: each has its own."""


class Account(Frozen):
    """What a queue or a priority group may take.

    The limit counts what goes beyond the reserved bytes; at most one of the two is given.
    """

    pool: Annotated[str, names.POOL_NAME] | None = None
    """None: memory of its own, which limit_bytes bounds."""
    reserved_bytes: Annotated[int, ranges.MEMORY_BYTES] = 0
    limit_bytes: Annotated[int, ranges.MEMORY_BYTES] | None = None
    """A static limit; None without alpha_log: the whole pool."""
    alpha_log: Annotated[int, ranges.ALPHA_LOG] | None = None
    """A dynamic limit: 2^alpha_log of the pool's free bytes, -8 to 7 (Choudhury and Hahne 1998; SAI's dynamic_th)."""


class Scheduler(Frozen):
    """When a queue is served: guaranteed rates first, then strict priorities (the higher queue number
    first), then the weights."""

    kind: Literal["strict", "dwrr", "wrr"] = "strict"
    weight: Annotated[int, ranges.WEIGHT] = 1
    """Share of bytes (DWRR) or frames (WRR), 1 to 100."""
    cir_bps: Annotated[int, ranges.SERVED_RATE] = 0
    """Served first up to this rate; 0: no guarantee."""
    cbs_bytes: Annotated[int, ranges.BURST_BYTES] = 0
    pir_bps: Annotated[int, ranges.SERVED_RATE] = 0
    """Never above this rate; 0: the line's."""
    pbs_bytes: Annotated[int, ranges.BURST_BYTES] = 0


class Wred(Frozen):
    """Random early detection of one queue. Below `min` nothing, at `max` and above every frame, between them a line up
    to the probability.

    The unit is `bytes` in the queue before a frame enters, or `ns` that a frame has waited when it leaves.
    """

    unit: Literal["bytes", "ns"] = "bytes"
    min: Annotated[int, ranges.LENGTH]
    max: Annotated[int, ranges.LENGTH]
    probability_ppm: Annotated[int, ranges.PPM] = 1_000_000
    """Just below `max`, in parts of a million."""
    weight_log: Annotated[int, ranges.WEIGHT_LOG] = 0
    """The newest length weighs 2^-weight_log; 0: the instantaneous queue."""
    ecn: bool = True
    """An ECN-capable frame is marked instead of dropped."""
    non_ect: Literal["drop", "queue"] = "drop"
    """What happens to a frame that cannot be marked."""


class Phantom(Frozen):
    """A virtual queue that drains slower than the line and marks (HULL, NSDI 2012)."""

    rate_bps: Annotated[int, ranges.PHANTOM_RATE]
    threshold_bytes: Annotated[int, ranges.BURST_BYTES]


class CongestionPoint(Frozen):
    """A queue that samples its frames and tells their sources how far it is from its set point (QCN, IEEE 802.1Qau)."""

    set_point_bytes: Annotated[int, ranges.SET_POINT_BYTES]
    sample_bytes: Annotated[int, ranges.SAMPLE_BYTES]
    """From one sample to the next, on average, while there is nothing to tell."""
    weight: Annotated[int, ranges.QCN_WEIGHT]
    """Of the queue's change since the last sample."""


class Sharing(Frozen):
    """A policy that says how much of its pool a queue may hold, in place of the dynamic threshold."""

    policy: Annotated[str, ALGORITHM_NAME]
    """`abm` (Addanki et al., SIGCOMM 2022), or what a C file of the user's own registers itself as."""
    interval_ns: Annotated[int, ranges.DRAIN_INTERVAL]
    """In which it is measured how a queue drains."""
    congested_bytes: Annotated[int, ranges.CONGESTED_BYTES] | None = None
    """That a congested queue holds; None: nine tenths of its threshold."""
    unscheduled_alpha_log: Annotated[int, ranges.ALPHA_LOG] = 0
    unscheduled_classes: tuple[Annotated[int, ranges.QUEUE], ...] = ()
    """Traffic classes whose frames have that alpha."""


class Trimming(Frozen):
    """What becomes of packets that a queue with `trims` has no room for (SONiC's SWITCH_TRIMMING)."""

    size_bytes: Annotated[int, ranges.TRIMMED_BYTES]
    """What remains of a frame."""
    dscp: Annotated[int, ranges.DSCP]
    """That it gets."""
    queue: Annotated[int, ranges.QUEUE] | None = None
    """That it goes to; None: that of its new DSCP's class."""


class SwitchQueue(Frozen):
    """An egress queue of a port: its account, scheduler and marks."""

    index: Annotated[int, ranges.QUEUE]
    account: Account = Account()
    scheduler: Scheduler = Scheduler()
    wred: Wred | None = None
    phantom: Phantom | None = None
    voq_limit_bytes: Annotated[int, ranges.MEMORY_BYTES] | None = None
    """Most bytes from one ingress port: a deep switch's virtual output queue; None: no limit."""
    event_bytes: Annotated[int, ranges.MEMORY_BYTES] | None = None
    """Length at which a congestion event begins; None: none is told."""
    qcn: CongestionPoint | None = None
    sharing: Sharing | None = None
    """None: the account alone says what the queue may hold."""
    trims: bool = False
    """What there is no room for is trimmed by the port's `trimming`, not dropped."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave `qcn`, `sharing` and `trims` out where there is none, as in plans that were made before there was such
        a thing."""
        record: dict[str, Any] = serialise(self)
        absent = [name for name in ("qcn", "sharing", "trims") if not getattr(self, name)]
        return {key: value for key, value in record.items() if key not in absent}


class Lossless(Frozen):
    """The thresholds of a priority group that pauses its neighbour instead of dropping (IEEE 802.1Qbb)."""

    headroom_bytes: Annotated[int, ranges.MEMORY_BYTES]
    """Behind the limit, for what arrives after XOFF was sent."""
    xon_bytes: Annotated[int, ranges.MEMORY_BYTES]
    xon_offset_bytes: Annotated[int, ranges.MEMORY_BYTES] = 0
    """XON is sent when the group is at max(xon, limit - xon_offset); 0: at xon."""


class PriorityGroup(Frozen):
    """Frames of some traffic classes that came in at a port, wherever they go."""

    index: Annotated[int, ranges.QUEUE]
    account: Account = Account()
    lossless: Lossless | None = None
    """None: lossy."""


class QosMaps(Frozen):
    """Which queue, group and priority a DSCP belongs to; each a tuple by index."""

    dscp_to_tc: Annotated[tuple[Annotated[int, ranges.QUEUE], ...], Holding(CODEPOINTS, CODEPOINTS)] = tuple(
        dscp // 8 for dscp in range(CODEPOINTS)
    )
    tc_to_queue: _ToQueue = IDENTITY
    tc_to_group: _ToQueue = IDENTITY
    priority_to_queue: _ToQueue = IDENTITY
    """Queue that a received pause of a priority stops."""
    priority_to_group: _ToQueue = IDENTITY
    """Group whose state a sent pause of a priority tells."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out each map that is as without configuration: a card has nothing else, and a fabric has many cards."""
        record: dict[str, Any] = serialise(self)
        usual = {name: field.default for name, field in QosMaps.model_fields.items()}
        return {name: value for name, value in record.items() if value != usual[name]}


class Watchdog(Frozen):
    """Ends a pause storm (SONiC's PFC_WD): a queue paused for detection_ns on end drops, or forwards in spite of the
    pause, until no pause was in force for restoration_ns."""

    detection_ns: Annotated[int, ranges.WATCH]
    restoration_ns: Annotated[int, ranges.WATCH]
    action: Literal["drop", "forward"] = "drop"


class Pfc(Frozen):
    """Priority flow control of a port (IEEE 802.1Qbb)."""

    priorities: tuple[Annotated[int, ranges.QUEUE], ...]
    quanta: Annotated[int, ranges.QUANTA] = 65_535
    """How long a pause lasts, in quanta of 512 bit times each; it is repeated at half its time."""
    reaction_ns: Annotated[int, ranges.REACTION] = 0
    """From a pause's arrival to its effect, beside the frame in service."""
    watchdog: Watchdog | None = None


class Slice(Frozen):
    """Which slice of the memory a frame is in: `into` of the port it came in by OR `out` of the one it leaves by."""

    into: Annotated[int, ranges.SLICE] = 0
    out: Annotated[int, ranges.SLICE] = 0


class SwitchPort(Frozen):
    """A port that serialises exactly and classifies into queues: of a switch with a profile,
    or of a host that faces one (no groups)."""

    queues: tuple[SwitchQueue, ...]
    """Those that are configured, by number; any other queue has no pool, no limit and strict priority."""
    groups: tuple[PriorityGroup, ...] = ()
    maps: QosMaps = QosMaps()
    pfc: Pfc | None = None
    slice: Slice = Slice()
    telemetry: bool = False
    """It writes into RoCE packets that ask for it when they left and how busy it is."""
    trimming: Trimming | None = None
    """None: it drops what there is no room for."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out `slice` where the memory is one piece, and `telemetry` and `trimming` where there is none."""
        record: dict[str, Any] = serialise(self)
        usual = {"slice": self.slice == Slice(), "telemetry": not self.telemetry, "trimming": self.trimming is None}
        return {key: value for key, value in record.items() if not usual.get(key, False)}


class Switch(Frozen):
    """What the ports of one switch share."""

    profile: Annotated[str, names.LINE]
    """Name of the profile, or of the file that it was read from."""
    title: Annotated[str, names.PROSE] = ""
    cell_bytes: Annotated[int, ranges.CELL_BYTES] = 1
    slices: Annotated[int, ranges.SLICES] = 1
    """Equal parts of every pool, of chips with several memories. A limit is one slice's; reserved is in each."""
    pools: Annotated[tuple[Pool, ...], Holding(0, 4)] = ()
    """At most four."""
    notes: tuple[Annotated[str, names.PROSE], ...] = ()
    """How the profile's figures became these: scaling, clamping, computed headroom; a sentence each."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave `slices` out where the memory is one piece."""
        record: dict[str, Any] = serialise(self)
        return record if self.slices > 1 else {key: value for key, value in record.items() if key != "slices"}


def lossless_queues(port: SwitchPort) -> frozenset[int]:
    """Return the queues of which every class comes in by a lossless group."""
    lossless = {group.index for group in port.groups if group.lossless is not None}
    lossy = {port.maps.tc_to_queue[tc] for tc in IDENTITY if port.maps.tc_to_group[tc] not in lossless}
    return frozenset(port.maps.tc_to_queue) - lossy
