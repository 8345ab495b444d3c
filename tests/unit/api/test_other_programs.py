"""Labs of other programs: each is recognised by name, and told what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabriclab.api import netlab_lab
from fabriclab.cli.app import app
from fabriclab.engine import netlab

SAMPLES = {
    "mn.py": (
        "from mininet.topo import Topo\nclass T(Topo):\n    pass\n",
        "is a script of Mininet's; `fabriclab import mininet mn.py`",
    ),
    "drawing.mn": ('{"hosts": [], "switches": []}', "is a Mininet topology, a drawing of MiniEdit"),
    "p.gns3": ('{"name": "p", "topology": {"nodes": []}}', "is a GNS3 project, whose nodes are images"),
    "l.unl": ('<?xml version="1.0"?>\n<lab name="l"></lab>\n', "is an EVE-NG lab, whose nodes are images"),
    "topology.yml": (
        "provider: clab\ndefaults.device: frr\nmodule: [ospf]\nnodes: [r1, r2]\nlinks: [r1-r2]\n",
        "is a netlab topology; `netlab create -d frr -p clab topology.yml` in its directory writes clab.yml",
    ),
    "bgp.yaml": (
        "name: x\nnodes:\n  r1: {device: frr}\nvalidate:\n  s: {}\n",
        "`netlab create -d frr -p clab bgp.yaml`",
    ),
}


def said(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


@pytest.fixture(autouse=True)
def no_netlab(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether netlab is installed here is no matter."""
    monkeypatch.setattr(netlab, "has_netlab", lambda: False)
    monkeypatch.setattr(netlab_lab, "has_netlab", lambda: False)


@pytest.mark.parametrize("command", ["check", "run", "validate", "graph"])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_is_recognised(tmp_path: Path, name: str, command: str) -> None:
    text, words = SAMPLES[name]
    (tmp_path / name).write_text(text)
    output = said(command, tmp_path / name)
    assert f"{tmp_path / name}: {words}" in output if not words.startswith("`") else words in output


@pytest.mark.parametrize("name", SAMPLES)
def test_so_is_a_directory(tmp_path: Path, name: str) -> None:
    text, words = SAMPLES[name]
    (tmp_path / name).write_text(text)
    output = said("run", tmp_path)
    assert f"{tmp_path}: holds {name}, which is a" in output and words in output


def test_what_netlab_made_already_is_named(tmp_path: Path) -> None:
    (tmp_path / "topology.yml").write_text(SAMPLES["topology.yml"][0])
    (tmp_path / "clab.yml").write_text("name: x\n")
    assert f"name the Containerlab file that netlab made of it, {tmp_path}/clab.yml" in said("run", tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.clab.yml", "name: x\ntopology:\n  nodes: {a: {kind: linux}}\n"),
        ("x.yml", "name: x\ntopolgy:\n  nodes: {}\n"),
        ("plain.py", "import os\n"),
        ("lab.conf", "[section]\nkey = value\n"),
    ],
)
def test_other_files_are_told_as_before(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    output = said("check", tmp_path / name)
    assert not any(program in output for program in ("netlab topology", "Mininet", "Kathará"))
