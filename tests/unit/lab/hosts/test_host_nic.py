"""A host's NIC as a lab writes it (`hosts.X.nic`): what is planned, compiled, refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from layer2_labs import TRAFFIC, experiment, plan_of
from probed_labs import LONG, lab

from fabriclab.compile import compile_node
from fabriclab.compile.machine import compile_job
from fabriclab.compile.port import marking_handles, queue_handle
from fabriclab.formats.job import JobNic
from fabriclab.formats.plan import PlanError, parse_plan_json, plan_json
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Nic, Pacer, Queue
from fabriclab.formats.plan.runnable import check_runnable
from fabriclab.lab import LabError, parse_lab
from fabriclab.qdiscs.fq import Fq
from fabriclab.qdiscs.fq_codel import FqCodel
from fabriclab.resolve import resolve_plan

PLAIN = Nic(
    queue=Queue(limit_bytes=15_000_000),
    tso_bytes=65_536,
    gro=True,
    interrupt_delay_us="adaptive",
    receive_queues=8,
)


def planned(directory: Path, hosts: str) -> Plan:
    return resolve_plan(parse_lab(lab(directory, LONG, f"hosts: {hosts}\n")), {})


EXACT = "default: {nic: {clock_error: 0 ppm}}"


def test_every_default_of_a_nic_is_told(tmp_path: Path) -> None:
    plan = planned(tmp_path, f"{{{EXACT}, h2: {{nic: {{}}}}, h3: {{nic: {{tso: off}}}}}}")
    assert plan.node("h1").ports[0].nic == PLAIN
    assert plan.node("h2").ports[0].nic == PLAIN and plan.node("h2").ports[0].queue is None
    assert plan.node("h3").ports[0].nic == PLAIN.model_copy(update={"tso_bytes": None})
    assert '"nic"' not in plan.node("s1").ports[0].model_dump_json()
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_what_paces_stands_in_front_of_the_ring(tmp_path: Path) -> None:
    plan = planned(tmp_path, f"{{{EXACT}, h1: {{nic: {{pacing: fq, gro: on, interrupt_delay: 20 us}}}}}}")
    port = plan.node("h1").ports[0]
    assert port.nic == Nic(
        queue=Queue(limit_bytes=15_000_000, aqm=Fq()),
        tso_bytes=65_536,
        gro=True,
        interrupt_delay_us=20,
        receive_queues=8,
        ring_bytes=24_000,
    )
    first, second = compile_node(plan.node("h1"), plan).tc.splitlines()[:2]
    assert (
        first.startswith("qdisc add dev eth1 root handle 1: switch_port rate ") and " ring 24000 tc_to_queue " in first
    )
    assert second == "qdisc add dev eth1 parent 1:21 handle 21: fq limit 9907 flow_limit 100 quantum 3028 pacing"
    stock = compile_node(plan.node("h1"), plan, stock=True).tc
    assert "switch_port" not in stock and "handle 3: fq limit 9907" in stock


def told_of(plan: Plan, name: str) -> JobNic:
    """Return what PID 1 is told of the only NIC of a node."""
    (node,) = (node for node in compile_job(plan)["nodes"] if node["name"] == name)
    (nic,) = node["nics"]
    return nic


def test_interrupts_wait_for_a_time_or_adapt_or_come_at_once(tmp_path: Path) -> None:
    hosts = "h1: {nic: {gro: off}}, h2: {nic: {interrupt_delay: 20 us, receive_queues: 2}}"
    plan = planned(tmp_path, f"{{{EXACT}, {hosts}}}")
    told: dict[str, tuple[bool, int | str, int]] = {
        "h1": (False, 0, 1),
        "h2": (True, 20, 2),
        "h3": (True, "adaptive", 8),
    }
    for name, (gro, delay_us, receive_queues) in told.items():
        nic = plan.node(name).ports[0].nic
        changed = {"gro": gro, "interrupt_delay_us": delay_us, "receive_queues": receive_queues}
        assert nic == PLAIN.model_copy(update=changed)
        assert told_of(plan, name) == {
            "interface": "eth1",
            "tso_bytes": 65_536,
            **changed,
        }
    assert parse_plan_json(plan_json(plan)) == plan


def test_each_queue_of_a_card_has_one_in_front(tmp_path: Path) -> None:
    plan = planned(tmp_path, "{h1: {queue: 1 MB, nic: {queues: 2, ring: 8 KB}, aqm: {kind: fq_codel, ecn: on}}}")
    port = plan.node("h1").ports[0]
    assert port.nic is not None and port.nic.queue == Queue(limit_bytes=1_000_000, aqm=FqCodel(ecn=True))
    lines = compile_node(plan.node("h1"), plan).tc.splitlines()
    assert "ring 8000 tx_queues 2" in lines[0] and "queue 0 dwrr" in lines[0] and "queue 1 dwrr" in lines[0]
    assert [line.split(" fq_codel")[0].split("parent ")[1] for line in lines[1:]] == [
        "1:21 handle 21:",
        "1:22 handle 22:",
    ]


def test_a_host_behind_pauses_keeps_its_classes_apart(tmp_path: Path) -> None:
    directory = lab(tmp_path, LONG)
    switches = "switches: {default: {profile: trident-3, pfc: {priorities: [3]}}}\n"
    text = f"title: Probes\n{switches}hosts: {{h1: {{nic: {{pacing: fq}}}}}}\ntraffic:\n  {LONG}\n"
    (directory / "experiment.yml").write_text(text)
    plan = resolve_plan(parse_lab(directory), {})
    port = plan.node("h1").ports[0]
    assert port.switch_port is not None and port.switch_port.pfc is not None
    lines = compile_node(plan.node("h1"), plan).tc.splitlines()
    assert len(lines) == 1 + len(port.switch_port.queues) > 2
    (directory / "experiment.yml").write_text(text.replace("pacing: fq", "queues: 2"))
    with pytest.raises(LabError, match=r"hosts.h1.nic.queues: can't be set, because the host's NIC has the queues"):
        resolve_plan(parse_lab(directory), {})


def test_a_pacer_has_the_papers_constants_and_what_is_written(tmp_path: Path) -> None:
    plan = planned(
        tmp_path, "{default: {nic: {pacer: {}}}, h2: {nic: {pacer: {bucket: 6 KB}}}, h3: {nic: {pacer: none}}}"
    )
    paper = Pacer(
        bucket_bytes=3_000, interval_ns=64_000, eta_ppm=125_000, beta=16, probability_ppm=125_000, idle_ns=10_000_000
    )
    pacers = [port.nic and port.nic.pacer for port in (plan.node(host).ports[0] for host in ("h1", "h2", "h3"))]
    assert pacers == [paper, paper.model_copy(update={"bucket_bytes": 6_000}), None]
    words = " pacer 3000 interval 64000ns idle 10000000ns eta 12.5000% beta 16 probability 12.5000% "
    assert words in compile_node(plan.node("h1"), plan).tc


def test_pid_1_is_told_of_nics_alone(tmp_path: Path) -> None:
    plan = planned(tmp_path, "{}")
    assert [node["name"] for node in compile_job(plan)["nodes"] if "nics" in node] == ["h1", "h2", "h3"]
    assert all("nics" not in node for node in compile_job(plan, stock=True)["nodes"])


def test_the_sampler_finds_the_marks_in_front_of_the_card(tmp_path: Path) -> None:
    directory = lab(tmp_path, LONG, "hosts: {h1: {nic: {}, aqm: {kind: codel, ecn: on}}}\n")
    text = (directory / "experiment.yml").read_text()
    probes = "probes: {queues: {interval: 1 ms, ports: ['h1:eth1']}}\n"
    without = "".join(line for line in text.splitlines(keepends=True) if "probes" not in line)
    (directory / "experiment.yml").write_text(without + probes)
    plan = resolve_plan(parse_lab(directory), {})
    assert plan.probes.queue_ports == ("h1:eth1",)
    port = plan.node("h1").ports[0]
    assert (queue_handle(port, stock=False), marking_handles(port, stock=False)) == ("1:", ["21:"])
    assert (queue_handle(port, stock=True), marking_handles(port, stock=True)) == ("3:", None)


@pytest.mark.parametrize(
    ("nic", "said"),
    [
        (
            "{tso: 100 B}",
            r"hosts.h1.nic.tso: '100 B' is out of range; write one from 3 KB to 64 KiB .*two full segments.*, or 'off'",
        ),
        ("{tso: many}", r"hosts.h1.nic.tso: .*many"),
        (
            "{interrupt_delay: 1500 ns, gro: on}",
            r"hosts.h1.nic.interrupt_delay: '1500 ns' is not a whole number of micro",
        ),
        ("{interrupt_delay: adaptive, gro: off}", r"hosts.h1.nic.interrupt_delay: .* needs gro: on"),
        ("{interrupt_delay: often, gro: on}", r"hosts.h1.nic.interrupt_delay: .*often"),
        ("{interrupt_delay: 20 us, gro: off}", r"hosts.h1.nic.interrupt_delay: .* needs gro: on"),
        ("{receive_queues: 65}", r"hosts.h1.nic.receive_queues: "),
        ("{queues: 9}", r"hosts.h1.nic.queues: "),
        ("{pacing: cake}", r"hosts.h1.nic.pacing: .*fq"),
        ("{pacing: fq}, aqm: {kind: codel}", r"hosts.h1.nic.pacing: asks for fq .* aqm says codel"),
        ("{speed: 10 Gbps}", r"hosts.h1.nic.speed: unknown key"),
        ("{pacer: on}", r"hosts.h1.nic.pacer: must be a mapping .keys: bucket"),
        ("{pacer: {bucket: 2 MB}}", r"hosts.h1.nic.pacer.bucket: "),
        ("{pacer: {eta: 120 %}}", r"hosts.h1.nic.pacer.eta: "),
        ("fast", r"hosts.h1.nic: must be a mapping .keys: tso, gro"),
        (
            "none",
            r"experiment.yml:\d+: hosts.h1.nic: is no longer a value, because every host has an exact NIC; remove",
        ),
    ],
)
def test_a_mistake_is_told(tmp_path: Path, nic: str, said: str) -> None:
    with pytest.raises(LabError, match=said):
        planned(tmp_path, f"{{h1: {{nic: {nic}}}}}")


def test_a_card_in_a_port_channel_has_no_pacer(tmp_path: Path) -> None:
    """The channel takes the frames by which the pacer would hear of marks."""
    text = experiment(traffic="hosts: {default: {nic: {pacer: {}}}}\n" + TRAFFIC)
    with pytest.raises(LabError, match=r"hosts.h3.nic.pacer: does not work at h3:eth1, which is in a port channel"):
        plan_of(tmp_path, text)
    assert (
        plan_of(
            tmp_path,
            text.replace("traffic:", "  h3: {nic: {pacer: none}}\ntraffic:", 1).replace(
                "hosts: {default: {nic: {pacer: {}}}}", "hosts:\n  default: {nic: {pacer: {}}}"
            ),
        )
        .node("h3")
        .ports[0]
        .nic
        is not None
    )


def test_a_plan_whose_host_has_no_nic_is_read_but_not_run(tmp_path: Path) -> None:
    """Earlier versions wrote such plans: results of their runs are read, their bundles and recordings not run again."""
    plan = planned(tmp_path, "{}")
    (port,) = plan.node("h1").ports
    bucket = {"queue": Queue(limit_bytes=1_000_000), "switch_port": None, "nic": None}
    for changes in (bucket, {"nic": None}):
        host = plan.node("h1").model_copy(update={"ports": (port.model_copy(update=changes),)})
        nodes = tuple(host if node.name == "h1" else node for node in plan.nodes)
        earlier = parse_plan_json(plan_json(plan.model_copy(update={"nodes": nodes})))
        with pytest.raises(
            PlanError, match=r"^nodes.h1.eth1.nic: is missing; an earlier version of fabriclab, .* made"
        ):
            check_runnable(earlier)
    check_runnable(plan)
