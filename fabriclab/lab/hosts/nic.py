"""A host's NIC as written: its segmentation, its queues, its pacer, its QCN limiters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fabriclab.formats import ranges
from fabriclab.keys.values import NONE, Word
from fabriclab.lab.hosts.keys import LIMITER, NIC, NIC_GRO, PACER
from fabriclab.lab.hosts.roce_control_keys import CREDIT, DCQCN, HPCC, ROCE_CONTROLS, SWIFT, TIMELY
from fabriclab.lab.hosts.roce_keys import ROCE
from fabriclab.lab.ports.aqm import WrittenAqm
from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.or_none import Part, read_part
from fabriclab.lab.reading.own_algorithms import asks_for_telemetry
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section, Written


@dataclass(frozen=True)
class WrittenPacer(Part):
    """What an experiment says of a NIC's pacer; None: nothing. With `is_none` it says that the NIC has none."""

    bucket: Written[int] | None = None
    interval: Written[int] | None = None
    eta: Written[int] | None = None
    """Parts of a million, and so is `probability`."""
    beta: Written[int] | None = None
    probability: Written[int] | None = None
    idle: Written[int] | None = None


@dataclass(frozen=True)
class WrittenLimiter(Part):
    """What an experiment says of a NIC's limiters; None: nothing. With `is_none` it says that the NIC has none."""

    least: Written[int] | None = None
    active: Written[int] | None = None
    hyper: Written[int] | None = None
    cycle_bytes: Written[int] | None = None
    cycle_time: Written[int] | None = None


@dataclass(frozen=True)
class RoceControlName:
    """A congestion control of RoCE: one of the kernel's, or what a file beside the lab registers."""

    name: str
    telemetry: bool = False
    """It asks switches for telemetry."""
    is_own: bool = False


@dataclass(frozen=True)
class WrittenRoce(Part):
    """What an experiment says of a NIC's RoCE; None: nothing. With `is_none` it says that the NIC has none."""

    mtu: Written[int] | None = None
    window: Written[int | None] | None = None
    ack_every: Written[int] | None = None
    loss_recovery: Written[str] | None = None
    reorder_window: Written[int] | None = None
    retries: Written[int] | None = None
    timeout: Written[int] | None = None
    dscp: Written[int] | None = None
    ack_dscp: Written[int] | None = None
    cnp_dscp: Written[int] | None = None
    cnp_interval: Written[int] | None = None
    max_rd_atomic: Written[int] | None = None
    trimmed: Written[str] | None = None
    congestion_control: Written[RoceControlName] | None = None
    options: Written[str] | None = None
    parameters: Mapping[tuple[str, str], Written[Any]] | None = None
    """Of congestion controls: what is written at the keys, by control and key."""
    place: Place | None = field(default=None, compare=False)
    """Where it is written."""


@dataclass(frozen=True)
class WrittenNic(Part):
    """What an experiment says of a host's NIC; None: nothing. It is never `is_none`: every host has a NIC."""

    tso: Written[int | None] | None = None
    """Bytes; a None that is written: off."""
    gro: Written[bool] | None = None
    interrupt_delay: Written[int | Literal["adaptive"]] | None = None
    receive_queues: Written[int] | None = None
    queues: Written[int] | None = None
    pacing: Written[str] | None = None
    ring: Written[int] | None = None
    clock_error: Written[int] | None = None
    """Parts of a billion."""
    pacer: WrittenPacer | None = None
    qcn: WrittenLimiter | None = None
    roce: WrittenRoce | None = None
    place: Place | None = field(default=None, compare=False)
    """Where it is written."""


_MOST_QUEUES_BESIDE_ROCE = ranges.TX_QUEUES.most - 2
_EVERY_HOST_HAS_ONE = (
    "is no longer a value, because every host has an exact NIC; remove the key (CHANGELOG.md says what that changes in "
    "figures that were measured with a token bucket)"
)


def read_nic(host: Section, names: Names) -> WrittenNic | None:
    """Return the `nic` of a host's section; None when it is absent or wrong."""
    value = host.get("nic")
    if isinstance(value, ScalarValue) and value.text.strip() == NONE:
        host.complain("nic", _EVERY_HOST_HAS_ONE)
        return None
    nic = host.section("nic", NIC)
    return None if nic is None else _read(nic, names)


def _read(nic: Section, names: Names) -> WrittenNic:
    pacer = read_part(nic, "pacer", PACER, lambda part: part.fill(WrittenPacer, PACER), WrittenPacer(is_none=True))
    qcn = read_part(nic, "qcn", LIMITER, lambda part: part.fill(WrittenLimiter, LIMITER), WrittenLimiter(is_none=True))
    roce = read_part(nic, "roce", ROCE, lambda part: _read_roce(part, names), WrittenRoce(is_none=True))
    return nic.fill(WrittenNic, NIC, pacer=pacer, qcn=qcn, roce=roce, place=nic.place)


def _read_roce(roce: Section, names: Names) -> WrittenRoce:
    value = roce.get("dcqcn")
    is_none = isinstance(value, ScalarValue) and value.text.strip() == NONE
    if is_none:
        roce.complain("dcqcn", "is no longer a value; write congestion_control: none beside it")
    parameters = {
        (keys.name, key.name): written
        for keys in (*(() if is_none else (DCQCN,)), HPCC, TIMELY, SWIFT, CREDIT)
        for part in [roce.section(keys.name, keys)]
        if part is not None
        for key in keys.keys
        if (written := part.read(key)) is not None
    }
    control = roce.value("congestion_control", _control_word(names))
    return roce.fill(WrittenRoce, ROCE, congestion_control=control, parameters=parameters or None, place=roce.place)


def _control_word(names: Names) -> Word[RoceControlName]:
    own = {file: one for (kind, file), one in names.own.items() if kind == "roce_control"}
    meanings = {name: RoceControlName(name, telemetry=name == "hpcc") for name in ROCE_CONTROLS}
    for one in own.values():
        meanings[one.name] = RoceControlName(one.name, asks_for_telemetry(one.text), is_own=True)
    return Word(ROCE_CONTROLS, aliases={file: one.name for file, one in own.items()}, meanings=meanings)


def check_nic(nic: WrittenNic | None, aqm: WrittenAqm | None, problems: Problems) -> None:
    """Record what of a host's NIC contradicts the rest."""
    if nic is None:
        return
    if nic.interrupt_delay is not None and nic.interrupt_delay.value and not NIC_GRO.or_default(nic.gro):
        nic.interrupt_delay.complain(
            problems, "delays interrupts, whose frames NAPI takes in together; that needs gro: on"
        )
    has_roce = nic.roce is not None and not nic.roce.is_none
    if has_roce and nic.queues is not None and nic.queues.value > _MOST_QUEUES_BESIDE_ROCE:
        nic.queues.complain(
            problems, f"leaves no queues to the NIC's RoCE, which has two; write {_MOST_QUEUES_BESIDE_ROCE} at most"
        )
    paces = nic.pacing is not None and nic.pacing.value == "fq"
    if paces and nic.pacing is not None and aqm is not None and aqm.kind is not None and aqm.kind.value != "fq":
        nic.pacing.complain(problems, f"asks for fq in front of the NIC, but aqm says {aqm.kind.value}; write one")
