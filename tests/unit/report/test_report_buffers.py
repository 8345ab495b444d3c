"""What a queue of a shared buffer may get, in words and numbers of the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from switch_runs import CLIENT, QUEUE, SERVERS, switch_plan
from whole_plans import whole

from fabriclab.formats.manifest import Manifest
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.formats.plan.switch import Account
from fabriclab.report.measured.buffers import Limit, alpha_text, members, queue_limit, shared_bytes
from fabriclab.report.measured.port_facts import Level, port_facts
from fabriclab.report.measured.quantities import metric_title
from fabriclab.results import Results
from fabriclab.results.summary import Measured
from fabriclab.results.switch_metrics import POOL_METRICS, PORT_METRICS, QUEUE_METRICS
from fabriclab.results.switch_tables import SwitchTables


def switch(plan: dict[str, Any]) -> Node:
    return Plan.model_validate(whole(plan)).node("s1")


def ports(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the ports of the switch."""
    found: list[dict[str, Any]] = plan["nodes"][-1]["ports"]
    return found


def account(**values: Any) -> Account:
    return Account(**{"pool": "shared"} | values)


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
    plan = switch_plan()
    for port in ports(plan):
        port["switch_port"]["queues"][0]["account"]["reserved_bytes"] = 10_000
    node = switch(plan)
    assert shared_bytes(node, "shared") == 640_000 - (SERVERS + 1) * 10_000
    assert queue_limit(node, account(alpha_log=0, reserved_bytes=10_000)) == Limit(10_000 + 290_000, "alone at most")


def test_members_are_those_of_one_pool() -> None:
    node = switch(switch_plan("shallow-pfc"))
    assert {(member.kind, member.index) for member in members(node, "ingress")} == {("group", QUEUE)}
    assert len(list(members(node, "shared"))) == 2 * (SERVERS + 1)


def test_a_member_says_by_which_policy_it_shares() -> None:
    plan = switch_plan()
    ports(plan)[0]["switch_port"]["queues"][0]["sharing"] = {"policy": "abm", "interval_ns": 80_000}
    policies = [member.policy for member in members(switch(plan), "shared")]
    assert policies.count("abm") == 1 and set(policies) == {"abm", None}


@pytest.mark.parametrize(("factor", "text"), [(1.0, "1"), (8.0, "8"), (0.5, "1/2"), (2.0**-8, "1/256")])
def test_alphas_as_people_write_them(factor: float, text: str) -> None:
    assert alpha_text(factor) == text


def test_a_step_is_called_k() -> None:
    plan = switch_plan("shallow-ecn")
    for port in ports(plan):
        port["switch_port"]["queues"][1]["wred"]["max"] = 30_000
    facts = port_facts(_planned(plan), CLIENT, QUEUE)
    assert facts is not None and facts.levels[1:] == (Level(30_000, "K ="),)


def _planned(plan: dict[str, Any]) -> Results:
    """A run of which only the plan is known."""
    return Results(
        Path(),
        Manifest(),
        Plan.model_validate(whole(plan)),
        {},
        (),
        Measured(pl.LazyFrame(), None, None, None, SwitchTables()),
    )


def test_metrics_have_titles() -> None:
    names = (*QUEUE_METRICS, *PORT_METRICS, *POOL_METRICS, "job_ns")
    assert [name for name in names if metric_title(name) == name.replace("_", " ")] == []
