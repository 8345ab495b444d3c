"""The job as containers read it: addresses, samplers, who takes part, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from language import two_racks
from ruamel.yaml import YAML

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.job import read_job, split_sampler, taking_part
from fabriclab.engine.containers.node import links_batch
from fabriclab.engine.containers.programs import PLACES, program_binds, program_nodes
from fabriclab.engine.containers.topology import deployable
from fabriclab.formats.job import JOB_FORMAT, Job
from fabriclab.formats.plan.traffic import RoundsTraffic
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.runs.directory import write_inputs


def job(directory: Path, **changes: Any) -> Path:
    end = {"node": "h1", "interface": "eth1", "mac": "02:fa:00:00:00:01"}
    peer = {"node": "s1", "interface": "eth7", "mac": "02:fa:00:00:00:02"}
    record = {
        "format": "fabriclab-job-1",
        "limit_ns": 5,
        "sysctl": "machine/sysctl.conf",
        "nodes": [{"name": "h1", "files": "nodes/h1"}, {"name": "s1", "files": "nodes/s1"}],
        "links": [{"a": end, "b": peer, "mtu": 9000}],
        "daemons": [],
        "probes": [
            {"name": "sampler", "node": None, "argv": ["/tools/sampler", "--config", "/job/machine/sampler.json"]}
        ],
        "traffic": [{"name": "replay@h1", "node": "h1", "argv": ["/tools/replay", "--log", "/job/raw/flows/h1.csv"]}],
        "collect": [],
    }
    (directory / "machine").mkdir(parents=True)
    (directory / "machine" / "job.json").write_text(json.dumps(record | changes))
    (directory / "machine" / "sampler.json").write_text(json.dumps(SAMPLER))
    return directory


SAMPLER = {
    "format": "fabriclab-sampler-1",
    "queues": {
        "interval_ns": 100,
        "output": "/job/raw/queues.csv",
        "ports": [
            {"name": "s1:eth1", "netns": "/run/netns/s1", "interface": "eth1", "handle": "3:"},
            {"name": "s2:eth1", "netns": "/run/netns/s2", "interface": "eth1", "handle": "3:"},
            {"name": "s1:eth2", "netns": "/run/netns/s1", "interface": "eth2", "handle": "3:"},
        ],
    },
    "tcp": {
        "interval_ns": 500,
        "output": "/job/raw/tcp.csv",
        "nodes": [{"name": "h1", "netns": "/run/netns/h1"}],
        "flows": [0, 1],
    },
    "connections": {"output": "/job/raw/connections.csv", "nodes": [{"name": "h1", "netns": "/run/netns/h1"}]},
}


def test_each_sampled_container_has_a_sampler_of_its_own() -> None:
    split = split_sampler(SAMPLER)
    assert list(split) == ["s1", "s2", "h1"]
    assert [port["name"] for port in split["s1"]["queues"]["ports"]] == ["s1:eth1", "s1:eth2"]
    assert split["h1"]["tcp"] == {
        "interval_ns": 500,
        "output": "/job/raw/tcp.csv",
        "nodes": [{"name": "h1"}],
        "flows": [0, 1],
    }
    assert split["h1"]["connections"] == {"output": "/job/raw/connections.csv", "nodes": [{"name": "h1"}]}
    assert "netns" not in json.dumps(split) and "queues" not in split["h1"]


def test_the_job_gives_interfaces_their_addresses(tmp_path: Path) -> None:
    read = read_job(job(tmp_path))
    assert links_batch(read.interfaces["s1"]) == "link set dev eth7 address 02:fa:00:00:00:02 mtu 9000 up\n"
    assert read.limit_ns == 5 and set(read.samplers) == {"s1", "s2", "h1"}


def test_only_what_a_job_wants_anything_of_takes_part(tmp_path: Path) -> None:
    every = [{"name": name, "files": f"nodes/{name}"} for name in ("h1", "h2", "h3", "h4", "s1", "s2", "s3", "s4")]
    event = {
        "name": "e",
        "at_ns": 1,
        "steps": [{"node": "h3", "tool": "ip", "lines": []}],
        "reconvergence": {"nodes": [route("s3")]},
    }
    record = {
        "collect": [
            {"name": "qdisc@s4", "node": "s4", "argv": ["tc"]},
            {"name": "kernel", "node": None, "argv": ["uname"]},
        ]
    }
    read = read_job(job(tmp_path, nodes=every, events=[event], **record))
    assert set(read.files) == {"h1", "h3", "s1", "s2", "s3", "s4"}, (
        "traffic, a change, probed queues, routes, what is collected"
    )


def route(node: str) -> dict[str, Any]:
    return {"node": node, "routes": [{"prefix": "10.0.0.0/24", "interfaces": ["eth1"], "paths": 1}]}


def test_counters_of_interfaces_alone_deploy_no_host() -> None:
    interfaces = {
        "interval_ns": 1,
        "output": "/job/raw/interfaces.csv",
        "ports": [{"name": "h9:eth1", "netns": "/run/netns/h9"}],
    }
    empty = Job(
        format=JOB_FORMAT,
        limit_ns=1,
        sysctl="machine/sysctl.conf",
        nodes=[],
        links=[],
        daemons=[],
        probes=[],
        traffic=[],
        collect=[],
    )
    assert taking_part(empty, SAMPLER | {"interfaces": interfaces}) == {"h1", "s1", "s2"}


def test_a_lab_of_four_senders_has_six_containers(tmp_path: Path) -> None:
    lab = Path(__file__).parents[2] / "labs" / "incast"
    plan = resolve_plan(parse_lab(lab), {"senders": "4"}, 1)
    write_inputs(plan, lab, tmp_path, stock=True)
    files = read_job(tmp_path).files
    senders = {name for traffic in plan.traffic if isinstance(traffic, RoundsTraffic) for name in traffic.senders}
    assert len(senders) == 4 and len(plan.nodes) > 40
    assert set(files) == {*senders, *(node.name for node in plan.nodes if node.role == "switch"), RECEIVER}
    text = deployable(lab / "topology.clab.yml", "fl01234567", nodes=files)
    copy = YAML(typ="safe", pure=True).load(text)["topology"]
    assert set(copy["nodes"]) == set(files)
    ports = {f"{node.name}:{port.interface}" for node in plan.nodes if node.name in files for port in node.ports}
    assert {end for link in copy["links"] for end in link["endpoints"] if ":idle" not in end} == ports, (
        "each port that files name"
    )


RECEIVER = "client"


TRACED = "title: T\nswitches: {default: {buffer: 64 KB}}\ntraffic: {t: {kind: trace, file: flows.csv}}\n"


def test_a_trace_deploys_the_hosts_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "topology.clab.yml").write_text(two_racks())
    (tmp_path / "lab" / "experiment.yml").write_text(TRACED)
    (tmp_path / "lab" / "flows.csv").write_text(
        "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes\n0,0,h1,h3,1000\n"
    )
    plan = resolve_plan(parse_lab(tmp_path / "lab"), {}, 1)
    hosts = {}
    for stock in (False, True):
        directory = tmp_path / f"run-{stock}"
        directory.mkdir()
        write_inputs(plan, tmp_path / "lab", directory, stock=stock)
        written = json.loads((directory / "machine" / "job.json").read_text())
        hosts[stock] = {entry["node"] for entry in written["traffic"]}
    assert hosts[True] == {"h1", "h3"}
    assert hosts[False] == {node.name for node in plan.nodes if node.role == "host"}, "a host costs the machine nothing"


def test_what_this_engine_cannot_carry_out_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"can't carry out this job: it has weather; --engine vm can"):
        read_job(job(tmp_path / "a", weather=[{"at_ns": 1}]))
    read_job(job(tmp_path / "b", weather=[]))


def test_programs_run_beside_the_traffic_and_have_layers(tmp_path: Path) -> None:
    server = {"name": "redis@s1", "node": "s1", "argv": ["/tools/replay", "program", "--", "redis-server"]}
    nodes = [
        {"name": "h1", "files": "nodes/h1", "layers": ["jars", "packages"]},
        {"name": "s1", "files": "nodes/s1"},
        {"name": "s2", "files": "nodes/s2"},
    ]
    step = {"kind": "daemon", "program": {"name": "namenode@h1", "node": "h1", "argv": ["java"]}}
    run = job(tmp_path / "run", disturbances=[server], nodes=nodes, setup=[step], traffic=[])
    read = read_job(run)
    assert [task.name for task in read.disturbances] == ["redis@s1"] and {"h1", "s1"} <= set(read.files)
    assert program_nodes(read) == {"h1", "s1"}
    binds = program_binds(read, run, {"jars": tmp_path / "j", "packages": tmp_path / "p"})
    places = [bind.removeprefix(f"{run}/") for bind in binds["s1"]]
    assert "output:/job/output" in places and "raw/programs:/job/raw/programs" in places
    assert binds["h1"][len(places) :] == [
        f"{tmp_path}/j:/run/fabriclab/layers/jars:ro",
        f"{tmp_path}/p:/run/fabriclab/layers/packages:ro",
    ]
    assert all((run / place).is_dir() for place in PLACES)


def test_a_job_without_programs_binds_nothing(tmp_path: Path) -> None:
    run = job(tmp_path / "run")
    assert program_binds(read_job(run), run, {}) == {} and not (run / "output").exists()
