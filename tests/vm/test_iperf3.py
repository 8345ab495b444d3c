"""iperf3 as a class of traffic, and as a check on our replay: both measure the same goodput on the same path."""

from __future__ import annotations

from typing import Any

import pytest
from frame_sizes import PAYLOAD_BYTES, WIRE_BYTES, with_slow_receiver
from sample_plans import CUBIC, DCTCP, GBPS, changed, star
from vm import Vm

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Mptcp, Queue, Transport
from fabriclab.formats.plan.traffic import Carrier, Iperf3Traffic, LongTraffic, Traffic

pytestmark = pytest.mark.vm

STOP_NS = 700_000_000
PATHS = {
    "cubic": (CUBIC, Queue(limit_bytes=200_000)),
    "dctcp": (DCTCP, Queue(limit_bytes=200_000, ecn_threshold_bytes=30_000)),
}


def elephant(start_ns: int = 0, stop_ns: int = STOP_NS, sender: str = "h1", **carrier: Any) -> Iperf3Traffic:
    """Return one flow of iperf3 to h2."""
    return Iperf3Traffic(
        name="elephant",
        senders=(sender,),
        receiver="h2",
        start_ns=start_ns,
        stop_ns=stop_ns,
        carrier=Carrier(**carrier),
    )


def bottleneck(transport: Transport, queue: Queue, *traffic: Traffic) -> Plan:
    """Return two hosts, the receiver's line the slower one."""
    return with_slow_receiver(
        star(2, rate_bps=10 * GBPS, transport=transport, queue=queue, traffic=traffic), "h2", GBPS
    )


def goodput_bps(flow: dict[str, Any]) -> float:
    return float(flow["bytes"] * 8e9 / (flow["end_ns"] - flow["first_byte_ns"]))


@pytest.mark.parametrize("name", PATHS)
def test_iperf3_and_replay_agree_on_goodput(vm: Vm, name: str) -> None:
    later = STOP_NS + 100_000_000
    ours = LongTraffic(
        name="ours", senders=("h1",), receiver="h2", start_ns=later, stop_ns=later + STOP_NS, stagger_ns=0
    )
    assert vm.run(bottleneck(*PATHS[name], elephant(), ours)).status == "complete"
    theirs, our = vm.flows()
    assert (theirs["class"], theirs["status"], our["class"], our["status"]) == (
        "elephant",
        "stopped",
        "ours",
        "stopped",
    )
    assert goodput_bps(theirs) == pytest.approx(goodput_bps(our), rel=0.01)
    assert goodput_bps(theirs) == pytest.approx(GBPS * PAYLOAD_BYTES / WIRE_BYTES, rel=0.005)
    assert (theirs["retransmits"] > 0) == (our["retransmits"] > 0) == (name == "cubic")
    assert theirs["srtt_us"] == pytest.approx(our["srtt_us"], rel=0.5)


def test_a_flow_starts_and_stops_at_its_times(vm: Vm) -> None:
    start_ns, stop_ns = 33_333_333, 444_444_444
    plan = bottleneck(*PATHS["dctcp"], elephant(start_ns, stop_ns))
    assert vm.run(plan).status == "complete"
    (flow,) = vm.flows()
    assert 0 <= flow["start_ns"] - start_ns < 1000
    round_trip_ns = 4 * plan.node("h1").ports[0].delay_ns
    assert start_ns + 3 * round_trip_ns < flow["first_byte_ns"] < start_ns + 8 * round_trip_ns
    assert stop_ns <= flow["end_ns"] <= stop_ns + 2_001_000


def test_a_deep_queue_delays_no_end(vm: Vm) -> None:
    """A standing queue of 8 ms is in the way of the client's farewell."""
    plan = bottleneck(CUBIC, Queue(limit_bytes=1_000_000), elephant())
    assert vm.run(plan).status == "complete"
    (flow,) = vm.flows()
    assert flow["srtt_us"] > 4000
    assert STOP_NS + 2_000_000 <= flow["end_ns"] <= STOP_NS + 2_001_000
    assert goodput_bps(flow) == pytest.approx(GBPS * PAYLOAD_BYTES / WIRE_BYTES, rel=0.01)


def test_flows_side_by_side_share_the_line(vm: Vm) -> None:
    both = changed(elephant(), senders=("h1", "h3"))
    plan = star(3, rate_bps=10 * GBPS, transport=DCTCP, queue=PATHS["dctcp"][1], traffic=(both,))
    assert vm.run(with_slow_receiver(plan, "h2", GBPS)).status == "complete"
    flows = vm.flows()
    assert {flow["status"] for flow in flows} == {"stopped"}
    assert {flow["src"] for flow in flows} == {"h1", "h3"}
    assert sum(map(goodput_bps, flows)) == pytest.approx(GBPS * PAYLOAD_BYTES / WIRE_BYTES, rel=0.01)
    assert min(map(goodput_bps, flows)) > 0.3 * GBPS


def test_congestion_control_is_the_flows(vm: Vm) -> None:
    """DCTCP on hosts of CUBIC keeps its queue short: its client asks for ECN as the host does in every handshake."""
    asking = CUBIC.model_copy(update={"ecn": "on"})
    assert vm.run(bottleneck(asking, PATHS["dctcp"][1], elephant(congestion_control="dctcp"))).status == "complete"
    (flow,) = vm.flows()
    assert (flow["congestion_control"], flow["retransmits"]) == ("dctcp", 0)
    assert flow["srtt_us"] < 500
    assert 15_000 < vm.summary()["queue_mean_bytes"] < 45_000


def test_mptcp_goes_through_mptcpize(vm: Vm) -> None:
    transport = CUBIC.model_copy(
        update={"mptcp": Mptcp(subflows=1, add_addr_accepted=0, scheduler="default", path_manager="subflow")}
    )
    assert vm.run(bottleneck(transport, PATHS["cubic"][1], elephant(transport="mptcp"))).status == "complete"
    (flow,) = vm.flows()
    assert flow["status"] == "stopped"
    # Twelve bytes of timestamps and twenty of MPTCP's data sequence signal are in each packet.
    assert goodput_bps(flow) == pytest.approx(GBPS * (PAYLOAD_BYTES - 20) / WIRE_BYTES, rel=0.01)


def test_a_server_out_of_reach_is_a_failure(vm: Vm) -> None:
    plan = star(2, traffic=(elephant(),))
    host = plan.node("h1").model_copy(update={"routes": ()})
    plan = plan.model_copy(update={"nodes": (host, *plan.nodes[1:])})
    assert vm.run(plan).status == "complete"
    (flow,) = vm.flows()
    assert flow["status"].startswith("failed: ")
    assert flow["status"].endswith("Network is unreachable")
