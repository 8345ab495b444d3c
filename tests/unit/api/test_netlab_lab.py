"""A netlab topology is a lab where netlab is installed and its topology is trusted: netlab runs what it brings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabriclab.cli.app import app

TOPOLOGY = "provider: clab\ndefaults.device: frr\nmodule: [ospf]\nnodes: [r1, r2]\nlinks: [r1-r2]\n"
MADE = """\
name: made
topology:
  nodes:
    h1: {kind: linux, image: alpine, exec: [ip addr add 10.0.0.1/24 dev eth1]}
    h2: {kind: linux, image: alpine, exec: [ip addr add 10.0.0.2/24 dev eth1]}
  links:
    - endpoints: ['h1:eth1', 'h2:eth1']
"""


def said(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    return " ".join(result.output.split())


@pytest.fixture
def topology(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A topology, a netlab that notes how it was called, and nothing trusted."""
    programs = tmp_path / "bin"
    programs.mkdir()
    script = programs / "netlab"
    script.write_text(
        f"#!/bin/sh\necho \"$@\" >>called\nif [ -e wrong ]; then cat wrong; exit 1; fi\ncat >clab.yml <<'E'\n{MADE}E\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / "topology.yml").write_text(TOPOLOGY)
    return lab / "topology.yml"


def test_nothing_runs_before_it_is_trusted(topology: Path) -> None:
    output = said("check", topology, status=2)
    assert f"`fabriclab trust {topology}` lets fabriclab call `netlab create -d frr -p clab topology.yml`" in output
    assert sorted(file.name for file in topology.parent.iterdir()) == ["topology.yml"]


def test_netlab_makes_the_lab_once(topology: Path) -> None:
    said("trust", topology)
    assert "made: OK" in said("check", topology) and "made: OK" in said("check", topology)
    assert (topology.parent / "called").read_text() == "create -d frr -p clab topology.yml\n"
    newer = topology.stat().st_mtime_ns + 10**12
    os.utime(topology, ns=(newer, newer))
    assert "made: OK" in said("check", topology) and "made: OK" in said("check", topology)
    assert len((topology.parent / "called").read_text().splitlines()) == 2, "the topology was changed"


def test_what_netlab_says_is_told(topology: Path) -> None:
    said("trust", topology)
    (topology.parent / "wrong").write_text("[CREATED] x\nIncorrectAttr in nodes: no such attribute\n")
    output = said("run", topology, status=2)
    assert "ended with status 1: IncorrectAttr in nodes: no such attribute" in output and "CREATED" not in output


def test_a_lab_that_netlab_made_before_needs_no_netlab(topology: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(topology.parent))
    (topology.parent / "clab.yml").write_text(MADE)
    assert "made: OK" in said("check", topology)
    newer = topology.stat().st_mtime_ns + 10**12
    os.utime(topology, ns=(newer, newer))
    assert "is newer than" in said("check", topology, status=2)
