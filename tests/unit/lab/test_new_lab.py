"""`fabriclab generate` into an empty directory makes a lab that runs; one with an experiment keeps it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.formats.plan.traffic import RoundsTraffic
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan


@pytest.mark.parametrize(
    "arguments", ["star --hosts 3", "dumbbell", "leaf-spine", "fat-tree", "leaf-spine --rate '100 Gbps' --mtu 9100"]
)
def test_a_new_lab_can_be_run_at_once(arguments: str, tmp_path: Path) -> None:
    directory = tmp_path / "labs" / "mine"
    made = CliRunner().invoke(app, ["generate", *shlex.split(arguments), "-o", str(directory)])
    assert made.exit_code == 0, made.output
    plan = resolve_plan(parse_lab(directory), {"senders": "2"}, None)
    (traffic,) = plan.traffic
    assert isinstance(traffic, RoundsTraffic)
    (port,) = plan.node(traffic.receiver).ports
    assert plan.probes.queue_ports == (f"{port.peer_node}:{port.peer_interface}",), "the queue before the receiver"
    assert not plan.warnings
    (directory / "experiment.yml").write_text("mine", encoding="utf-8")
    assert CliRunner().invoke(app, ["generate", "star", "--out", str(directory), "--force"]).exit_code == 0
    assert (directory / "experiment.yml").read_text(encoding="utf-8") == "mine"
