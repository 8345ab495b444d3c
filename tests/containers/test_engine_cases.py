"""The labs that both engines run beside each other: every lab has a case or a reason, every case is one that runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import CASES, NOT_ITSELF, NOT_RUN, Case
from shipped_labs import NAMES, shipped_lab
from side_by_side import directory_of

from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

ROOT = Path(__file__).parents[2]
MOST_NODES = 18
"""In-cast of 16: more of them would take the guest an hour."""


def _plan(case: Case) -> Plan:
    name = case.lab.removeprefix("labs/")
    lab = shipped_lab(name) if name in NAMES else parse_lab(ROOT / case.lab)
    return resolve_plan(lab, dict(case.settings))


def _refused(plan: Plan) -> bool:
    """Return whether containers are refused whatever the host has (`fabriclab.runs.engines.check_engine`)."""
    return bool(plan.algorithms)


def _taking_part(plan: Plan) -> set[str]:
    """Return the switches, and the hosts between which traffic goes, or which have programs."""
    hosts = {node.name for node in plan.nodes if node.role == "host"}
    ends = {end for one in plan.traffic for end in (*one.sending(hosts), *one.receiving())}
    ends |= {node for one in plan.traffic for node in one.program_nodes()}
    return ends | {node.name for node in plan.nodes if node.role == "switch"}


def test_every_lab_has_a_case_or_a_reason() -> None:
    labs = {f"labs/{path.parent.name}" for path in ROOT.glob("labs/*/experiment.yml")}
    run = {case.lab for case in CASES if case.lab.startswith("labs/")}
    assert run | set(NOT_RUN) == labs
    assert not run & set(NOT_RUN)
    assert set(NOT_ITSELF) <= run
    assert len({directory_of(case, "vm", ROOT) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.no_cover
def test_a_case_is_a_lab_that_containers_run(case: Case) -> None:
    plan = _plan(case)
    assert not _refused(plan)
    assert len(_taking_part(plan)) <= MOST_NODES
    assert set(case.reasons) <= set(case.metrics), "a reason is a metric's"


@pytest.mark.parametrize("lab", ["labs/l4s"])
def test_what_is_said_to_be_refused_is(lab: str) -> None:
    assert _refused(_plan(Case(lab, lab)))


@pytest.mark.parametrize("lab", ["labs/dx-fat-tree", "labs/mptcp-short-flows"])
@pytest.mark.no_cover
def test_what_is_said_to_be_large_is(lab: str) -> None:
    switches = [node for node in _plan(Case(lab, lab)).nodes if node.role == "switch"]
    assert f" {len(switches)} switches " in NOT_RUN[lab]
    assert len(switches) > MOST_NODES
