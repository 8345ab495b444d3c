"""Small plans of a switch with a shared buffer, written out in full: they don't depend on the lab language."""

from __future__ import annotations

from typing import Any

from sample_plans import GBPS, star

from fabriclab.formats.plan.model import Plan, Probes
from fabriclab.formats.plan.node import Port
from fabriclab.formats.plan.switch import (
    Account,
    Lossless,
    Pfc,
    Pool,
    PriorityGroup,
    QosMaps,
    Scheduler,
    Switch,
    SwitchPort,
    SwitchQueue,
    Wred,
)

LOSSLESS = 3
"""The priority, traffic class, queue and group that loses nothing."""
SHARED = Pool(name="shared", size_bytes=400_000)
QUEUE = SwitchQueue(index=0, account=Account(pool="shared", alpha_log=0))
PORT = SwitchPort(queues=(QUEUE,))
NIC_LIMIT_BYTES = 10_000_000

RICH = SwitchPort(
    queues=(
        QUEUE.model_copy(update={"event_bytes": 100_000, "voq_limit_bytes": 90_000}),
        SwitchQueue(
            index=1,
            account=Account(pool="shared", reserved_bytes=3_000, limit_bytes=50_000),
            scheduler=Scheduler(kind="dwrr", weight=30),
            wred=Wred(min=30_000, max=60_000, probability_ppm=50_000, weight_log=3, non_ect="queue"),
        ),
        SwitchQueue(
            index=3,
            account=Account(pool="shared", alpha_log=-3),
            scheduler=Scheduler(
                kind="dwrr", weight=50, cir_bps=GBPS // 10, cbs_bytes=20_000, pir_bps=GBPS // 2, pbs_bytes=9_000
            ),
            wred=Wred(unit="ns", min=50_000, max=50_000, ecn=False),
        ),
    ),
    groups=(
        PriorityGroup(index=0, account=Account(pool="shared")),
        PriorityGroup(
            index=3,
            account=Account(pool="shared", reserved_bytes=2_000, alpha_log=1),
            lossless=Lossless(headroom_bytes=20_000, xon_bytes=18_000, xon_offset_bytes=2_000),
        ),
    ),
    maps=QosMaps(dscp_to_tc=tuple(3 if dscp == 26 else dscp // 48 for dscp in range(64))),
    pfc=Pfc(priorities=(3,), quanta=1_000, reaction_ns=500),
)
"""Nearly everything that a port can be told."""

LOSSLESS_PORT = SwitchPort(
    queues=(
        SwitchQueue(index=0, account=Account(pool="shared", alpha_log=0)),
        SwitchQueue(index=LOSSLESS, account=Account(pool="shared")),
    ),
    groups=(
        PriorityGroup(index=0, account=Account(pool="shared")),
        PriorityGroup(
            index=LOSSLESS,
            account=Account(pool="shared", limit_bytes=30_000),
            lossless=Lossless(headroom_bytes=20_000, xon_bytes=20_000),
        ),
    ),
    pfc=Pfc(priorities=(LOSSLESS,)),
)
"""Class selector 3 is lossless, all others are lossy. A headroom of 13 frames is more than 1
Gbps over 25 us asks for."""


def shared_star(
    hosts: int = 3,
    *,
    buffer: SwitchPort = PORT,
    pools: tuple[Pool, ...] = (SHARED,),
    cell_bytes: int = 1,
    nic_limit_bytes: int = NIC_LIMIT_BYTES,
    **changes: Any,
) -> Plan:
    """Return `sample_plans.star` whose switch has a shared buffer; its hosts' NICs honour the same pauses."""
    plan = star(hosts, **changes)
    nic = SwitchPort(
        queues=tuple(SwitchQueue(index=index, account=Account(limit_bytes=nic_limit_bytes)) for index in range(8)),
        maps=buffer.maps,
        pfc=buffer.pfc,
    )
    switch = Switch(profile="pools", cell_bytes=cell_bytes, pools=pools)
    nodes = tuple(
        node.model_copy(
            update={
                "switch": switch if node.role == "switch" else None,
                "ports": tuple(_with(port, buffer if node.role == "switch" else nic) for port in node.ports),
            }
        )
        for node in plan.nodes
    )
    return plan.model_copy(update={"nodes": nodes})


def sampled(plan: Plan, interval_ns: int) -> Plan:
    """Return the plan with all its ports sampled."""
    ports = tuple(f"{node.name}:{port.interface}" for node in plan.nodes for port in node.ports)
    probes: Probes = plan.probes.model_copy(update={"switch_interval_ns": interval_ns, "switch_ports": ports})
    return plan.model_copy(update={"probes": probes})


def _with(port: Port, buffer: SwitchPort) -> Port:
    return port.model_copy(update={"queue": None, "switch_port": buffer})
