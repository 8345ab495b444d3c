"""The parts of the container engine that need no container: topology, job, logs, starvation, command lines."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from fake_commands import FakeCommands
from ruamel.yaml import YAML

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.collect import merge_series
from fabriclab.engine.containers.command import CommandError, run_command
from fabriclab.engine.containers.deployment import Deployment
from fabriclab.engine.containers.docker import Container, exec_argv, pack
from fabriclab.engine.containers.job import Interface, read_job, split_sampler
from fabriclab.engine.containers.node import links_batch, node_content
from fabriclab.engine.containers.starvation import Starvation, StarvationMeter, host_processes, read_waited_ns, with_samplers
from fabriclab.engine.containers.topology import deployable, read_containers

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
        "probes": [{"name": "sampler", "node": None, "argv": ["/tools/sampler", "--config", "/job/machine/sampler.json"]}],
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
    "tcp": {"interval_ns": 500, "output": "/job/raw/tcp.csv", "nodes": [{"name": "h1", "netns": "/run/netns/h1"}], "flows": [0, 1]},
}


def test_each_sampled_container_has_a_sampler_of_its_own() -> None:
    split = split_sampler(SAMPLER)
    assert list(split) == ["s1", "s2", "h1"]
    assert [port["name"] for port in split["s1"]["queues"]["ports"]] == ["s1:eth1", "s1:eth2"]
    assert split["h1"]["tcp"] == {"interval_ns": 500, "output": "/job/raw/tcp.csv", "nodes": [{"name": "h1"}], "flows": [0, 1]}
    assert "netns" not in json.dumps(split) and "queues" not in split["h1"]


def test_the_job_gives_interfaces_their_addresses(tmp_path: Path) -> None:
    read = read_job(job(tmp_path))
    assert links_batch(read.interfaces["s1"]) == "link set dev eth7 address 02:fa:00:00:00:02 mtu 9000 up\n"
    assert read.limit_ns == 5 and set(read.samplers) == {"s1", "s2", "h1"}


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
        tmp_path, tmp_path / "nodes" / "h1", tmp_path / "tools", [Interface("eth1", "02:fa:00:00:00:01", 1500)], {"a": 1}
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


SOUND = Starvation(3.0, 0.2, 0.01, "replay@h1", 0.0, 900_000, None, None)


def test_a_run_with_time_enough_is_sound() -> None:
    assert SOUND.reasons() == [] and SOUND.as_record()["starved"] is False
    silent = Starvation(3.0, None, None, "", 0.0, 0, None, None)
    assert silent.reasons() == []


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("pressure", 0.6, "60%"),
        ("run_queue_delay", 0.08, "replay@h1"),
        ("timer_late", 0.2, "20% of the timers"),
        ("sampler_late", 0.5, "50% of the samples"),
    ],
)
def test_each_witness_alone_makes_a_run_invalid(field: str, value: float, word: str) -> None:
    starved = Starvation(**{**SOUND.__dict__, field: value})
    (reason,) = starved.reasons()
    assert word in reason and starved.as_record()["starved"] is True


def test_the_worst_sampler_counts() -> None:
    measured = with_samplers(SOUND, ["samples 90 late 10 max_late_ns 5\n", "noise\nsamples 50 late 50 max_late_ns 3\n", "died"])
    assert (measured.sampler_late, measured.sampler_latest_ns) == (0.5, 5)
    assert with_samplers(SOUND, []) == SOUND


def fake_proc(directory: Path) -> Path:
    (directory / "pressure").mkdir(parents=True)
    (directory / "pressure" / "cpu").write_text("some avg10=1.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0.00 total=0\n")
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
    assert read_waited_ns(proc, 70) == 1000 and read_waited_ns(proc, 999) is None


def test_the_process_that_waited_longest_is_named(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path)
    meter = StarvationMeter(proc)
    meter.begin({70: "replay@h1"})
    (proc / "70" / "schedstat").write_text("500 60000000000 3\n")
    measured = meter.end()
    assert measured.run_queue_process == "replay@h1"
    assert measured.run_queue_delay is not None and measured.run_queue_delay > 1
    assert measured.pressure == 0.0


def test_a_process_that_ended_keeps_its_last_figure(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path)
    meter = StarvationMeter(proc)
    meter.begin({70: "replay@h1"})
    (proc / "70" / "schedstat").write_text("500 60000000000 3\n")
    meter.look()
    (proc / "70" / "schedstat").unlink()
    assert (meter.end().run_queue_delay or 0) > 1
