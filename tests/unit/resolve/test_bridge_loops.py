"""A loop of bridges without STP is told, with its bridges and links; no other lab is."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.api.look import plan

HEAD = """name: loops
topology:
  nodes:
    h1: {kind: linux, image: alpine, exec: [ip addr add 10.0.0.1/24 dev eth1]}
    h2: {kind: linux, image: alpine, exec: [ip addr add 10.0.0.2/24 dev eth1]}
"""
BRIDGES = "    b1: {kind: bridge}\n    b2: {kind: bridge}\n    b3: {kind: bridge}\n"
EDGE = "['h1:eth1', 'b1:eth9']", "['h2:eth1', 'b2:eth9']"
ONE, TWO, THREE = "['b1:eth1', 'b2:eth1']", "['b2:eth2', 'b3:eth2']", "['b3:eth3', 'b1:eth3']"
AGAIN = "['b2:eth4', 'b1:eth4']"


def told(directory: Path, nodes: str, *links: str) -> list[str]:
    file = directory / "loops.clab.yml"
    file.write_text(HEAD + nodes + "  links:\n" + "".join(f"    - endpoints: {link}\n" for link in (*EDGE, *links)))
    return [one for one in plan(file).warnings if "loop of bridges" in one]


def test_a_loop_is_told_with_its_bridges_and_links(tmp_path: Path) -> None:
    (found,) = told(tmp_path, BRIDGES, ONE, TWO, THREE)
    assert found == (
        "b3, b2, b1: b2:eth2 - b3:eth2 (line 13), b1:eth1 - b2:eth1 (line 12), b3:eth3 - b1:eth3 (line 14) are a "
        "loop of bridges without STP: a frame to all goes round for ever, and the run hangs; remove a link"
    )


def test_parallel_links_are_a_loop(tmp_path: Path) -> None:
    (found,) = told(tmp_path, BRIDGES, ONE, TWO, AGAIN)
    assert found.startswith("b2, b1: b1:eth1 - b2:eth1 (line 12), b2:eth4 - b1:eth4 (line 14) are a loop")


def test_a_tree_is_none(tmp_path: Path) -> None:
    assert told(tmp_path, BRIDGES, ONE, TWO) == []


LINUX = """    b1:
      kind: linux
      image: alpine
      exec: [ip link add br0 type bridge{stp}, ip link set eth1 master br0, "sh -c 'brctl addif br0 eth4'"]
    b2: {{kind: bridge}}
"""


@pytest.mark.parametrize(("stp", "loops"), [("", 1), (" stp_state 1", 0), (" stp_state 0", 1)])
def test_a_bridge_that_commands_make_counts_unless_it_has_stp(tmp_path: Path, stp: str, loops: int) -> None:
    assert len(told(tmp_path, LINUX.format(stp=stp), ONE, AGAIN)) == loops


def test_two_bridges_of_one_node_are_two(tmp_path: Path) -> None:
    assert told(tmp_path, LINUX.format(stp="").replace("addif br0", "addif br1"), ONE, AGAIN) == []
