"""A SONiC node in the container engine, with stand-ins for Docker:
its databases and kernel against its config_db.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_commands import FakeCommands
from ruamel.yaml import YAML

from fabriclab.api.host_report import _image
from fabriclab.engine.containers.deployment import Deployment
from fabriclab.engine.containers.docker import Container
from fabriclab.engine.containers.job import Interface, Job
from fabriclab.engine.containers.node import NodeError
from fabriclab.engine.containers.preflight import UnfitHostError, check_host
from fabriclab.engine.containers.topology import deployable, read_containers
from fabriclab.engine.interrupt import Interrupt
from fabriclab.registry.vendors import SONIC_VS
from fabriclab.vendors.sonic import container as sonic
from fabriclab.vendors.sonic.container import (
    await_databases,
    devices,
    missing_in_appl_db,
    missing_in_config_db,
    read_config,
    routing_files,
    start_routing,
    static_routes,
    wrong_in_kernel,
)
from fabriclab.vendors.sonic.image.files import SonicError, link_of_port
from fabriclab.vendors.sonic.image.releases import RELEASES

BEFORE_MASTER, MASTER = RELEASES[-2:]
TABLES: dict[str, Any] = {
    "PORT": {"Ethernet0": {"speed": 40000, "mtu": "9100", "lanes": "1"}},
    "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}},
    "BUFFER_POOL": {"egress": {"size": "1000", "mode": "dynamic"}},
    "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}},
    "NTP": {"global": {"servers": ["a", "b"]}},
}
CONFIG_DB = {
    "PORT|Ethernet0": {"speed": "40000", "mtu": "9100", "lanes": "1"},
    "INTERFACE|Ethernet0": {"NULL": "NULL"},
    "INTERFACE|Ethernet0|10.0.0.0/31": {"NULL": "NULL"},
    "BUFFER_POOL|egress": {"size": "1000", "mode": "dynamic"},
    "PORT_QOS_MAP|Ethernet0": {"pfc_enable": "3,4"},
    "NTP|global": {"servers@": "a,b"},
}
APPL_DB: dict[str, dict[str, str]] = {
    "PORT_TABLE:PortInitDone": {"lanes": "0"},
    "PORT_TABLE:Ethernet0": {},
    "INTF_TABLE:Ethernet0:10.0.0.0/31": {},
    "BUFFER_POOL_TABLE:egress": {},
}
LINKS: list[dict[str, Any]] = [
    {"ifname": "lo", "flags": ["UP"]},
    {"ifname": "eth1", "flags": ["NOARP", "PROMISC", "UP"]},
    {
        "ifname": "Ethernet0",
        "mtu": 9100,
        "flags": ["UP", "LOWER_UP"],
        "addr_info": [{"local": "10.0.0.0", "prefixlen": 31}],
    },
]
INTERFACE = Interface("Ethernet0", "02:fa:00:00:00:01", 9100)
LEAF = Container("leaf1", "0badcafe", "clab-x-leaf1")
HWSKU = "/usr/share/sonic/device/x/y"
PROBED = f"release=202511\nbranch=202511\nbuild_version=202511.7-a\nhwsku={HWSKU}\nprogram=bgpd\n"
EXEC = ["docker", "exec", "--user", "0", "0badcafe"]


def test_config_db_holds_the_file() -> None:
    assert missing_in_config_db(TABLES, CONFIG_DB) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"BUFFER_POOL|egress": None}, "CONFIG_DB: BUFFER_POOL|egress is missing"),
        (
            {"PORT|Ethernet0": {"speed": "40000", "lanes": "1"}},
            "CONFIG_DB: PORT|Ethernet0|mtu is missing, the file has '9100'",
        ),
        (
            {"PORT_QOS_MAP|Ethernet0": {"pfc_enable": "3"}},
            "CONFIG_DB: PORT_QOS_MAP|Ethernet0|pfc_enable is '3', the file has '3,4'",
        ),
        ({"NTP|global": {"servers@": "a"}}, "CONFIG_DB: NTP|global|servers is 'a', the file has 'a,b'"),
    ],
)
def test_what_config_db_lacks_is_named(changed: dict[str, Any], words: str) -> None:
    database = {key: value for key, value in {**CONFIG_DB, **changed}.items() if value is not None}
    assert missing_in_config_db(TABLES, database) == [words]


def test_what_the_managers_have_not_made_is_named() -> None:
    assert missing_in_appl_db(TABLES, ["Ethernet0"], APPL_DB) == []
    for key in APPL_DB:
        without = {other: fields for other, fields in APPL_DB.items() if other != key}
        assert missing_in_appl_db(TABLES, ["Ethernet0"], without) == [f"APPL_DB: {key} is missing"]
    # What of the file is not in the lab is not waited for.
    assert missing_in_appl_db({"INTERFACE": {"Ethernet4|10.0.0.2/31": {}}}, ["Ethernet0"], APPL_DB) == []


def test_the_kernel_is_compared_with_the_file() -> None:
    assert wrong_in_kernel(TABLES, [INTERFACE], LINKS) == []
    bare = [{"ifname": "Ethernet0", "mtu": 1500, "flags": [], "addr_info": []}]
    assert wrong_in_kernel(TABLES, [INTERFACE], bare) == [
        "Ethernet0: the address 10.0.0.0/31 is missing",
        "Ethernet0: the MTU is 1500, and 9100 in the lab",
        "Ethernet0: it is down (PORT|Ethernet0|admin_status)",
        "Ethernet0: syncd has not taken eth1 for it (its lanes in lanemap.ini)",
    ]
    assert wrong_in_kernel(TABLES, [INTERFACE], LINKS[:1]) == ["Ethernet0: there is no such interface (syncd makes it)"]


def test_frames_pass_the_tap_and_containerlabs_interface() -> None:
    assert [link_of_port(port) for port in ("Ethernet0", "Ethernet4", "Ethernet124", "Ethernet1", "eth1")] == [
        *("eth1", "eth2", "eth32", None, None),
    ]
    assert devices([INTERFACE, Interface("Ethernet4", "02:fa:00:00:00:02", 9100)]) == [
        "Ethernet0",
        "Ethernet4",
        "eth1",
        "eth2",
    ]


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCommands:
    monkeypatch.setattr(sonic, "_INTERVAL_S", 0.0)
    return FakeCommands(tmp_path / "bin", monkeypatch)


def said_by_supervisor(commands: FakeCommands, **states: str) -> None:
    """Answer `supervisorctl status`: all that a switch needs runs, but what is said."""
    found = dict.fromkeys((*MASTER.programs, "start.sh"), "RUNNING") | states
    lines = [f"{name:<20} {state:<9} pid 12, uptime 0:00:10\n" for name, state in found.items() if state]
    commands.answer([*EXEC, "sh", "-c", "supervisorctl status || true"], out="".join(lines))


def redis(commands: FakeCommands, number: int, database: dict[str, dict[str, str]]) -> None:
    flat = {key: [word for pair in fields.items() for word in pair] for key, fields in database.items()}
    commands.answer([*EXEC, "redis-cli", "-n", str(number)], out=json.dumps(flat) + "\n")


def answer_well(commands: FakeCommands) -> None:
    redis(commands, 4, CONFIG_DB)
    redis(commands, 0, APPL_DB)
    commands.answer([*EXEC, "ip", "-j", "address", "show"], out=json.dumps(LINKS))
    commands.answer([*EXEC, "sh", "-c"], out=PROBED)
    said_by_supervisor(commands)


def test_databases_that_hold_the_file_are_waited_for_no_longer(commands: FakeCommands) -> None:
    answer_well(commands)
    await_databases(LEAF, BEFORE_MASTER, TABLES, ["Ethernet0"], Interrupt())
    asked = [call[call.index("-n") + 1] for call in commands.calls(*EXEC, "redis-cli")]
    assert asked == ["4", "0"]


@pytest.mark.parametrize(
    ("number", "words"),
    [(4, "CONFIG_DB: PORT|Ethernet0 is missing"), (0, "APPL_DB: PORT_TABLE:PortInitDone is missing")],
)
def test_databases_that_never_hold_it_are_an_error(
    commands: FakeCommands, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    monkeypatch.setattr(sonic, "_PATIENCE_S", 0.0)
    answer_well(commands)
    redis(commands, number, {})
    with pytest.raises(SonicError) as caught:
        await_databases(LEAF, BEFORE_MASTER, TABLES, ["Ethernet0"], Interrupt())
    assert str(caught.value).startswith("leaf1: SONiC does not have what its config_db.json says") and words in str(
        caught.value
    )


def test_a_database_that_does_not_answer_is_named(commands: FakeCommands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sonic, "_PATIENCE_S", 0.0)
    answer_well(commands)
    commands.answer([*EXEC, "redis-cli"], err="Could not connect to Redis\n", status=1)
    with pytest.raises(SonicError, match="its databases do not answer: Could not connect to Redis"):
        await_databases(LEAF, BEFORE_MASTER, TABLES, ["Ethernet0"], Interrupt())
    commands.answer([*EXEC, "redis-cli"], out="ERR unknown command\n")
    with pytest.raises(SonicError, match="redis-cli -n 4 answers 'ERR unknown command'"):
        await_databases(LEAF, BEFORE_MASTER, TABLES, ["Ethernet0"], Interrupt())


def test_an_interrupt_ends_the_wait(commands: FakeCommands) -> None:
    interrupt = Interrupt()
    interrupt.request()
    await_databases(LEAF, BEFORE_MASTER, TABLES, ["Ethernet0"], interrupt)
    assert commands.calls("docker", "exec") == []


@pytest.fixture
def run(tmp_path: Path) -> tuple[Job, Path, Path, Path]:
    """A job with one node, its run directory, the tools, and the node's configuration."""
    directory, tools, config = tmp_path / "run", tmp_path / "tools", tmp_path / "leaf1.json"
    files = {
        directory / "nodes" / "leaf1": (
            "sysctl.conf",
            "ip.batch",
            "bridge.batch",
            "tc.batch",
            "root/etc/frr/bgpd.conf",
            "root/etc/frr/zebra.conf",
        ),
        directory / "traffic": ("trace.csv", "hosts.csv"),
        tools: ("replay", "sampler", "gauge"),
    }
    for place, names in files.items():
        for name in names:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(name)
    config.write_text(json.dumps(TABLES))
    job = Job(10**9, {"leaf1": "nodes/leaf1"}, {"leaf1": [INTERFACE]}, (), (), (), {}, None, ())
    return job, directory, tools, config


def test_a_node_gets_traffic_control_and_nothing_that_sonic_does_itself(
    commands: FakeCommands, run: tuple[Job, Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, directory, tools, config = run
    answer_well(commands)
    copied: dict[str, Path | bytes] = {}
    monkeypatch.setattr(sonic, "copy_in", lambda _, content: copied.update(content))
    sonic.prepare(LEAF, config, job, directory, tools, Interrupt())
    assert {path.rpartition("/")[2] for path in copied} >= {"tc.batch", "sampler", "configure.sh"}
    assert not [
        path
        for path in copied
        if path.endswith(("sysctl.conf", "ip.batch", "bridge.batch")) or path.startswith("/etc/")
    ]
    assert copied["/job/nodes/leaf1/links.batch"] == b"link set dev Ethernet0 address 02:fa:00:00:00:01\n"
    configured = commands.calls(*EXEC, "sh")[-1]
    assert configured[len(EXEC) :] == ["sh", "/job/configure.sh", "/job/nodes/leaf1", "Ethernet0", "eth1"]
    # What the image is, its links, its programs, then the databases, and the kernel last.
    assert [call[5] for call in commands.calls(*EXEC)] == [
        *("sh", "sh", "sh", "redis-cli", "redis-cli", "supervisorctl", "sh", "ip")
    ]
    assert commands.calls("docker", "exec", "--detach") == [
        ["docker", "exec", "--detach", "--user", "0", "0badcafe", "supervisord"]
    ]


def test_a_node_that_refuses_is_named(commands: FakeCommands, run: tuple[Job, Path, Path, Path]) -> None:
    job, directory, tools, config = run
    answer_well(commands)
    commands.answer(
        [*EXEC, "sh", "/job/configure.sh"], err="switching the offloads of Ethernet0 off (ethtool) failed\n", status=1
    )
    with pytest.raises(NodeError, match="configure leaf1: switching the offloads of Ethernet0 off"):
        sonic.prepare(LEAF, config, job, directory, tools, Interrupt())
    commands.answer([*EXEC, "sh", "/job/configure.sh"])
    commands.answer([*EXEC, "ip", "-j", "address", "show"], out="[]")
    with pytest.raises(SonicError, match="leaf1: the kernel does not have what") as caught:
        sonic.prepare(LEAF, config, job, directory, tools, Interrupt())
    assert "Ethernet0: there is no such interface" in str(caught.value)


def test_what_an_image_without_bgpcfgd_is_given_of_the_plan(run: tuple[Job, Path, Path, Path]) -> None:
    files = run[1] / "nodes" / "leaf1"
    assert routing_files(files) == {"/etc/frr/bgpd.conf": files / "root/etc/frr/bgpd.conf"}
    (files / "ip.batch").write_text("address add 10.0.0.0/31 dev Ethernet0\nroute add 10.1.0.0/16 via 10.0.0.1\n")
    assert static_routes(files) == "route add 10.1.0.0/16 via 10.0.0.1\n"


def test_daemons_that_the_image_does_not_start(commands: FakeCommands, run: tuple[Job, Path, Path, Path]) -> None:
    files = run[1] / "nodes" / "leaf1"
    start_routing(LEAF, MASTER, files)
    assert commands.calls(*EXEC) == []
    (files / "root/etc/frr/bfdd.conf").write_text("")
    start_routing(LEAF, BEFORE_MASTER, files)
    assert [call[len(EXEC) :] for call in commands.calls(*EXEC)] == [
        ["/usr/lib/frr/bfdd", "-A", "127.0.0.1", "-d"],
        ["supervisorctl", "start", "bgpd"],
    ]


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_a_configuration_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "leaf1.json").write_text(text)
    with pytest.raises(SonicError, match=r"leaf1\.json"):
        read_config(tmp_path / "leaf1.json")


TOPOLOGY = """name: x
topology:
  kinds: {sonic-vs: {image: 'docker-sonic-vs:202511'}}
  nodes:
    leaf1: {kind: sonic-vs, binds: ['leaf1.json:/etc/sonic/config_db.json', 'other:/x']}
    h1: {kind: linux, image: 'fabriclab/host:latest', binds: ['leaf1.json:/etc/sonic/config_db.json']}
"""


def test_the_configuration_is_not_bound(tmp_path: Path, commands: FakeCommands) -> None:
    """start.sh moves a file onto where it would be; and Containerlab would start SONiC before it is there."""
    (tmp_path / "topology.clab.yml").write_text(TOPOLOGY)
    leaf, host = read_containers(tmp_path / "topology.clab.yml")
    assert (leaf.kind, leaf.config, host.config) == ("sonic-vs", tmp_path.resolve() / "leaf1.json", None)
    nodes = YAML(typ="safe", pure=True).load(deployable(tmp_path / "topology.clab.yml", "fl1"))["topology"]["nodes"]
    assert nodes["leaf1"]["binds"] == ["other:/x"]
    (tmp_path / "run" / "machine").mkdir(parents=True)
    assert "--skip-post-deploy" in Deployment(tmp_path / "topology.clab.yml", tmp_path / "run").deploy_argv()


def test_where_the_image_comes_from_is_said(tmp_path: Path, commands: FakeCommands) -> None:
    (tmp_path / "topology.clab.yml").write_text(TOPOLOGY)
    commands.answer(["docker", "image", "ls", "--quiet", "--no-trunc", "docker-sonic-vs:202511"], out="")
    with pytest.raises(UnfitHostError) as caught:
        check_host(read_containers(tmp_path / "topology.clab.yml"), [], [])
    assert "there is no image docker-sonic-vs:202511, and no registry has it: images/sonic/README.md" in str(
        caught.value
    )


def test_doctor_says_whether_the_image_is_there(commands: FakeCommands) -> None:
    assert _image(SONIC_VS).state == "sha256:0123"
    commands.answer(["docker", "image", "ls"], out="")
    assert (
        "no such image" in _image(SONIC_VS).state
        and _image(SONIC_VS).remedy == "images/sonic/README.md"
        and not _image(SONIC_VS).needed
    )
