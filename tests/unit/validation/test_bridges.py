"""Bridges in a validation of nodes' own files: without an address they answer nobody, and nobody asks them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest

from fabriclab.api.lab import load_lab
from fabriclab.api.look import plan
from fabriclab.validation.bench import Bench
from fabriclab.validation.configured import configured_stage
from fabriclab.validation.finding import all_pass

TOPOLOGY = """name: b
topology:
  defaults: {kind: linux, image: IMAGE}
  nodes:
    sw: {kind: bridge}
    r1: {exec: [ip addr add 192.0.2.1/24 dev eth1]}
    r2: {exec: [ip addr add 192.0.2.2/24 dev eth1]}
  links:
    - {endpoints: ['sw:e1', 'r1:eth1'], vars: {rate: 1 Gbps}}
    - {endpoints: ['sw:e2', 'r2:eth1'], vars: {rate: 1 Gbps}IPV4}
"""
ANSWER = "".join(f"to {node}\n1 received\nexit 0\n" for node in ("r1", "r2"))


def bench(directory: Path, image: str, validation: str = "", ipv4: str = "") -> Bench:
    text = TOPOLOGY.replace("IMAGE", image).replace("IPV4", ipv4)
    file = directory / "b.clab.yml"
    if validation:
        file = directory
        (directory / "experiment.yml").write_text(
            f"title: T\nswitches: {{default: {{buffer: 64 KB}}}}\nvalidation: {validation}\n"
        )
    (directory / ("topology.clab.yml" if validation else "b.clab.yml")).write_text(text)
    lab = load_lab(file)
    made = plan(lab)
    return Bench(made, made, lab.written.apply({}, None).experiment.validation)


def verdicts(asked: Bench, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """Return the findings where everybody answers whom a ping asks."""
    monkeypatch.setattr(Bench, "collected", lambda *_: ANSWER)
    found = configured_stage(asked).judge(cast("Any", None))
    return [(one.where, one.measured, one.verdict) for one in found if one.check == "reach"]


def asked_pairs(asked: Bench) -> set[tuple[str, str]]:
    scripts = {one.node: one.argv[-1] for one in configured_stage(asked).collectors if one.name == "pings"}
    return {(node, name) for node, script in scripts.items() for name in re.findall(r"; ask (\S+)", script)}


def test_routers_do_not_ask_a_bridge_between_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: six pairs, four of them the bridge's, of which none answers."""
    asked = bench(tmp_path, "'frrouting/frr:v8.4.0'")
    assert asked_pairs(asked) == {("r1", "r2"), ("r2", "r1")}
    assert verdicts(asked, monkeypatch) == [("2 ordered pairs", "2 of 2 answer", "pass")]


def test_one_with_an_address_is_asked(tmp_path: Path) -> None:
    asked = bench(tmp_path, "'frrouting/frr:v8.4.0'", ipv4=", ipv4: ['192.0.2.9/24', '']")
    assert ("r1", "sw") in asked_pairs(asked)


def test_who_asks_for_it_is_told_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = bench(tmp_path, "alpine", "{pings: {a: {from: [r1], to: sw}, b: {from: [r1], to: r2}}}")
    assert verdicts(asked, monkeypatch) == [
        ("r1 to sw", "sw is a bridge without an address", "does not apply"),
        ("1 ordered pair", "1 of 1 answer", "pass"),
    ]


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("ping: r2: Name or service not known", "; r2 has no address"),
        ("ping: connect: Network is unreachable", "; r1 has no route to r2"),
        ("3 packets transmitted, 0 received", ""),
    ],
)
def test_why_there_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, why: str) -> None:
    asked = bench(tmp_path, "alpine", "{pings: {b: {from: [r1], to: r2}}}")
    monkeypatch.setattr(Bench, "collected", lambda *_: f"to r2\n{output}\nexit 2\n")
    (found,) = [one for one in configured_stage(asked).judge(cast("Any", None)) if one.check == "reach"]
    assert (found.measured, found.verdict) == (f"no answer{why}", "fail")


def test_a_ping_that_only_warns_does_not_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pings = "{soft: {from: [r1, r2], to: 192.0.2.9, severity: warning}, hard: {from: r1, to: 192.0.2.9}, "
    pings += "b: {from: r1, to: r2}}"
    asked = bench(tmp_path, "alpine", f"{{pings: {pings}}}")
    assert asked_pairs(asked) == {("r1", "192.0.2.9"), ("r2", "192.0.2.9"), ("r1", "r2")}
    monkeypatch.setattr(Bench, "collected", lambda *_: f"to 192.0.2.9\nexit 1\n{ANSWER}")
    found = [one for one in configured_stage(asked).judge(cast("Any", None)) if one.check == "reach"]
    assert [(one.where, one.verdict) for one in found] == [
        ("r1 to 192.0.2.9", "fail"),  # one of two names asks for it as an error
        ("r2 to 192.0.2.9", "warning"),
    ]
    assert not all_pass(found)


def test_warnings_beside_passes_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pings = "{soft: {from: [r1], to: 192.0.2.9, severity: warning}, b: {from: r1, to: r2}}"
    asked = bench(tmp_path, "alpine", f"{{pings: {pings}}}")
    monkeypatch.setattr(Bench, "collected", lambda *_: f"to 192.0.2.9\nexit 1\n{ANSWER}")
    found = [one for one in configured_stage(asked).judge(cast("Any", None)) if one.check == "reach"]
    assert [(one.where, one.measured, one.verdict) for one in found] == [
        ("1 ordered pair", "1 of 1 answer", "pass"),
        ("r1 to 192.0.2.9", "no answer", "warning"),
    ]
    assert all_pass(found)
    assert not all_pass(found[1:]), "warnings alone show nothing"
