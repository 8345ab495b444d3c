"""A memory in slices: what the language takes, what a plan says, what a limit comes to."""

from __future__ import annotations

from pathlib import Path

import language
import pytest

from fabriclab.cli.text.switch import switch_lines
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.switch import Slice
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan


def plan_of(directory: Path, switch: str) -> Plan:
    (directory / "topology.clab.yml").write_text(language.two_racks(), encoding="utf-8")
    text = f"title: T\nswitches:\n  default:\n{switch}\n{language.ONE_FLOW}"
    (directory / "experiment.yml").write_text(text, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


SLICED = """    slices: {slices}
    pools: {{shared: {{size: 8 MB}}}}
    queues: {{default: {{alpha: 1}}}}
    ports: {{eth1: {{slice: {{in: {into}, out: 1}}}}}}
"""


def test_a_port_has_its_slice_and_a_limit_is_one_slices(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SLICED.format(slices=4, into=2))
    node = next(node for node in plan.nodes if node.switch is not None)
    assert node.switch is not None
    assert node.switch.slices == 4
    slices = [port.switch_port.slice for port in node.ports if port.switch_port is not None]
    assert slices == [Slice(into=2, out=1), *[Slice()] * (len(slices) - 1)]
    text = "\n".join(switch_lines(plan))
    assert "pool shared: 8 MB, in 4 slices" in text
    assert "memory: slice 2 for frames that come in, OR 1 for frames that leave" in text
    # Half of 2 MB, in full frames.
    assert "alpha 1 (1 MB alone" in text
    assert "slices" in node.switch.model_dump()


def test_a_memory_of_one_piece_leaves_no_word_in_a_plan(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "    pools: {shared: {size: 8 MB}}\n")
    assert "slice" not in plan.model_dump_json()


@pytest.mark.parametrize(
    ("slices", "into", "message"),
    [
        (3, 0, "a memory has 1, 2 or 4 slices"),
        (2, 2, "the switch's memory is in slices 0 to 1"),
        (1, 1, "is not divided; write slices: 2 or 4 beside its pools"),
    ],
)
def test_what_is_no_slice_is_refused(tmp_path: Path, slices: int, into: int, message: str) -> None:
    with pytest.raises(LabError, match=message):
        plan_of(tmp_path, SLICED.format(slices=slices, into=into))
