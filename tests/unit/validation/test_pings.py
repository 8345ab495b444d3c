"""A node's pings: one command that asks all targets at once, and what it printed read again."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from fabriclab.api.lab import load_lab
from fabriclab.api.look import plan
from fabriclab.validation.bench import Bench, Collector
from fabriclab.validation.configured import configured_stage

# Answers for 192.0.2.1 at once, for 192.0.2.2 at the second try, for others never; a line for each call.
PING = """#!/bin/sh
echo "$*" >> "$CALLS"
for last; do :; done
case $last in
  192.0.2.1) echo '1 received'; exit 0;;
  192.0.2.2) [ "$2" = 3 ] && { echo '3 received'; exit 0; };;
esac
echo 'ping: connect: Network is unreachable'
exit 2
"""
TOPOLOGY = """name: p
topology:
  nodes:
    r1: {kind: linux, image: alpine, exec: [ip addr add 192.0.2.1/24 dev eth1]}
    r2: {kind: linux, image: alpine, exec: [ip addr add 192.0.2.9/24 dev eth1]}
  links:
    - {endpoints: ['r1:eth1', 'r2:eth1'], vars: {rate: 1 Gbps}}
"""


def asked(directory: Path, targets: str) -> tuple[Bench, Collector]:
    """Return the bench of a lab whose r2 asks these, and its command."""
    wanted = ", ".join(f"p{number}: {{from: [r2], to: {target}}}" for number, target in enumerate(targets.split()))
    (directory / "topology.clab.yml").write_text(TOPOLOGY)
    (directory / "experiment.yml").write_text(f"title: T\nvalidation: {{pings: {{{wanted}}}}}\n")
    lab = load_lab(directory)
    made = plan(lab)
    bench = Bench(made, made, lab.written.apply({}, None).experiment.validation)
    (collector,) = [one for one in configured_stage(bench).collectors if one.name == "pings"]
    return bench, collector


def test_each_target_is_asked_until_it_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, collector = asked(tmp_path, "192.0.2.1 192.0.2.2 192.0.2.3")
    program, calls = tmp_path / "bin" / "ping", tmp_path / "calls"
    program.parent.mkdir()
    program.write_text(PING)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("CALLS", str(calls))
    printed = subprocess.run(collector.argv, capture_output=True, text=True, check=True).stdout
    assert sorted(calls.read_text().splitlines()) == [
        *(f"-c 1 -W 1 192.0.2.{last}" for last in (1, 2, 3)),
        *(f"-c 3 -W 1 192.0.2.{last}" for last in (2, 3)),
    ]
    monkeypatch.setattr(Bench, "collected", lambda *_: printed)
    found = [one for one in configured_stage(bench).judge(cast("Any", None)) if one.check == "reach"]
    assert [(one.where, one.measured, one.verdict) for one in found] == [
        ("r2 to 192.0.2.3", "no answer; r2 has no route to 192.0.2.3", "fail")
    ]


def test_many_targets_are_asked_in_batches(tmp_path: Path) -> None:
    """A node with a thousand targets starts 64 pings at a time."""
    _, collector = asked(tmp_path, " ".join(f"198.51.{high}.{low}" for high in range(3) for low in range(1, 50)))
    lines = collector.argv[-1].splitlines()
    waits = [number for number, line in enumerate(lines) if line == "wait"]
    assert len(waits) == 3 and waits[1] - waits[0] == 65


def test_what_was_not_printed_was_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that was killed says nothing of the targets that had not ended."""
    bench, _ = asked(tmp_path, "192.0.2.1 192.0.2.2")
    monkeypatch.setattr(Bench, "collected", lambda *_: "to 192.0.2.1\n1 received\nexit 0\n")
    found = [one for one in configured_stage(bench).judge(cast("Any", None)) if one.check == "reach"]
    assert [(one.where, one.verdict) for one in found] == [("r2 to 192.0.2.2", "not measured")]
