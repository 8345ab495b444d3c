"""The processes of iperf3's flows."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_plans import LONG, changed, star

from fabriclab.compile import TraceError, compile_job, compiled_flows, machine_memory_bytes
from fabriclab.compile.iperf3 import FIRST_PORT, compile_iperf3
from fabriclab.engine.containers.collect import collect_flow_logs
from fabriclab.engine.containers.docker import Container
from fabriclab.engine.containers.job import Task
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import Carrier, Iperf3Traffic

NOWHERE = Path("/nowhere")
ELEPHANTS = Iperf3Traffic(
    name="elephants", senders=("h1", "h2"), receiver="h3", start_ns=1_000_000, stop_ns=1_500_000_000
)

ONE = star(3, traffic=(changed(ELEPHANTS, senders=("h1",)),))


def processes_of(plan: Plan) -> dict[str, list[str]]:
    """Return the argv of iperf3's processes by name."""
    return {entry["name"]: entry["argv"] for entry in compile_iperf3(plan, compiled_flows(plan, NOWHERE))}


def test_each_flow_has_a_server_and_a_client_with_their_times() -> None:
    plan = star(3, traffic=(ELEPHANTS,))
    sender, other = compiled_flows(plan, NOWHERE)["src"].cast(str)
    processes = processes_of(plan)
    assert list(processes) == ["iperf3-0-dst@h3", "iperf3-1-dst@h3", f"iperf3-0-src@{sender}", f"iperf3-1-src@{other}"]
    assert " ".join(processes["iperf3-1-dst@h3"]) == (
        "/tools/replay exec --until-ns 1502000000 --log /job/raw/iperf3/1-dst.log -- iperf3 -s -1 -B 10.0.3.1 -p 5202 "
        "--json -i 0"
    )
    assert " ".join(processes[f"iperf3-0-src@{sender}"]) == (
        "/tools/replay exec --at-ns 1000000 --until-ns 1500000000 --log /job/raw/iperf3/0-src.log -- "
        f"iperf3 -c 10.0.3.1 -p 5201 -B 10.0.{sender[1:]}.1 -t 0 -l 16K --json -i 0"
    )


def test_a_carrier_is_told_to_the_client_and_mptcp_to_both() -> None:
    carrier = Carrier(transport="mptcp", congestion_control="dctcp", dscp=10)
    traffic = changed(ELEPHANTS, senders=("h1",), carrier=carrier)
    processes = processes_of(star(3, traffic=(traffic,)))
    client, server = processes["iperf3-0-src@h1"], processes["iperf3-0-dst@h3"]
    assert client[client.index("-C") : client.index("-S") + 2] == ["-C", "dctcp", "-S", "40"]
    for argv in (client, server):
        assert argv[argv.index("--") + 1 :][:3] == ["mptcpize", "run", "iperf3"]


def test_other_flows_have_no_process_of_iperf3() -> None:
    plan = star(3, traffic=(LONG, ELEPHANTS))
    job = compile_job(plan, compiled_flows(plan, NOWHERE))
    names = [entry["name"] for entry in job["traffic"]]
    assert names[:3] == ["replay@h1", "replay@h2", "replay@h3"]
    assert sorted(names[3:5]) == ["iperf3-2-dst@h3", "iperf3-3-dst@h3"]
    assert len(names) == 7


def test_every_process_has_a_name_of_its_own_and_no_two_flows_of_a_receiver_share_a_port() -> None:
    back = Iperf3Traffic(name="back", senders=("h2", "h3"), receiver="h1", start_ns=0, stop_ns=10**9)
    plan = star(3, traffic=(ELEPHANTS, back))
    processes = compile_iperf3(plan, compiled_flows(plan, NOWHERE))
    assert len({entry["name"] for entry in processes}) == len(processes) == 8
    servers = [
        (entry["node"], entry["argv"][entry["argv"].index("-p") + 1]) for entry in processes if "-s" in entry["argv"]
    ]
    assert sorted(servers) == [("h1", "5201"), ("h1", "5202"), ("h3", "5201"), ("h3", "5202")]


def test_containers_hand_over_what_iperf3_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The container engine fetches what a process names as its log."""
    fetched = {}
    monkeypatch.setattr(
        "fabriclab.engine.containers.collect.copy_out",
        lambda container, path, target: fetched.update({path: (container.node, target)}),
    )
    tasks = [
        Task(entry["name"], entry["node"], tuple(entry["argv"]))
        for entry in compile_iperf3(star(3), compiled_flows(ONE, NOWHERE))
    ]
    containers = {name: Container(name, f"clab-{name}", name) for name in ("h1", "h3")}
    assert collect_flow_logs(tasks, containers, tmp_path) == []
    assert fetched == {
        "/job/raw/iperf3/0-src.log": ("h1", tmp_path / "raw" / "iperf3" / "0-src.log"),
        "/job/raw/iperf3/0-dst.log": ("h3", tmp_path / "raw" / "iperf3" / "0-dst.log"),
    }


def test_the_machine_has_room_for_the_processes() -> None:
    many = tuple(changed(ELEPHANTS, **{"name": f"e{number}"}) for number in range(100))
    room = machine_memory_bytes(star(3, traffic=many)) - machine_memory_bytes(star(3, traffic=(ELEPHANTS,)))
    assert room >= 198 * 2_400_000


def test_more_flows_than_ports_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriclab.compile.iperf3.PORT_LIMIT", FIRST_PORT + 2)
    again = changed(ELEPHANTS, name="again", senders=("h1",))
    flows = compiled_flows(star(3, traffic=(ELEPHANTS, again)), NOWHERE)
    assert len(compile_iperf3(star(3), flows.head(2))) == 4
    with pytest.raises(TraceError, match="flow 2: dst: h3 receives 2 flows of iperf3 already"):
        compile_iperf3(star(3), flows)
