"""The parts of the container engine that need no container: the deployed copy of a topology, commands, files,
series, nodes that go down."""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from fake_commands import FakeCommands
from ruamel.yaml import YAML

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers import docker
from fabriclab.engine.containers.collect import await_docker, merge_series
from fabriclab.engine.containers.command import CommandError, run_command
from fabriclab.engine.containers.deployment import Deployment
from fabriclab.engine.containers.docker import Container, exec_argv, pack
from fabriclab.engine.containers.job import Change, Interface, Step, Task
from fabriclab.engine.containers.node import node_content
from fabriclab.engine.containers.processes import Process, Processes
from fabriclab.engine.containers.timeline import Timeline
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
    with pytest.raises(EngineError, match=r"h1 has no image; write kinds"):
        read_containers(topology)


def test_the_deployed_copy_has_its_own_name_and_absolute_paths(topology: Path) -> None:
    copy = YAML(typ="safe", pure=True).load(deployable(topology, "fl01234567"))
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
    described = YAML(typ="safe", pure=True).load(deployable(topology, "fl01234567", nodes={"h1", "s1"}))["topology"]
    assert set(described["nodes"]) == {"h1", "s1", "frame", "clock"}, (
        "with what they wait for, and whose network they use"
    )
    assert described["links"] == [
        {"endpoints": ["h1:eth1", "s1:eth1"]},
        {"endpoints": ["s1:idle1", "s1:eth2"], "mtu": 9100},
        {"type": "veth", "endpoints": [{"node": "s1", "interface": "eth3"}, {"node": "s1", "interface": "idle2"}]},
    ]
    everything = YAML(typ="safe", pure=True).load(deployable(topology, "fl01234567"))["topology"]
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
    described = YAML(typ="safe", pure=True).load(deployable(topology, "fl01234567", BINDS))["topology"]
    assert described["defaults"]["binds"] == expected
    assert described["nodes"]["h1"]["binds"] == ["/etc/own:/own"]


def test_single_nodes_of_the_deployed_copy_have_binds_of_their_own(topology: Path) -> None:
    topology.write_text(
        "name: x\ntopology:\n  nodes:\n    h1: {binds: ['/etc/own:/own']}\n    h2:\n      kind: linux\n"
    )
    own = {"h1": ["/runs/output:/job/output"], "h2": ["/runs/output:/job/output"], "left-out": ["/a:/b"]}
    nodes = YAML(typ="safe", pure=True).load(deployable(topology, "fl01234567", own_binds=own))["topology"]["nodes"]
    assert nodes["h1"]["binds"] == ["/etc/own:/own", "/runs/output:/job/output"]
    assert nodes["h2"]["binds"] == ["/runs/output:/job/output"]


def test_a_run_directory_that_docker_cannot_mount_is_named(topology: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"a:b: Docker can't mount a directory with a colon in its path"):
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


def test_a_daemon_that_ended_and_stays_away_is_told_with_the_line_that_tidies_up(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = FakeCommands(tmp_path / "bin", monkeypatch)
    monkeypatch.setattr(docker, "_RETURN_S", 0.0)
    monkeypatch.setattr(docker, "_ASK_AGAIN_S", 0.0)
    (tmp_path / "run" / "machine").mkdir(parents=True)
    with (
        pytest.raises(EngineError, match=r"did not come back.*docker ps .*label=containerlab=fl.*docker rm -f"),
        Deployment(topology, tmp_path / "run"),
    ):
        commands.answer(["docker", "version"], err="Cannot connect to the Docker daemon\n", status=1)
        assert await_docker([]) == [
            "the Docker daemon ended while the lab ran, and all containers with it; the daemon did not come back"
        ]
    assert not commands.calls("containerlab", "destroy"), "it can't do anything either"


def test_a_daemon_that_is_back_already_is_told_by_what_it_forgot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeCommands(tmp_path / "bin", monkeypatch)
    assert await_docker(["replay@h1 ended with exit 2: no such file"]) == []
    lost = "replay@h1 ended with exit 1: Error response from daemon: No such exec instance: 8ed2"
    assert await_docker([lost]) == ["the Docker daemon ended while the lab ran, and was started again"]


def test_two_runs_of_a_lab_have_different_names(topology: Path, tmp_path: Path) -> None:
    (tmp_path / "machine").mkdir()
    assert Deployment(topology, tmp_path).name != Deployment(topology, tmp_path).name


def test_a_failing_command_tells_its_words_and_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = FakeCommands(tmp_path / "bin", monkeypatch)
    commands.answer(["docker", "exec"], err="tc: bad rate\n", status=3)
    with pytest.raises(CommandError, match=r"`docker exec h1 tc` ended with status 3:\n  tc: bad rate"):
        run_command(["docker", "exec", "h1", "tc"], timeout_s=60)
    with pytest.raises(CommandError, match="the program is not on PATH"):
        run_command(["no-such-program"], timeout_s=60)


def test_words_of_a_command_stay_words() -> None:
    container = Container("h1", "0123", "clab-x-h1")
    assert exec_argv(container, ["echo", "a b; rm c"]) == ["docker", "exec", "--user", "0", "0123", "echo", "a b; rm c"]


def test_a_container_gets_files_and_no_directories(tmp_path: Path) -> None:
    for name in (
        "nodes/h1/root/etc/frr/daemons",
        "nodes/h1/tc.batch",
        "nodes/h1/bridge.batch",
        "traffic/trace.csv",
        "traffic/hosts.csv",
        "tools/replay",
        "tools/sampler",
        "tools/gauge",
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
