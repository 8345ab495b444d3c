"""What a host's NIC says of RoCEv2: its transport and its congestion control."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer

from fabriclab.constraints import ALGORITHM_NAME
from fabriclab.formats import names, ranges
from fabriclab.formats.record import Frozen

RoceMtu = Literal[256, 512, 1024, 2048, 4096]
"""Bytes of payload of a packet: what an InfiniBand path may have as its MTU."""


class RoceControl(Frozen):
    """The congestion control of a NIC's queue pairs."""

    name: Annotated[str, ALGORITHM_NAME]
    """What the kernel knows it by."""
    options: Annotated[str, names.LINE] = ""
    """Words and whole numbers in turn, as the control itself reads them (the kernel's `roce/control_*.c`, or the lab's
    own file): nanoseconds, bytes, bits a second, parts of a million; DCQCN's gain of 2^32."""
    telemetry: bool = False
    """Switches write into its packets how busy their ports are."""


class Roce(Frozen):
    """The transport of RoCEv2 in a NIC: reliable connections."""

    mtu: RoceMtu
    window_packets: Annotated[int, ranges.ROCE_WINDOW] | None
    """Most packets of a queue pair in flight; None: as many as their numbers can tell apart."""
    ack_every: Annotated[int, ranges.ROCE_WINDOW]
    """Packets from one request for an acknowledgement to the next."""
    retries: Annotated[int, ranges.ROCE_RETRIES]
    """Timeouts without progress after which a queue pair fails."""
    timeout_ns: Annotated[int, ranges.ROCE_TIMEOUT]
    dscp: Annotated[int, ranges.DSCP]
    ack_dscp: Annotated[int, ranges.DSCP]
    cnp_dscp: Annotated[int, ranges.DSCP]
    cnp_interval_ns: Annotated[int, ranges.CNP_INTERVAL]
    """Least time from one notification of a queue pair to the next."""
    selective: bool = False
    """Only packets that are missing are sent again; otherwise everything from the first of them on (go-back-N)."""
    reorder_window: Annotated[int, ranges.ROCE_REORDER] = 0
    """Packets by which one may be overtaken before it is sent again; with `selective` only."""
    max_rd_atomic: Annotated[int, ranges.ROCE_READS] = 16
    """Most READs of a queue pair that are asked for and not answered in full."""
    knows_trimmed: bool = False
    """It asks again at once for a packet that comes trimmed; otherwise it drops that packet."""
    control: RoceControl | None
    """None: each queue pair sends at the line's rate; PFC and the window alone hold it back."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is usual, as in every plan that was made before there was such a thing."""
        record: dict[str, Any] = serialise(self)
        usual = {"selective": False, "reorder_window": 0, "max_rd_atomic": 16, "knows_trimmed": False}
        return {key: value for key, value in record.items() if key not in usual or value != usual[key]}

    @property
    def sends_telemetry(self) -> bool:
        """Whether its packets have room for what switches write."""
        return self.control is not None and self.control.telemetry
