"""RoCE in a host's NIC, every default explicit, and the switches that tell it how busy they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from fabriclab.formats.plan.node import Node
from fabriclab.formats.plan.roce import Roce, RoceControl, RoceMtu
from fabriclab.keys.mappings import Key, Keys
from fabriclab.lab.hosts import roce_keys
from fabriclab.lab.hosts.nic import RoceControlName, WrittenRoce
from fabriclab.lab.hosts.roce_control_keys import (
    CREDIT,
    DCQCN,
    DCQCN_GAIN,
    HPCC,
    ROCE_CONGESTION_CONTROL,
    SWIFT,
    TIMELY,
)
from fabriclab.lab.reading.section import Written, value_or

_KEYS: Mapping[str, Keys] = {"dcqcn": DCQCN, "hpcc": HPCC, "timely": TIMELY, "swift": SWIFT, "credit": CREDIT}
_DEFAULT = RoceControlName(ROCE_CONGESTION_CONTROL.or_default(None))
_ACK_EVERY, _ACK_EVERY_OF_TIMELY = 256, 16
_PPM = 10**6
_LARGEST_GAIN = (1 << 32) - 1
TELEMETRY_GBPS = (
    *(Fraction(1, 100), Fraction(1, 10), 1, Fraction(5, 2), 5, 10, 20, 25, 40, 50),
    *(100, 200, 400, 800, 1600),
)
"""Rates that telemetry has a code for: `roce_telemetry_mbps` of the kernel's `roce/telemetry.h`."""


def resolve_roce(written: WrittenRoce | None) -> Roce | None:
    """Return the RoCE of a NIC; None: it has none."""
    if written is None or written.is_none:
        return None
    dscp = roce_keys.ROCE_DSCP.or_default(written.dscp)
    control = _resolve_control(written)
    every = _ACK_EVERY_OF_TIMELY if control is not None and control.name == "timely" else _ACK_EVERY
    return Roce(
        mtu=cast(RoceMtu, roce_keys.ROCE_MTU.or_default(written.mtu)),
        window_packets=roce_keys.ROCE_WINDOW.or_default(written.window),
        ack_every=value_or(written.ack_every, every),
        retries=roce_keys.ROCE_RETRIES.or_default(written.retries),
        timeout_ns=roce_keys.ROCE_TIMEOUT.or_default(written.timeout),
        dscp=dscp,
        ack_dscp=value_or(written.ack_dscp, dscp),
        cnp_dscp=roce_keys.ROCE_CNP_DSCP.or_default(written.cnp_dscp),
        cnp_interval_ns=roce_keys.ROCE_CNP_INTERVAL.or_default(written.cnp_interval),
        max_rd_atomic=roce_keys.ROCE_MAX_RD_ATOMIC.or_default(written.max_rd_atomic),
        selective=roce_keys.ROCE_LOSS_RECOVERY.or_default(written.loss_recovery) == "selective-repeat",
        reorder_window=roce_keys.ROCE_REORDER_WINDOW.or_default(written.reorder_window),
        knows_trimmed=roce_keys.ROCE_TRIMMED.or_default(written.trimmed) == "nack",
        control=control,
    )


def _resolve_control(written: WrittenRoce) -> RoceControl | None:
    named = value_or(written.congestion_control, _DEFAULT)
    if named.name == "none":
        return None
    if named.is_own:
        options = value_or(written.options, "")
    else:
        options = " ".join(_words(_KEYS[named.name], written.parameters or {}))
    return RoceControl(name=named.name, options=options, telemetry=named.telemetry)


def _words(keys: Keys, written: Mapping[tuple[str, str], Written[Any]]) -> Iterator[str]:
    """Yield the words and values of a control's keys, as the kernel reads them."""
    for key in keys.keys:
        value = key.or_default(written.get((keys.name, key.name)))
        yield f"{key.name} {_number(key, value)}"


def _number(key: Key[Any], value: int | Fraction) -> int:
    if key is DCQCN_GAIN:
        # A gain of 1 is the largest fraction of 2^32 that 32 bits hold.
        return min(int(value * 2**32), _LARGEST_GAIN)
    return value if isinstance(value, int) else round(value * _PPM)


def with_telemetry(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes, of which switches write telemetry where they can if a host's NIC asks for it."""
    nics = (port.nic for node in nodes for port in node.ports)
    if not any(nic is not None and nic.roce is not None and nic.roce.sends_telemetry for nic in nics):
        return tuple(nodes)
    return tuple(_told(node) if node.role == "switch" else node for node in nodes)


def _told(node: Node) -> Node:
    ports = tuple(
        port.model_copy(update={"switch_port": port.switch_port.model_copy(update={"telemetry": True})})
        if port.switch_port is not None and Fraction(port.line_bps, 10**9) in TELEMETRY_GBPS
        else port
        for port in node.ports
    )
    return node.model_copy(update={"ports": ports})
