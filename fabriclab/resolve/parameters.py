"""The value of every parameter at a point, set or not: what a check's `where` and a figure's axes are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.where_clause import Scalar
from fabriclab.lab import AppliedSettings, Lab
from fabriclab.lab.reading import defaults
from fabriclab.lab.reading.document import MappingValue, ScalarValue
from fabriclab.lab.reading.or_none import NONE
from fabriclab.lab.settings import look_up, normalise, split_key
from fabriclab.lab.study import VARIANT
from fabriclab.units import format_duration, format_rate, format_size

_DEFAULTS: dict[str, Scalar] = {
    "congestion_control": defaults.CONGESTION_CONTROL,
    "ecn": defaults.ECN,
    "rto_min": format_duration(defaults.RTO_MIN_NS),
    "delayed_ack": defaults.DELAYED_ACK,
    "initial_window": defaults.INITIAL_WINDOW_SEGMENTS,
    "window_limit": NONE,
    "receive_buffer": format_size(defaults.RECEIVE_BUFFER_BYTES),
    "send_buffer": format_size(defaults.SEND_BUFFER_BYTES),
    "queue": format_size(defaults.HOST_QUEUE_BYTES),
    "mptcp": NONE,
    "subflows": defaults.MPTCP_SUBFLOWS,
    "scheduler": defaults.MPTCP_SCHEDULER,
    "path_manager": defaults.MPTCP_PATH_MANAGER,
    "add_addr_accepted": defaults.MPTCP_ADD_ADDR_ACCEPTED,
    "protocol": defaults.PROTOCOL,
    "max_paths": defaults.MAX_PATHS,
    "keepalive": f"{defaults.KEEPALIVE_S} s",
    "hold": f"{defaults.HOLD_S} s",
    "bfd": "off",
    "bfd_multiplier": defaults.BFD_MULTIPLIER,
    "convergence_limit": format_duration(defaults.CONVERGENCE_LIMIT_NS),
    "start": format_duration(defaults.START_NS),
    "stagger": format_duration(defaults.STAGGER_NS),
    "count": defaults.FLOW_COUNT,
    "connection": defaults.CONNECTION,
    "jitter": format_duration(defaults.JITTER_NS),
    "transport": defaults.TRANSPORT,
    "dscp": defaults.DSCP,
    "arrival": defaults.ARRIVAL,
    "burst": 1,
    "request": format_size(defaults.REQUEST_BYTES),
    "parallel_copies": defaults.PARALLEL_COPIES,
    "replicas": defaults.REPLICAS,
    "seed": defaults.SEED,
}


_SWITCH_DEFAULTS: dict[tuple[str, ...], Scalar] = {
    ("ecn_threshold",): NONE,
    ("non_ect",): defaults.NON_ECT,
    ("aqm", "ecn"): False,
}
"""By the words below a switch's name. What a shared buffer's keys are where the experiment says nothing may hang
on a profile: left out."""


def parameter_values(lab: Lab, applied: AppliedSettings, nodes: Sequence[Node]) -> dict[str, Scalar]:
    """Return each parameter's value, and the variant if one was chosen; a list,
    or what differs from link to link, is left out."""
    values: dict[str, Scalar] = {}
    if VARIANT in applied.settings:
        values[VARIANT] = applied.settings[VARIANT]
    for name, keys in lab.parameters.items():
        value = value_at(keys[0], applied, nodes)
        if value is not None:
            values[name] = value
    return values


def value_at(dotted: str, applied: AppliedSettings, nodes: Sequence[Node]) -> Scalar | None:
    """Return the value of a key at a point; None where it is a list, or hangs on a profile, or differs from link to
    link."""
    written = look_up(applied.document, dotted)
    if isinstance(written, ScalarValue):
        return normalise(dotted, written.text)
    if written is not None:
        return None
    words = split_key(dotted)
    if words[0] == "links":
        return _common_link_value(words[-1], [port for node in nodes for port in node.ports])
    if words[0] == "limit":
        return format_duration(applied.experiment.limit_ns)
    # Below a node's or a range's name nothing written means what `default` says.
    shared = (
        look_up(applied.document, ".".join([words[0], "default", *words[2:]]))
        if words[0] in ("hosts", "switches")
        else None
    )
    if "mptcp" in words[:-1] and not isinstance(look_up(applied.document, "hosts.default.mptcp"), MappingValue):
        return NONE
    if isinstance(shared, ScalarValue):
        return normalise(dotted, shared.text)
    return _SWITCH_DEFAULTS.get(tuple(words[2:])) if words[0] == "switches" else _DEFAULTS.get(words[-1])


def _common_link_value(key: str, ports: Sequence[Port]) -> Scalar | None:
    """Return the value that all links of the topology have in common."""
    if key == "rate":
        values: set[Scalar] = {format_rate(port.rate_bps) for port in ports}
    elif key == "delay":
        values = {format_duration(port.delay_ns) for port in ports}
    else:
        values = {port.mtu for port in ports}
    return values.pop() if len(values) == 1 else None
