"""What a queue of a shared buffer may get, in words and numbers of the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from switch_runs import CLIENT, QUEUE, SERVERS, switch, switch_plan

from fabriclab.report.measured.buffers import Limit, alpha_text, members, queue_limit, shared_bytes
from fabriclab.report.measured.port_facts import Level, port_facts
from fabriclab.report.measured.quantities import metric_title
from fabriclab.results import Results
from fabriclab.results.summary import Measured
from fabriclab.results.switch_metrics import POOL_METRICS, PORT_METRICS, QUEUE_METRICS
from fabriclab.results.switch_tables import SwitchTables


def account(**values: Any) -> dict[str, Any]:
    return {"pool": "shared", "reserved_bytes": 0, "limit_bytes": None, "alpha_log": None} | values


@pytest.mark.parametrize(
    ("values", "limit"),
    [
        ({"alpha_log": 0}, Limit(320_000, "alone at most")),
        ({"alpha_log": 3}, Limit(568_888, "alone at most")),
        ({"alpha_log": -3}, Limit(71_111, "alone at most")),
        ({"limit_bytes": 64_000}, Limit(64_000, "limit")),
        ({"limit_bytes": 64_000, "reserved_bytes": 1_000}, Limit(65_000, "limit")),
        ({"limit_bytes": 900_000}, Limit(640_000, "pool")),
        ({}, Limit(640_000, "pool")),
        ({"pool": None, "limit_bytes": 5_000}, Limit(5_000, "limit")),
        ({"pool": None}, None),
    ],
)
def test_what_one_busy_queue_can_get(values: dict[str, Any], limit: Limit | None) -> None:
    assert queue_limit(switch(switch_plan()), account(**values)) == limit


def test_reserved_bytes_are_not_shared() -> None:
    node = switch(switch_plan())
    for port in node["ports"]:
        port["switch_port"]["queues"][0]["account"]["reserved_bytes"] = 10_000
    assert shared_bytes(node, "shared") == 640_000 - (SERVERS + 1) * 10_000
    assert queue_limit(node, account(alpha_log=0, reserved_bytes=10_000)) == Limit(10_000 + 290_000, "alone at most")


def test_members_are_those_of_one_pool() -> None:
    node = switch(switch_plan("shallow-pfc"))
    assert {(member.kind, member.index) for member in members(node, "ingress")} == {("group", QUEUE)}
    assert len(list(members(node, "shared"))) == 2 * (SERVERS + 1)


@pytest.mark.parametrize(("factor", "text"), [(1.0, "1"), (8.0, "8"), (0.5, "1/2"), (2.0**-8, "1/256")])
def test_alphas_as_people_write_them(factor: float, text: str) -> None:
    assert alpha_text(factor) == text


def test_a_step_is_called_k() -> None:
    plan = switch_plan("shallow-ecn")
    for port in switch(plan)["ports"]:
        port["switch_port"]["queues"][1]["wred"]["max"] = 30_000
    facts = port_facts(_planned(plan), CLIENT, QUEUE)
    assert facts is not None and facts.levels[1:] == (Level(30_000, "K ="),)


def _planned(plan: dict[str, Any]) -> Results:
    """A run of which only the plan is known."""
    return Results(Path(), {}, plan, {}, (), Measured(pl.LazyFrame(), None, None, None, SwitchTables()))


def test_metrics_have_titles() -> None:
    names = (*QUEUE_METRICS, *PORT_METRICS, *POOL_METRICS, "job_ns")
    assert [name for name in names if metric_title(name) == name.replace("_", " ")] == []
