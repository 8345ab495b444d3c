"""Small plans for tests, written out in full: they don't depend on the lab language."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

from fabriclab.formats.plan.model import Plan, Probes
from fabriclab.formats.plan.node import Nic, Node, Port, Queue, Route, Transport
from fabriclab.formats.plan.switch import Account, QosMaps, SwitchPort, SwitchQueue
from fabriclab.formats.plan.traffic import LongTraffic, RoundsTraffic, Traffic

GBPS = 10**9
T = TypeVar("T")

CUBIC = Transport(
    congestion_control="cubic",
    ecn="off",
    rto_min_us=200_000,
    delayed_ack=True,
    initial_window_segments=10,
    window_limit_segments=None,
    receive_buffer_bytes=4_000_000,
    send_buffer_bytes=4_000_000,
)
DCTCP = CUBIC.model_copy(update={"congestion_control": "dctcp", "ecn": "on", "rto_min_us": 1_500, "delayed_ack": False})

ROUNDS = RoundsTraffic(
    name="sru",
    senders=("h1", "h2"),
    receiver="h3",
    size_bytes=256_000,
    rounds=2,
    start_ns=1_000_000,
    connection="kept",
    mode="pull",
)
LONG = LongTraffic(
    name="long", senders=("h1", "h2"), receiver="h3", start_ns=0, stop_ns=500_000_000, stagger_ns=1_000_000
)

NIC = Nic(queue=Queue(limit_bytes=10_000_000), tso_bytes=65_536, gro=False, interrupt_delay_us=0)
"""Of a host: exact times, bursts of 64 KiB, nothing in front."""
NIC_PORT = SwitchPort(
    queues=(SwitchQueue(index=0, account=Account(limit_bytes=10_000_000)),), maps=QosMaps(tc_to_queue=(0,) * 8)
)


def changed(traffic: T, **changes: Any) -> T:
    """Return a piece of traffic with other values."""
    return cast(T, replace(cast(Any, traffic), **changes))


def star(
    hosts: int = 3,
    *,
    rate_bps: int = GBPS,
    delay_ns: int = 25_000,
    queue: Queue | None = None,
    transport: Transport = CUBIC,
    traffic: tuple[Traffic, ...] = (ROUNDS,),
    **changes: Any,
) -> Plan:
    """Return hosts h1.. on one switch s1, 10.0.x.0/31 between them; every switch port has `queue`."""
    queue = queue or Queue(limit_bytes=64_000)
    nodes = [_host(number, rate_bps, delay_ns, transport) for number in range(1, hosts + 1)]
    ports = tuple(
        _port(f"eth{number}", f"h{number}", "eth1", number, 0, rate_bps, delay_ns, queue)
        for number in range(1, hosts + 1)
    )
    plan = Plan(
        lab="star",
        title="A star",
        settings={"senders": 2},
        seed=1,
        limit_ns=10**10,
        nodes=(*nodes, Node(name="s1", role="switch", ports=ports)),
        traffic=traffic,
        probes=Probes(
            queue_interval_ns=100_000,
            queue_ports=(f"s1:eth{hosts}",),
            tcp_interval_ns=1_000_000,
            tcp_classes=tuple(each.name for each in traffic),
            interface_interval_ns=None,
        ),
        checks=(),
    )
    return plan.model_copy(update=changes)


def _host(number: int, rate_bps: int, delay_ns: int, transport: Transport) -> Node:
    port = _port("eth1", "s1", f"eth{number}", number, 1, rate_bps, delay_ns, NIC_PORT, NIC)
    route = Route(destination="10.0.0.0/16", next_hops=((f"10.0.{number}.0", "eth1"),))
    return Node(name=f"h{number}", role="host", ports=(port,), transport=transport, routes=(route,))


def _port(
    name: str,
    peer: str,
    peer_port: str,
    number: int,
    end: int,
    rate_bps: int,
    delay_ns: int,
    buffer: Queue | SwitchPort,
    nic: Nic | None = None,
) -> Port:
    return Port(
        interface=name,
        peer_node=peer,
        peer_interface=peer_port,
        mac=f"02:fa:00:00:{number:02x}:{end:02x}",
        address=f"10.0.{number}.{end}/31",
        rate_bps=rate_bps,
        delay_ns=delay_ns,
        mtu=1500,
        queue=buffer if isinstance(buffer, Queue) else None,
        switch_port=buffer if isinstance(buffer, SwitchPort) else None,
        nic=nic,
    )
