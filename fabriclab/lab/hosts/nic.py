"""A host's NIC as written: its keys and their bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabriclab.formats import ranges
from fabriclab.lab.hosts.limiter import WrittenLimiter, read_limiter
from fabriclab.lab.hosts.pacer import WrittenPacer, read_pacer
from fabriclab.lab.ports.aqm import WrittenAqm
from fabriclab.lab.ports.buffer import LARGEST_BUFFER_BYTES
from fabriclab.lab.reading.or_none import Part, read_part
from fabriclab.lab.reading.problems import Place, Problems, shown
from fabriclab.lab.reading.section import Section, Written
from fabriclab.units import parse_size

NIC_KEYS = ("tso", "gro", "interrupt_delay", "queues", "pacing", "ring", "pacer", "qcn")
OFF = "off"
LEAST_TSO_BYTES, MOST_TSO_BYTES = ranges.TSO_BYTES
"""Two full segments and more; GSO_LEGACY_MAX_SIZE, include/linux/netdevice.h."""
MOST_TX_QUEUES = ranges.TX_QUEUES.most
"""TC_SWITCH_QUEUES of the kernel's `uapi/switch_port.h`."""
LONGEST_INTERRUPT_DELAY_NS = ranges.INTERRUPT_DELAY_US.most * 1000
"""Well above what cards take: some 1,000 us with Intel's (drivers/net/ethernet/intel/ixgbe/ixgbe.h)."""
PACING = ("fq", OFF)
_NS_PER_US = 1_000


@dataclass(frozen=True)
class WrittenNic(Part):
    """What an experiment says of a host's NIC; None: nothing. With `is_none` it says that the host has none."""

    tso: Written[int | None] | None = None
    """Bytes; a None that is written: off."""
    gro: Written[bool] | None = None
    interrupt_delay: Written[int] | None = None
    queues: Written[int] | None = None
    pacing: Written[str] | None = None
    ring: Written[int] | None = None
    pacer: WrittenPacer | None = None
    qcn: WrittenLimiter | None = None
    place: Place | None = field(default=None, compare=False)
    """Where it is written."""


def read_nic(host: Section) -> WrittenNic | None:
    """Return the `nic` of a host's section; None when it is absent or wrong."""
    return read_part(host, "nic", NIC_KEYS, _read, WrittenNic(is_none=True))


def _read(section: Section) -> WrittenNic:
    return WrittenNic(
        tso=section.read("tso", f"a size from {LEAST_TSO_BYTES} B to 65536 B, or '{OFF}'", _tso),
        gro=section.flag("gro"),
        interrupt_delay=_interrupt_delay(section),
        queues=section.count("queues", 1, MOST_TX_QUEUES, "queues of the card"),
        pacing=section.choice("pacing", PACING),
        ring=section.size("ring", 1, LARGEST_BUFFER_BYTES),
        pacer=read_pacer(section),
        qcn=read_limiter(section),
        place=section.place,
    )


def _tso(text: str) -> int | None:
    if text.strip() == OFF:
        return None
    size = parse_size(text)
    if not LEAST_TSO_BYTES <= size <= MOST_TSO_BYTES:
        raise ValueError(
            f"{shown(text)} is no burst of TSO: {LEAST_TSO_BYTES} B, about two full segments, to {MOST_TSO_BYTES} B, "
            f"or '{OFF}'"
        )
    return size


def _interrupt_delay(section: Section) -> Written[int] | None:
    """Read a time in nanoseconds of whole microseconds, as ethtool has it."""
    delay = section.duration("interrupt_delay", 0, LONGEST_INTERRUPT_DELAY_NS, "from a frame to its interrupt")
    if delay is not None and delay.value % _NS_PER_US:
        delay.complain(
            section.problems,
            f"{shown(delay.text)} is no whole number of microseconds, in which a NIC is told (rx-usecs)",
        )
    return delay


def check_nic(nic: WrittenNic | None, aqm: WrittenAqm | None, problems: Problems) -> None:
    """Record what of a host's NIC contradicts the rest."""
    if nic is None or nic.is_none:
        return
    if nic.interrupt_delay is not None and nic.interrupt_delay.value and (nic.gro is None or not nic.gro.value):
        nic.interrupt_delay.complain(
            problems, "delays interrupts, whose frames NAPI takes in together; that needs gro: on"
        )
    paces = nic.pacing is not None and nic.pacing.value == "fq"
    if paces and nic.pacing is not None and aqm is not None and aqm.kind is not None and aqm.kind.value != "fq":
        nic.pacing.complain(problems, f"asks for fq in front of the card, where aqm says {aqm.kind.value}; write one")
