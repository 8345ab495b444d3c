"""`calibration.yml`: what the reader knows of two servers and the switch between them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fabriclab.keys.mappings import Key, Keys
from fabriclab.keys.values import Several, Word
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.hosts.keys import NIC_GRO, NIC_INTERRUPT_DELAY, NIC_TSO
from fabriclab.lab.network.keys import DEFAULT_MTU_BYTES, LINK_DELAY, LINK_RATE, MTU
from fabriclab.lab.ports.keys import BUFFER, ECN_THRESHOLD, NON_ECT
from fabriclab.lab.reading.document import read_document
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section, Written, value_of, value_or

FILE_NAME = "calibration.yml"
FITTED = ("delay", "interrupt_delay", "buffer", "ecn_threshold", "non_ect")
"""The parameters of the model that a calibration can find."""
_DEFAULT_DELAY_NS = 500
"""One way on one link: 100 m of fibre."""

SENDER_RATE = LINK_RATE.but(name="sender_rate", about="The rate of server A's port.", unset="required")
RECEIVER_RATE = LINK_RATE.but(name="receiver_rate", about="The rate of server B's port, lower than A's.")
MTU_KEY: Key[int] = Key("mtu", MTU, "The largest IP packet of both links.", default=DEFAULT_MTU_BYTES)
NIC = Keys("calibration-nic", "The NIC of both servers", (NIC_TSO, NIC_GRO, NIC_INTERRUPT_DELAY))
FIT: Key[tuple[str, ...]] = Key(
    "fit", Several(Word[str](FITTED), "parameters of the model"), "The parameters that are fitted.", unset="all"
)
CALIBRATION = Keys(
    "calibration",
    "Two servers and the switch between them",
    (
        *(SENDER_RATE, RECEIVER_RATE, MTU_KEY, LINK_DELAY, BUFFER, ECN_THRESHOLD, NON_ECT),
        Key("nic", NIC, "The NIC of both servers."),
        FIT,
    ),
)


@dataclass(frozen=True)
class Nic:
    """The NIC of both servers."""

    tso_bytes: int | None
    """None: off."""
    gro: bool
    interrupt_delay: int | Literal["adaptive"]
    """Nanoseconds, or `adaptive`."""


@dataclass(frozen=True)
class Description:
    """What the reader wrote, with defaults; None: nothing is known, so the measurement says it."""

    sender_rate_bps: int
    receiver_rate_bps: int
    mtu_bytes: int
    delay_ns: int
    """One way, on each of the two links."""
    buffer_bytes: int | None
    threshold_bytes: int | Literal["none"] | None
    """Of ECN; `none`: the switch does not mark."""
    non_ect: str | None
    nic: Nic
    fit: tuple[str, ...]


def read_description(directory: Path, problems: Problems) -> Description | None:
    """Return what `calibration.yml` of a directory says; None after recording what is wrong with it."""
    document = read_document(directory / FILE_NAME, problems)
    if document is None:
        return None
    root = Section(document, "", problems, CALIBRATION)
    root.require("sender_rate", example="sender_rate: 25 Gbps")
    root.require("receiver_rate", example="receiver_rate: 10 Gbps")
    sender, receiver = root.read(SENDER_RATE), root.read(RECEIVER_RATE)
    if sender and receiver and receiver.value >= sender.value:
        message = f"must be less than sender_rate, {sender.text}, so that a queue forms at the port to server B"
        receiver.complain(problems, message)
    buffer = root.read(BUFFER)
    threshold: Written[int | None] | None = root.read(ECN_THRESHOLD)
    if buffer and buffer.value and threshold and threshold.value and threshold.value >= buffer.value:
        threshold.complain(problems, f"must be below the buffer, {buffer.text}")
    found = (value_of(root.read(NON_ECT)), _read_nic(root), _read_fit(root))
    mtu, delay = root.read(MTU_KEY), root.read(LINK_DELAY)
    if problems or sender is None or receiver is None:
        return None
    return Description(
        sender.value,
        receiver.value,
        MTU_KEY.or_default(mtu),
        value_or(delay, _DEFAULT_DELAY_NS),
        value_of(buffer),
        None if threshold is None else ("none" if threshold.value is None else threshold.value),
        *found,
    )


def _read_nic(root: Section) -> Nic:
    nic = root.section("nic", NIC)
    tso = None if nic is None else nic.read(NIC_TSO)
    gro = None if nic is None else nic.read(NIC_GRO)
    interrupts = None if nic is None else nic.read(NIC_INTERRUPT_DELAY)
    merges = NIC_GRO.or_default(gro)
    if interrupts is not None and interrupts.value and not merges:
        interrupts.complain(root.problems, "delays interrupts, whose frames are merged; that needs gro: on")
    delay = NIC_INTERRUPT_DELAY.or_default(interrupts) if merges else 0
    return Nic(NIC_TSO.or_default(tso), merges, delay)


def _read_fit(root: Section) -> tuple[str, ...]:
    words = root.words("fit")
    if words is None:
        return FITTED
    found = []
    for word in words:
        if word.value == "none" and len(words) == 1:
            return ()
        if word.value in FITTED:
            found.append(word.value)
        else:
            hint = did_you_mean(word.value, FITTED)
            word.complain(root.problems, f"{shown(word.value)} is no parameter of the model; {hint}")
    return tuple(found)


TEMPLATE = """\
# Two servers and the switch between them. docs/calibrate.md explains the protocol and the keys.
#
# 1. Make the switch's port to server B slower than A's, so that a queue forms there. On server B, for example:
#      ethtool -s eth0 speed 10000 duplex full autoneg off
# 2. Copy protocol.sh to both servers. On B:   bash protocol.sh serve
# 3. On A, as root if DCTCP is to be measured:  bash protocol.sh measure ADDRESS-OF-B > measured.txt
# 4. Copy measured.txt here, correct the values below, and run:  fabriclab calibrate DIRECTORY

sender_rate: 25 Gbps      # the port of server A
receiver_rate: 10 Gbps    # the port of server B
# mtu: 1500               # bytes of an IP packet

# What you know of the switch and the NICs. What you leave out is taken from the measurement, or is a default.
# delay: 500 ns           # one way, on each of the two links
# buffer: 1 MB            # what one port may take
# ecn_threshold: 100 KB   # or none
# non_ect: drop           # above the threshold, packets without ECN are dropped, or: queue
# nic: {interrupt_delay: adaptive, tso: 64 KiB, gro: on}    # ethtool -c eth0, ethtool -k eth0

# The parameters to fit; leave out what must stay as you wrote it. `none` fits nothing.
# fit: [delay, interrupt_delay, buffer, ecn_threshold, non_ect]
"""
"""What `fabriclab calibrate new` writes."""
