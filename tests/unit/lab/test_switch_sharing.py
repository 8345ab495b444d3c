"""How the queues of a switch share a pool: what a lab may write, and what the machine is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_labs import EXPERIMENT, TOPOLOGY

import fabriclab
from fabriclab.compile import compile_node
from fabriclab.compile.container_differences import shortfalls
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.formats.plan.switch import Account, Sharing, SwitchQueue
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan

STARTER = (Path(fabriclab.__file__).parent / "starters" / "sharing" / "mine.c").read_text()
POOLS = "pools: {memory: {size: 1 MB}}, queues: {default: {alpha: 1/2, SHARING}}"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    directory = tmp_path / "lab"
    directory.mkdir()
    (directory / "topology.clab.yml").write_text(TOPOLOGY)
    (directory / "share.c").write_text(STARTER.replace('"mine"', '"share"'))
    return directory


def planned(lab: Path, sharing: str, settings: dict[str, str] | None = None) -> Plan:
    text = EXPERIMENT.replace("./mine.c", "cubic").replace("./other.c", "bbr")
    (lab / "experiment.yml").write_text(text.replace("buffer: 64 KB", POOLS.replace("SHARING", sharing)))
    return resolve_plan(parse_lab(lab), settings or {})


def first_queue(plan: Plan) -> SwitchQueue:
    buffer = plan.node("s1").ports[0].switch_port
    assert buffer is not None
    return buffer.queues[0]


def test_abm_is_told_to_the_machine_with_its_defaults(lab: Path) -> None:
    plan = planned(lab, "sharing: abm, unscheduled_classes: 1")
    assert first_queue(plan).sharing == Sharing(
        policy="abm", interval_ns=80_000, unscheduled_alpha_log=6, unscheduled_classes=(1,)
    )
    line = compile_node(plan.node("s1"), plan).tc.splitlines()[0]
    assert " pool 0 alpha -1 " in line and " sharing abm 80000ns unscheduled 6 1" in line
    assert parse_plan_json(plan_json(plan)) == plan
    assert any("sharing abm" in sentence for sentence in shortfalls(plan))


def test_a_length_says_from_where_a_queue_is_congested(lab: Path) -> None:
    plan = planned(lab, "sharing: abm, sharing_congested: 28000 B, unscheduled_classes: 1")
    assert first_queue(plan).sharing == Sharing(
        policy="abm", interval_ns=80_000, congested_bytes=28_000, unscheduled_alpha_log=6, unscheduled_classes=(1,)
    )
    assert " sharing abm 80000ns congested 28000 unscheduled 6 1" in compile_node(plan.node("s1"), plan).tc


@pytest.mark.parametrize("sharing", ["sharing: dynamic", "sharing_interval: 1 ms", "unscheduled_classes: [1, 2]"])
def test_without_a_policy_the_plan_is_what_it_was(lab: Path, sharing: str) -> None:
    plan = planned(lab, sharing)
    assert first_queue(plan).sharing is None
    assert '"sharing"' not in plan_json(plan).replace('"policy"', "")


def test_complete_sharing_is_the_pool_itself(lab: Path) -> None:
    queue = first_queue(planned(lab, "sharing: complete"))
    assert (queue.account, queue.sharing) == (Account(pool="memory"), None)


def test_a_c_file_is_a_module_and_the_name_that_it_registers(lab: Path) -> None:
    plan = planned(lab, "sharing: ./share.c")
    (algorithm,) = plan.algorithms
    assert (algorithm.kind, algorithm.name, algorithm.module) == ("sharing", "share", "own_share_share")
    assert " sharing share 80000ns" in compile_node(plan.node("s1"), plan).tc
    assert planned(lab, "sharing: ./share.c", {"switches.default.queues.default.sharing": "abm"}).algorithms == ()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('"abm"', "registers 'abm', which the kernel already has"),
        ('"complete"', "registers 'complete', which the kernel already has"),
        (".threshold", "write a `struct switch_sharing_ops`"),
    ],
)
def test_a_c_file_that_registers_no_policy_is_told(lab: Path, source: str, message: str) -> None:
    text = STARTER.replace('"mine"', source) if source.startswith('"') else STARTER.replace(".name", source)
    (lab / "share.c").write_text(text)
    with pytest.raises(LabError) as caught:
        planned(lab, "sharing: ./share.c")
    assert message in caught.value.mistakes[0].message
