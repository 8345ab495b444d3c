"""Looking moves nothing: a point of every lab has the same flows, and routing at the same times,
with all probes, others and none."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from lab_runs import LABS
from vm import Vm, ignore, skip_without

from fabriclab.formats.plan.model import Plan, Probes
from fabriclab.formats.ranges import EACH_CHANGE_NS
from fabriclab.formats.run_directory import FLOW_LOGS
from fabriclab.lab import parse_lab
from fabriclab.resolve.resolver import resolve_plan
from fabriclab.results import ingest_run
from fabriclab.runs import RunContext, run_point

pytestmark = pytest.mark.vm

OTHER_NS = 7_300_000
"""A sampling interval of no lab, and no part of what routing, TCP or traffic waits for."""
SAMPLED_NS = 130_000
"""The same for queues of a lab that samples none: in one run they are sampled, in another each change is recorded."""

POINTS = {
    "ai-sonic": "variant=flowlet; size=1 MB",
    "allreduce": "variant=adaptive; size=500 KB",
    "buffer-pressure": "variant=cubic-shared; background=true; long_hosts=6; traffic.query.rounds=5; "
    "traffic.query.start=10 ms; traffic.background1.stop=60 ms; traffic.background2.stop=60 ms",
    # Drops by chance: every random number counts.
    "bufferbloat": "variant=pie; congestion_control=bbr; start=50 ms; stop=300 ms; switches.default.aqm.target=1 ms",
    "buffer-rule": "variant=four; buffer=39 KB; stop=150 ms; traffic.long.jitter=20 ms",
    "buffer-sharing": "seed=2; sharing=abm; window=4 ms; traffic.incast1.aggregators=h1,h2; "
    "traffic.incast1.interval=2 ms; traffic.incast2.enabled=false",
    "buffers": "variant=shallow-ecn-pfc; background=true; size=2 MB; duration=60 ms",
    "convergence": "variant=cubic; traffic.flow2.start=20 ms; traffic.flow3.start=40 ms; traffic.flow4.start=60 ms; "
    "traffic.flow5.start=80 ms; traffic.flow5.stop=100 ms; traffic.flow4.stop=120 ms; traffic.flow3.stop=140 ms; "
    "traffic.flow2.stop=160 ms; traffic.flow1.stop=180 ms",
    "dctcp-fluid": "senders=2; stop=12 ms",
    "dctcp-queue": "variant=dctcp; traffic.long.stop=200 ms",
    "dx": "variant=dx; traffic.long.stop=200 ms",
    "dx-fat-tree": "variant=dctcp; stop=200 us",
    "ecn-thresholds": "variant=dctcp; stop=200 ms; traffic.mice.start=50 ms; traffic.legacy-mice.start=50 ms; "
    "traffic.query.start=50 ms",
    "hpcc": "variant=hpcc; window=2 ms",
    "hull": "variant=paced; traffic.long.stop=200 ms",
    "incast": "variant=cubic; rounds=4",
    "l4s": "variant=dualpi2; stop=300 ms; start=100 ms",
    "leaf-spine": "variant=cubic; traffic.query.count=10; traffic.short.count=20; traffic.update.stop=200 ms; "
    "traffic.background.stop=200 ms",
    "link-failure": "variant=silent-bfd; events.cut.at=60 ms; traffic.messages-1.count=36; "
    "traffic.messages-2.count=36; traffic.long.stop=150 ms",
    "moe": "variant=credit; size=200 KB; traffic.messages.stop=1 ms",
    "mptcp-short-flows": "variant=mptcp-lia; traffic.long.stop=150 ms; traffic.short.start=50 ms; "
    "traffic.short.stop=140 ms",
    "multi-hop": "variant=dctcp; stop=10 ms; hosts.default.send_buffer=200 KB",
    "pfc-deadlock": "variant=dcqcn; start=200 ms; stop=203 ms",
    "pfc-storm": "variant=storm-drop; stop=200 ms; detection=30 ms; restoration=30 ms",
    "qcn": "variant=qcn; stop=50 ms",
    "query-mix": "variant=tcp-shallow; duration=80 ms",
    "queue-buildup": "variant=cubic; traffic.long.stop=300 ms; traffic.short.start=50 ms; rounds=20",
    "roce-incast": "variant=dcqcn; stop=3 ms",
    "roce-storage": "variant=dcqcn-shallow; window=4 ms; size=20 MB",
    "shared-buffer": "variant=dynamic; rounds=3; stop=36 ms; busy=3; hosts.default.send_buffer=200 KB",
    "sonic-leaf-spine": "cut=down; traffic.storage.stop=3 ms; traffic.query.stop=3 ms; events.cut.at=1 ms",
    "sonic-qos": "routing.protocol=static; traffic.write.stop=6 ms; traffic.backup.stop=6 ms; traffic.query.stop=6 ms; "
    "traffic.read.count=10; traffic.restore.count=8; traffic.restore.start=3 ms",
    "two-jobs": "variant=scattered; size=500 KB; traffic.second.size=500 KB; traffic.first.iterations=2; "
    "traffic.second.iterations=2",
    "websearch-load": "variant=bbr; traffic.web.stop=50 ms",
}
"""A short point of each lab, as `--set` has it: with each kind of loss, mark, pause and timeout of a longer one."""
WITH_LAYERS = ("applications", "hadoop", "spark")
"""Labs of programs that are in no root file system: their layers take longer to make than all these points."""


def point_of(lab: str) -> Plan:
    """Return the plan of a lab's point."""
    return resolve_plan(
        parse_lab(LABS / lab, every_point=False), dict(setting.split("=", 1) for setting in POINTS[lab].split("; "))
    )


def all_probes(plan: Plan) -> Probes:
    """Return the plan's probes at their intervals, and those that it has not got at another one: sampled."""
    own = plan.probes
    rest = everywhere(plan)
    return Probes(
        queue_interval_ns=own.queue_interval_ns or SAMPLED_NS,
        queue_ports=own.queue_ports or rest.queue_ports,
        tcp_interval_ns=own.tcp_interval_ns or rest.tcp_interval_ns,
        tcp_classes=own.tcp_classes or rest.tcp_classes,
        interface_interval_ns=own.interface_interval_ns or rest.interface_interval_ns,
        switch_interval_ns=own.switch_interval_ns or rest.switch_interval_ns,
        switch_ports=own.switch_ports or rest.switch_ports,
    )


def everywhere(plan: Plan) -> Probes:
    """Return probes of everything there is: each change of queues, the rest at another interval than the lab's."""
    ports = [(f"{node.name}:{port.interface}", port) for node in plan.nodes for port in node.ports]
    return Probes(
        queue_interval_ns=EACH_CHANGE_NS,
        queue_ports=tuple(name for name, _ in ports),
        tcp_interval_ns=OTHER_NS,
        tcp_classes=tuple(traffic.name for traffic in plan.traffic),
        interface_interval_ns=OTHER_NS,
        switch_interval_ns=OTHER_NS,
        switch_ports=tuple(name for name, port in ports if port.switch_port is not None),
    )


def flows_of(run: Path) -> dict[str, str]:
    """Return what every host wrote of its flows: all that flows.parquet is made from, but for the trace."""
    logs = {log.name: log.read_text() for log in (run / FLOW_LOGS).iterdir()}
    assert logs
    return logs


def not_read(run: Path) -> None:
    """Leave the logs as they are."""


def routing_of(run: Path) -> list[str]:
    """Return what was told of routing, and when: daemons may have been moved by less than flows notice."""
    return [line for line in (run / "events.jsonl").read_text().splitlines() if "converged" in line]


NO_PROBES = Probes(
    queue_interval_ns=None, queue_ports=(), tcp_interval_ns=None, tcp_classes=(), interface_interval_ns=None
)


def test_every_lab_has_its_point() -> None:
    assert sorted((*POINTS, *WITH_LAYERS)) == sorted(file.parent.name for file in LABS.glob("*/experiment.yml"))


@pytest.mark.parametrize("lab", POINTS)
@pytest.mark.slow("runs a point of a lab three times, with probes of everything")
def test_looking_moves_no_flow(vm: Vm, lab: str) -> None:
    plan = point_of(lab)
    skip_without(vm.artefacts, plan)
    # Results are made of one run of three, with every table in it: to read all probes takes longer than some runs.
    reading = {"on": partial(ingest_run, keep_raw=True)}
    flows, routing = {}, {}
    for looking, probes in {"on": all_probes(plan), "off": NO_PROBES, "other": everywhere(plan)}.items():
        context = RunContext(LABS / lab, vm.artefacts, ("test",), reading.get(looking, not_read))
        result = run_point(plan.model_copy(update={"probes": probes}), vm.directory / looking, context, ignore)
        assert result.status == "complete", result.message
        flows[looking] = flows_of(result.directory)
        routing[looking] = routing_of(result.directory)
    assert flows["on"] == flows["off"], "the probes move flows"
    assert flows["on"] == flows["other"], "the sampling interval moves flows"
    assert routing["on"] == routing["off"] == routing["other"], "looking moves daemons"
