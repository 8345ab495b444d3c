"""Which figures of a run are shown large: the first few, and what routing did after a failure."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from shipped_labs import shipped_plan

from fabriclab.report.measured.quantities import metric_title
from fabriclab.report.tables.points import MOST_KEY_FIGURES, key_figures

QUEUES = ("goodput_bps", "fct_median_ns", "fct_p99_ns", "queue_mean_bytes", "queue_max_bytes", "drops", "queue_drops")
MANY = dict.fromkeys((*QUEUES, "stalls"), 1.0)


def titles(**more: float) -> list[str]:
    summary = {**MANY, "flows": 2, "flows_complete": 2, **more}
    results = SimpleNamespace(summary=summary, plan=shipped_plan("incast"), directory=None, settings={})
    return [title for title, _, _ in key_figures(cast("Any", results))]


def test_they_are_few() -> None:
    assert len(titles()) == MOST_KEY_FIGURES and metric_title("stalls") not in titles()


@pytest.mark.parametrize("name", ["reconvergence_ns", "reconvergence_unsettled_ns"])
def test_what_routing_did_after_a_failure_is_among_them(name: str) -> None:
    """Before: a lab with a switch's queues had enough figures before it."""
    shown = titles(**{name: 21e9})
    assert len(shown) == MOST_KEY_FIGURES and shown[-1] == metric_title(name)
    assert shown[: MOST_KEY_FIGURES - 1] == titles()[: MOST_KEY_FIGURES - 1]


def test_silences_are_those_of_the_longest_queue() -> None:
    """Before: of all ports together, most of which had nothing to send."""
    plan = shipped_plan("leaf-spine")
    ports = plan.probes.queue_ports
    assert len(ports) > 1
    busy, idle = ports[1], ports[0]
    summary = {
        "flows": 2,
        "flows_complete": 2,
        "queue_mean_bytes": 9000.0,
        **{f"queue_mean_bytes[{port}]": 9000.0 if port == busy else 10.0 for port in ports},
        "stalls": 90,
        f"stalls[{busy}]": 3,
        f"stalls[{idle}]": 87,
    }
    results = SimpleNamespace(summary=summary, plan=plan, directory=None, settings={})
    (found,) = [one for one in key_figures(cast("Any", results)) if one[0] == metric_title("stalls")]
    assert found[1:] == ("3", f"at {busy}, which has the longest queue")
