"""The transports of hosts: their TCP and MPTCP with every default explicit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

from fabriclab.formats.plan.node import Mptcp, Transport
from fabriclab.lab.hosts import keys
from fabriclab.lab.hosts.transport import WrittenMptcp, WrittenTransport
from fabriclab.lab.reading.section import value_or
from fabriclab.resolve.mismatched_ends import DCTCP
from fabriclab.resolve.written_alike import resolve_once

_NS_PER_US = 1000


def resolve_transports(written: Mapping[str, WrittenTransport]) -> dict[str, Transport]:
    """Return the transport of each host.

    One of which nothing was said answers DCTCP by DCTCP; what was written stays as it is.
    """
    transports = resolve_once(written, _resolve_transport)
    if all(transport.congestion_control != DCTCP for transport in transports.values()):
        return transports
    follow = [host for host, of in written.items() if of.congestion_control is None and transports[host].ecn != "off"]
    return transports | {host: transports[host].model_copy(update={"answers_dctcp": True}) for host in follow}


def _resolve_transport(written: WrittenTransport) -> Transport:
    congestion_control = keys.CONGESTION_CONTROL.or_default(written.congestion_control)
    # DCTCP asks for ECN itself (TCP_CONG_NEEDS_ECN); the plan says what will happen.
    ecn = "on" if written.ecn is None and congestion_control == DCTCP else keys.ECN.or_default(written.ecn)
    return Transport(
        congestion_control=congestion_control,
        ecn=cast(Literal["off", "on", "accept", "accurate"], ecn),
        rto_min_us=keys.RTO_MIN.or_default(written.rto_min) // _NS_PER_US,
        delayed_ack=keys.DELAYED_ACK.or_default(written.delayed_ack),
        sack=keys.SACK.or_default(written.sack),
        initial_window_segments=keys.INITIAL_WINDOW.or_default(written.initial_window),
        window_limit_segments=value_or(written.window_limit, None),
        receive_buffer_bytes=keys.RECEIVE_BUFFER.or_default(written.receive_buffer),
        send_buffer_bytes=keys.SEND_BUFFER.or_default(written.send_buffer),
        mptcp=_resolve_mptcp(written.mptcp),
        timestamp_error_ns=keys.TIMESTAMP_ERROR.or_default(written.timestamp_error),
    )


def _resolve_mptcp(written: WrittenMptcp | None) -> Mptcp | None:
    if written is None or written.is_none:
        return None
    path_manager = keys.MPTCP_PATH_MANAGER.or_default(written.path_manager)
    return Mptcp(
        subflows=keys.MPTCP_SUBFLOWS.or_default(written.subflows),
        add_addr_accepted=keys.MPTCP_ADD_ADDR_ACCEPTED.or_default(written.add_addr_accepted),
        scheduler=keys.MPTCP_SCHEDULER.or_default(written.scheduler),
        path_manager=cast(Literal["subflow", "fullmesh", "signal"], path_manager),
    )
