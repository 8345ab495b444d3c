"""docker-sonic-vs: what each release of it is given before it starts, and how it is seen to start."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fake_commands import FakeCommands

from fabriclab.engine.containers.docker import Container
from fabriclab.vendors.sonic.image import boot
from fabriclab.vendors.sonic.image.boot import Image, examine, not_started, start, uses_frrcfgd
from fabriclab.vendors.sonic.image.files import SonicError, port_lists, stored_text, tables_for_image
from fabriclab.vendors.sonic.image.releases import RELEASES, Release, release_of

LEAF = Container("leaf1", "0badcafe", "clab-x-leaf1")
EXEC = ["docker", "exec", "--user", "0", "0badcafe"]
RELEASE_202511, RELEASE_MASTER = RELEASES[-3], RELEASES[-1]
HWSKU = "/usr/share/sonic/device/x86_64-kvm_x86_64-r0/Force10-S6000"
# Lanes of MSN2700, which are not those of Force10-S6000.
TABLES: dict[str, Any] = {
    "PORT": {
        "Ethernet0": {"lanes": "0,1,2,3", "speed": 40000},
        "Ethernet4": {"lanes": "4,5,6,7", "speed": 40000},
        "Ethernet8": {"lanes": "8,9,10,11", "speed": 40000},
    },
    "BUFFER_PG": {"Ethernet0,Ethernet4|3-4": {"profile": "a"}, "Ethernet8|0": {"profile": "b"}},
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "5m", "Ethernet8": "40m"}},
    "VLAN_MEMBER": {"Vlan1000|Ethernet0": {"tagging_mode": "untagged"}, "Vlan1000|Ethernet4": {}},
    "VLAN_SUB_INTERFACE": {"Ethernet4.10": {"admin_status": "up"}},
    "ACL_TABLE": {"A": {"ports": ["Ethernet0", "Ethernet4"]}, "B": {"ports": "Ethernet0,Ethernet4"}},
    "SYSTEM": {"limits": {"numbers": [1, 2], "on": True}},
    "remark": "no table",
}
PORTS = ["Ethernet0", "Ethernet8"]


def test_ports_without_a_link_are_left_out() -> None:
    """vslib finds no interface behind them: they would be up, and lead nowhere."""
    cut, out = tables_for_image(TABLES, PORTS)
    assert out == ("Ethernet4",)
    assert cut == {
        "PORT": {
            "Ethernet0": {"lanes": "0,1,2,3", "speed": "40000"},
            "Ethernet8": {"lanes": "8,9,10,11", "speed": "40000"},
        },
        "BUFFER_PG": {"Ethernet0|3-4": {"profile": "a"}, "Ethernet8|0": {"profile": "b"}},
        "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet8": "40m"}},
        "VLAN_MEMBER": {"Vlan1000|Ethernet0": {"tagging_mode": "untagged"}},
        "VLAN_SUB_INTERFACE": {},
        "ACL_TABLE": {"A": {"ports": ["Ethernet0"]}, "B": {"ports": "Ethernet0"}},
        "SYSTEM": {"limits": {"numbers": ["1", "2"], "on": "True"}},
    }


def test_numbers_are_the_texts_that_config_db_holds() -> None:
    assert [stored_text(value) for value in (40000, "40000", True, ["a", 1], None)] == [
        *("40000", "40000", "True", "a,1", "None")
    ]


def test_the_lane_map_says_which_link_a_port_s_lanes_are() -> None:
    """By the image's own map for Force10-S6000, lanes 8 to 11 are no one port's."""
    lists = port_lists("leaf1", TABLES, [*PORTS, "PortChannel1"])
    assert lists["lanemap.ini"] == b"eth1:0,1,2,3\neth3:8,9,10,11\n"
    assert lists["port_config.ini"] == b"# name lanes alias\nEthernet0 0,1,2,3 eth1\nEthernet8 8,9,10,11 eth3\n"


@pytest.mark.parametrize(
    ("lanes", "words"),
    [
        (None, "PORT|Ethernet8|lanes is None; SONiC finds the port's link by it"),
        ("1,2,3", "PORT|Ethernet8|lanes: 3 lanes; docker-sonic-vs takes 1, 2, 4 or 8"),
        ("3,4", "PORT|Ethernet8|lanes: lane 3 is also a lane of Ethernet0"),
        ("a", "PORT|Ethernet8|lanes is 'a'"),
    ],
)
def test_lanes_that_no_link_has_are_named(lanes: str | None, words: str) -> None:
    tables = {"PORT": {**TABLES["PORT"], "Ethernet8": {"lanes": lanes}}}
    with pytest.raises(SonicError) as caught:
        port_lists("leaf1", tables, PORTS)
    assert words in str(caught.value) and str(caught.value).startswith("leaf1: ")


@pytest.mark.parametrize(
    ("said", "programs", "name"),
    [
        ("202511 202511 SONiC.202511.7-abc", {"bgpd"}, "202511"),
        ("none 202205 202205.1-abc", {"bgpd"}, "202205"),
        ("none master master.20260823-abc", {"bgpd", "bgpcfgd"}, "master"),
        # What the image has counts: a release that master's image came into, a branch of one's own.
        ("202605 202605", {"bgpd", "bgpcfgd"}, "master"),
        ("none my-branch", {"bgpd"}, "202605"),
        ("", set(), "202605"),
    ],
)
def test_an_image_says_its_release(said: str, programs: set[str], name: str) -> None:
    assert release_of(said, frozenset(programs)).name == name


def test_releases_before_master_have_no_daemon_that_configures_frr() -> None:
    assert [release.name for release in RELEASES if release.bgpcfgd] == ["master"]
    assert {"bgpd", "bgpcfgd"} <= set(RELEASE_MASTER.programs) and "zebra" not in RELEASE_MASTER.by_start_sh
    assert "zebra" in RELEASE_202511.by_start_sh and "bgpd" not in RELEASE_202511.programs


def probed(*lines: str) -> str:
    head = ("release=202511", "branch=202511", "build_version=SONiC.202511.7-abc", f"hwsku={HWSKU}", "program=bgpd")
    return "".join(f"{line}\n" for line in (*head, *lines))


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCommands:
    return FakeCommands(tmp_path / "bin", monkeypatch)


def test_what_an_image_lacks_is_named(commands: FakeCommands) -> None:
    commands.answer([*EXEC, "sh", "-c"], out=probed("lacks=frrcfgd", "lacks=bgpcfgd"))
    assert examine(LEAF).release == RELEASE_202511
    commands.answer([*EXEC, "sh", "-c"], out=probed("lacks=syncd", "lacks=orchagent"))
    with pytest.raises(SonicError, match=r"leaf1: its image of version SONiC\.202511\.7-abc .* lacks syncd, orchagent"):
        examine(LEAF)
    commands.answer([*EXEC, "sh", "-c"], err="no shell\n", status=127)
    with pytest.raises(SonicError, match="leaf1: its image cannot be looked at: no shell"):
        examine(LEAF)


def test_this_machine_is_no_sonic_switch() -> None:
    """The probe itself."""
    script = (Path(boot.__file__).parent / "probe.sh").read_text()
    argv = ["sh", "-c", script, "probe.sh", "sh", "/bin/sh", "no-such-program", "/no/such/file"]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"}).stdout
    lacks = [line.removeprefix("lacks=") for line in said.splitlines() if line.startswith("lacks=")]
    assert lacks[-2:] == ["no-such-program", "/no/such/file"] and "sh" not in lacks and "/bin/sh" not in lacks


def image(release: Release, *lacks: str) -> Image:
    return Image(release, "1", HWSKU, frozenset(lacks))


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> dict[str, Path | bytes]:
    """What is copied into the container, by path."""
    content: dict[str, Path | bytes] = {}
    monkeypatch.setattr(boot, "copy_in", lambda _, files: content.update(files))
    return content


def test_a_switch_gets_its_file_and_is_started(commands: FakeCommands, copied: dict[str, Path | bytes]) -> None:
    routing = {"/etc/frr/bgpd.conf": Path("bgpd.conf")}
    tables = start(LEAF, image(RELEASE_202511), TABLES, PORTS, routing)
    written = copied.pop("/etc/sonic/config_db.json")
    assert isinstance(written, bytes) and json.loads(written) == tables and "Ethernet4" not in tables["PORT"]
    assert copied.items() >= routing.items()
    assert copied[f"{HWSKU}/lanemap.ini.orig"] == copied[f"{HWSKU}/lanemap.ini"] == b"eth1:0,1,2,3\neth3:8,9,10,11\n"
    # The links are made wires before syncd takes them.
    links, started = commands.calls("docker")
    assert links[-3:] == ["links.sh", "eth1", "eth3"] and started[1:3] == ["exec", "--detach"]


@pytest.mark.parametrize("said", ["true", True, "false", None])
def test_master_configures_frr_itself(commands: FakeCommands, copied: dict[str, Path | bytes], said: object) -> None:
    """bgpcfgd runs there; frrcfgd is in the image, but nothing starts it."""
    tables = {**TABLES, "DEVICE_METADATA": {"localhost": {"frr_mgmt_framework_config": said}}}
    start(LEAF, image(RELEASE_MASTER), tables, PORTS, {"/etc/frr/bgpd.conf": Path("no such file")})
    assert "/etc/sonic/config_db.json" in copied and "/etc/frr/bgpd.conf" not in copied
    changed = [call for call in commands.calls(*EXEC) if call[5] == "sed"]
    assert bool(changed) == uses_frrcfgd(tables) == (said in ("true", True))
    if changed:
        with pytest.raises(SonicError, match="lacks frrcfgd"):
            start(LEAF, image(RELEASE_MASTER, "frrcfgd"), tables, PORTS, {})


def supervisor(commands: FakeCommands, **states: str) -> None:
    found = dict.fromkeys((*RELEASE_MASTER.programs, "start.sh"), "RUNNING")
    found |= {name.replace("_", "-"): state for name, state in states.items()}
    listing = "".join(f"{name:<20} {state}   pid 7, uptime 0:00:10\n" for name, state in found.items() if state)
    commands.answer([*EXEC, "sh", "-c", "supervisorctl status || true"], out=listing)


def test_a_switch_that_starts_is_waited_for(commands: FakeCommands) -> None:
    commands.answer([*EXEC, "sh", "-c"], out="unix:///var/run/supervisor.sock no such file\n")
    assert not_started(LEAF, RELEASE_202511) == ["supervisord does not answer"]
    supervisor(commands, zebra="STOPPED", orchagent="STARTING")
    assert not_started(LEAF, RELEASE_202511) == ["orchagent is starting", "zebra is stopped"]
    supervisor(commands, **{"start.sh": "EXITED"})
    assert not_started(LEAF, RELEASE_202511) == []
    # master starts these when start.sh has ended.
    supervisor(commands, zebra="STOPPED", bgpcfgd="STOPPED", **{"start.sh": "EXITED"})
    assert not_started(LEAF, RELEASE_MASTER) == ["zebra is stopped", "bgpcfgd is stopped"]


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ({"orchagent": "EXITED"}, "orchagent is EXITED"),
        ({"syncd": "FATAL", "orchagent": "STOPPED"}, "syncd is FATAL"),
        ({"buffermgrd": ""}, "supervisord has no buffermgrd"),
        (
            {"start.sh": "EXITED", "redis_server": "STOPPED", "zebra": "STOPPED"},
            "start.sh ended before it started redis-server, zebra",
        ),
    ],
)
def test_a_switch_that_never_will_is_an_error_at_once(
    commands: FakeCommands, states: dict[str, str], words: str
) -> None:
    commands.answer([*EXEC, "sh", "-c", boot._LOG], out="Nov 23 leaf1 ERR #orchagent: no interface\n")
    supervisor(commands, **states)
    with pytest.raises(SonicError) as caught:
        not_started(LEAF, RELEASE_202511)
    assert str(caught.value) == (f"leaf1: SONiC did not start: {words}\n  Nov 23 leaf1 ERR #orchagent: no interface")
    commands.answer([*EXEC, "sh", "-c", boot._LOG], status=1)
    with pytest.raises(SonicError, match=words):
        not_started(LEAF, RELEASE_202511)
