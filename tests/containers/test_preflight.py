"""What this host lacks is named before anything is deployed, each with its cure, all in one go.

Docker and Containerlab are stand-ins.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_commands import FakeCommands

from fabriclab.engine.containers import preflight
from fabriclab.engine.containers.needs import congestion_controls_of, qdiscs_of
from fabriclab.engine.containers.preflight import UnfitHostError, check_host
from fabriclab.engine.containers.topology import NodeContainer
from fabriclab.qdiscs import STOCK

TC = """qdisc add dev eth1 root handle 1: tbf rate 1000000000bit burst 1514 limit 64000 overhead 24 mpu 84
qdisc add dev eth1 parent 1:1 handle 2: netem limit 1000000 delay 25000ns
qdisc add dev eth1 parent 2:1 handle 3: red limit 64000 min 30000 max 30001 probability 1
"""
HOST = NodeContainer("h1", "fabriclab/host:latest", privileged=True, capabilities=frozenset())
BARE = NodeContainer("h2", "alpine:3", privileged=False, capabilities=frozenset({"NET_ADMIN", "NET_RAW", "SYS_ADMIN"}))


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that say which congestion controls the host's kernel has."""
    sysctls = tmp_path / "ipv4"
    sysctls.mkdir()
    for kind in ("available", "allowed"):
        (sysctls / f"tcp_{kind}_congestion_control").write_text("reno cubic\n")
    monkeypatch.setattr(preflight, "_SYSCTLS", sysctls)
    monkeypatch.setattr(preflight, "_LABELS", tmp_path / "mpls")
    return sysctls


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCommands:
    return FakeCommands(tmp_path / "bin", monkeypatch)


def check(*containers: NodeContainer, congestion: str = "cubic") -> None:
    check_host(containers, [f"net.ipv4.tcp_congestion_control = {name}\n" for name in congestion.split()], [TC])


def problems(*containers: NodeContainer, congestion: str = "cubic") -> list[str]:
    with pytest.raises(UnfitHostError) as caught:
        check(*(containers or (HOST,)), congestion=congestion)
    assert all(problem in str(caught.value) for problem in caught.value.problems)
    return list(caught.value.problems)


def test_a_host_that_has_everything_passes_and_is_tried_with_the_labs_own_rights(
    kernel: Path, commands: FakeCommands
) -> None:
    check(BARE, HOST)
    (trial,) = commands.calls("docker", "run")
    assert "--privileged" in trial and trial[-4:] == [HOST.image, "-force", "-batch", "-"]
    assert trial[trial.index("--network") + 1] == "none"
    assert not commands.calls("containerlab")


def test_what_the_lab_asks_of_the_kernel_is_read_from_the_node_files() -> None:
    assert qdiscs_of([TC, "# a comment\nfilter add dev eth1 matchall\n", TC]) == ["tbf", "netem", "red"]
    assert set(qdiscs_of([TC])) <= set(STOCK)
    assert congestion_controls_of(["net.ipv4.tcp_congestion_control = dctcp\n", "net.ipv4.tcp_ecn = 1\n"]) == ["dctcp"]


def test_qdiscs_that_the_kernel_lacks(kernel: Path, commands: FakeCommands) -> None:
    said = (
        "Error: Specified qdisc kind is unknown.\nCommand failed -:2\nError: "
        "Specified qdisc kind is unknown.\nCommand failed -:3\n"
    )
    commands.answer(["docker", "run"], err=said, status=1)
    netem, red = problems()
    assert "discipline netem" in netem and ("modprobe sch_netem" in netem or "CONFIG_NET_SCH_NETEM" in netem)
    assert "discipline red" in red


CLASSES = """qdisc add dev eth1 root handle 1: tbf rate 1000000000bit burst 1514 limit 64000
qdisc add dev eth1 parent 1:1 handle 3: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
filter add dev eth1 parent 3: protocol ip prio 1 u32 match ip dsfield 0x60 0xe0 flowid 3:1
"""


@pytest.mark.parametrize(
    ("failed", "missing"),
    [
        ((3,), ["can't classify with u32"]),
        ((2, 3), ["discipline prio"]),
        ((1, 3), ["discipline tbf", "can't classify with u32"]),
    ],
)
def test_a_classifier_that_the_kernel_lacks(
    kernel: Path, commands: FakeCommands, failed: tuple[int, ...], missing: list[str]
) -> None:
    said = "".join(f"Error: Specified kind is unknown.\nCommand failed -:{line}\n" for line in failed)
    commands.answer(["docker", "run"], err=said, status=1)
    with pytest.raises(UnfitHostError) as caught:
        check_host([HOST], [], [CLASSES])
    assert [word in problem for word, problem in zip(missing, caught.value.problems, strict=True)] == [True] * len(
        missing
    )


def test_every_discipline_is_tried_under_a_handle_of_its_own(kernel: Path, commands: FakeCommands) -> None:
    """Under a handle that there is the kernel refuses another kind, whether it has it or not."""
    check_host([HOST], [], [TC, CLASSES])
    tried = [line.split() for line in commands.last_input().splitlines()]
    disciplines = {
        words[words.index("handle") + 2]: words[words.index("handle") + 1] for words in tried if words[0] == "qdisc"
    }
    assert list(disciplines) == ["tbf", "netem", "red", "prio"]
    assert len(set(disciplines.values())) == len(disciplines)
    assert [words[words.index("parent") + 1] for words in tried if words[0] == "filter"] == [disciplines["prio"]]


def test_a_kernel_that_routes_no_labels(kernel: Path, commands: FakeCommands) -> None:
    check_host([HOST], [], [TC])
    with pytest.raises(UnfitHostError) as caught:
        check_host([HOST], [], [TC], labels=True)
    (problem,) = caught.value.problems
    assert "modprobe mpls_router mpls_iptunnel" in problem or "CONFIG_MPLS_ROUTING" in problem
    (kernel.parent / "mpls").mkdir()
    check_host([HOST], [], [TC], labels=True)


def test_devices_that_the_kernel_lacks(kernel: Path, commands: FakeCommands) -> None:
    commands.answer(["docker", "run"], err="Error: Unknown device type.\nCommand failed -:1\n", status=1)
    with pytest.raises(UnfitHostError) as caught:
        check_host(
            [HOST],
            [],
            [],
            ["link add name PortChannel1 mtu 1500 type bond miimon 10\nlink add name Vlan1 type bridge stp_state 0\n"],
        )
    assert [problem for problem in caught.value.problems if "devices of kind bond:" in problem]
    assert not [problem for problem in caught.value.problems if "devices of kind bridge" in problem]
    assert commands.last_input() == "link add name trial0 type bond\nlink add name trial1 type bridge\n"


def test_congestion_controls(kernel: Path, commands: FakeCommands) -> None:
    (kernel / "tcp_allowed_congestion_control").write_text("reno\n")
    missing, refused = problems(congestion="cubic dctcp")
    assert "not loaded congestion control dctcp" in missing
    assert "sysctl -w net.ipv4.tcp_allowed_congestion_control='reno cubic'" in refused


def test_images_that_are_not_there(kernel: Path, commands: FakeCommands) -> None:
    commands.answer(["docker", "image", "ls"], out="")
    ours, theirs = problems(HOST, BARE)
    assert ours == "there is no image fabriclab/host:latest: make images"
    assert theirs == "there is no image alpine:3: docker pull alpine:3"
    assert not commands.calls("docker", "run"), "there is nothing to try it in"


def test_rights_that_a_container_lacks(kernel: Path, commands: FakeCommands) -> None:
    bare = NodeContainer("h3", "alpine:3", privileged=False, capabilities=frozenset({"NET_ADMIN"}))
    (problem,) = problems(bare)
    assert "h3 is not privileged and lacks NET_RAW, SYS_ADMIN" in problem and "cap-add" in problem


def test_docker_that_can_make_no_privileged_container(kernel: Path, commands: FakeCommands) -> None:
    commands.answer(["docker", "run"], err="Error: Specified qdisc kind is unknown.\nCommand failed -:2\n", status=1)
    words = ["docker", "run", "--rm", "--interactive", "--network", "none", "--user", "0", "--privileged"]
    commands.answer(
        words,
        err="docker: Error response from daemon: caps: operation not permitted\nRun 'docker run --help'\n",
        status=125,
    )
    rights, netem = problems()
    assert "operation not permitted; write below its kind in topology.clab.yml: privileged: false" in rights
    assert "discipline netem" in netem, "what else is missing is said all the same"


@pytest.mark.parametrize(
    ("said", "cure"),
    [
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "systemctl start docker",
        ),
        ("permission denied while trying to connect to the Docker daemon socket", "usermod -aG docker"),
    ],
)
def test_docker_that_does_not_answer(kernel: Path, commands: FakeCommands, said: str, cure: str) -> None:
    commands.answer(["docker", "version"], err=said, status=1)
    (problem,) = problems()
    assert cure in problem


def test_everything_at_once(tmp_path: Path, kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (kernel / "tcp_available_congestion_control").write_text("reno\n")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    docker, containerlab, cubic = problems()
    assert "apt-get install docker.io" in docker
    assert "containerlab.dev/install" in containerlab
    assert "not loaded congestion control cubic" in cubic


def test_what_nearly_every_lab_needs_is_looked_at_as_before_a_run(kernel: Path, commands: FakeCommands) -> None:
    commands.answer(["docker", "image", "ls"], out="")
    found = preflight.general_problems()
    assert any("the host's kernel has not loaded congestion control dctcp" in problem for problem in found)
    assert sum("there is no image fabriclab/" in problem for problem in found) == 2
    commands.answer(
        ["docker", "version"], err="Cannot connect to the Docker daemon. Is the docker daemon running?", status=1
    )
    assert any("the Docker daemon does not run" in problem for problem in preflight.general_problems())
