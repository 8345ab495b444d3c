"""The ideal completion time is what lone flows take in the machine, and nothing is faster."""

from __future__ import annotations

import pytest
from lone_flows import PAYLOAD_BYTES, lone_flows
from sample_plans import CUBIC, GBPS, star
from sample_switch_plans import shared_star
from vm import Vm

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.traffic import RoundsTraffic

pytestmark = pytest.mark.vm


def kept_connection(size_bytes: int, rounds: int, start_ns: int) -> RoundsTraffic:
    return RoundsTraffic(
        name="kept",
        senders=("h1",),
        receiver="h2",
        size_bytes=size_bytes,
        rounds=rounds,
        start_ns=start_ns,
        connection="kept",
        mode="pull",
    )


def with_line(plan: Plan, host: str, rate_bps: int, delay_ns: int) -> Plan:
    """Return the plan with one host's link, both ends, of another rate and delay."""
    changed = {"rate_bps": rate_bps, "delay_ns": delay_ns}
    nodes = tuple(
        node.model_copy(
            update={
                "ports": tuple(
                    port.model_copy(update=changed) if host in (node.name, port.peer_node) else port
                    for port in node.ports
                )
            }
        )
        for node in plan.nodes
    )
    return plan.model_copy(update={"nodes": nodes})


@pytest.mark.parametrize("receiver_bps", [GBPS, GBPS // 10, 10 * GBPS])
def test_lone_flows_take_their_ideal(vm: Vm, receiver_bps: int) -> None:
    traffic = (
        lone_flows("least", 4, 10_000_000),
        lone_flows("frame", PAYLOAD_BYTES, 20_000_000),
        lone_flows("window", 10 * PAYLOAD_BYTES, 30_000_000),
        lone_flows("odd", 9 * PAYLOAD_BYTES + 200, 40_000_000),
        lone_flows("pull", 10 * PAYLOAD_BYTES, 50_000_000, mode="pull"),
        kept_connection(10_000, rounds=2, start_ns=60_000_000),
    )
    plan = star(2, delay_ns=50_000, transport=CUBIC, traffic=traffic, queue=Queue(limit_bytes=10_000_000))
    assert vm.run(with_line(plan, "h2", receiver_bps, 20_000)).status == "complete"
    flows = vm.flows()
    assert {flow["base_rtt_ns"] for flow in flows} == {140_000}
    # What is more are clock readings of the programs, 256 ns each, and the handshake's last acknowledgement: the data
    # follow at its heels.
    most_ns = 8_000 + 90 * 8e9 / min(receiver_bps, GBPS)
    assert all(flow["ideal_ns"] <= flow["fct_ns"] <= flow["ideal_ns"] + most_ns for flow in flows), flows
    assert len(flows) == 12


@pytest.mark.parametrize("receiver_bps", [GBPS, GBPS // 10, 10 * GBPS])
def test_lone_flows_through_switch_ports_take_their_ideal_to_some_acknowledgements(vm: Vm, receiver_bps: int) -> None:
    traffic = (
        lone_flows("least", 4, 10_000_000),
        lone_flows("frame", PAYLOAD_BYTES, 20_000_000),
        lone_flows("odd", 9 * PAYLOAD_BYTES + 200, 30_000_000),
        lone_flows("larger", 100_000, 40_000_000),
        lone_flows("pull", 100_000, 60_000_000, mode="pull"),
        kept_connection(100_000, rounds=1, start_ns=80_000_000),
    )
    at_once = CUBIC.model_copy(update={"initial_window_segments": 80})
    plan = shared_star(2, delay_ns=50_000, transport=at_once, traffic=traffic)
    assert vm.run(with_line(plan, "h2", receiver_bps, 20_000)).status == "complete"
    # What is more: acknowledgements that go ahead of the data or the request, the handshake's last one and that of the
    # request, on the slower line; and clock readings of the programs.
    most_ns = 2 * 90 * 8e9 / min(receiver_bps, GBPS) + 1_000
    flows = vm.flows()
    assert all(flow["ideal_ns"] <= flow["fct_ns"] <= flow["ideal_ns"] + most_ns for flow in flows), flows
    assert len(flows) == 11
