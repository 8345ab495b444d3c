"""A lab that is written for another FRR than the machine's is told so, by image, file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.api.look import plan
from fabriclab.lab.setup.frr_versions import VERSION

TOPOLOGY = """\
name: m
topology:
  nodes:
    r1: {{kind: linux, image: {image}, binds: ['r1.conf:/etc/frr/frr.conf']}}
    h1: {{kind: linux, image: alpine, exec: [ip addr add 10.0.0.2/30 dev eth1]}}
  links:
    - endpoints: ['r1:eth1', 'h1:eth1']
"""
TAIL = f"the virtual machine runs FRR {VERSION}, whose bugs and commands may differ"


@pytest.mark.parametrize(
    ("image", "line", "said"),
    [
        ("quay.io/frrouting/frr:10.7.1", "!", "image quay.io/frrouting/frr:10.7.1"),
        ("frrouting/frr:v8.4.0", "!", "image frrouting/frr:v8.4.0"),
        ("localhost:5000/frr:9.1", "frr version 9.1", "image localhost:5000/frr:9.1"),
        ("frr", "frr version 8.1_git", "r1.conf:2 (frr version 8.1)"),
        ("frr:9.0", "frr version 10.5.2", "image frr:9.0, r1.conf:2 (frr version 10.5.2)"),
        ("frr:latest", "!", ""),
        ("frr", "frr defaults datacenter", ""),
        (f"frrouting/frr:{VERSION}.2", f"frr version {VERSION}", ""),
        ("10.2-frr", "!", ""),
    ],
)
def test_which_version_it_is_written_for(tmp_path: Path, image: str, line: str, said: str) -> None:
    (tmp_path / "r1.conf").write_text(f"hostname r1\n{line}\n")
    (tmp_path / "m.clab.yml").write_text(TOPOLOGY.format(image=image))
    found = [one for one in plan(tmp_path / "m.clab.yml").warnings if "runs FRR" in one]
    assert found == ([f"m.clab.yml: r1: {said}: {TAIL}"] if said else [])


def test_many_routers_are_told_once(tmp_path: Path) -> None:
    nodes = "".join(f"    r{n}: {{kind: linux, image: 'frr:9.0'}}\n" for n in range(1, 13))
    links = "".join(f"    - endpoints: ['r{n}:eth1', 'r{n + 1}:eth2']\n" for n in range(1, 12))
    (tmp_path / "m.clab.yml").write_text(f"name: m\ntopology:\n  nodes:\n{nodes}  links:\n{links}")
    (found,) = [one for one in plan(tmp_path / "m.clab.yml").warnings if "runs FRR" in one]
    assert found.startswith("m.clab.yml: r1, r2, ") and found.endswith(f"r12: image frr:9.0: {TAIL}")
