"""The parts of the container engine that need no container: topology, job, logs, starvation, command lines."""

from __future__ import annotations

import io
import json
import tarfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_commands import FakeCommands
from language import two_racks
from ruamel.yaml import YAML
from sample_switch_plans import shared_star

from fabriclab.compile.real_time import stall_ns
from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.collect import merge_series
from fabriclab.engine.containers.command import CommandError, run_command
from fabriclab.engine.containers.deployment import Deployment
from fabriclab.engine.containers.docker import Container, exec_argv, pack
from fabriclab.engine.containers.job import Change, Interface, Step, Task, read_job, split_sampler, taking_part
from fabriclab.engine.containers.node import links_batch, node_content
from fabriclab.engine.containers.processes import Process, Processes
from fabriclab.engine.containers.starvation import (
    TIMER_RESOLUTION_NS,
    TOLERANCE,
    Starvation,
    StarvationMeter,
    Waits,
    host_processes,
    read_waits,
    with_samplers,
)
from fabriclab.engine.containers.timeline import Timeline
from fabriclab.engine.containers.topology import deployable, read_containers
from fabriclab.formats.plan.switch import Account, SwitchPort, SwitchQueue
from fabriclab.formats.plan.traffic import RoundsTraffic
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.runs.directory import write_inputs

TOPOLOGY = """name: pair
prefix: ""
topology:
  defaults: {kind: linux, image: default:1}
  kinds:
    linux: {image: 'kind:1', privileged: false, cap-add: [NET_ADMIN, CAP_SYS_ADMIN]}
  groups:
    leaf: {image: 'group:1', binds: ['conf/frr.conf:/etc/frr/frr.conf:ro', '/etc/hosts:/h', 'gone:/x']}
  nodes:
    h1:
    s1: {group: leaf, privileged: true}
    s2: {image: 'own:1', startup-config: conf/frr.conf}
  links:
    - endpoints: ['h1:eth1', 's1:eth1']
"""


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "lab" / "topology.clab.yml"
    (path.parent / "conf").mkdir(parents=True)
    (path.parent / "conf" / "frr.conf").write_text("")
    path.write_text(TOPOLOGY)
    return path


def test_images_and_privileges_are_inherited_as_containerlab_does(topology: Path) -> None:
    h1, s1, s2 = read_containers(topology)
    assert (h1.image, s1.image, s2.image) == ("kind:1", "group:1", "own:1")
    assert (h1.privileged, s1.privileged) == (False, True)
    assert h1.capabilities == {"NET_ADMIN", "SYS_ADMIN"}


def test_a_node_without_an_image_is_named(topology: Path) -> None:
    topology.write_text("name: x\ntopology:\n  nodes:\n    h1: {kind: linux}\n")
    with pytest.raises(EngineError, match=r"no image for h1: write kinds"):
        read_containers(topology)


def test_the_deployed_copy_has_its_own_name_and_absolute_paths(topology: Path) -> None:
    copy = YAML(typ="safe").load(deployable(topology, "fl01234567"))
    assert copy["name"] == "fl01234567" and "prefix" not in copy
    conf = topology.parent.resolve() / "conf" / "frr.conf"
    assert copy["topology"]["groups"]["leaf"]["binds"] == [f"{conf}:/etc/frr/frr.conf:ro", "/etc/hosts:/h", "gone:/x"]
    assert copy["topology"]["nodes"]["s2"]["startup-config"] == str(conf)
    assert copy["topology"]["links"] == [{"endpoints": ["h1:eth1", "s1:eth1"]}]


WIDE = """name: wide
topology:
  nodes:
    h1: {stages: {create: {wait-for: [{node: clock, stage: healthy}]}}}
    h2:
    h3:
    s1: {network-mode: 'container:frame'}
    frame:
    clock:
  links:
    - endpoints: ['h1:eth1', 's1:eth1']
    - {endpoints: ['h2:eth1', 's1:eth2'], mtu: 9100}
    - {type: veth, endpoints: [{node: s1, interface: eth3}, {node: h3, interface: eth1}]}
    - endpoints: ['h2:eth2', 'h3:eth2']
    - {type: host, endpoint: {node: h2, interface: eth3}, host-interface: out}
"""


def test_nodes_that_take_no_part_are_left_out_and_their_links_keep_an_end(topology: Path) -> None:
    topology.write_text(WIDE)
    described = YAML(typ="safe").load(deployable(topology, "fl01234567", nodes={"h1", "s1"}))["topology"]
    assert set(described["nodes"]) == {"h1", "s1", "frame", "clock"}, (
        "with what they wait for, and whose network they use"
    )
    assert described["links"] == [
        {"endpoints": ["h1:eth1", "s1:eth1"]},
        {"endpoints": ["s1:idle1", "s1:eth2"], "mtu": 9100},
        {"type": "veth", "endpoints": [{"node": "s1", "interface": "eth3"}, {"node": "s1", "interface": "idle2"}]},
    ]
    everything = YAML(typ="safe").load(deployable(topology, "fl01234567"))["topology"]
    assert len(everything["nodes"]) == 6 and len(everything["links"]) == 5


BINDS = ["/run/lab/rendezvous:/run/fabriclab/rendezvous"]


@pytest.mark.parametrize(
    ("defaults", "expected"),
    [
        ("", BINDS),
        ("  defaults:\n", BINDS),
        ("  defaults: {kind: linux}\n", BINDS),
        ("  defaults: {binds: ['/etc/hosts:/h']}\n", ["/etc/hosts:/h", *BINDS]),
    ],
)
def test_all_nodes_of_the_deployed_copy_share_a_directory(topology: Path, defaults: str, expected: list[str]) -> None:
    topology.write_text(f"name: x\ntopology:\n{defaults}  nodes:\n    h1: {{kind: linux, binds: ['/etc/own:/own']}}\n")
    described = YAML(typ="safe").load(deployable(topology, "fl01234567", BINDS))["topology"]
    assert described["defaults"]["binds"] == expected
    assert described["nodes"]["h1"]["binds"] == ["/etc/own:/own"]


def test_a_run_directory_that_docker_cannot_mount_is_named(topology: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"a:b: Docker mounts no directory with a colon in its path"):
        Deployment(topology, tmp_path / "a:b")


def test_containerlab_destroys_what_it_deployed_even_after_a_failure(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = FakeCommands(tmp_path / "bin", monkeypatch)
    commands.answer(["docker", "ps"], out="0badcafe\n")
    commands.answer(["containerlab", "deploy"], err="ERROR no luck today\n", status=1)
    (tmp_path / "run" / "machine").mkdir(parents=True)
    with pytest.raises(EngineError, match="no luck today"), Deployment(topology, tmp_path / "run") as deployment:
        deployment.deploy()
    copy = str((tmp_path / "run" / "machine" / "topology.clab.yml").resolve())
    assert not (tmp_path / "run" / "machine" / "rendezvous").exists()
    (deploy,), (destroy,) = commands.calls("containerlab", "deploy"), commands.calls("containerlab", "destroy")
    assert deploy[:4] == ["containerlab", "deploy", "--topo", copy]
    assert destroy[:5] == ["containerlab", "destroy", "--topo", copy, "--cleanup"]
    assert commands.calls("docker", "rm") == [["docker", "rm", "--force", "--volumes", "0badcafe"]]


def test_two_runs_of_a_lab_have_different_names(topology: Path, tmp_path: Path) -> None:
    (tmp_path / "machine").mkdir()
    assert Deployment(topology, tmp_path).name != Deployment(topology, tmp_path).name


def test_a_failing_command_tells_its_words_and_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = FakeCommands(tmp_path / "bin", monkeypatch)
    commands.answer(["docker", "exec"], err="tc: bad rate\n", status=3)
    with pytest.raises(CommandError, match=r"`docker exec h1 tc` ended with status 3:\n  tc: bad rate"):
        run_command(["docker", "exec", "h1", "tc"], timeout_s=60)
    with pytest.raises(CommandError, match="no such program on PATH"):
        run_command(["no-such-program"], timeout_s=60)


def test_words_of_a_command_stay_words() -> None:
    container = Container("h1", "0123", "clab-x-h1")
    assert exec_argv(container, ["echo", "a b; rm c"]) == ["docker", "exec", "--user", "0", "0123", "echo", "a b; rm c"]


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
    empty: dict[str, Any] = {"daemons": [], "traffic": [], "collect": []}
    assert taking_part(empty, SAMPLER | {"interfaces": interfaces}) == {"h1", "s1", "s2"}


def test_a_lab_of_four_senders_has_six_containers(tmp_path: Path) -> None:
    lab = Path(__file__).parents[2] / "labs" / "incast"
    plan = resolve_plan(parse_lab(lab), {"senders": "4"}, 1)
    write_inputs(plan, lab, tmp_path, stock=True)
    files = read_job(tmp_path).files
    senders = {name for traffic in plan.traffic if isinstance(traffic, RoundsTraffic) for name in traffic.senders}
    assert len(senders) == 4 and len(plan.nodes) > 40
    assert set(files) == {*senders, *(node.name for node in plan.nodes if node.role == "switch"), RECEIVER}
    copy = YAML(typ="safe").load(deployable(lab / "topology.clab.yml", "fl01234567", nodes=files))["topology"]
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


def test_a_container_gets_files_and_no_directories(tmp_path: Path) -> None:
    for name in (
        "nodes/h1/root/etc/frr/daemons",
        "nodes/h1/tc.batch",
        "nodes/h1/bridge.batch",
        "traffic/trace.csv",
        "traffic/hosts.csv",
        "tools/replay",
        "tools/sampler",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "tools" / "replay").chmod(0o755)
    content = node_content(
        tmp_path,
        tmp_path / "nodes" / "h1",
        tmp_path / "tools",
        [Interface("eth1", "02:fa:00:00:00:01", 1500)],
        {"a": 1},
    )
    with tarfile.open(fileobj=io.BytesIO(pack(content))) as archive:
        members = {member.name: member for member in archive.getmembers()}
        assert all(member.isfile() and (member.uid, member.gid) == (0, 0) for member in members.values())
        assert members["tools/replay"].mode == 0o755
    assert {
        "etc/frr/daemons",
        "job/nodes/h1/tc.batch",
        "job/nodes/h1/bridge.batch",
        "job/nodes/h1/links.batch",
        "job/traffic/trace.csv",
        "job/machine/sampler.json",
    } <= set(members)


def test_series_are_merged_by_time(tmp_path: Path) -> None:
    head = "# fabriclab-queues-1\ntime_ns,port\n"
    (tmp_path / "a").write_text(f"{head}0,s1\n9,s1\n10,s1\n")
    (tmp_path / "b").write_text(f"{head}0,s2\n10,s2\n11")
    merge_series([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    assert (tmp_path / "all").read_text() == f"{head}0,s1\n0,s2\n9,s1\n10,s1\n10,s2\n"


SOUND = Starvation(3.0, 0.2, 0.01, "replay@h1", 0.0, 900_000, None, None, 20_000, "replay@h2", 512_000)


def test_a_run_with_time_enough_is_sound() -> None:
    assert SOUND.reasons() == [] and SOUND.as_record()["starved"] is False
    silent = Starvation(3.0, None, None, "", 0.0, 0, None, None)
    assert silent.reasons() == []


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("run_queue_delay", 0.08, "8.0% of the time replay@h1"),
        ("timer_late", 0.2, "20.0% of the timers"),
        ("sampler_late", 0.06, "6.0% of the samples"),
        (
            "wait_ns",
            600_000,
            "replay@h2 waited 600 us for a CPU each time that it was ready; the smallest buffer bridges 512 us",
        ),
    ],
)
def test_each_witness_alone_makes_a_run_invalid(field: str, value: float, word: str) -> None:
    starved = Starvation(**{**SOUND.__dict__, field: value})
    (reason,) = starved.reasons()
    assert word in reason and starved.as_record()["starved"] is True


def test_pressure_counts_only_where_nothing_tells_whose_it_is() -> None:
    busy = replace(SOUND, pressure=0.9)
    assert busy.reasons() == [] and busy.as_record()["bounds"]["pressure"] is None, (
        "others may have waited: the lab's own did not"
    )
    (reason,) = replace(busy, run_queue_delay=None).reasons()
    assert "90.0% of the time a process had no CPU" in reason
    assert replace(SOUND, pressure=TOLERANCE, run_queue_delay=None).reasons() == [], (
        "nobody can have waited longer than that"
    )


def test_a_timer_is_late_when_the_smallest_buffer_would_have_drained() -> None:
    assert replace(SOUND, stall_ns=128_000_000).late_ns == 128_000_000
    assert replace(SOUND, stall_ns=512_000).late_ns == replace(SOUND, stall_ns=None).late_ns == TIMER_RESOLUTION_NS


@pytest.mark.parametrize("share", ["run_queue_delay", "timer_late", "sampler_late"])
def test_a_share_up_to_the_tolerance_is_sound(share: str) -> None:
    assert Starvation(**{**SOUND.__dict__, share: TOLERANCE}).reasons() == []
    assert len(Starvation(**{**SOUND.__dict__, share: TOLERANCE + 0.001}).reasons()) == 1


def test_the_worst_sampler_counts() -> None:
    measured = with_samplers(
        SOUND, ["samples 90 late 10 max_late_ns 5\n", "noise\nsamples 50 late 50 max_late_ns 3\n", "died"]
    )
    assert (measured.sampler_late, measured.sampler_latest_ns) == (0.5, 5)
    assert with_samplers(SOUND, []) == SOUND


def fake_proc(directory: Path) -> Path:
    (directory / "pressure").mkdir(parents=True)
    (directory / "pressure" / "cpu").write_text(
        "some avg10=1.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0.00 total=0\n"
    )
    for number, name, group, inner in (
        ("7", "ksoftirqd/0", "/", "7"),
        ("70", "replay", "/docker/0badcafe", "12"),
        ("71", "sh", "/docker/0badcafe", "13"),
    ):
        entry = directory / number
        entry.mkdir()
        (entry / "comm").write_text(name + "\n")
        (entry / "cgroup").write_text(f"0::{group}\n")
        (entry / "status").write_text(f"Name:\t{name}\nNSpid:\t{number}\t{inner}\nThreads:\t1\n")
        (entry / "schedstat").write_text("500 1000 3\n")
    return directory


def test_processes_of_containers_are_found_on_the_host(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path)
    assert host_processes(proc, {("0badcafe", 12): "replay@h1", ("feed", 13): "x"}) == {70: "replay@h1"}
    assert read_waits(proc, 70) == Waits(1000, 3) and read_waits(proc, 999) is None


def test_the_process_that_waited_longest_is_named(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path)
    meter = StarvationMeter(proc)
    meter.begin({70: "replay@h1"})
    (proc / "70" / "schedstat").write_text("500 60000000000 3\n")
    measured = meter.end()
    assert measured.run_queue_process == "replay@h1"
    assert measured.run_queue_delay is not None and measured.run_queue_delay > 1
    assert measured.pressure == 0.0


def test_the_process_that_is_slowest_to_react_is_named_with_its_mean_wait(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path)
    meter = StarvationMeter(proc, stall_ns=512_000)
    meter.begin({70: "replay@h1", 71: "replay@h2"})
    (proc / "70" / "schedstat").write_text("500 9001000 9003\n")
    (proc / "71" / "schedstat").write_text("500 3001000 13\n")
    measured = meter.end()
    assert (measured.run_queue_process, measured.wait_process) == ("replay@h1", "replay@h2"), (
        "9 ms in all, and 300 us each time"
    )
    assert (measured.wait_ns, measured.stall_ns) == (300_000, 512_000)


def test_the_job_of_containers_says_what_pause_its_buffers_bridge(tmp_path: Path) -> None:
    lab = Path(__file__).parents[2] / "labs" / "incast"
    for buffer, rate, bridged_ns in (
        ("64 KB", "1 Gbps", 512_000),
        ("64 KB", "10 Gbps", 51_200),
        ("256 KB", "1 Gbps", 2_048_000),
    ):
        plan = resolve_plan(parse_lab(lab), {"senders": "2", "buffer": buffer, "links.rate": rate}, 1)
        assert stall_ns(plan) == bridged_ns
    write_inputs(plan, lab, tmp_path, stock=True)
    assert read_job(tmp_path).stall_ns == bridged_ns


def test_a_shared_buffer_bridges_what_its_smallest_queue_holds() -> None:
    account = Account(limit_bytes=12_500)
    small = SwitchPort(
        queues=(SwitchQueue(index=0, account=account), SwitchQueue(index=1, account=Account(limit_bytes=99_000)))
    )
    assert stall_ns(shared_star(2, buffer=small)) == 100_000, "12.5 KB at 1 Gbps"


def test_a_process_that_ended_keeps_its_last_figure(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path)
    meter = StarvationMeter(proc)
    meter.begin({70: "replay@h1"})
    (proc / "70" / "schedstat").write_text("500 60000000000 3\n")
    meter.look()
    (proc / "70" / "schedstat").unlink()
    assert (meter.end().run_queue_delay or 0) > 1


class _Waiting(Process):
    """A process of no container: it only remembers."""

    def __init__(self, task: Task, number: int) -> None:
        self.task, self.number, self.halted = task, number, False
        self.told: int | None = None

    def give_epoch(self, epoch_ns: int) -> None:
        self.told = epoch_ns


class _Started(Processes):
    def __init__(self) -> None:
        self.all: list[_Waiting] = []

    def start(self, task: Task, container: Container) -> Process:
        self.all.append(_Waiting(task, 100 + len(self.all)))
        return self.all[-1]

    def await_ready(self, processes: Iterable[Process]) -> None:
        pass


def test_a_node_that_goes_down_loses_its_processes_and_boots_with_its_daemons() -> None:
    steps: tuple[Step, ...] = ()
    changes = (
        Change("dead", 1, steps, None, down=("s1", "h1")),
        Change("back", 2, steps, None, up=("s1", "h1")),
        Change("again", 3, steps, None, down=("s1",)),
    )
    containers = {name: Container(name, name, name) for name in ("s1", "h1", "h2")}
    daemon = _Waiting(Task("zebra@s1", "s1", ("zebra",)), 7)
    traffic = [_Waiting(Task(f"replay@{host}", host, ("replay",)), number) for host, number in (("h1", 8), ("h2", 9))]
    started = _Started()
    timeline = Timeline(changes, containers, lambda event, **more: 0)
    timeline.prepare(started, [daemon], traffic)
    down_s1, down_h1, boot, again = started.all
    # The process numbers: daemons, then traffic. Traffic has time to write its log, daemons have not.
    assert (down_s1.task.argv[4:], down_h1.task.argv[4:], again.task.argv[4:]) == (
        ("7", ""),
        ("", "8"),
        (str(boot.number), ""),
    )
    assert (boot.task.name, boot.task.argv) == ("zebra@s1-back", ("zebra",))
    timeline.begin(time.monotonic_ns())
    timeline._thread.join()
    assert all(process.told for process in started.all) and not timeline.problems
    assert [process.halted for process in (daemon, *traffic, boot)] == [True, True, False, True]
