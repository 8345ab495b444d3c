"""Links of type dummy: devices of a node that lead nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from outside_files import containerlab_schema

from fabriclab.api.look import node_files, plan
from fabriclab.formats.plan import plan_json
from fabriclab.lab import LabError
from fabriclab.lab.network import containerlab
from fabriclab.lab.network.read import read_one_topology

TOPOLOGY = """name: dummy
topology:
  defaults: {kind: linux, image: alpine}
  nodes:
    x1: {exec: [ip addr add 192.0.2.1/25 dev eth1, ip addr add 198.51.100.1/24 dev eth2]}
    x2: {exec: [ip addr add 192.0.2.2/25 dev eth1]}
    x3: {}
  links:
    - endpoints: ['x1:eth1', 'x2:eth1']
"""
LINK = "    - {type: dummy, endpoint: {node: x1, interface: eth2MORE}}\n"


def write(directory: Path, links: str) -> Path:
    file = directory / "dummy.clab.yml"
    file.write_text(TOPOLOGY + links)
    return file


def lines(file: Path, engine: str = "vm") -> list[str]:
    return node_files(plan(file), "x1", engine="containerlab" if engine == "containerlab" else "vm")[
        "ip.batch"
    ].splitlines()


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (LINK.replace("MORE", ""), ["link add name eth2 mtu 9500 type dummy", "link set dev eth2 up"]),
        (
            "    - endpoints: ['x1:eth2', 'dummy:d']\n",
            ["link add name eth2 mtu 9500 type dummy", "link set dev eth2 up"],
        ),
        (
            LINK.replace("MORE", ", mac: '02:00:00:00:00:0A', ipv4: 10.9.9.1/24, ipv6: 'fd00::1/64'").replace(
                "dummy,", "dummy, mtu: 1400,"
            ),
            [
                "link add name eth2 address 02:00:00:00:00:0a mtu 1400 type dummy",
                "link set dev eth2 up",
                "address add 10.9.9.1/24 dev eth2",
                "address add fd00::1/64 dev eth2 nodad",
            ],
        ),
        (
            LINK.replace("MORE", ", ipv4: 10.9.9.1/32, ipv6: 'fd00::1/128'"),
            [
                "link add name eth2 mtu 9500 type dummy",
                "link set dev eth2 up",
                "address add 10.9.9.1/32 dev eth2",
                "address add fd00::1/128 dev eth2 nodad",
            ],
        ),
    ],
)
def test_a_dummy_is_a_device_that_is_up(tmp_path: Path, link: str, expected: list[str]) -> None:
    file = write(tmp_path, link)
    assert lines(file) == expected
    assert lines(file, "containerlab") == [], "Containerlab makes them"
    assert not [warning for warning in plan(file).warnings if "dummy.clab.yml: topology.links" in warning]


def test_other_plans_have_no_word_of_it(tmp_path: Path) -> None:
    assert "dummies" not in plan_json(plan(write(tmp_path, "")))
    assert plan_json(plan(write(tmp_path, LINK.replace("MORE", "")))).count('"dummies"') == 1


def test_a_node_with_nothing_else_stands_apart(tmp_path: Path) -> None:
    made = plan(write(tmp_path, LINK.replace("x1", "x3").replace("MORE", "")))
    assert "x3" not in [node.name for node in made.nodes]
    assert "dummy.clab.yml: x3 (line 7) is left out: no link joins it with another node" in made.warnings


def test_where_nothing_runs_it_is_left_out_and_said(tmp_path: Path) -> None:
    topology = read_one_topology(write(tmp_path, LINK.replace("MORE", "")))
    assert any("topology.links[1] (line 10) is left out: its type, dummy, leads out" in note for note in topology.notes)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (LINK.replace("MORE", "").replace("eth2", "eth1"), "port 'x1:eth1' has a link already, in line 9"),
        (LINK.replace("MORE", "").replace("x1", "y1"), "'y1' is not a node; valid here: x1, x2, x3"),
        (LINK.replace("MORE", ", ipv4: 10.9.9.1/7"), "'10.9.9.1/7': a dummy device's prefix length is 8 to 32"),
        (LINK.replace("MORE", ", mcu: 1"), "mcu: unknown key; did you mean 'mac'"),
        ("    - {type: dummy}\n", "endpoint: missing; write endpoint: {node: h1, interface: eth2}"),
        ("    - {type: dummy, endpoint: 'x1:eth2'}\n", "must be a mapping such as"),
    ],
)
def test_mistakes(tmp_path: Path, link: str, said: str) -> None:
    with pytest.raises(LabError) as raised:
        plan(write(tmp_path, link))
    assert said in str(raised.value)


def test_its_keys_are_the_schemas() -> None:
    definitions = containerlab_schema()["definitions"]
    assert set(containerlab.DUMMY_LINK_KEYS) == set(definitions["link-type-dummy"]["properties"])
